"""Equilibria with limits, drives and held coordinates, and whether they are stable."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from helpers.equilibria import G, bisect, double_pendulum, holder, lift, slope
from helpers.one_dof import arm
from linkwork import Body, Force, Hinge, LinkworkError, Model, Simulation, Sine, Slider, Torque, scene
from linkwork.analysis.forces import complementary
from linkwork.analysis.statics import equilibrium
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, VelocityServo
from linkwork.scenes.crank_rocker import BASE, points

# --- limits ---


def test_a_limit_carries_the_load():
    found = equilibrium(arm(limits=(-0.4, 1.0)))
    assert found.values["pin.angle"] == pytest.approx(-0.4, abs=1e-12)
    assert found.limits == {"pin.angle: lower limit": pytest.approx(2.0 * G * 0.3 * math.cos(0.4), rel=1e-12)}
    assert found.stability == "stable"
    assert found.modes == []


def test_a_limit_that_is_not_reached_carries_nothing():
    found = equilibrium(arm(limits=(-3.0, 3.0)))
    assert found.values["pin.angle"] == pytest.approx(-math.pi / 2)
    assert found.limits == {}


def test_a_limit_is_left_when_the_load_points_away_from_it():
    """Drawn at its upper limit, or beyond it."""
    for start in (1.0, 1.2):
        found = equilibrium(arm(limits=(-2.0, 1.0), position=start))
        assert found.values["pin.angle"] == pytest.approx(-math.pi / 2)
        assert found.limits == {}


def test_a_limit_in_a_loop_carries_by_virtual_work():
    """The rocker stops the four-bar: its reaction times its rate is what gravity would do."""
    model = scene("crank_rocker")
    model.drives.clear()
    model.joints["rocker"] = dataclasses.replace(model.joints["rocker"], limits=(None, 0.4))
    found = equilibrium(model)
    assert found.values["rocker.angle"] == pytest.approx(0.4, abs=1e-11)

    def height(angle):
        p = {name: np.array(point) for name, point in points(angle).items()}
        return np.dot((0.2, 0.5, 1.0), [p["B"][1] / 2, (p["B"] + p["C"])[1] / 2, p["C"][1] / 2])

    def rocker(angle):
        c = points(angle)["C"]
        return math.atan2(c[1], c[0] - BASE)

    crank = math.pi / 3 + found.values["crank.angle"]
    expected = -G * slope(height, crank) / slope(rocker, crank)
    assert found.limits["rocker.angle: upper limit"] == pytest.approx(expected, rel=1e-9)
    assert expected > 0.0


def test_several_limits_share_the_load():
    """Three of a trailer's hitch; a simulation agrees on where it comes to rest."""
    model = scene("hitch", yaw=0.0, roll=0.0)
    found = equilibrium(model, stable=True)
    assert len(found.limits) == 3
    assert all(force > 0.0 for force in found.limits.values())
    simulation = Simulation(model, method="simgc")
    found.start(simulation)
    record = simulation.run(0.5)
    np.testing.assert_allclose(record.array("coordinates")[-1], record.array("coordinates")[0], atol=1e-4)


def test_a_block_is_squeezed_between_spring_and_stop():
    found = equilibrium(lift(spring=1000.0, rest=-0.5, limits=(-0.2, None)))
    assert found.values["rail.travel"] == pytest.approx(-0.2)
    assert found.limits["rail.travel: lower limit"] == pytest.approx(1000.0 * 0.3 + 2.0 * G)


def test_limits_that_exclude_each_other_are_named():
    model = lift()
    model.add(Body("other", at=(1.0, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Slider("second", "ground", "other", at=(1.0, 0.0, 0.0), limits=(0.5, None)))
    model.joints["rail"] = dataclasses.replace(model.joints["rail"], limits=(None, 0.1))
    model.add(Repeater("gear", "second", "rail", ratio=1.0))
    with pytest.raises(
        LinkworkError, match=r"no pose within reach keeps '(second|rail).travel: (lower|upper) limit'"
    ):
        equilibrium(model)


@pytest.mark.parametrize("seed", range(20))
def test_complementary_finds_what_trying_all_sets_finds(seed):
    rng = np.random.default_rng(seed)
    n = 5
    B = rng.normal(size=(n, n + 1))
    A, b = B @ B.T, rng.normal(size=n)
    x = complementary(A, b)
    assert np.all(x >= 0.0)
    assert np.all(A @ x + b >= -1e-12)
    best = min(
        (
            value
            for size in range(n + 1)
            for chosen in itertools.combinations(range(n), size)
            if (value := trial(A, b, list(chosen))) is not None
        ),
        default=0.0,
    )
    assert 0.5 * x @ A @ x + b @ x == pytest.approx(best, abs=1e-12)


def trial(A, b, chosen):
    x = np.zeros(len(b))
    if chosen:
        x[chosen] = np.linalg.solve(A[np.ix_(chosen, chosen)], -b[chosen])
    return 0.5 * x @ A @ x + b @ x if np.all(x >= 0.0) else None


# --- stability ---


def upright():
    return arm(position=math.pi / 2)


def test_a_pendulum_on_its_head_is_unstable():
    found = equilibrium(upright())
    assert found.values["pin.angle"] == math.pi / 2
    assert found.stability == "unstable"
    assert found.modes[0].coordinate == "pin.angle"
    rate = math.sqrt(2.0 * G * 0.3 / (0.05 + 2.0 * 0.09))
    assert found.modes[0].growth == pytest.approx(rate, rel=1e-9)
    assert found.modes[0].frequency == 0.0


def test_it_can_be_left_for_a_stable_one():
    found = equilibrium(upright(), stable=True)
    assert abs(math.remainder(found.values["pin.angle"] + math.pi / 2, math.tau)) < 1e-11
    assert found.stability == "stable"


def test_a_spring_strong_enough_keeps_it_upright():
    for stiffness, stability in ((2.0 * G * 0.3 * 1.01, "stable"), (2.0 * G * 0.3 * 0.99, "unstable")):
        model = arm(position=math.pi / 2, spring=stiffness, rest=math.pi / 2)
        assert equilibrium(model).stability == stability


def test_a_balanced_wheel_is_indifferent():
    model = Model("wheel")
    model.add(Body("wheel", mass=3.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Body("bob", at=(0.0, 0.1, 0.0), mass=1.0, com=(0.0, 0.0, -0.3), inertia=(0.01, 0.01, 0.01)))
    model.add(Hinge("axle", "ground", "wheel", axis=(0.0, 1.0, 0.0)))
    model.add(Hinge("hook", "ground", "bob", at=(0.0, 0.1, 0.0), axis=(0.0, 1.0, 0.0), position=0.4))
    found = equilibrium(model)
    assert found.stability == "indifferent"
    assert found.modes[0].coordinate == "axle.angle"
    assert found.modes[1].stability == "stable"
    assert found.modes[1].coordinate == "hook.angle"


def test_a_very_stiff_neighbour_does_not_hide_a_soft_mode():
    model = double_pendulum()
    model.joints["elbow"] = dataclasses.replace(model.joints["elbow"], spring=1e9)
    model.joints["shoulder"] = dataclasses.replace(model.joints["shoulder"], spring=0.0)
    found = equilibrium(model)
    assert found.stability == "stable"
    assert 0.1 < found.modes[0].frequency < 10.0


def ziegler(load):
    """Two rods on springs, with masses 2 m and m, pushed along the second one by a force that follows it."""
    model = Model("ziegler", gravity=(0.0, 0.0, 0.0))
    tiny = (1e-12, 1e-12, 1e-12)
    model.add(Body("lower", mass=2.0, com=(0.0, 0.0, 1.0), inertia=tiny))
    model.add(Body("upper", at=(0.0, 0.0, 1.0), mass=1.0, com=(0.0, 0.0, 1.0), inertia=tiny))
    model.add(Hinge("foot", "ground", "lower", axis=(0.0, 1.0, 0.0), spring=1.0, position=0.1))
    model.add(Hinge("knee", "lower", "upper", at=(0.0, 0.0, 1.0), axis=(0.0, 1.0, 0.0), spring=1.0))
    model.add(Force("thrust", "upper", force=(0.0, 0.0, -load), at=(0.0, 0.0, 2.0), follows=True))
    return model


def test_a_following_force_makes_it_flutter():
    """Ziegler's column, which has no potential: stable up to (7/2 - √2) k/l, then it swings ever wider."""
    critical = 3.5 - math.sqrt(2.0)
    below, above = equilibrium(ziegler(critical - 1e-3)), equilibrium(ziegler(critical + 1e-3))
    assert below.stability == "stable"
    assert above.stability == "unstable"
    assert above.modes[0].growth > 0.0
    assert above.modes[0].frequency > 0.0
    for found in (below, above):
        assert found.values["foot.angle"] == pytest.approx(0.0, abs=1e-11)


# --- drives and what is held ---


def test_a_position_servo_sags_like_a_spring():
    model = arm()
    model.add(PositionServo("servo", "pin", stiffness=100.0, damping=5.0, command=0.7))
    angle = bisect(lambda a: 100.0 * (a - 0.7) + 2.0 * G * 0.3 * math.cos(a), 0.0, 0.7)
    found = equilibrium(model)
    assert found.values["pin.angle"] == pytest.approx(angle, abs=1e-12)
    assert holder(found, "servo").kind == "drive"
    other = equilibrium(model, hold={"servo": -0.2})
    angle = bisect(lambda a: 100.0 * (a + 0.2) + 2.0 * G * 0.3 * math.cos(a), -0.5, 0.0)
    assert other.values["pin.angle"] == pytest.approx(angle, abs=1e-12)


def test_a_servo_at_the_end_of_its_strength_says_so():
    model = arm()
    model.add(PositionServo("servo", "pin", stiffness=1e4, strength=3.0, command=0.7))
    found = equilibrium(model)
    assert 2.0 * G * 0.3 * math.cos(found.values["pin.angle"]) == pytest.approx(3.0)
    assert any("all its strength" in note for note in found.notes)


def test_a_motor_stalls():
    model = arm()
    model.add(
        DCMotor(
            "motor", "pin", stall_torque=0.1, idle_speed=100.0, time_constant=0.01, gear=20.0, command=0.5
        )
    )
    found = equilibrium(model)
    assert 2.0 * G * 0.3 * math.cos(found.values["pin.angle"]) == pytest.approx(20.0 * 0.1 * 0.5)
    # Its rotor swings along.
    stiff = -2.0 * G * 0.3 * math.sin(found.values["pin.angle"])
    inertia = 0.05 + 2.0 * 0.09 + 400.0 * 0.1 * 0.01 / 100.0
    assert found.modes[0].frequency == pytest.approx(math.sqrt(stiff / inertia) / math.tau, rel=1e-8)


def test_a_held_coordinate_tells_what_it_takes():
    found = equilibrium(arm(), hold={"pin.angle": 0.3})
    assert found.values["pin.angle"] == pytest.approx(0.3)
    assert holder(found, "pin.angle").kind == "held"
    assert holder(found, "pin.angle").force == pytest.approx(2.0 * G * 0.3 * math.cos(0.3))
    loop = scene("crank_rocker")
    loop.drives.clear()
    held = equilibrium(loop, hold={"rocker.angle": 0.2})
    assert held.values["rocker.angle"] == pytest.approx(0.2, abs=1e-12)
    assert held.modes == []


def test_part_of_a_mechanism_may_be_held():
    found = equilibrium(double_pendulum(), hold={"shoulder.angle": 0.2})
    b = bisect(lambda b: 1.5 * (b + 0.8) + 0.7 * G * 0.2 * math.cos(0.2 + b), -3.0, 0.0)
    assert found.values["elbow.angle"] == pytest.approx(b, abs=1e-11)


def test_a_velocity_servo_told_to_stand_still_is_a_brake():
    model = arm(position=0.4)
    model.add(VelocityServo("brake", "pin", strength=5.0))
    found = equilibrium(model)
    assert found.values["pin.angle"] == pytest.approx(0.4)
    assert holder(found, "brake").force == pytest.approx(2.0 * G * 0.3 * math.cos(0.4))
    assert any("would slip" in note for note in found.notes)
    with pytest.raises(LinkworkError, match=r"keeps 'pin.angle' moving at 2"):
        equilibrium(model, hold={"brake": 2.0})


def test_torques_and_signals_act_as_at_the_time():
    model = arm(spring=10.0)
    model.gravity = (0.0, 0.0, 0.0)
    model.add(Torque("push", "bar", torque=(0.0, -3.0, 0.0), signal=Sine(0.25)))
    assert equilibrium(model).values["pin.angle"] == pytest.approx(0.0)
    assert equilibrium(model, time=1.0).values["pin.angle"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("hold", "message"),
    [
        ({"pin.angel": 0.0}, "did you mean 'pin.angle'"),
        ({"pin.angle": math.nan}, "must be a finite number"),
    ],
)
def test_mistakes_in_hold_are_named(hold, message):
    with pytest.raises(LinkworkError, match=message):
        equilibrium(arm(), hold=hold)


def test_what_cannot_be_held_there_is_named():
    loop = scene("crank_rocker")
    with pytest.raises(LinkworkError, match=r"'rocker.angle' cannot be brought"):
        equilibrium(loop, hold={"rocker.angle": 3.0})
