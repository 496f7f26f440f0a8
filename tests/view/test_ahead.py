"""Cameras go with what travels, and traces pale."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.pictured import body, stage
from linkwork.live.session import Session
from linkwork.model.shapes import Box
from linkwork.scenes import live_settings, open_subject
from linkwork.stage.bounds import extent
from linkwork.view.ahead import Ahead, focus, look_ahead
from linkwork.view.camera import Camera, go_along
from linkwork.view.nodes import _faded

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


def test_a_camera_goes_along_on_the_same_side():
    camera = SimpleNamespace(position=np.array([1.0, -5.0, 2.0]), look_at=np.array([0.0, 0.0, 0.5]))
    go_along(camera, np.array([10.0, 0.0, 0.5]))
    np.testing.assert_allclose(camera.position, [11.0, -5.0, 2.0])
    np.testing.assert_allclose(camera.look_at, [10.0, 0.0, 0.5])
    aimed = Camera((0.0, -3.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    go_along(camera, np.array([20.0, 0.0, 0.0]), aimed)
    np.testing.assert_allclose(camera.position, [20.0, -3.0, 0.0])


def test_the_older_a_trace_the_paler():
    colors = _faded((213, 94, 0), 50)
    assert colors.shape == (49, 2, 3)
    assert tuple(colors[-1, 1]) == (213, 94, 0)
    assert (np.diff(np.ptp(colors[:, 0].astype(int), axis=1)) >= 0).all()
    assert np.ptp(colors[0, 0].astype(int)) < 40
