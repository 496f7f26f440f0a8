"""The floor under pictures, films and pages: no body dives below it, and what has a floor keeps it."""

from math import pi

import numpy as np
import pytest

from linkwork import Body, Box, Hinge, Model, Plane, Scenery, Simulation, Slider, Weld
from linkwork.model import GROUND
from linkwork.model.rotation import matrix
from linkwork.scenes import find_scene
from linkwork.stage.bounds import extent, floor
from linkwork.stage.geometry import body_pieces
from linkwork.stage.meshes import mesh
from linkwork.stage.stage import stage_of
from linkwork.view import film as films
from linkwork.view import picture
from linkwork.view.motion import motion, stage_in
from linkwork.view.painter import close_painter


def slider_crank():
    """A crank, a rod and a slider in front of a frame that is welded to the ground: the crank turns below its foot."""
    model = Model("slider_crank")
    model.add(Body("frame", mass=5.0, shapes=(Box((0.4, 0.1, 0.1), at=(0.2, 0.2, 0.0)),)))
    model.add(Weld("stand", GROUND, "frame"))
    model.add(Body("crank", mass=1.0, shapes=(Box((0.2, 0.02, 0.02), at=(0.1, 0.0, 0.0)),)))
    model.add(
        Body("rod", at=(0.2, 0.0, 0.0), mass=1.0, shapes=(Box((0.5, 0.02, 0.02), at=(0.25, 0.0, 0.0)),))
    )
    model.add(Body("block", at=(0.7, 0.0, 0.0), mass=1.0, shapes=(Box((0.06, 0.04, 0.04)),)))
    across = {"axis": (0.0, 1.0, 0.0)}
    # At a dead point the block stands still and the rod turns the other way.
    model.add(Hinge("shaft", "frame", "crank", velocity=2 * pi, **across))
    model.add(Hinge("pin", "crank", "rod", at=(0.2, 0.0, 0.0), velocity=-2 * pi * 0.7 / 0.5, **across))
    model.add(Hinge("eye", "rod", "block", at=(0.7, 0.0, 0.0), velocity=2 * pi * 0.2 / 0.5, **across))
    model.add(Slider("guide", "frame", "block", at=(0.7, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return model


def depths(stage, moving):
    """How high the lowest corner of all meshes is at every row [m], counted by corners alone."""
    up, lowest = np.array(stage.up), np.full(len(moving.time), np.inf)
    for piece in body_pieces(stage):
        corners = mesh(piece.mesh).vertices * piece.scale @ matrix(piece.rotation).T + piece.at
        for row in range(len(moving.time)):
            placed = corners @ matrix(moving.rotations[row, piece.body]).T + moving.positions[row, piece.body]
            lowest[row] = min(lowest[row], float((placed @ up).min()))
    return lowest


def recorded(name):
    if name == "slider_crank":
        return Simulation(slider_crank()).run(1.2, every=0.02, reactions=False)
    scene = find_scene(name)
    simulation = Simulation(scene.build(), method=scene.method, dt=scene.dt)
    return simulation.run(min(scene.duration, 6.0), every=0.05, reactions=False)


@pytest.fixture
def floors(monkeypatch):
    """Floors of all pictures and films that are made meanwhile [m]."""
    found = []

    def noting(*arguments):
        painter = close_painter(*arguments)
        found.append(painter.floor.height)
        return painter

    for module in (films, picture):
        monkeypatch.setattr(module, "close_painter", noting)
    return found


@pytest.mark.parametrize("name", ["slider_crank", "bennett", "slidercrank3d", "excavator"])
def test_no_body_dives_below_the_floor(name, floors, tmp_path):
    record = recorded(name)
    stage = stage_in(record)
    moving = motion(record, stage)
    low = depths(stage, moving)
    if name in ("slider_crank", "bennett"):  # it does go below what is welded to the ground
        assert low.min() < low[0] - 0.05
    corners = extent(stage, *moving.every)
    size = float(np.ptp(corners, axis=0).max())
    height = floor(stage, *corners)  # as the live page and replays have it
    films.film(record, tmp_path / "film.gif", width=40, height=24, fps=10)
    for t in (record.time[0], record.time[-1] / 2, record.time[-1]):
        picture.snapshot(record, t=t, width=40, height=24)
    assert len(floors) == 4
    for found in (height, *floors):
        # Not far below either: frames of a film are fewer than rows.
        assert low.min() - 0.1 * size < found < low.min() + (0.02 * size if found is floors[0] else 0.0)


def test_what_falls_for_ever_has_its_floor_near_it(floors):
    record = recorded("incline_slider")
    moving = motion(record, stage := stage_in(record))
    low = depths(stage, moving)
    picture.snapshot(record, t=0.0, width=40, height=24)
    assert low.min() < -5.0
    assert low[0] - 1.0 < floors[0] < low[0]


@pytest.mark.parametrize("height", [0.0, 0.3])
def test_a_level_plane_is_the_floor_whatever_goes_below_it(height, floors, tmp_path):
    model = slider_crank()
    model.add(Scenery("plate", at=(0.0, 0.0, height), shapes=(Plane(),)))
    record = Simulation(model).run(0.5, every=0.05, reactions=False)
    films.film(record, tmp_path / "film.gif", width=40, height=24, fps=10)
    picture.snapshot(record, width=40, height=24)
    assert floors == [height, height]


@pytest.mark.parametrize(("name", "lowest"), [("car", 0.0), ("gripper", -0.04), ("iltis", 0.0)])
def test_scenes_with_a_floor_of_their_own_keep_it(name, lowest):
    model = find_scene(name).build()
    stage, simulation = stage_of(model), Simulation(model, method=find_scene(name).method)
    moving = motion(simulation.run(0.01, reactions=False), stage)
    corners = extent(stage, *moving.every)
    size = float(np.ptp(corners, axis=0).max())
    assert lowest - 2e-3 * size <= floor(stage, *corners) <= lowest
