"""What travels stays in view, and traces pale."""

import numpy as np
import pytest

from helpers.pictured import body, stage
from helpers.processes import PATIENCE
from linkwork.live.session import Session
from linkwork.model.shapes import Box
from linkwork.scenes import live_settings, open_subject
from linkwork.stage.bounds import extent
from linkwork.stage.stage import Poses
from linkwork.view import ahead as view_ahead
from linkwork.view.ahead import Ahead, focus, look_ahead
from linkwork.view.nodes import _faded
from linkwork.view.page import Page
from linkwork.view.server import Server

TWO = stage(body("light", Box((1.0, 1.0, 1.0))), body("heavy", Box((1.0, 1.0, 1.0))))


def moved(*ends):
    """Two boxes side by side that move to these places in ten poses."""
    start = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    share = np.linspace(0.0, 1.0, 10)[:, None, None]
    return start + share * (np.array(ends) - start), np.tile([1.0, 0.0, 0.0, 0.0], (10, 2, 1))


@pytest.mark.parametrize(
    ("ends", "followed"),
    [
        (((0.0, 50.0, 0.0), (2.0, 49.0, 0.0)), "light"),  # as heavy: the first
        (((0.0, 0.0, 0.0), (50.0, 0.0, 0.0)), None),  # one stays
        (((0.0, 1.0, 0.0), (2.0, 1.0, 0.0)), None),  # not far
    ],
)
def test_what_travels_is_followed(ends, followed):
    poses = moved(*ends)
    found, seen = focus(TWO, Ahead(*poses, 1.0))
    assert found == followed
    # Half of it foretells the rest.
    half = Ahead(poses[0][:5], poses[1][:5], 0.45)
    assert focus(TWO, half)[0] == followed
    size = float(np.ptp(seen, axis=0).max())
    assert size < 5.0 if followed else size == pytest.approx(np.ptp(extent(TWO, *poses), axis=0).max())


def test_what_goes_on_at_its_pace_is_seen_to_its_end():
    """Half of a way was looked at: the rest once was out of the picture."""
    positions, rotations = moved((0.0, 3.0, 0.0), (2.0, 3.0, 0.0))
    _, whole = focus(TWO, Ahead(positions, rotations, 1.0))
    followed, seen = focus(TWO, Ahead(positions[:5], rotations[:5], 4 / 9))
    assert followed is None
    np.testing.assert_allclose(seen, whole)


@pytest.mark.parametrize(
    ("name", "followed"), [("iltis", "chassis"), ("incline_slider", "block"), ("a01_pendulum", None)]
)
def test_scenes_that_leave_the_view_are_followed(name, followed):
    model, scene = open_subject(name, live_settings(name, {}))
    session = Session(model, scene=scene)
    found, seen = focus(session.stage, look_ahead(session))
    assert found == followed
    # The picture is of it, not of all of its way: the Iltis is 4 m long and drives 25.
    assert np.ptp(seen, axis=0).max() < 8.0


@pytest.mark.parametrize(("name", "pushed"), [("stack10", "box10"), ("mass_ratio", "heavy")])
def test_what_a_scene_pushes_by_itself_is_seen_to_its_end(name, pushed, monkeypatch):
    for limit in ("_PATIENCE", "_LONGEST"):  # how far one sees must not depend on the clock
        monkeypatch.setattr(view_ahead, limit, PATIENCE)
    model, scene = open_subject(name, {})
    session = Session(model, scene=scene, budget=PATIENCE)  # iterations must not depend on the clock
    ahead = look_ahead(session)
    way = ahead.positions[:, session.stage.index(pushed)]
    assert np.linalg.norm(way[-1] - way[0]) > 0.3
    _, (low, high) = focus(session.stage, ahead)
    assert (low <= way.min(axis=0)).all()
    assert (high >= way.max(axis=0)).all()
    # Nothing of it is left: looked at again, it is the same.
    assert session.loop.simulation.time == 0.0
    again = look_ahead(session).positions
    np.testing.assert_array_equal(again, ahead.positions[: len(again)])


def test_what_is_followed_stays_where_it_is_in_the_picture(tmp_path):
    page = Page(Server(port=0), folder=tmp_path, paused=True)
    try:
        page.open("incline_slider")
        shown = page.shown
        start, here = shown.camera_of("best", 1.6), page.session.view.poses
        way = np.array([3.0, 0.0, -2.0])
        shown.move(Poses(here.positions + way, here.rotations))
        np.testing.assert_allclose(shown.nodes.shift, way)
        assert shown.camera_of("best", 1.6) == start
        shown.follow(None)
        shown.move(Poses(here.positions + 2.0 * way, here.rotations))
        np.testing.assert_allclose(shown.nodes.shift, way)  # nothing jumps, and it drives away
        shown.follow("block")
        shown.move(Poses(here.positions + 3.0 * way, here.rotations))
        np.testing.assert_allclose(shown.nodes.shift, 2.0 * way)
    finally:
        page.close()


def test_the_older_a_trace_the_paler():
    colors = _faded((213, 94, 0), 50)
    assert colors.shape == (49, 2, 3)
    assert tuple(colors[-1, 1]) == (213, 94, 0)
    assert (np.diff(np.ptp(colors[:, 0].astype(int), axis=1)) >= 0).all()
    assert np.ptp(colors[0, 0].astype(int)) < 40
