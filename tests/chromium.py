"""A headless Chromium, where one is installed with its driver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_DRIVER = shutil.which("chromedriver")
marks = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (_CHROMIUM and _DRIVER), reason="no Chromium with its driver is installed"
    ),
]


@contextmanager
def chromium() -> Iterator[Any]:
    """A driver of a browser that keeps the log of its pages."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1280,900"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(_DRIVER))
    try:
        yield driver
    finally:
        driver.quit()
