"""The live page as a visitor in a real browser has it."""

import contextlib
import io
from pathlib import Path

import numpy as np

from helpers.processes import PATIENCE, wait_until

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"
WINDOW = {"width": 900, "height": 560}
"""Small, since every pixel is computed in software; wide enough for the panel beside the picture."""
_SHARPNESS = 0.5  # pixels of the picture per pixel of the screen
MOVED = 0.003
"""Share of the pixels that change when a body moves visibly."""
_CANVAS = "canvas[data-engine]"


# What is visible in a page of viser beside the picture.
_FOREIGN = """() => [...document.querySelectorAll("body, body *")].filter((one) =>
    one.matches("body") ? one.innerText.trim() : !one.matches("canvas[data-engine]") && one.getClientRects().length
        && getComputedStyle(one).visibility === "visible"
).map((one) => one.outerHTML.slice(0, 100))"""


class Visitor:
    """One visitor: `live` is the page of the server, `browser` where it is looked at."""

    def __init__(self, live, browser, path="", window=WINDOW):
        self.live = live
        before = set(live.server.viser.get_clients())
        self.browser = browser.new_page(viewport=window)
        self.browser.set_default_timeout(1e3 * PATIENCE)
        self.complaints = []
        self.browser.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.browser.goto(f"{live.server.url}{path}?fixedDpr={_SHARPNESS}")
        self.client = wait_until(lambda: self._new(before), "the browser connects")
        wait_until(
            lambda: self.client.camera.image_width < 0.8 * window["width"], "the panel takes its place"
        )
        wait_until(self.sees_all, "the camera sees the whole model")
        self.browser.locator("iframe.ready").wait_for()

    def _new(self, before):
        clients = self.live.server.viser.get_clients()
        return next((client for key, client in clients.items() if key not in before), None)

    def sees_all(self):
        """Whether the camera stands where it sees the whole model."""
        camera = self.client.camera
        wanted = self.live.shown.camera_of("best", camera.aspect)
        return np.allclose(camera.position, wanted.position, rtol=1e-3, atol=1e-3)

    @property
    def session(self):
        return self.live.session

    # What a visitor does

    def tab(self, name):
        self.browser.get_by_role("tab", name=name, exact=True).click()

    def press(self, label):
        self.browser.get_by_role("button", name=label, exact=True).click()

    def pause(self, player):
        """Stop a replay, unless it comes to its end by itself before the button is reached."""
        from playwright.sync_api import TimeoutError as NotThere

        button = self.browser.get_by_role("button", name="Pause", exact=True)
        while player.playing:
            with contextlib.suppress(NotThere):
                button.click(timeout=2000.0)
                wait_until(lambda: not player.playing, "the replay pauses")

    def control(self, label):
        """The element that a label of the panel names."""
        name = self.browser.locator(f'label:text-is("{label}")').first
        return self.browser.locator(f'[id="{name.get_attribute("for")}"]')

    def choose(self, label, option):
        """Take an option of a dropdown, or search it among many."""
        control = self.control(label)
        if control.evaluate("(one) => one.tagName") == "SELECT":
            control.select_option(option)
            return
        control.click()
        self.browser.get_by_role("searchbox", name="Search signals").fill(option)
        self.browser.get_by_role("option", name=option, exact=True).click()

    def tick(self, label):
        """Press a checkbox."""
        self.control(label).click()

    def slide(self, label, *keys):
        """Move a slider by keys."""
        thumb = self.control(label)
        thumb.focus()
        for key in keys:
            thumb.press(key)

    def write(self, label, text):
        """Write into a field of text."""
        self.control(label).fill(text)

    def drag(self, body, *moves):
        """Take hold of a body at its centre of mass and move the mouse by steps [px], without letting go."""
        x, y = self.place_of(body)
        mouse = self.browser.mouse
        mouse.move(x, y)
        mouse.down()
        for dx, dy in moves:
            x, y = x + dx, y + dy
            mouse.move(x, y, steps=4)

    # What a visitor sees

    def canvas(self):
        """Where the picture is on the screen [px]."""
        return self.frame().locator(_CANVAS).bounding_box()

    def frame(self):
        """The page of viser in ours."""
        return self.browser.frame_locator("iframe.ready")

    def place_of(self, body):
        """Where the centre of mass of a body is on the screen [px]."""
        stage, poses, camera = self.session.stage, self.session.view.poses, self.client.camera
        i = stage.index(body)
        point = poses.place(i, stage.bodies[i].com) - self.live.nodes.shift
        ahead = camera.look_at - camera.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, camera.up_direction)
        right = right / np.linalg.norm(right)
        way, box = point - camera.position, self.canvas()
        scale = box["height"] / 2 / np.tan(camera.fov / 2) / (way @ ahead)
        up = np.cross(right, ahead)
        return (
            box["x"] + box["width"] / 2 + scale * (way @ right),
            box["y"] + box["height"] / 2 - scale * (way @ up),
        )

    def picture(self):
        """The 3-D picture, rows × columns × 3."""
        return pixels(self.browser.screenshot(clip=self.canvas()))

    def still_picture(self):
        """The 3-D picture once it has come to rest."""
        seen = [self.picture()]

        def rests():
            seen.append(self.picture())
            return difference(*seen[-2:]) == 0.0

        wait_until(rests, "the picture comes to rest")
        return seen[-1]

    def keep(self, name):
        """Keep a screenshot to be looked at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.browser.screenshot(path=SCREENSHOTS / f"{name}.png")

    def reading(self, name, column=1):
        """A number of a table of the panel, as text."""
        row = self.browser.locator(f'tr:has(td:text-is("{name}"))')
        return row.locator("td").nth(column).inner_text()

    def number(self, name, column=1):
        return float(self.reading(name, column))

    def status(self, name):
        """What the bar at the top tells: time, factor, method, warnings."""
        return self.browser.locator(f"#{name}").inner_text()

    def foreign(self):
        """What viser shows of its own, in whatever picture is loaded or being loaded."""
        frames = [frame for frame in self.browser.frames if "/canvas/" in frame.url]
        return [text for frame in frames for text in frame.evaluate(_FOREIGN)]

    def told(self):
        """Texts of the messages on the screen."""
        return " ".join(self.browser.get_by_role("alert").all_inner_texts())


def difference(a, b):
    """Share of the pixels that differ visibly between two pictures."""
    if a.shape != b.shape:
        return 1.0
    return float(np.mean(np.abs(a - b).max(axis=2) > 12))


def colors(picture):
    """How many different colours there are, roughly."""
    coarse = (picture // 16).reshape(-1, 3)
    return len(np.unique(coarse, axis=0))


def pixels(png):
    """Of a picture: rows × columns × 3."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), np.int16)
