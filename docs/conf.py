"""How Sphinx builds the documentation: `sphinx-build -W docs OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import generate  # noqa: E402 - found beside this file

import hloscope  # noqa: E402

project = "hloscope"
release = version = hloscope.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"hloscope {release}"
exclude_patterns = ["schema"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "description"
# the signatures name types of other libraries, whose pages are not at hand offline
nitpicky = False


def setup(app: Sphinx) -> None:
    """Writes the reference pages before anything is read."""
    app.connect("builder-inited", lambda _: generate.write(HERE / "reference"))
