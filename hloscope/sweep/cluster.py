"""Tasks on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hloscope.errors import HloscopeError
from hloscope.model.sweep import Row, Task
from hloscope.sweep.work import failed, work

_CONNECT = 30  # seconds


def run_cluster(tasks: Sequence[Task], address: str, *, timeout: float | None) -> Iterator[Row]:
    """Rows in the order in which they are done; Dask gives a lost worker's task to another one.

    Args:
      tasks: what to do.
      address: of the scheduler, `tcp://host:8786`.
      timeout: seconds that one compile may take.

    Raises:
      HloscopeError: dask.distributed is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise HloscopeError(
            "dask.distributed is not installed",
            where="--cluster",
            remedy="pip install 'hloscope[cluster]'",
        ) from None
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise HloscopeError(
            f"no Dask scheduler at '{address}': {str(error).splitlines()[0]}",
            where="--cluster",
            remedy="start one, and give the address that it prints",
        ) from None
    with client:
        # the key is the task, so that one that is under way is not begun again
        futures = {client.submit(work, t, timeout, key=t.name, pure=False): t for t in tasks}
        try:
            for future in as_completed(futures, loop=client.loop):
                task = futures[future]
                if future.status == "finished":
                    yield future.result()
                else:
                    yield failed(task, f"the cluster gave it up: {future.exception()}")
        finally:
            client.cancel(list(futures), force=True)
