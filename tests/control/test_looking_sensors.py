"""Sensors that look between steps: contact, what joints transmit, distances along rays."""

import math

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Hinge,
    Material,
    Model,
    ModelError,
    Plane,
    Scenery,
    Simulation,
    Slider,
    Sphere,
    Torus,
    UnsupportedError,
)
from linkwork.compile.colliders import records_of, solids_of
from linkwork.control import ContactSensor, DriveCommand, Gain, LoadCell, RangeFinder
from linkwork.engine.contact.ray import meet
from linkwork.engine.elements import TorqueSource

G = 9.81
ROUGH = np.random.default_rng(3).uniform(0.0, 0.6, (7, 9))
HEIGHTS = tuple(map(tuple, ROUGH.tolist()))


def resting(*blocks, material="rubber"):
    """A ball that drops on a floor, and a box that lies on it elsewhere."""
    model = Model("resting")
    model.add(Material("rubber", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(),), material="rubber"))
    model.add(Body("ball", at=(0.0, 0.0, 0.5), mass=2.0, shapes=(Sphere(0.1),), material=material))
    model.add(Body("box", at=(1.0, 0.0, 0.05), mass=3.0, shapes=(Box((0.1, 0.1, 0.1)),), material="rubber"))
    for block in blocks:
        model.add(block)
    return model


# --- rays ---


def made(shape):
    """The record of a shape, and hulls."""
    scenery = Scenery("one", shapes=(shape,))
    solids, parts, _ = solids_of([scenery])
    records, hulls = records_of(solids["one"], parts)
    return records[0], hulls


def rays(count, seed=5):
    """From around towards the middle."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.normal(size=3)
        x *= rng.uniform(1.3, 4.0) / np.linalg.norm(x)
        d = rng.uniform(-0.7, 0.7, 3) - x
        yield x, d / np.linalg.norm(d)


GEOMS = {
    "box": (Box((0.8, 0.6, 1.0)), 'type="box" size=".4 .3 .5"'),
    "sphere": (Sphere(0.5), 'type="sphere" size=".5"'),
    "capsule": (Capsule(0.3, 0.8), 'type="capsule" size=".3 .4"'),
    "cylinder": (Cylinder(0.4, 0.9), 'type="cylinder" size=".4 .45"'),
    "ellipsoid": (Ellipsoid((0.5, 0.3, 0.7)), 'type="ellipsoid" size=".5 .3 .7"'),
    "heights": (HeightField((2.0, 1.6), heights=HEIGHTS), 'type="hfield" hfield="h"'),
}


@pytest.mark.parametrize("kind", GEOMS)
def test_rays_meet_shapes_where_another_engine_has_them(kind):
    mujoco = pytest.importorskip("mujoco")
    shape, geom = GEOMS[kind]
    low, high = ROUGH.min(), ROUGH.max()
    field = f'<asset><hfield name="h" nrow="7" ncol="9" size="1 .8 {high - low} 1"/></asset>'
    field, place = (field, f'pos="0 0 {low}"') if kind == "heights" else ("", "")
    other = mujoco.MjModel.from_xml_string(
        f"<mujoco>{field}<worldbody><geom {geom} {place}/></worldbody></mujoco>"
    )
    if kind == "heights":
        other.hfield_data[:] = ((ROUGH - low) / (high - low)).ravel()  # in single precision there
    data = mujoco.MjData(other)
    mujoco.mj_forward(other, data)
    record, hulls = made(shape)
    met = 0
    for x, d in rays(400):
        if kind == "heights" and x[2] < 0.7:
            continue
        theirs = mujoco.mj_ray(other, data, x, d, None, 1, -1, np.zeros(1, np.int32), None)
        ours = meet(record, hulls, tuple(x), tuple(d), math.inf)
        assert math.isinf(ours) == (theirs < 0.0), (x, d)
        if theirs >= 0.0:
            met += 1
            assert ours == pytest.approx(theirs, abs=2e-6 if kind == "heights" else 1e-9)
    assert met > 50


def test_a_ray_meets_a_smooth_field_where_its_surface_is():
    from linkwork.engine.contact.heights_spline import height_at, make_sheet

    record, hulls = made(HeightField((2.0, 1.6), heights=HEIGHTS, smooth=True))
    sheet = make_sheet(record, hulls)

    def above(x, d, t):
        y = x + t * d
        return y[2] - height_at(sheet, y[0], y[1])[0]

    met = 0
    for x, d in rays(200):
        t = meet(record, hulls, tuple(x), tuple(d), math.inf)
        if x[2] < 0.8 or math.isinf(t):
            continue
        y = x + t * d
        if abs(y[0]) < 0.999 and abs(y[1]) < 0.799:  # on the surface, not at the rim
            met += 1
            assert above(x, d, t) == pytest.approx(0.0, abs=1e-9)
        way = np.linspace(0.0, t - 1e-6, 300)
        inside = [s for s in way if (abs((x + s * d)[:2]) < (1.0, 0.8)).all()]
        assert all(above(x, d, s) > 0.0 for s in inside)
    assert met > 30


def test_a_ray_meets_a_torus_with_its_hole_closed():
    record, hulls = made(Torus(0.4, 0.1))
    assert meet(record, hulls, (0.0, 0.0, 2.0), (0.0, 0.0, -1.0), 9.0) == pytest.approx(1.9)
    assert meet(record, hulls, (2.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 9.0) == pytest.approx(1.5)
    assert math.isinf(meet(record, hulls, (2.0, 0.0, 0.2), (-1.0, 0.0, 0.0), 9.0))
    assert math.isinf(meet(record, hulls, (2.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 1.4))
    assert meet(record, hulls, (0.1, 0.1, 0.05), (1.0, 0.0, 0.0), 9.0) == 0.0  # from within


def test_a_range_finder_sees_the_floor_and_other_bodies_but_not_its_own():
    down = {"direction": (0.0, 0.0, -2.0), "reach": 2.0, "sample_time": 0.01}
    model = resting(
        RangeFinder("down", "ball", **down),
        RangeFinder("short", "ball", **{**down, "reach": 0.2}),
        RangeFinder("aside", "box", at=(0.0, 0.0, 0.45), direction=(-1.0, 0.0, 0.0)),
    )
    record = Simulation(model).run(0.2, every=0.01)
    height = record["ball.position.z"]
    # What it saw at an instant is there with the step after it.
    np.testing.assert_allclose(record["down.distance"][1:], height[:-1], atol=1e-12)
    assert record["down.hit"][1:].all()
    assert record["short.distance"][5] == 0.2
    assert record["short.hit"][5] == 0.0
    assert record["aside.distance"][1] == pytest.approx(0.9, abs=1e-3)  # the ball, while it is there
    assert record["aside.hit"][-1] == 0.0


def test_a_door_stops_before_what_its_range_finder_sees():
    model = Model("door", gravity=(0.0, 0.0, 0.0))
    model.add(Body("door", at=(0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Scenery("wall", at=(2.0, 0.0, 0.0), shapes=(Box((0.2, 1.0, 1.0)),)))
    model.add(Slider("rail", "ground", "door", axis=(1.0, 0.0, 0.0), damping=4.0))
    model.add(TorqueSource("push", "rail"))
    model.add(RangeFinder("eye", "door", direction=(1.0, 0.0, 0.0), sample_time=0.02))
    model.add(Gain("law", "eye.distance", 3.0, offset=-1.5, unit="N"))
    model.add(DriveCommand("act", "push", "law"))
    simulation = Simulation(model)
    simulation.run(20.0)
    assert simulation["rail.travel"] == pytest.approx(1.4, abs=1e-6)  # half a metre before the wall at 1.9


# --- contact ---


@pytest.mark.parametrize(
    "options", [{}, {"solver": "impulses"}, {"integrator": "rk4"}, {"integrator": "adaptive"}]
)
def test_what_lies_on_a_floor_is_felt_by_its_weight(options):
    model = resting(
        ContactSensor("feel", "ball"),
        ContactSensor("floor_feels", "box", "floor", sample_time=0.002),
        ContactSensor("each_other", "ball", "box"),
    )
    record = Simulation(model, **options).run(1.5, every=0.05)
    assert record["feel.touching"][3] == 0.0
    assert record["feel.force"][3] == 0.0
    assert record["feel.touching"][-1] == 1.0
    assert record["feel.z"][-1] == pytest.approx(2.0 * G, rel=1e-6)
    assert record["feel.force"][-1] == pytest.approx(2.0 * G, rel=1e-6)
    assert record["floor_feels.z"][-1] == pytest.approx(3.0 * G, rel=1e-6)
    assert not record["each_other.touching"].any()


# --- joints ---


@pytest.mark.parametrize(
    "options", [{}, {"method": "simmc"}, {"integrator": "rk4"}, {"integrator": "adaptive"}]
)
def test_a_load_cell_feels_what_a_swinging_pendulum_pulls(options):
    """A point mass on a rod: m (g cos φ + l φ'²) along it, whatever it does across."""
    model = Model("pendulum")
    model.add(Body("bob", mass=2.0, at=(0.0, 0.0, -1.5), inertia=(1e-9, 1e-9, 1e-9)))
    model.add(Hinge("pin", "ground", "bob", axis=(0.0, 1.0, 0.0), velocity=4.0))
    model.add(LoadCell("cell", "pin", sample_time=0.05))
    record = Simulation(model, **options).run(1.0, every=0.05)
    angle, rate = record["pin.angle"], record["pin.angle_rate"]
    pull = 2.0 * (G * np.cos(angle) + 1.5 * rate**2)
    felt = record["cell.fx"][1:] * np.sin(angle[:-1]) + record["cell.fz"][1:] * np.cos(angle[:-1])
    np.testing.assert_allclose(felt, pull[:-1], rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(record["cell.ty"], 0.0, atol=1e-6)


def test_methods_that_do_not_know_reactions_refuse_load_cells_by_name():
    model = resting(LoadCell("cell", "pin"))
    model.add(Body("arm", at=(3.0, 0.0, 1.0), mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("pin", "ground", "arm", at=(3.0, 0.0, 2.0), axis=(0.0, 1.0, 0.0)))
    with pytest.raises(UnsupportedError, match="load cell 'cell'"):
        Simulation(model, solver="impulses")


# --- instants ---


def everything():
    return resting(
        ContactSensor("feel", "ball", sample_time=0.007),
        RangeFinder("down", "ball", direction=(0.0, 0.0, -1.0), sample_time=0.013),
    )


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}, {"integrator": "adaptive"}])
def test_looks_are_the_same_bits_in_every_rerun_and_after_resume(options, tmp_path):
    first = Simulation(everything(), **options)
    whole = first.run(0.6, every=0.05)
    first.reset()
    again = first.run(0.6, every=0.05)
    half = Simulation(everything(), **options)
    half.run(0.3, every=0.05)
    half.save_state(tmp_path / "half.h5")
    other = Simulation(everything(), **options)
    other.load_state(tmp_path / "half.h5")
    rest = other.run(0.3, every=0.05)
    for name in ("feel.z", "down.distance", "ball.position.z"):
        np.testing.assert_array_equal(again[name], whole[name])
        np.testing.assert_array_equal(rest[name][1:], whole[name][-len(rest[name]) + 1 :])


def test_steps_of_fixed_size_look_at_the_end_of_the_first_step_from_an_instant_on():
    model = resting(RangeFinder("down", "ball", direction=(0.0, 0.0, -1.0), sample_time=0.0025))
    simulation = Simulation(model, dt=1e-3)
    seen = []
    for _ in range(12):
        simulation.step()
        seen.append(simulation["down.distance"])
    changes = [k for k in range(1, 12) if seen[k] != seen[k - 1]]
    assert changes == [3, 5, 8, 10]  # looked after steps 3, 5, 8, 10: in force with the step after


# --- what is wrong ---


@pytest.mark.parametrize(
    ("block", "what"),
    [
        (ContactSensor("feel", "ball"), "touches nothing"),
        (ContactSensor("feel", "box", "ball"), "'ball' touches nothing"),
        (ContactSensor("feel", "box", "flor"), "did you mean 'floor'"),
        (ContactSensor("feel", "box", "box"), "shapes of one body never touch"),
        (LoadCell("cell", "pin"), "there is no joint 'pin'"),
        (RangeFinder("eye", "bal"), "did you mean 'ball'"),
    ],
)
def test_sensors_that_can_see_nothing_are_told_before_the_run(block, what):
    with pytest.raises(ModelError, match=what):
        Simulation(resting(block, material=None))


def test_a_ray_points_somewhere():
    with pytest.raises(ModelError, match="zero vector"):
        RangeFinder("eye", "ball", direction=(0.0, 0.0, 0.0))
