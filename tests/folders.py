"""How several processes share the tests."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling


class Folders(LoadScopeScheduling):
    """The tests of a folder with fixtures of its own go to one process, others file by file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folder = file.rpartition("/")[0]
        return folder if (self.config.rootpath / folder / "conftest.py").exists() else file
