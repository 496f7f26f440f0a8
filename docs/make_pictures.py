"""Makes the pictures of the gallery, the README and the docs: `make pictures`. The pages need a browser (Chromium).

`python docs/make_pictures.py cards` makes those of the gallery alone.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from linkwork import Simulation, render, scene, show
from linkwork.analysis.partition import partition
from linkwork.analysis.partition_plot import plot_partition
from linkwork.reproduce import reproduce
from linkwork.scenes import gallery_names
from linkwork.view import thumbnails

FOLDER = Path(__file__).parent / "pictures"
FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
         "--no-sandbox"]  # fmt: skip
SETTLING = 12_000  # until a page rendered in software looks as it should [ms]


def films() -> None:
    """Short animations."""
    record = Simulation(scene("peaucellier", swing=0.25)).run(4.0)
    render(record, FOLDER / "peaucellier.gif", width=480, height=304, fps=20)
    record = Simulation(scene("excavator")).run(16.0)
    render(record, FOLDER / "excavator.gif", width=480, height=304, fps=15, speed=2.0)
    render(record, FOLDER / "excavator.png", t=6.0, width=640, height=400)
    record = Simulation(scene("car"), method="components").run(3.0)
    render(record, FOLDER / "car.png", t=3.0, width=640, height=400)


def vehicles() -> None:
    """Six suspensions side by side, and the robot with its cart on the hill."""
    record = Simulation(scene("suspensions"), dt=2e-3).run(5.0, every=0.05)
    render(record, FOLDER / "suspensions.png", t=5.0, width=640, height=400)
    record = Simulation(scene("krt100", course="hill")).run(4.4, every=0.05)
    render(record, FOLDER / "krt100.png", t=4.4, width=640, height=400)


def cards() -> None:
    """Pictures of the gallery, which come with the package."""
    thumbnails.make(gallery_names())


def subsystems() -> None:
    """The partition of a model with components in components."""
    plot_partition(partition(scene("car")), FOLDER / "partition.svg")


def papers() -> None:
    """What a paper shows beside ours; on a machine that has nothing else to do, for it shows times."""
    chart = reproduce("components").plot
    assert chart is not None
    chart(FOLDER / "components.png")


def pages(browser: Any) -> None:
    """Screenshots of the gallery and of the live page."""
    with tempfile.TemporaryDirectory() as folder:
        live = show("excavator", port=0, folder=folder, block=False)
        try:
            _shoot(browser, f"{live.server.url}gallery", "gallery.png", 1200, 1150, wait=3 * SETTLING)
            _shoot(browser, live.server.url, "live.png", 1100, 680)
            _shoot(browser, live.server.url, "plots.png", 1100, 680, tab="Plots")
            live.open("peaucellier", {"swing": 0.25})
            _shoot(browser, live.server.url, "peaucellier.png", 1100, 680)
        finally:
            live.close()


def _shoot(
    browser: Any, url: str, name: str, width: int, height: int, tab: str | None = None, wait: int = SETTLING
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(url)
    page.locator("iframe.ready").wait_for(timeout=60_000)
    if url.endswith("gallery"):
        page.get_by_role("button", name="Show all").click()
    if tab is not None:
        page.get_by_role("tab", name=tab).click(timeout=60_000)
    page.wait_for_timeout(wait)
    page.screenshot(path=FOLDER / name)
    page.close()


def main() -> None:
    """All of them."""
    cards()
    if "cards" in sys.argv:
        return
    films()
    vehicles()
    subsystems()
    papers()
    found = [
        path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))
    ]
    if not found:
        sys.exit("no browser found: the screenshots of pages were not made; install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found[0], args=FLAGS)
        pages(browser)
        browser.close()


if __name__ == "__main__":
    main()
