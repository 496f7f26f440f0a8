"""Makes the pictures of the gallery, the README and the docs: `make pictures`. The pages need a browser (Chromium).

`python docs/make_pictures.py cards` makes those of the gallery alone, `... tutorial` those of docs/drive-a-robot.md.
"""

import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

from linkwork import Simulation, load_model, render, scene, show
from linkwork.analysis.partition import partition
from linkwork.analysis.partition_plot import plot_partition
from linkwork.control.diagram import Diagram
from linkwork.control.svg import diagram_svg
from linkwork.reproduce import reproduce
from linkwork.scenes import gallery_names
from linkwork.view import thumbnails

matplotlib.use("Agg")
import matplotlib.pyplot as plt

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


def tutorial_file(text: str, folder: Path) -> Path:
    """The file that docs/drive-a-robot.md writes: the last of its sections stands in place of the one before."""
    robot, motors, _, final = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    path = folder / "rover.yaml"
    path.write_text("\n".join((robot, motors, final)), encoding="utf-8")
    return path


def tutorial(browser: Any) -> None:
    """The robot of docs/drive-a-robot.md, its panel while it is driven, its diagram, and where it went."""
    text = (FOLDER.parent / "drive-a-robot.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        file = tutorial_file(text, Path(name))
        (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        shown: dict[str, Any] = {}
        with contextlib.chdir(name):
            exec(script, shown)  # of this repository
        model = load_model(file)
        render(shown["paths"][1.0], FOLDER / "tutorial_robot.png", t=0.0, width=640, height=400)
        (FOLDER / "tutorial_diagram.svg").write_text(
            diagram_svg(Diagram.of(model.flatten())), encoding="utf-8"
        )
        _draw_paths(shown["paths"])
        live = show(str(file), port=0, folder=name, block=False)
        try:
            page = browser.new_page(viewport={"width": 860, "height": 400})
            page.goto(f"{live.server.url}panel")
            page.locator(".widget").first.wait_for(timeout=60_000)
            for key in ("w", "d"):
                page.keyboard.down(key)
            page.wait_for_timeout(2500)
            page.screenshot(path=FOLDER / "tutorial_panel.png")
            page.close()
        finally:
            live.close()


def _draw_paths(paths: dict[float, Any]) -> None:
    """Both ways of the robot from above."""
    figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    for keeps, record in paths.items():
        label = "keeps its heading" if keeps else "does not"
        axes.plot(record["chassis.position.x"], record["chassis.position.y"], label=label)
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.legend()
    figure.savefig(FOLDER / "tutorial_paths.svg")
    plt.close(figure)


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
    """All of them, or some."""
    wanted = sys.argv[1:]
    if "tutorial" not in wanted:
        cards()
    if "cards" in wanted:
        return
    if "tutorial" not in wanted:
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
        tutorial(browser)
        if "tutorial" not in wanted:
            pages(browser)
        browser.close()


if __name__ == "__main__":
    main()
