"""Signals as a shell in a terminal leaves them; `nohup` and `&` have some ignored."""

from __future__ import annotations

import signal


def restore() -> None:
    """For `subprocess.Popen(preexec_fn=...)`: an ignored signal would be inherited."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
