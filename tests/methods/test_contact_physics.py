"""Contact against mechanics: slopes, rolling, friction cones, edges.

References are analytic wherever there is one. Semi-implicit Euler is exact for velocities under constant forces: there
the tolerance is what solvers may leave in a step, TOLERANCE (direct) or `epsilon` of an impulse. Elsewhere it is
the first order in the step, and halving the step has to halve the error.
"""

import math
from math import atan, cos, hypot, pi, sin, sqrt, tan

import numpy as np
import pytest

from helpers.touching import (
    REST,
    SETTLED,
    SLOP,
    G,
    H,
    add,
    axes,
    both_methods,
    every_way,
    floored,
    some_turn,
    speed,
    spot,
    states,
)
from linkwork import (
    Body,
    Box,
    Cylinder,
    Ellipsoid,
    Force,
    Free,
    HeightField,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Sphere,
)
from linkwork.methods.contact import SUNK
from linkwork.model.rotation import about

# --- slopes ---


@every_way
def test_a_box_below_the_angle_of_friction_does_not_creep(way):
    angle = atan(0.4)
    model = floored(angle, friction=0.5)
    add(model, "box", Box((0.2, 0.2, 0.2)), 0.1, angle)
    sim = Simulation(model, **way)
    sim.step(1000)
    before = spot(sim, "box")
    sim.step(60_000)
    # 1e-9 m/s over a minute
    assert np.linalg.norm(spot(sim, "box") - before) < 6e-8
    assert np.linalg.norm(speed(sim, "box")) < REST
    total = sum(np.array(touch.friction) for touch in sim.touches())
    normal = sum(touch.force for touch in sim.touches())
    sign = 1.0 if sim.touches()[0].b == "box" else -1.0
    # What is left of a kilogram's velocity, as a force over a step
    np.testing.assert_allclose(sign * total, -G * sin(angle) * axes(angle)[0], atol=SETTLED / H)
    assert normal == pytest.approx(G * cos(angle), abs=SETTLED / H)


@every_way
def test_a_box_above_the_angle_of_friction_slides_as_it_should(way):
    angle, friction = atan(0.4), 0.3
    model = floored(angle, friction=friction)
    add(model, "box", Box((0.2, 0.2, 0.2)), 0.1, angle)
    sim = Simulation(model, **way)
    sim.step(1000)
    expected = G * (sin(angle) - friction * cos(angle))
    assert sim["box_way.x_rate"] == pytest.approx(expected, abs=1e-6)
    # Positions advance with the velocity at the end of each step: half a step ahead of the parabola.
    assert sim["box_way.x"] == pytest.approx(expected * 0.5 * (1.0 + H), abs=1e-6)
    assert all(touch.slides for touch in sim.touches())


@every_way
def test_at_the_angle_of_friction_rest_and_motion_both_stay(way):
    angle = atan(0.4)
    for start in (0.0, 0.7):
        model = floored(angle, friction=tan(angle))
        add(model, "box", Box((0.2, 0.2, 0.2)), 0.1, angle, velocity=(start, 0, 0, 0, 0, 0))
        sim = Simulation(model, **way)
        sim.step(5000)
        assert sim["box_way.x_rate"] == pytest.approx(start, abs=5000 * SETTLED)


def test_a_sliding_box_stops_where_its_energy_is_spent():
    model = floored(friction=0.35)
    add(model, "box", Box((0.2, 0.2, 0.1)), 0.05, velocity=(2.0, 0, 0, 0, 0, 0))
    sim = Simulation(model)
    sim.step(1500)
    # Half a step of the starting velocity is what the sum over steps differs from the integral.
    assert sim["box_way.x"] == pytest.approx(2.0**2 / (2 * 0.35 * G), abs=2.0 * H)
    assert abs(sim["box_way.x_rate"]) < REST


@both_methods
@pytest.mark.parametrize("start", [2.0, 1.999, 1.9984])
def test_a_box_that_comes_to_rest_is_not_drawn_back(way, start):
    """The last millimetre, in which slips of a step are below the slop, belongs to the way like the rest."""
    model = floored(friction=0.35)
    add(model, "box", Box((0.2, 0.2, 0.1)), 0.05, velocity=(start, 0, 0, 0, 0, 0))
    sim = Simulation(model, **way)
    sim.step(1500)
    # Friction takes µ g h off the velocity in every step, which moves it by the velocity at its end.
    rates = np.maximum(start - 0.35 * G * H * np.arange(1, 1500), 0.0)
    assert sim["box_way.x"] == pytest.approx(H * rates.sum(), abs=1e-3 * SLOP)


@both_methods
def test_a_box_that_lies_there_from_the_start_rests_on_four_equal_corners(way):
    model = floored(friction=0.5)
    add(model, "box", Box((0.2, 0.2, 0.1)), 0.05)
    sim = Simulation(model, **way)
    sim.step(3)
    touches = sim.touches()
    assert len(touches) == 4
    for touch in touches:
        assert touch.force == pytest.approx(G / 4, rel=1e-6)
        assert np.linalg.norm(touch.friction) < 1e-6 * G


# --- rolling ---


@pytest.mark.parametrize(
    ("shape", "share"), [(Sphere(0.1), 5 / 7), (Cylinder(0.1, 0.2, rotation=about((1, 0, 0), pi / 2)), 2 / 3)]
)
@every_way
def test_round_things_roll_without_slipping(way, shape, share):
    angle = 0.3
    model = floored(angle, friction=0.5)
    add(model, "wheel", shape, 0.1, angle)
    sim = Simulation(model, **way)
    sim.step(1000)
    expected = share * G * sin(angle)
    assert sim["wheel_way.x_rate"] == pytest.approx(expected, rel=1e-5)
    assert sim["wheel_way.x_rate"] == pytest.approx(0.1 * sim["wheel_way.wy"], abs=1e-8)
    assert not any(touch.slides for touch in sim.touches())


@every_way
def test_a_ball_slips_where_friction_is_too_weak(way):
    angle, friction = 0.6, 0.1
    assert friction < 2 / 7 * tan(angle)
    model = floored(angle, friction=friction)
    add(model, "ball", Sphere(0.1), 0.1, angle)
    sim = Simulation(model, **way)
    sim.step(500)
    assert sim["ball_way.x_rate"] == pytest.approx(0.5 * G * (sin(angle) - friction * cos(angle)), rel=1e-6)
    # Torque mu N R on 2/5 m R²
    assert sim["ball_way.wy"] == pytest.approx(0.5 * 2.5 * friction * G * cos(angle) / 0.1, rel=1e-6)


def rests(ground):
    """A model with a flat ellipsoid on top of a shape of the scenery that reaches up to z = 0."""
    model = Model("at rest", gravity=(0.0, 0.0, -G))
    model.add(Material("rough", friction=0.5))
    model.add(Scenery("floor", shapes=(ground,), material="rough"))
    add(model, "egg", Ellipsoid((0.3, 0.2, 0.1)), above=0.1)
    return model


@both_methods
@pytest.mark.parametrize(
    "ground",
    [
        Plane(),
        Box((2.0, 2.0, 0.5), at=(0.1, 0.2, -0.25)),
        Cylinder(1.0, 0.5, at=(0.1, 0.2, -0.25)),
        HeightField((4.0, 3.0), heights=np.zeros((7, 9))),
    ],
    ids=lambda ground: ground.shape,
)
def test_an_ellipsoid_at_rest_stays_at_rest(way, ground):
    sim = Simulation(rests(ground), dt=H, **way)
    sim.run(2.0)
    np.testing.assert_allclose(spot(sim, "egg"), (0.0, 0.0, 0.1), atol=SLOP)
    np.testing.assert_allclose(speed(sim, "egg"), 0.0, atol=REST)
    _, R, w, _ = states(sim)[0]
    np.testing.assert_allclose(R, np.eye(3), atol=1e-7)
    np.testing.assert_allclose(w, 0.0, atol=10 * REST)


@both_methods
def test_an_ellipsoid_rocks_like_one_that_rolls(way):
    """Near its rest it is a wheel of radius a²/c whose centre of mass is lower: ω² = g (a²/c - c) / (I/m + c²)."""
    a, c, angle = 0.3, 0.1, 0.01
    above = hypot(a * sin(angle), c * cos(angle))
    model = floored(friction=1.0)
    shape = Ellipsoid((a, 0.2, c), rotation=about((0.0, 1.0, 0.0), angle))
    add(model, "egg", shape, above)
    period = 2 * pi / sqrt(G * (a * a / c - c) / ((a * a + c * c) / 5 + c * c))
    sim = Simulation(model, dt=H, **way)
    rates = []
    for _ in range(round(0.75 * period / H)):
        sim.step()
        rates.append(sim["egg_way.wy"])
    # Half a period after the start, at its largest angle, it turns back: to a step, the first order of the method;
    # the amplitude counts by its square, which is that of the way on the ground over c.
    k = np.flatnonzero(np.diff(np.sign(rates)))[0]
    back = (k + 1 + rates[k] / (rates[k] - rates[k + 1])) * H
    assert abs(back - period / 2) < H + (angle * a / c) ** 2 * period / 2


def test_rolling_friction_holds_a_ball_on_a_gentle_slope():
    radius, arm = 0.1, 0.005
    for share, stays in ((0.999, True), (1.01, False)):
        angle = atan(share * arm / radius)
        model = floored(angle, friction=0.5, rolling=arm)
        add(model, "ball", Sphere(radius), radius, angle)
        sim = Simulation(model)
        sim.step(2000)
        if stays:
            assert abs(sim["ball_way.x_rate"]) < REST
        else:  # torque about the contact point: m g (R sin a - arm cos a) on 7/5 m R²
            expected = 2.0 * G * (radius * sin(angle) - arm * cos(angle)) / (1.4 * radius)
            assert sim["ball_way.x_rate"] == pytest.approx(expected, rel=1e-3)


@every_way
def test_torsion_stops_a_spinning_ball_in_its_time(way):
    radius, arm, spin = 0.1, 0.002, 5.0
    model = floored(friction=0.5, torsion=arm)
    add(model, "ball", Sphere(radius), radius, velocity=(0, 0, 0, 0, 0, spin))
    sim = Simulation(model, **way)
    slowing = arm * G / (0.4 * radius**2)
    sim.step(500)
    assert sim["ball_way.wz"] == pytest.approx(spin - 0.5 * slowing, abs=1e-5)
    sim.step(int((spin / slowing - 0.5) / H) + 2)
    assert abs(sim["ball_way.wz"]) < 1e-7


# --- the cone of friction ---


def pushed(way):
    """Boxes pushed in twelve directions for half a second with 1e-4 less (stays) and more (goes) than friction."""
    friction, mass = 0.5, 2.0
    model = floored(friction=friction)
    angles = [2 * pi * (k + 0.25) / 12 for k in range(12)]
    for k in range(len(angles)):
        for what in ("stays", "goes"):
            at = (1.0 * k, 3.0 * (what == "goes"), 0.025)
            model.add(Body(f"{what}{k}", at=at, mass=mass, shapes=(Box((0.2, 0.2, 0.05)),), material="rough"))
            model.add(Free(f"{what}{k}_way", "ground", f"{what}{k}", at=at))
            size = friction * mass * G * (1 - 1e-4 if what == "stays" else 1 + 1e-4)
            vector = (size * cos(angles[k]), size * sin(angles[k]), 0.0)
            model.add(Force(f"push_{what}{k}", f"{what}{k}", force=vector, at=at))
    sim = Simulation(model, **way)
    sim.step(500)
    expected = [0.5 * friction * G * 1e-4 * np.array([cos(a), sin(a), 0.0]) for a in angles]
    return sim, expected


@every_way
def test_friction_is_a_cone(way):
    sim, expected = pushed(way)
    # A pyramid would hold up to 41 % more across its axes, or let go as much earlier.
    for k, velocity in enumerate(expected):
        assert np.linalg.norm(speed(sim, f"stays{k}")) < REST
        along = velocity / np.linalg.norm(velocity)
        assert speed(sim, f"goes{k}") @ along > 0.5 * np.linalg.norm(velocity)


@every_way
def test_what_is_beyond_friction_accelerates(way):
    sim, expected = pushed(way)
    # A millionth of friction would show as 1 %.
    for k, velocity in enumerate(expected):
        np.testing.assert_allclose(speed(sim, f"goes{k}"), velocity, atol=0.01 * np.linalg.norm(velocity))


@every_way
def test_sliding_is_stopped_against_its_direction(way):
    model = floored(friction=0.4)
    for k in range(12):
        angle = 2 * pi * (k + 0.25) / 12
        start = (cos(angle), sin(angle), 0, 0, 0, 0)
        add(model, f"box{k}", Box((0.2, 0.2, 0.05)), 0.025, along=5.0 * k, velocity=start)
    sim = Simulation(model, **way)
    sim.step(100)
    for k in range(12):
        angle = 2 * pi * (k + 0.25) / 12
        expected = (1.0 - 0.1 * 0.4 * G) * np.array([cos(angle), sin(angle), 0.0])
        np.testing.assert_allclose(speed(sim, f"box{k}"), expected, atol=1e-6)


# --- edges, seams, walls ---


@both_methods
def test_a_box_tips_where_its_weight_leaves_its_base(way):
    wide, high = 0.1, 0.3
    for share, stands in ((0.99, True), (1.01, False)):
        angle = atan(share * wide / high)
        model = floored(angle, friction=2.0)
        add(model, "box", Box((wide, wide, high)), high / 2, angle)
        sim = Simulation(model, **way)
        sim.step(3000)
        turned = 2 * math.acos(min(1.0, abs(sim["box_way.qw"])))
        if stands:
            assert turned < 1e-9
        else:
            # From a lever of 1 % it grows by exp(t/T), T = sqrt(4/3 d/g) = 0.15 s, d half the diagonal: long fallen.
            assert turned > 1.0


@pytest.mark.parametrize("thick", [0.01, 0.001])
@pytest.mark.parametrize("pace", [10.0, 100.0, 200.0, 1000.0])
def test_a_fast_ball_does_not_pass_a_thin_wall(pace, thick):
    model = Model("shot", gravity=(0.0, 0.0, 0.0))
    model.add(Material("steel"))
    model.add(Scenery("wall", at=(2.5, 0, 0), shapes=(Box((thick, 1.0, 1.0)),), material="steel"))
    add(model, "ball", Sphere(0.01), 0.0, velocity=(pace, 0, 0, 0, 0, 0), material="steel")
    sim = Simulation(model)
    sim.step(400)
    assert sim["ball_way.x"] == pytest.approx(2.5 - 0.5 * thick - 0.01, abs=SLOP)
    assert abs(sim["ball_way.x_rate"]) < REST


@pytest.mark.parametrize("spin", [0.0, 300.0, 1000.0])
@pytest.mark.parametrize("pace", [100.0, 300.0, 1000.0])
def test_a_spinning_plate_does_not_pass_a_thin_wall(pace, spin):
    warned = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        turn, axis = some_turn(random), random.normal(size=3)
        at = (float(random.uniform(0.0, 1.0)), 0.0, 0.0)
        model = Model("shot", gravity=(0.0, 0.0, 0.0))
        model.add(Material("steel"))
        model.add(Scenery("wall", at=(2.5, 0, 0), shapes=(Box((0.001, 99.0, 99.0)),), material="steel"))
        plate = Box((0.3, 0.2, 0.004))
        model.add(Body("plate", at=at, rotation=turn, density=7800, shapes=(plate,), material="steel"))
        velocity = (pace, 0, 0, *(float(x) for x in spin * axis / np.linalg.norm(axis)))
        model.add(Free("way", "ground", "plate", at=at, velocity=velocity))
        sim = Simulation(model)
        record = sim.run(0.06, reactions=False)
        assert spot(sim, "plate")[0] < 2.5
        deep = record.info["deepest_m"] > SUNK * 0.001
        told = any("'plate' and 'wall' got" in line for line in record.info["warnings"])
        assert told == deep
        warned += told
    assert warned > 0  # at such a pace corners get through
