"""A real browser for tests of what is seen in one. Without one they are left out, and say so."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from helpers import processes

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# WebGL without a graphics card. The sandbox of chromium refuses to run as root, as containers do.
FLAGS = (
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--no-sandbox",
)  # fmt: skip
WINDOW = {"width": 640, "height": 400}
"""Small, since every pixel is computed in software."""
PATIENCE = round(1e3 * processes.PATIENCE)
"""How long to wait for something to appear [ms]."""


def find_browser() -> str | None:
    """Path of a browser: what LINKWORK_BROWSER names, or else a chromium that is installed."""
    chosen = os.environ.get("LINKWORK_BROWSER")
    found = [shutil.which(name) for name in ((chosen,) if chosen else _NAMES)]
    return next((path for path in found if path), None)


def need_browser() -> str:
    """Path of a browser; the test is skipped if there is none."""
    pytest.importorskip(
        "playwright.sync_api", reason="no playwright found: tests in a real browser were LEFT OUT; install it"
    )
    path = find_browser()
    if path is None:
        pytest.skip("no browser found: tests in a real browser were LEFT OUT; install chromium")
    return path


def launched() -> Iterator[Any]:
    """A browser, to be made a fixture: `browser = pytest.fixture(scope="module")(launched)`."""
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS), timeout=PATIENCE)
        try:
            yield browser
        finally:
            browser.close()
