"""The channel of the page and the controls that it carries, without a browser."""

import asyncio
import json
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("viser", reason="no viser found: tests of the page were LEFT OUT; install linkwork[view]")

from websockets.sync.client import connect

from helpers.processes import PATIENCE, wait_until
from linkwork import Body, Box, Model, Slider, scene
from linkwork.live.session import Session
from linkwork.stage.stage import stage_of
from linkwork.view.channel import Channel, Visitor
from linkwork.view.gui import Gui
from linkwork.view.page import Page
from linkwork.view.panel.plots import grouped
from linkwork.view.server import Server
from linkwork.view.status import clock


class Browser:
    """A page without a screen: keeps the panel and notes as a real one would."""

    def __init__(self, server, name="one"):
        self.link = connect(
            f"ws://127.0.0.1:{server.port}/panel/{name}",
            origin=f"http://127.0.0.1:{server.port}",
            open_timeout=PATIENCE,
            max_size=None,
        )
        self.controls, self.notes, self.told = {}, {}, []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for text in self.link:
            for message in json.loads(text):
                self._hear(message)

    def _hear(self, message):
        match message:
            case {"panel": controls}:
                self.controls = {control["id"]: control for control in controls}
            case {"add": control}:
                self.controls[control["id"]] = control
            case {"remove": key}:
                self.controls.pop(key)
            case {"set": {"id": key, **changed}}:
                self.controls[key].update(changed)
            case {"note": note}:
                self.notes.update(note)
            case {"tell": told}:
                self.told.append(told["text"])

    def control(self, label):
        return next((one for one in [*self.controls.values()] if one.get("label") == label), None)

    def send(self, **message):
        self.link.send(json.dumps(message))

    def set(self, label, value):
        self.send(set=[self.control(label)["id"], value])

    def press(self, label):
        self.send(click=self.control(label)["id"])


@pytest.fixture
def server():
    one = Server(port=0)
    yield one
    one.stop()
    one.channel.stop()


@pytest.fixture
def page(tmp_path):
    made = Page(Server(port=0), folder=tmp_path)
    made.start()
    yield made
    made.close()


def slider_model():
    model = Model("cart")
    model.add(Body("box", mass=2.0, shapes=(Box((0.6, 0.4, 0.4)),)))
    model.add(Slider("rail", "ground", "box", axis=(1.0, 0.0, 0.0)))
    return model


# --- controls ---


def test_pages_follow_what_the_server_and_other_visitors_do(server):
    gui, moved = Gui(server.channel), []
    with gui.rebuilt():
        lever = gui.add_slider("lever", 0.0, 2.0, 0.1, 1.0)
    lever.on_event(lambda event: moved.append((event.visitor.name, event.target.value)))
    one, other = Browser(server), Browser(server, "other")
    for browser in (one, other):
        wait_until(lambda browser=browser: browser.control("lever"), "the panel is there")
    one.set("lever", 1.5)
    wait_until(lambda: other.control("lever")["value"] == 1.5, "the other page follows")
    assert moved == [("one", 1.5)]
    lever.value = 0.25
    wait_until(lambda: one.control("lever")["value"] == 0.25, "pages follow the server")
    assert len(moved) == 1
    button = gui.add_button("late")
    wait_until(lambda: other.control("late"), "a control is added")
    button.remove()
    wait_until(lambda: other.control("late") is None, "a control is removed")
    with gui.rebuilt():
        gui.add_text("name", "x")
    wait_until(lambda: one.control("name") and not one.control("lever"), "the panel is another one")


def test_what_a_visitor_set_is_heard_though_the_server_sets_it_meanwhile(server):
    """A replay moves its slider with the clock: a visitor's jump must not be read off the slider after that."""
    gui, heard = Gui(server.channel), []
    lever = gui.add_slider("lever", 0.0, 2.0, 0.1, 1.0)
    lever.on_event(lambda event: setattr(lever, "value", 0.25))
    lever.on_event(lambda event: heard.append((event.value, event.target.value)))
    browser = Browser(server)
    wait_until(lambda: browser.control("lever"), "the panel is there")
    browser.set("lever", 1.5)
    wait_until(lambda: heard, "it is heard")
    assert heard == [(1.5, 0.25)]


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("lever", "high"), ("lever", None), ("lever", float("nan")), ("lever", True), ("count", 1.5), ("box", 1),
        ("list", "c"), ("list", ["a"]), ("many", "z"), ("text", "x" * 1000), ("text", 3), ("row", "no"), ("page", 1),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused_and_taken_back(server, label, value):
    gui, moved = Gui(server.channel), []
    controls = [
        gui.add_slider("lever", 0.0, 2.0, 0.1, 1.0), gui.add_number("count", 3), gui.add_checkbox("box", True),
        gui.add_dropdown("list", ["a", "b"], "a"), gui.add_picker("many", {"": ["x"], "g": ["y"]}, "x"),
        gui.add_text("text", "here"), gui.add_buttons("row", ["go"]), gui.add_folder("page"),
    ]  # fmt: skip
    for control in controls:
        control.on_event(moved.append)
    before = [control.value for control in controls]
    browser = Browser(server)
    wait_until(lambda: browser.control(label), "the panel is there")
    browser.set(label, value)
    wait_until(lambda: browser.told, "it is said")
    assert label in browser.told[0]
    assert [control.value for control in controls] == before
    assert moved == []


def test_whole_numbers_stay_whole_and_sliders_stay_in_range(server):
    gui = Gui(server.channel)
    count, lever = gui.add_number("count", 3), gui.add_slider("lever", 0.0, 2.0, 0.1, 1.0)
    browser = Browser(server)
    wait_until(lambda: browser.control("lever"), "the panel is there")
    browser.set("count", 4.0)
    browser.set("lever", 99)
    wait_until(lambda: (count.value, lever.value) == (4, 2.0), "they are set")
    assert isinstance(count.value, int)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"set": 1}', '{"set": ["a", 1]}', '{"click": "x"}', '{"open": 1}']
)
def test_nonsense_is_answered_and_does_no_harm(server, text):
    gui = Gui(server.channel)
    gui.add_text("name", "x")
    browser = Browser(server)
    browser.link.send(text)
    wait_until(lambda: browser.told, "it is said")
    browser.send(set=[999, 1])
    browser.send(click=999)
    wait_until(lambda: browser.control("name"), "the panel is there")
    browser.set("name", "y")
    wait_until(lambda: browser.control("name")["value"] == "x" and gui._controls, "it goes on")


def test_what_goes_wrong_with_an_action_is_told_to_one_visitor(server, capsys):
    gui = Gui(server.channel)
    gui.add_button("break").on_event(lambda event: 1 / 0)
    one, other = Browser(server), Browser(server, "other")
    wait_until(lambda: one.control("break") and other.control("break"), "the panel is there")
    one.press("break")
    wait_until(lambda: one.told == ["ZeroDivisionError: division by zero"], "it is told")
    assert other.told == []
    assert "ZeroDivisionError" in capsys.readouterr().err


# --- slow visitors ---


def test_news_replace_what_a_slow_visitor_has_not_fetched():
    loop = asyncio.new_event_loop()
    visitor = Visitor("slow", Channel(), loop)
    try:
        visitor.send({"add": {"id": 1}})
        for k in range(1000):
            visitor.send({"set": {"id": 1, "value": k}})
            visitor.send({"set": {"id": 1, "label": str(k)}})
            visitor.send({"note": {"status": k}})
        visitor.send({"tell": {"text": "once", "kind": "error"}})
        sent = []

        async def deliver():
            connection = SimpleNamespace(send=lambda text: asyncio.sleep(0, sent.append(text)))
            task = asyncio.create_task(visitor.deliver(connection))
            await asyncio.sleep(0.05)
            task.cancel()

        loop.run_until_complete(deliver())
        assert [json.loads(text) for text in sent] == [
            [
                {"add": {"id": 1}},
                {"set": {"id": 1, "value": 999, "label": "999"}},
                {"note": {"status": 999}},
                {"tell": {"text": "once", "kind": "error"}},
            ]
        ]
        visitor.send({"set": {"id": 1, "value": 0}})
        visitor.send({"panel": []})  # makes all of it useless
        sent.clear()
        loop.run_until_complete(deliver())
        assert [json.loads(text) for text in sent] == [[{"panel": []}]]
    finally:
        visitor.leave(wait=True)
        loop.close()


def test_of_many_moves_the_last_is_done(server):
    gui, seen, hold = Gui(server.channel), [], threading.Event()
    lever = gui.add_slider("lever", 0.0, 1000.0, 1.0, 0.0)
    lever.on_event(lambda event: (seen.append(lever.value), hold.wait(PATIENCE)))
    browser = Browser(server)
    wait_until(lambda: browser.control("lever"), "the panel is there")
    for k in range(1, 101):
        browser.set("lever", float(k))
    wait_until(lambda: seen, "the first is done")
    wait_until(lambda: server.channel.visitors[0]._moved, "others wait")
    browser.send(click=0)
    hold.set()
    wait_until(lambda: seen[-1] == 100.0, "the last is done")
    assert len(seen) < 100


def test_files_are_given_once(server):
    from http.client import HTTPConnection

    url = server.channel.offer("a b.h5", b"data")
    for status in (200, 404):
        link = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        link.request("GET", url)
        answer = link.getresponse()
        assert answer.status == status
        if status == 200:
            assert answer.read() == b"data"
            assert answer.getheader("Content-Disposition") == "attachment; filename*=UTF-8''a%20b.h5"
        link.close()


# --- the page ---


def test_progress_and_trouble_are_told_to_all_until_they_are_over(page):
    early = Browser(page.server)
    page.progress(0.5, "compiling")
    page.trouble("model.yaml:3: no such body")
    late = Browser(page.server, "late")
    for browser in (early, late):
        wait_until(lambda browser=browser: browser.notes.get("trouble"), "it is told")
        assert browser.notes["progress"] == {"share": 0.5, "text": "compiling"}
        assert browser.notes["trouble"] == "model.yaml:3: no such body"
    page.progress(None, "")
    page.trouble(None)
    wait_until(lambda: early.notes["trouble"] is late.notes["trouble"] is None, "it is over")
    assert early.notes["progress"] is None


def test_another_method_begins_anew_with_numbers_that_were_changed(page):
    page.open("a01_pendulum")
    browser = Browser(page.server)
    wait_until(lambda: browser.control("gravity"), "the panel is there")
    browser.set("gravity", 3.0)
    wait_until(lambda: page.session.changed == {"gravity": 3.0}, "gravity is changed")
    browser.set("Method", "simgc, direct")
    wait_until(lambda: page.session.names == ("simgc", "direct"), "another method runs")
    assert page.session.changed == {"gravity": 3.0}
    assert page.session.loop.simulation.model.gravity == (0.0, -3.0, 0.0)
    wait_until(lambda: browser.told, "it is said")
    assert browser.told == ["simgc, direct: begins again at 0 s; gravity stays 3"]
    wait_until(lambda: (browser.control("gravity") or {}).get("value") == 3.0, "the slider tells it")


def test_what_the_user_brought_stays_on_the_list(page):
    page.open(slider_model())
    browser = Browser(page.server)
    wait_until(lambda: browser.control("Scene"), "the panel is there")
    assert browser.control("Scene")["value"] == "cart (file)"
    browser.set("Scene", "a01_pendulum")
    wait_until(lambda: page.subject == "a01_pendulum", "a scene is opened")
    wait_until(
        lambda: (browser.control("Scene") or {}).get("value") == "a01_pendulum", "the panel is another one"
    )
    assert "cart (file)" in browser.control("Scene")["options"]
    browser.set("Scene", "cart (file)")
    wait_until(lambda: page.subject == "cart", "it is opened again")


def test_reactions_are_offered_where_there_are_any(page):
    page.open("a01_pendulum")
    browser = Browser(page.server)
    wait_until(lambda: browser.control("Reactions"), "the panel is there")
    assert not browser.control("Reactions").get("disabled")
    session = Session(scene("stack10"), folder=page.folder)
    assert "contacts" in session.without_reactions
    page.open("stack10")
    wait_until(lambda: (browser.control("Reactions") or {}).get("disabled"), "they are not offered")
    assert browser.control("Reactions")["hint"] == session.without_reactions


def test_a_step_is_seen_in_the_time():
    for dt in (0.5, 1e-2, 1e-3, 2e-4, 1e-5):
        assert float(clock(3.0 + dt, dt)) - float(clock(3.0, dt)) == pytest.approx(dt)


def test_signals_are_grouped_by_who_they_belong_to():
    names = [
        "boom.position.x",
        "boom.mass",
        "slew.angle",
        "energy.kinetic",
        "boom_cylinder.travel",
        "solver.gap",
    ]
    groups = grouped(names, stage_of(scene("excavator")))
    assert groups["boom"] == ["boom.position.x", "boom.mass"]
    assert groups["energy"] == ["energy.kinetic"]
    assert groups["slew"] == ["slew.angle"]
    assert [name for group in groups.values() for name in group] == names
    wheels = grouped(["front.left.spin", "front.left.position.x"], stage_of(scene("car")))
    assert sum(map(len, wheels.values())) == 2
