"""Golden files: readable text beside the test, rewritten by `pytest --update-goldens`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Goldens:
    """The golden files of one folder."""

    folder: Path
    update: bool

    def check(self, name: str, text: str) -> None:
        """Compares with the golden file, or writes it.

        Args:
          name: the file's name in the folder.
          text: what came out.
        """
        path = self.folder / name
        if self.update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert text == path.read_text()
