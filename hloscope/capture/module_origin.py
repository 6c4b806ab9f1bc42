"""Where a revision's modules are imported from."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from hloscope.capture.messages import Checkout
from hloscope.errors import HloscopeError


def refuse_elsewhere(module: ModuleType, checkout: Checkout, spec: str) -> None:
    """Refuses a module that was imported from somewhere else than the revision.

    Raises:
      HloscopeError: it was.
    """
    places = [module.__file__] if module.__file__ else list(getattr(module, "__path__", ()))
    tree = Path(checkout.tree).resolve()
    for place in places:
        if not Path(place).resolve().is_relative_to(tree):
            raise HloscopeError(
                f"'{module.__name__}' of revision '{checkout.name}' would come from {place}",
                where=spec,
                remedy="the revision does not hold that module in its top folder, src/ or a folder "
                "of the import path",
            )
