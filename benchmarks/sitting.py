"""Somebody with a browser: `python -m benchmarks.sitting URL SECONDS drive|watch`.

One who drives has the operator's panel alone and moves its first lever with the mouse; one who watches has the live
page, whose pictures the browser computes in software. Prints `ready` when it is there.
"""

from __future__ import annotations

import math
import shutil
import sys
import time

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# WebGL without a graphics card. The sandbox of chromium refuses to run as root, as containers do.
_FLAGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
_MOVES = 60.0  # a second, as many as a mouse at a screen of 60 Hz makes


def find_browser() -> str | None:
    """Path of a browser that is installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def sit(url: str, seconds: float, how: str) -> None:
    """Take part for a while."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(_FLAGS))
        page = browser.new_page(viewport={"width": 640, "height": 400})
        page.goto(f"{url}panel" if how == "drive" else url)
        if how == "watch":
            page.locator("iframe, canvas").first.wait_for(timeout=60_000)
            page.wait_for_timeout(3000)
            print("ready", flush=True)
            page.wait_for_timeout(1e3 * seconds)
        else:
            track = page.locator(".widget.lever .track").first
            track.wait_for(timeout=60_000)
            box = track.bounding_box()
            assert box is not None
            x, y, reach = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 0.3 * box["height"]
            page.mouse.move(x, y)
            page.mouse.down()
            print("ready", flush=True)
            begin = due = time.perf_counter()
            while due < begin + seconds:
                page.mouse.move(x, y + reach * math.sin(6.0 * (due - begin)))
                due += 1.0 / _MOVES
                time.sleep(max(0.0, due - time.perf_counter()))
            page.mouse.up()
        browser.close()


if __name__ == "__main__":
    sit(sys.argv[1], float(sys.argv[2]), sys.argv[3])
