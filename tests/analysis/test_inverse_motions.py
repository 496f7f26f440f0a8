"""Inverse dynamics: forms of a motion, friction and drives in it, what is refused, and what is handed back."""

import dataclasses
import json
import math

import numpy as np
import pytest

from helpers.driven import TIMES, four_bar, jaws_without_motor, swing, wave
from helpers.one_dof import wheel
from linkwork import (
    Body,
    Hinge,
    JointFunction,
    LinkworkError,
    Model,
    Simulation,
    Sine,
    Spherical,
    Table,
    scene,
)
from linkwork.analysis.inverse import inverse
from linkwork.analysis.motion import difference, smooth
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo

# --- forms of a motion ---


def forms(times):
    x, xd, xdd = np.array([wave(0.4, 2 * math.pi, 0.5, 0.1)(t) for t in times]).T
    whole = wave(0.4, 2 * math.pi, 0.5, 0.1)
    return {
        "signal": Sine(1.0, amplitude=0.4, phase=0.5, offset=0.1),
        "value": lambda t: whole(t)[0],
        "three functions": (lambda t: whole(t)[0], lambda t: whole(t)[1], lambda t: whole(t)[2]),
        "three arrays": (x, xd, xdd),
        "values": x,
    }


@pytest.mark.parametrize("form", forms(np.zeros(1)))
def test_a_motion_may_be_given_in_many_ways(form):
    times = np.linspace(0.0, 1.0, 81)
    expected = inverse(four_bar(), {"crank.angle": wave(0.4, 2 * math.pi, 0.5, 0.1)}, times)
    found = inverse(four_bar(), {"crank.angle": forms(times)[form]}, times)
    # Differences of the value know its acceleration to 1e-9; the spline to (2π/80)⁴ of it, ends a little worse.
    share = {"value": 1e-8, "values": 2e-4}.get(form, 1e-11)
    scale = np.abs(expected.torques["crank.angle"]).max()
    np.testing.assert_allclose(
        found.torques["crank.angle"], expected.torques["crank.angle"], atol=share * scale
    )
    np.testing.assert_allclose(found.q, expected.q, atol=1e-10)


def test_a_number_holds_and_a_table_warns_of_its_corners():
    held = inverse(four_bar(), {"crank.angle": 0.5}, [0.0, 1.0])
    assert np.all(held.v == 0.0)
    ramp = Table((0.0, 0.5, 1.0), (0.0, 1.0, 1.0))
    result = inverse(four_bar(), {"crank.angle": ramp}, np.linspace(0.0, 1.0, 5))
    np.testing.assert_allclose(result.record["crank.angle"], [0.0, 0.5, 1.0, 1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(result.record["crank.angle_rate"], [2.0, 2.0, 0.0, 0.0, 0.0], atol=1e-12)
    assert any("jumps at 0, 0.5 s" in warning for warning in result.warnings)


@pytest.mark.parametrize("order", [1, 2])
def test_differences_know_how_good_they_are(order):
    """Also where the first strides are whole periods of the function, which then seems to stand still."""
    for cycles in (0.1, 1.0, 16.0 / 0.0917, 40.0):
        w = 2 * math.pi * cycles
        exact = {1: w * math.cos(w * 0.3), 2: -w * w * math.sin(w * 0.3)}[order]
        found, doubt = difference(lambda t, w=w: math.sin(w * t), 0.3, order, 1.0)
        assert found == pytest.approx(exact, abs=1e-8 * w**order)
        assert doubt < 1e-7 * w**order


def test_the_spline_is_of_order_four_and_exact_on_polynomials():
    errors = []
    for n in (41, 81):
        t = np.linspace(0.0, 2.0, n)
        _, curvature = smooth(t, np.sin(3 * t))
        errors.append(np.abs(curvature + 9 * np.sin(3 * t)).max())
    assert math.log2(errors[0] / errors[1]) > 3.5
    t = np.array([0.0, 0.3, 0.5, 1.1, 1.2, 1.9, 2.0, 2.5])
    slope, curvature = smooth(t, t**5)
    np.testing.assert_allclose(slope, 5 * t**4, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(curvature, 20 * t**3, rtol=1e-9, atol=1e-9)
    slope, curvature = smooth(t[:3], t[:3] ** 2)
    np.testing.assert_allclose(slope, 2 * t[:3], atol=1e-14)
    np.testing.assert_allclose(curvature, 2.0, atol=1e-13)


# --- friction, limits, drives ---


def test_dry_friction_resists_the_motion_and_says_where_it_does_not_know():
    motion = wave(1.0, 2.0)
    times = np.array([0.1, 0.5, math.pi / 4, 1.2])
    result = inverse(wheel(friction=0.3), {"pin.angle": motion}, times)
    expected = [0.5 * motion(t)[2] + 0.3 * np.sign(motion(t)[1]) for t in times]
    np.testing.assert_allclose(result.torques["pin.angle"], expected, atol=1e-12)
    resting = inverse(wheel(friction=0.3), {"pin.angle": 1.0}, [0.0, 1.0])
    assert resting.torques["pin.angle"].tolist() == [0.0, 0.0]
    assert any("at rest at 2 of the times" in warning for warning in resting.warnings)


def test_friction_in_a_loop_costs_its_power():
    model = four_bar()
    model.joints["wrist"] = dataclasses.replace(model.joints["wrist"], friction=0.2)
    motion = {"crank.angle": swing()}
    bare, full = inverse(four_bar(), motion, TIMES), inverse(model, motion, TIMES)
    lost = 0.2 * np.abs(full.record["wrist.angle_rate"])
    np.testing.assert_allclose(full.power - bare.power, lost, atol=1e-11)


def test_limits_that_the_motion_passes_are_named():
    result = inverse(wheel(limits=(-0.5, 0.8)), {"pin.angle": wave(1.0, 2.0)}, np.linspace(0.0, 3.0, 301))
    lower, upper = sorted(warning for warning in result.warnings if "passes" in warning)
    assert "'pin.angle: lower limit' by up to 0.5 rad" in lower
    assert "'pin.angle: upper limit' by up to 0.2 rad" in upper


def test_commands_of_the_drives_follow_from_the_forces():
    motion, times = {"pin.angle": wave(1.0, 2.0)}, np.linspace(0.0, 1.0, 5)
    x, xd, xdd = np.array([motion["pin.angle"](t) for t in times]).T
    tau = 0.5 * xdd
    motor = DCMotor("motor", "pin", stall_torque=2.0, idle_speed=100.0, time_constant=0.01, gear=5.0)
    rotor = 2.0 * 0.01 / 100.0
    cases = {
        TorqueSource("motor", "pin", command=7.0): tau,
        VelocityServo("motor", "pin", command=7.0): xd,
        PositionServo("motor", "pin", stiffness=50.0, damping=2.0): x + (tau + 2.0 * xd) / 50.0,
        motor: (tau + 25.0 * (2.0 / 100.0 * xd + rotor * xdd)) / 10.0,
    }
    for drive, expected in cases.items():
        result = inverse(wheel(drive), motion, times)
        np.testing.assert_allclose(result.torques["pin.angle"], tau, atol=1e-12)
        np.testing.assert_allclose(result.commands["motor"], expected, atol=1e-12)
        np.testing.assert_array_equal(result.record["motor.command"], result.commands["motor"])


def test_drives_that_are_too_weak_are_named():
    motion = {"pin.angle": wave(1.0, 10.0)}
    servo = PositionServo("weak", "pin", stiffness=50.0, strength=10.0)
    assert any("'weak' is too weak" in w for w in inverse(wheel(servo), motion, TIMES).warnings)
    motor = DCMotor("small", "pin", stall_torque=0.2, idle_speed=100.0, time_constant=0.01)
    assert any("'small' is too weak" in w for w in inverse(wheel(motor), motion, TIMES).warnings)


def test_other_drives_act_as_they_are_told():
    """A motor on the rocker with its rotor and back-EMF, a servo on the knee; the crank is driven."""
    plain, model = four_bar(), four_bar()
    model.add(
        DCMotor(
            "motor", "rocker", stall_torque=0.5, idle_speed=50.0, time_constant=0.05, gear=3.0, command=0.4
        )
    )
    model.add(PositionServo("servo", "knee", stiffness=2.0, damping=0.1, command=0.2, signal=Sine(0.3)))
    motion = {"crank.angle": swing()}
    bare, full = inverse(plain, motion, TIMES), inverse(model, motion, TIMES)
    r = full.record
    rotor = 0.5 * 0.05 / 50.0
    motor = 3.0 * 0.5 * 0.4 - 9.0 * (
        0.5 / 50.0 * r["rocker.angle_rate"] + rotor * r["rocker.angle_acceleration"]
    )
    told = 0.2 * np.sin(2 * math.pi * 0.3 * TIMES)
    servo = -2.0 * (r["knee.angle"] - told) - 0.1 * r["knee.angle_rate"]
    helped = motor * r["rocker.angle_rate"] + servo * r["knee.angle_rate"]
    np.testing.assert_allclose(bare.power - full.power, helped, atol=1e-10)


def test_functions_of_the_user_act():
    def drag(t, x, v, parameters, out):
        out[0] = -parameters[0] * v[0] * abs(v[0])

    model = wheel()
    model.add(JointFunction("drag", "pin", drag, parameters=(0.7,)))
    motion = wave(1.0, 2.0)
    result = inverse(model, {"pin.angle": motion}, TIMES)
    expected = [0.5 * motion(t)[2] + 0.7 * motion(t)[1] * abs(motion(t)[1]) for t in TIMES]
    np.testing.assert_allclose(result.torques["pin.angle"], expected, atol=1e-12)


# --- too few, too many, elsewhere ---


def test_of_more_forces_than_freedom_the_smallest_are_taken():
    model, motion = four_bar(), {"crank.angle": swing()}
    alone = inverse(model, motion, TIMES)
    both = inverse(model, motion, TIMES, at=["crank.angle", "rocker.angle"])
    ratio = both.record["rocker.angle_rate"] / both.record["crank.angle_rate"]
    # τ₁ + ratio τ₂ = τ with the least τ₁² + τ₂².
    expected = alone.torques["crank.angle"] / (1.0 + ratio**2)
    np.testing.assert_allclose(both.torques["crank.angle"], expected, rtol=1e-9)
    np.testing.assert_allclose(both.torques["rocker.angle"], ratio * expected, rtol=1e-9, atol=1e-12)
    assert any("not determined" in warning for warning in both.warnings)


def test_a_motion_prescribed_twice_in_agreement_is_accepted():
    model, motion = four_bar(), {"crank.angle": swing(start=0.2)}
    first = inverse(model, motion, TIMES).record
    rocker = tuple(first[f"rocker.angle{end}"][:1] for end in ("", "_rate", "_acceleration"))
    fine = inverse(model, {**motion, "rocker.angle": rocker}, TIMES[:1])
    assert np.isfinite(fine.torques["rocker.angle"]).all()
    gear = jaws_without_motor()
    left = wave(0.02, 5.0)
    pair = {"left.travel": left, "right.travel": lambda t: tuple(-x for x in left(t))}
    assert any("not determined" in warning for warning in inverse(gear, pair, TIMES).warnings)


@pytest.mark.parametrize(
    ("model", "motion", "options", "message"),
    [
        (lambda: scene("puma560"), {"joint1.angle": 0.1}, {}, "5 more coordinates must be prescribed"),
        (
            lambda: scene("puma560"),
            {f"joint{i}.angle": 0.1 for i in range(1, 6)},
            {},
            "1 more coordinate must be prescribed, for example 'joint6.angle'",
        ),
        (four_bar, {"crank.angle": 0.5, "rocker.angle": 0.5}, {}, "1 of the coordinates .* is too many"),
        (
            jaws_without_motor,
            {"left.travel": swing(0.1, 0.0), "right.travel": swing(0.1, 0.0)},
            {},
            "1 of the coordinates .* is too many",
        ),
        (four_bar, {"rocker.angle": 2.5}, {}, "out of reach"),
        (four_bar, {"rocker.angle": swing(1.0, 0.0)}, {}, "at 0.*out of reach"),
        (four_bar, {"crnk.angle": 0.5}, {}, "did you mean 'crank.angle'"),
        (four_bar, {"crank.angle": 0.5}, {"at": ["crank.angel"]}, "did you mean 'crank.angle'"),
        (four_bar, {"crank.angle": 0.5}, {"at": ["crank.angle"] * 2}, "twice"),
        (four_bar, {}, {}, "at least one coordinate"),
        (four_bar, {"crank.angle": lambda t: (t, 2.0, 0.0)}, {}, "rate given .* is not the derivative"),
        (four_bar, {"crank.angle": lambda t: (t * t, 2 * t, 1.0)}, {}, "acceleration given .* is not"),
        (four_bar, {"crank.angle": lambda t: (t, 1.0)}, {}, "one number, or three"),
        (four_bar, {"crank.angle": [1.0, 2.0]}, {}, "one value for each of the 7 times"),
        (four_bar, {"crank.angle": "fast"}, {}, "must be a number"),
        (four_bar, {"crank.angle": math.nan}, {}, "not finite"),
        (
            lambda: scene("puma560"),
            {f"joint{i}.angle": 0.1 for i in range(1, 7)},
            {"at": ["joint1.angle"]},
            "nothing there drives 'joint2.angle'",
        ),
        (lambda: scene("peaucellier", swing=0.5), {"OA_pin.angle": 0.1}, {}, "velocity servo 'motor' keeps"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(model, motion, options, message):
    with pytest.raises(LinkworkError, match=message):
        inverse(model(), motion, TIMES, **options)


@pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, 0.5], [[0.0]], [math.nan]])
def test_times_must_increase(times):
    with pytest.raises(LinkworkError, match="times must be"):
        inverse(wheel(), {"pin.angle": 0.0}, times)


# --- results ---


def test_the_record_has_names_and_units(tmp_path):
    result = inverse(scene("slidercrank3d"), {"guide.travel": wave(0.02, 4.0, 0.0, 0.03)}, TIMES)
    record = result.record
    assert record.unit("guide.travel.drive") == "N"
    assert record.unit("power.total") == "W"
    assert record.unit("cross.angle_x_acceleration") == "rad/s²"
    assert "ball.qw" in record
    np.testing.assert_allclose(
        record["guide.travel.drive"] * record["guide.travel_rate"], record["guide.travel.power"]
    )
    frame = record.to_pandas()
    assert frame.attrs["units"]["guide.travel.drive"] == "N"
    record.save(tmp_path / "inverse.h5")
    document = json.loads(json.dumps(result.to_dict()))
    assert document["torques"]["guide.travel"] == result.torques["guide.travel"].tolist()


def test_rates_of_the_record_are_derivatives_of_its_coordinates():
    times = np.linspace(0.0, 0.4, 401)
    record = inverse(scene("slidercrank3d"), {"crank.angle": swing()}, times).record
    for name in ("guide.travel", "cross.angle_x", "cross.angle_y"):
        rate = np.gradient(record[name], times, edge_order=2)
        np.testing.assert_allclose(rate[1:-1], record[f"{name}_rate"][1:-1], atol=1e-3)
        bend = np.gradient(record[f"{name}_rate"], times, edge_order=2)
        np.testing.assert_allclose(bend[1:-1], record[f"{name}_acceleration"][1:-1], atol=1e-2)


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_the_forces_bring_the_motion_back(method):
    """Played into a simulation of order five, through a table so fine that its straight lines err by 1e-9 of the
    torque."""
    motion = wave(0.6, 2 * math.pi, -math.pi / 2, 0.6)  # starts at rest at zero
    times = np.linspace(0.0, 0.5, 101)
    found = inverse(four_bar(), {"crank.angle": motion}, times)
    smooth = np.polynomial.Chebyshev.fit(times, found.torques["crank.angle"], 40)
    np.testing.assert_allclose(smooth(times), found.torques["crank.angle"], atol=1e-10)
    fine = np.linspace(0.0, 0.5, 50_001)
    model = four_bar()
    played = Table(tuple(fine), tuple(smooth(fine)))
    model.add(TorqueSource("drive", "crank", command=1.0, signal=played))
    record = Simulation(model, method=method, tolerance=1e-11).run(0.5, every=0.1)
    np.testing.assert_allclose(record["crank.angle"], [motion(t)[0] for t in record.time], atol=1e-9)


def test_what_a_repeater_drags_along_is_felt():
    model = wheel()
    model.add(Body("other", at=(0.0, 0.0, 1.0), mass=1.0, inertia=(0.1, 0.1, 0.2)))
    model.add(Hinge("second", "ground", "other", at=(0.0, 0.0, 1.0)))
    model.add(Repeater("gear", "second", "pin", ratio=-3.0))
    motion = wave(1.0, 2.0)
    result = inverse(model, {"pin.angle": motion}, TIMES)
    expected = [(0.5 + 9.0 * 0.2) * motion(t)[2] for t in TIMES]
    np.testing.assert_allclose(result.torques["pin.angle"], expected, atol=1e-12)


def test_a_joint_of_the_tree_may_be_passed_backwards():
    """The same wheel with the joint written from wheel to ground: the torque changes its sign."""
    model = Model("wheel", gravity=(0.0, 0.0, 0.0))
    model.add(Body("wheel", mass=1.0, inertia=(0.3, 0.4, 0.5)))
    model.add(Spherical("pin", "wheel", "ground"))
    motion = wave(1.0, 2.0)
    result = inverse(model, {"pin.wz": motion, "pin.wx": 0.0, "pin.wy": 0.0}, TIMES)
    np.testing.assert_allclose(result.torques["pin.wz"], [0.5 * motion(t)[2] for t in TIMES], atol=1e-12)
