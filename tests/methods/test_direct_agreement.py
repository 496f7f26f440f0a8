"""The direct solver in both formulations: the same motion on all scenes, and the forces that it takes."""

import math

import numpy as np
import pytest

from helpers.runs import CLOSED, SETTLED, apart, direct, explicit, orders, touches
from linkwork import ModelError, scene
from linkwork.compile.compiler import compile_model
from linkwork.methods.capabilities import LACKS
from linkwork.methods.features import features
from linkwork.scenes import excavator, find_scene, scene_names

# --- formulations agree ---


def floats(name):
    """Whether all bodies of a scene have inertia about every axis, as maximal coordinates need."""
    try:
        compile_model(scene(name), rows=True, maximal=True)
    except ModelError:
        return False
    return True


FLOATING = [name for name in scene_names() if floats(name)]


WHEELED = {"bicycle"}
"""Wheels that roll at 15 rad/s in what leans and steers: gyroscopic forces are taken at the start of a step, along
coordinates that are not the same in both formulations, so that they differ at first order."""
TYRED = {"truck"}
"""On tyres, whose forces have kinks as slips change their signs: each formulation judges by its own coordinates
whether Adams' formula passes one or a step of Runge-Kutta is taken (docs/direct.md)."""


@pytest.mark.parametrize("name", [name for name in FLOATING if touches(scene(name)) and name not in WHEELED])
def test_formulations_agree_on_scenes_with_contact(name):
    duration, dt = 0.2, find_scene(name).dt
    one, other = (
        direct(scene(name), method, dt=dt).run(duration, reactions=False) for method in ("simgc", "simmc")
    )
    # Steps are the same, of first order, and differ by what forces of contact may be off when they settle.
    assert apart(one, other) < 0.5 * SETTLED * duration**2
    assert one.info["worst_gap_m"] <= CLOSED
    assert (
        other.info["worst_gap_m"] < 1e-8
    )  # of joints: closed after each step, with what contact leaves of them


@pytest.mark.parametrize("name", sorted(WHEELED))
def test_formulations_meet_at_first_order_where_wheels_roll(name):
    found = []
    for halvings in range(3):
        dt = find_scene(name).dt / 2**halvings
        records = [direct(scene(name), way, dt=dt).run(0.2, reactions=False) for way in ("simgc", "simmc")]
        found.append(apart(*records))
        assert records[0].info["worst_gap_m"] <= CLOSED
        assert records[1].info["worst_gap_m"] < 1e-8
    # Order one, with room for what is left of the second.
    assert np.all(orders(found) > 0.9)
    # At 1 ms what goes round at 15 rad/s is off by h w of its way aside: pushed at 0.2 rad/s, 0.9 m up, 0.04 m.
    assert found[0] < 1e-3 * 15.0 * 0.04


@pytest.mark.parametrize(
    "name", [name for name in FLOATING if not touches(scene(name)) and name not in TYRED]
)
def test_formulations_agree_on_all_scenes(name):
    # Until limits that hit each other open crowd into a step of first order, as the hitch's do at 0.18 s.
    duration = 0.15 if name == "hitch" else 0.2
    one, other = (direct(scene(name), method).run(duration, reactions=False) for method in ("simgc", "simmc"))
    assert apart(one, other) < 1e-8
    # Rates of the crank reach 30 rad/s: fourth order leaves more of them.
    assert apart(one, other, "rates") < 1e-6
    if features(scene(name).flatten(), LACKS["tree"]):
        assert one.info["worst_gap_m"] <= CLOSED
        assert other.info["worst_gap_m"] <= CLOSED


@pytest.mark.parametrize("name", sorted(TYRED))
@pytest.mark.parametrize(("dt", "bound"), [(1e-3, 1e-6), (5e-4, 1e-6 / 16)])
def test_formulations_agree_on_tyres(name, dt, bound):
    """By Runge-Kutta alone they do as everywhere, at fourth order; Adams' steps across kinks make them differ by no
    more than such steps change each of them."""
    found = {
        (way, integrator): direct(scene(name), way, dt=dt, integrator=integrator).run(0.2, reactions=False)
        for way in ("simgc", "simmc")
        for integrator in ("rk4", "adams")
    }
    one, other = (found[way, "rk4"] for way in ("simgc", "simmc"))
    assert apart(one, other) < 1e-8 * bound / 1e-6
    assert apart(one, other, "rates") < bound
    adams = [found[way, "adams"] for way in ("simgc", "simmc")]
    crossed = apart(adams[0], one, "rates")
    assert 0.0 < crossed < 1e-5
    assert apart(*adams, "rates") < crossed
    assert apart(*adams) < 1e-7
    for record in found.values():
        assert record.info["worst_gap_m"] <= CLOSED


# --- excavator ---


@explicit
@pytest.mark.parametrize("hold", [False, True])
def test_excavator_keeps_its_pins_closed_under_full_load(method, hold):
    model = scene("excavator", hold=hold)
    record = direct(model, method).run(2.0 if hold else excavator.DURATION, reactions=False)
    assert record.info["worst_gap_m"] < 1e-11  # of an arm of 6 m; a micrometre would be a good pin
    assert record.info["warnings"] == []
    if hold:
        # The commands hold the arm by virtual work, which knows nothing of joints.
        for name in excavator.CYLINDERS:
            np.testing.assert_allclose(record[f"{name}_cylinder.travel"], 0.0, atol=1e-9)
        return
    assert record["energy.supplied"].max() > 2e4
    # Just before it dumps, the machine has stood still at 60° for most of a second.
    before = np.searchsorted(record.time, 12.9 - 1e-9)
    assert record["slew.angle"][before] == pytest.approx(math.radians(60.0), abs=1e-5)
    # Oil gives: cylinders follow their courses by a lag of 30 ms.
    start = excavator.cylinder_lengths(excavator.course(0.0)[0])
    for k, name in enumerate(excavator.CYLINDERS):
        wanted = np.array([excavator.cylinder_lengths(excavator.course(t)[0])[k] for t in record.time])
        fastest = np.abs(np.gradient(wanted, record.time)).max()
        off = record[f"{name}_cylinder.travel"] - (wanted - start[k])
        assert np.abs(off).max() < 1.5 * excavator.LAG * fastest


def test_the_ground_carries_the_excavator():
    model = scene("excavator", hold=True)
    record = direct(model, "simgc").run(0.1)
    weight = excavator.GRAVITY * sum(body.mass_properties.mass for body in model.bodies.values())
    np.testing.assert_allclose(record["tracks.force.z"], weight, rtol=1e-9)
    np.testing.assert_allclose(record["tracks.force.x"], 0.0, atol=1e-6 * weight)


# --- reactions ---


def planar_forces(record, model, k):
    """Forces in the pins and torque of the motor of a planar four-bar by Newton and Euler, from positions alone.

    Unknowns: two components of each of four pins (of a on b) and the torque on the arm; three equations a link.
    """
    links = {"arm": ("crank", "knee"), "coupler": ("knee", "wrist"), "lever": ("rocker", "wrist")}
    pins = ("crank", "knee", "wrist", "rocker")
    h = record.time[1] - record.time[0]

    def second(y):
        """Second derivative, to fourth order."""
        return (-y[k - 2] + 16 * y[k - 1] - 30 * y[k] + 16 * y[k + 1] - y[k + 2]) / (12 * h * h)

    equations, right = np.zeros((9, 9)), np.zeros(9)
    for row, (name, ends) in enumerate(links.items()):
        body = model.bodies[name].mass_properties
        angle = 2 * np.unwrap(np.arctan2(record[f"{name}.rotation.z"], record[f"{name}.rotation.w"]))
        reach = body.com[0]
        x = record[f"{name}.position.x"] + reach * np.cos(angle)
        y = record[f"{name}.position.y"] + reach * np.sin(angle)
        right[3 * row : 3 * row + 3] = (
            body.mass * second(x),
            body.mass * (second(y) + 9.81),
            body.inertia[2, 2] * second(angle),
        )
        for end, away in zip(ends, (0.0, 2 * reach), strict=True):
            sign = 1.0 if model.joints[end].b == name else -1.0
            dx, dy = (away - reach) * math.cos(angle[k]), (away - reach) * math.sin(angle[k])
            column = 2 * pins.index(end)
            equations[3 * row, column] = equations[3 * row + 1, column + 1] = sign
            equations[3 * row + 2, column : column + 2] = -sign * dy, sign * dx
    equations[2, 8] = 1.0
    found = np.linalg.solve(equations, right)
    return {pin: found[2 * i : 2 * i + 2] for i, pin in enumerate(pins)}, found[8]


@explicit
def test_reactions_of_a_four_bar_are_those_of_newton_and_euler(method):
    model = scene("crank_rocker")
    record = direct(model, method, tolerance=1e-12).run(0.6, every=1e-3)
    for k in (100, 250, 400, 550):
        forces, torque = planar_forces(record, model, k)
        # Differences of positions good to 1e-12 or so over steps of 1 ms: accelerations to 1e-5 of masses of 1 kg.
        for pin, force in forces.items():
            found = [record[f"{pin}.force.{axis}"][k] for axis in "xy"]
            np.testing.assert_allclose(found, force, rtol=1e-4, atol=1e-4)
            assert abs(record[f"{pin}.force.z"][k]) < 1e-9
        assert record["crank.torque.z"][k] == pytest.approx(torque, rel=1e-4, abs=1e-4)
    # Out of the plane nothing tells them: there the smallest are given.
    assert record.info["reactions_indeterminate"] == ["crank", "knee", "wrist", "rocker"]


def test_reactions_can_be_left_out():
    record = direct(scene("crank_rocker"), "simgc").run(0.1, reactions=False)
    assert "forces" not in record.groups
    assert record.info["reactions_indeterminate"] == []
