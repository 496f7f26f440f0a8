"""Inner edges: what lies side by side is one surface, and what stands out of it is not.

On an even road without friction, and for wheels that roll already, nothing changes: speed and height stay to rounding.
"""

from math import cos, pi, sin

import numpy as np
import pytest

from helpers.touching import SLOP, add, both_methods, speed, spot
from linkwork import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Free,
    HeightField,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Sphere,
)
from linkwork.model.rotation import about

ACROSS = about((1.0, 0.0, 0.0), pi / 2)
ROUND = {
    "sphere": Sphere(0.1),
    "cylinder": Cylinder(0.1, 0.12, rotation=ACROSS),
    "capsule": Capsule(0.1, 0.12, rotation=ACROSS),
    "ellipsoid": Ellipsoid((0.1, 0.05, 0.1)),
}


def road(*shapes, friction=0.0):
    model = Model("road")
    model.add(Material("rough", friction=friction))
    model.add(Scenery("road", shapes=shapes, material="rough"))
    return model


def tiles(seed=1, count=20, least=0.3, most=1.7):
    """Boxes of many sizes side by side along x, with even tops; the first one begins at -1."""
    random = np.random.default_rng(seed)
    made, at = [], -1.0
    for _ in range(count):
        length, thick = random.uniform(least, most), random.uniform(0.05, 0.3)
        made.append(Box((length, 4.0, thick), at=(at + 0.5 * length, 0.0, -0.5 * thick)))
        at += length
    return made, at


@pytest.mark.parametrize("sunk", [0.0, 0.5 * SLOP], ids=["on", "in"])
@pytest.mark.parametrize("sizes", [(0.3, 1.7), (0.03, 0.2)], ids=["large", "small"])
@pytest.mark.parametrize("pace", [1.0, 20.0])
@pytest.mark.parametrize("turned", [0.0, 0.3])
def test_a_box_slides_over_tiles(pace, turned, sizes, sunk):
    shapes, end = tiles(least=sizes[0], most=sizes[1])
    model = road(*shapes)
    box = Box((0.2, 0.2, 0.1), rotation=about((0.0, 0.0, 1.0), turned))
    add(model, "box", box, 0.05 - sunk, along=-0.8, velocity=(pace, 0, 0, 0, 0, 0))
    sim = Simulation(model)
    sim.step(int((end + 0.6) / pace / 1e-3))
    assert speed(sim, "box") == pytest.approx((pace, 0.0, 0.0), abs=1e-6)
    assert spot(sim, "box")[2] == pytest.approx(0.05 - sunk, abs=1e-6)


@pytest.mark.parametrize("pace", [1.0, 20.0])
@pytest.mark.parametrize("shape", ROUND)
def test_wheels_roll_over_tiles(shape, pace):
    shapes, end = tiles()
    model = road(*shapes, friction=0.5)
    add(model, "wheel", ROUND[shape], 0.1, velocity=(pace, 0, 0, 0, pace / 0.1, 0))
    sim = Simulation(model)
    record = sim.run(round((end - 0.2) / 20.0, 2) if pace > 1.0 else 3.0, every=1e-3, reactions=False)
    assert np.abs(record["wheel_way.z"]).max() <= SLOP
    assert sim["wheel_way.x_rate"] == pytest.approx(pace, abs=1e-6)


@both_methods
def test_a_kerb_stops_what_slides(way):
    for height in (0.01, 1e-4):
        model = road(Box((2.0, 2.0, 0.1), at=(0, 0, -0.05)), Box((1.0, 2.0, 0.1), at=(1.5, 0, height - 0.05)))
        at, shape = (0.0, 0.0, 0.05), Box((0.2, 0.2, 0.1))
        # So hard to turn that it does not trip over the kerb: by less than 1e-6 rad a second after the impact.
        model.add(Body("box", at=at, mass=1.0, inertia=(1e5,) * 3, shapes=(shape,), material="rough"))
        model.add(Free("way", "ground", "box", at=at, velocity=(1.0, 0, 0, 0, 0, 0)))
        sim = Simulation(model, **way)
        sim.step(1500)
        assert spot(sim, "box")[0] == pytest.approx(0.9, abs=2 * SLOP)
        assert abs(speed(sim, "box")[0]) < 1e-6


def test_a_kerb_lifts_a_wheel():
    # Without friction a ball that meets an edge keeps the part of its motion across the line to its centre.
    radius, height, pace = 0.1, 0.01, 2.0
    model = road(Box((2.0, 2.0, 0.1), at=(0, 0, -0.05)), Box((1.0, 2.0, 0.1), at=(1.5, 0, height - 0.05)))
    add(model, "ball", Sphere(radius), radius, velocity=(pace, 0, 0, 0, 0, 0))
    sim = Simulation(model, dt=1e-4)
    reach = np.sqrt(radius**2 - (radius - height) ** 2)
    sim.step(int((1.0 - reach) / pace / 1e-4) + 3)
    slope = np.arccos(1.0 - height / radius)  # of the line from the edge to the centre
    after = pace * cos(slope)
    # To first order: it is met up to a step early, and turns by pace dt / radius a step.
    assert speed(sim, "ball") == pytest.approx((after * cos(slope), 0, after * sin(slope)), abs=0.02)


def test_a_box_that_is_even_with_a_plane():
    model = road(Plane(), Box((0.5, 0.5, 0.2), at=(0.6, 0, -0.1)), Box((0.1, 4.0, 0.1), at=(3.0, 0, 0.03)))
    add(model, "box", Box((0.2, 0.2, 0.1)), 0.05 - 0.5 * SLOP, velocity=(1.0, 0, 0, 0, 0, 0))
    sim = Simulation(model)
    sim.step(2000)
    assert speed(sim, "box") == pytest.approx((1.0, 0.0, 0.0), abs=1e-6)
    sim.step(2000)  # the last one stands out by 8 cm
    assert spot(sim, "box")[0] == pytest.approx(2.85, abs=2 * SLOP)


def test_a_deck_that_is_even_with_terrain():
    terrain = HeightField((2.0, 2.0), heights=[[0.0] * 5] * 5, at=(-1.0, 0.0, 0.0))
    beyond = HeightField((2.0, 2.0), heights=[[0.0] * 5] * 5, at=(2.0, 0.0, 0.0))
    for shape, above in ((Box((0.2, 0.2, 0.1)), 0.05), (Sphere(0.1), 0.1)):
        model = road(terrain, Box((1.0, 2.0, 0.1), at=(0.5, 0, -0.05)), beyond)
        add(model, "thing", shape, above - 0.5 * SLOP, along=-1.0, velocity=(5.0, 0, 0, 0, 0, 0))
        sim = Simulation(model)
        sim.step(700)
        assert speed(sim, "thing") == pytest.approx((5.0, 0.0, 0.0), abs=1e-6)
        assert spot(sim, "thing")[2] == pytest.approx(above - 0.5 * SLOP, abs=1e-6)


def test_a_body_of_several_shapes_slides_over_an_edge():
    # What the runners of a sled are made of does not catch at the end of a narrow bar either.
    parts = tuple(Box((0.1, 0.2, 0.1), at=(0.1 * k, 0, 0)) for k in (-1.0, 0.0, 1.0))
    model = road(Box((4.0, 0.05, 0.1), at=(1.0, 0, -0.05)))
    at = (0.0, 0.0, 0.05 - 0.5 * SLOP)
    model.add(Body("sled", at=at, mass=1.0, inertia=(0.01, 0.01, 0.01), shapes=parts, material="rough"))
    model.add(Free("way", "ground", "sled", at=at, velocity=(1.0, 0, 0, 0, 0, 0)))
    sim = Simulation(model)
    sim.step(2000)
    assert speed(sim, "sled") == pytest.approx((1.0, 0.0, 0.0), abs=1e-6)


def test_a_ball_over_the_ridge_of_a_roof():
    # Up one side, slowly enough over the ridge not to leave it, and down the other: energy is kept.
    tilt, length = 0.1, 2.0
    placed = []
    for s in (-1.0, 1.0):  # their upper edges meet at the origin
        x, z = -s * 0.5 * length, 0.1
        edge = (cos(tilt) * x + s * sin(tilt) * z, -s * sin(tilt) * x + cos(tilt) * z)
        turn = about((0.0, 1.0, 0.0), s * tilt)
        placed.append(Box((length, 1.0, 0.2), at=(-edge[0], 0.0, -edge[1]), rotation=turn))
    model = road(*placed)
    up = np.array([cos(tilt), 0.0, sin(tilt)])
    start = -1.0 * up + 0.1 * np.array([-sin(tilt), 0.0, cos(tilt)])
    at, pace = tuple(map(float, start)), float(np.sqrt(0.5**2 + 2 * 9.81 * (0.1 - start[2])))
    model.add(Body("ball", at=at, mass=1.0, shapes=(Sphere(0.1),), material="rough"))
    model.add(Free("way", "ground", "ball", at=at, velocity=(*(pace * up), 0, 0, 0)))
    sim = Simulation(model)
    sim.step(1600)
    moved, now = spot(sim, "ball"), speed(sim, "ball")
    assert moved[0] > 0.3
    below = np.array([sin(tilt), 0.0, cos(tilt)])
    assert moved @ below >= 0.1 - SLOP
    gained = 0.5 * now @ now + 9.81 * moved[2] - (0.5 * pace**2 + 9.81 * start[2])
    # First order: half a step of the work of gravity, g sin(tilt) v h / 2, at both ends of the way, where its sign is
    # not the same, and where it turns v² h/r a radian.
    assert abs(gained) < 1e-3 * 9.81 * tilt * pace + 0.5**3 * 1e-3 / 0.1 * 2 * tilt
