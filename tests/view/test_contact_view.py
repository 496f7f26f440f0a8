"""Contacts on the page: dots and arrows, told by sessions while they are watched, seen in a browser."""

import time

import numpy as np
import pytest

from helpers import browser as browsers
from helpers.page import Visitor
from helpers.processes import wait_until
from helpers.scenery import SIDE, G, boxes, ground, on_page
from linkwork import Simulation, scene
from linkwork.live.session import Session
from linkwork.stage.bounds import typical_size
from linkwork.view.nodes import LAYERS, SHOWN, SLIDES_COLOR, STICKS_COLOR

browser = pytest.fixture(scope="module")(browsers.launched)


@pytest.fixture(scope="module")
def resting():
    """Two boxes on each other on the floor, and one that slides over it; after a few steps."""
    places = ((0.0, 0.0, SIDE / 2), (0.0, 0.0, 1.5 * SIDE), (1.0, 0.0, SIDE / 2))
    model = boxes(ground(), at=places, mass=2.0, speeds=(0.0, 0.0, 1.0))
    simulation = Simulation(model, method="simgc", dt=1e-3)
    simulation.run(0.02)
    return model, simulation


def test_arrays_tell_what_touches_tell(resting):
    _, simulation = resting
    told, arrays = simulation.touches(), simulation.method.touch_arrays()
    assert len(told) == len(arrays.points) == 12
    np.testing.assert_array_equal(arrays.points, [touch.point for touch in told])
    np.testing.assert_array_equal(arrays.slides, [touch.slides for touch in told])
    for touch, normal, force in zip(told, arrays.normals, arrays.forces, strict=True):
        way = -1.0 if touch.b == "floor" else 1.0
        np.testing.assert_array_equal(normal, way * np.array(touch.normal))
        on_b = touch.force * np.array(touch.normal) + np.array(touch.friction)
        np.testing.assert_allclose(force, way * on_b, rtol=1e-12, atol=1e-12 * G)
    # On bodies, never on the floor: upwards, and together what they weigh. The solver ends when velocities change by
    # less than 1e-7 m/s, which is 1e-4 m/s² in a step of 1 ms.
    on_floor = arrays.points[:, 2] < SIDE / 2
    assert (arrays.forces[on_floor, 2] > 0.0).all()
    assert arrays.forces[on_floor, 2].sum() == pytest.approx(3 * 2.0 * G, abs=3 * 2.0 * 1e-3)
    # Sliding friction is the coefficient times the normal force, against the motion.
    sliding = arrays.forces[arrays.slides]
    assert len(sliding) == 4
    assert sliding[:, 0].sum() == pytest.approx(-0.5 * 2.0 * G, rel=1e-3)


def test_contacts_are_dots_and_arrows(resting):
    model, simulation = resting
    page, nodes, _ = on_page(model)
    assert "contacts" in LAYERS
    assert "contacts" not in SHOWN
    touches = simulation.touches()
    arrays = simulation.method.touch_arrays()
    nodes.show("contacts", True)
    nodes.touch(arrays.points, arrays.forces, arrays.slides)
    weight = 2.0 * G
    for kind, color, slides in (("sticks", STICKS_COLOR, False), ("slides", SLIDES_COLOR, True)):
        some = [touch for touch in touches if touch.slides is slides]
        dots, arrows = page.nodes[f"/contacts/{kind}/dots"], page.nodes[f"/contacts/{kind}/arrows"]
        assert dots.colors == arrows.colors == color
        np.testing.assert_allclose(dots.points, [touch.point for touch in some])
        np.testing.assert_allclose(arrows.points[:, 0], dots.points)
        lengths = np.linalg.norm(arrows.points[:, 1] - arrows.points[:, 0], axis=1)
        forces = [np.hypot(touch.force, np.linalg.norm(touch.friction)) for touch in some]
        # A body's weight is half a body long.
        half = 0.5 * typical_size(nodes.stage)
        np.testing.assert_allclose(lengths, half * np.array(forces) / weight, rtol=1e-9)
    # A blow is not longer than the stage allows, and points the same way.
    nodes.touch(arrays.points, 1e6 * arrays.forces, arrays.slides)
    arrows = page.nodes["/contacts/sticks/arrows"].points
    way = arrows[:, 1] - arrows[:, 0]
    np.testing.assert_allclose(np.linalg.norm(way, axis=1), 0.35 * nodes.size)
    strong = arrays.forces[~arrays.slides]
    np.testing.assert_allclose(
        way / np.linalg.norm(way, axis=1)[:, None],
        strong / np.linalg.norm(strong, axis=1)[:, None],
        atol=1e-9,
    )


def test_contacts_vanish_when_nothing_touches_and_bodies_are_glass_meanwhile(resting):
    model, simulation = resting
    page, nodes, _ = on_page(model)
    arrays = simulation.method.touch_arrays()
    nodes.touch(arrays.points, arrays.forces, arrays.slides)
    assert page.under("/contacts") == {}  # not shown yet
    nodes.show("contacts", True)
    assert len(page.under("/contacts")) == 4
    assert all(node.opacity < 0.5 for node in page.under("/bodies/").values())
    nodes.color(by_component=True)
    assert all(node.opacity < 0.5 for node in page.under("/bodies/").values())
    stick = ~arrays.slides
    nodes.touch(arrays.points[stick], arrays.forces[stick], arrays.slides[stick])
    assert set(page.under("/contacts")) == {"/contacts/sticks/dots", "/contacts/sticks/arrows"}
    none = np.empty((0, 3))
    nodes.touch(none, none, np.empty(0, bool))
    assert page.under("/contacts") == {}
    nodes.show("contacts", False)
    assert all(node.opacity is None for node in page.under("/bodies/").values())


def test_without_weight_arrows_are_as_long_as_the_strongest_allows():
    model = boxes(ground())
    model.gravity = (0.0, 0.0, 0.0)
    page, nodes, _ = on_page(model)
    nodes.show("contacts", True)
    forces = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
    nodes.touch(np.zeros((2, 3)), forces, np.zeros(2, bool))
    arrows = page.nodes["/contacts/sticks/arrows"].points
    np.testing.assert_allclose(arrows[:, 1, 2], [0.35 * nodes.size, 0.175 * nodes.size])


def test_a_session_tells_contacts_while_they_are_watched(resting):
    model, _ = resting
    with Session(model, paused=True) as session:
        assert session.touching
        session.loop.step(20).result()
        assert session.look() is not None
        assert session.contacts is None
        session.watch_contacts(True)
        wait_until(lambda: session.contacts is not None, "contacts come, even while it is paused")
        assert len(session.contacts.points) == 12
        before = session.contacts
        session.loop.step(5).result()
        session.look()
        wait_until(lambda: session.contacts is not before, "new contacts come with new pictures")
        now = session.loop.do(lambda simulation: simulation.touches()).result()
        np.testing.assert_array_equal(session.contacts.points, [touch.point for touch in now])
        session.reset().result()
        session.look()
        wait_until(lambda: not len(session.contacts.points), "nothing has touched at the start")
        session.watch_contacts(False)
        session.loop.step().result()
        session.look()
        assert session.contacts is None
        assert session.report["contacts"] == 3
        assert session.report["depth"] >= 0.0
    session.look()  # ended: nothing more comes, and nothing fails


def test_what_cannot_touch_has_no_contacts():
    with Session(scene("a01_pendulum"), paused=True) as session:
        assert not session.touching
        session.watch_contacts(True)
        session.loop.step().result()
        session.look()
        time.sleep(0.05)
        assert session.contacts is None


# In a browser


def test_contacts_are_seen_on_the_page(browser, tmp_path):
    from linkwork.scenes import find_scene
    from linkwork.view.page import Page
    from linkwork.view.server import Server

    page = Page(Server(port=0), folder=tmp_path)
    try:
        page.open(find_scene("stack10").build())  # the model alone, which nobody pushes
        page.start()
        visitor = Visitor(page, browser)
        wait_until(lambda: visitor.number("contacts") == 10, "the panel counts contacts")
        assert visitor.number("deepest penetration") >= 0.0
        visitor.tab("View")
        why = page.session.without_reactions
        reactions = visitor.browser.locator(
            'label:text-is("Reactions")'
        )  # what the mouse is over, to read why not
        assert reactions.get_attribute("title") == f"Reactions: {why}"
        visitor.tick("Contacts")
        wait_until(lambda: page.nodes.shows("contacts"), "the layer appears")
        visitor.keep("stack10_contacts")
        visitor.tick("Bodies")  # two of them have the colour of contacts
        wait_until(lambda: _near(visitor.picture(), STICKS_COLOR) > 0.002, "dots and arrows are seen")
        assert len(page.session.contacts.points) == 40
        visitor.tick("Contacts")
        wait_until(lambda: _near(visitor.picture(), STICKS_COLOR) == 0.0, "they vanish")
        assert visitor.complaints == []
        visitor.browser.close()
    finally:
        page.close()


def _near(picture, color):
    """Share of the pixels that have about a colour."""
    return float(np.mean(np.abs(picture - np.array(color)).max(axis=2) < 24))
