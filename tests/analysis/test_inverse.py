"""Inverse dynamics with loops: against the equations of motion solved by other code, formulas and power balances."""

import dataclasses
import json
import math

import numpy as np
import pytest

from helpers.one_dof import wheel
from linkwork import (
    Body,
    Force,
    Hinge,
    JointFunction,
    LinkworkError,
    Model,
    Simulation,
    Sine,
    Slider,
    Spherical,
    Spring,
    Table,
    scene,
)
from linkwork.analysis.inverse import inverse
from linkwork.analysis.motion import difference, smooth
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.dynamics import body_pose, body_twist, energies, inverse_dynamics
from linkwork.engine.coordinates.tree import mass_matrix, place, retract
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from linkwork.engine.kernels.rows import measure
from linkwork.engine.tables import HOLD

GRAVITY = 9.81
# Central differences of order 8 for the first derivative, and of order 8 for the second.
FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


def swing(rate=3.0, wobble=0.4, start=0.0):
    """A crank that turns unevenly: value, rate, acceleration."""
    return lambda t: (
        start + rate * t + wobble * math.sin(2 * t),
        rate + 2 * wobble * math.cos(2 * t),
        -4 * wobble * math.sin(2 * t),
    )


def wave(amplitude, frequency, phase=0.0, offset=0.0):
    """An oscillation: value, rate, acceleration."""
    return lambda t: (
        offset + amplitude * math.sin(frequency * t + phase),
        amplitude * frequency * math.cos(frequency * t + phase),
        -amplitude * frequency**2 * math.sin(frequency * t + phase),
    )


# --- forward dynamics by other code: a dense system, gaps differentiated numerically, springs as forces of the tree
# ---


class Dense:
    """H a - Jᵀ λ = forces, J a = -J' v, in NumPy. Only gaps and coordinates are asked of the rows."""

    def __init__(self, model):
        self.system = compile_model(model, rows=True)
        self.tables, self.constraints = self.system.fresh_tables(), self.system.rows.fresh()
        self.tree = compile_model(
            model
        )  # springs and dampers of its joints, and spring loads, are forces here
        self.tree_tables = self.tree.fresh_tables()
        self.hold = np.flatnonzero(self.constraints.rows["role"] == HOLD)
        self.names = [
            f"{joint.name}.{rate.removesuffix('_rate')}"
            for joint in self.system.rows.joints
            for rate in joint.rates
        ]

    def read(self, q):
        """Gaps of the loops, then all coordinates."""
        place(self.tables.dofs, self.tables.islands, q, np.zeros(self.system.nv))
        measure(self.tables, self.constraints, q)
        return np.concatenate([self.constraints.rows["phi"][self.hold], self.constraints.coords["value"]])

    def moved(self, q, delta):
        result = np.empty_like(q)
        retract(self.tables.dofs, q, delta, result)
        return result

    def slopes(self, q):
        """Derivatives of what is read along each rate; ball coordinates along the rates of their rotation vector."""
        J = np.zeros((len(self.read(q)), self.system.nv))
        for i, unit in enumerate(np.eye(self.system.nv)):
            for k, weight in FIRST.items():
                ahead = self.read(self.moved(q, k * 0.02 * unit))
                J[:, i] += weight * (ahead - self.read(self.moved(q, -k * 0.02 * unit))) / 0.02
        return J

    def bends(self, q, v):
        """Second derivative of what is read at constant rates: J' v."""
        stride = 0.05 / max(np.abs(v).sum(), 1e-300)
        total = SECOND[0] * self.read(q)
        for k in range(1, 5):
            ends = self.read(self.moved(q, k * stride * v)) + self.read(self.moved(q, -k * stride * v))
            total = total + SECOND[k] * ends
        return total / stride**2

    def accelerations(self, q, v, t, push):
        """Joint accelerations for further generalised forces."""
        n, m = self.system.nv, len(self.hold)
        bias, H = np.zeros(n), np.zeros((n, n))
        inverse_dynamics(self.tree_tables, q, v, t, np.zeros(n), bias)
        place(self.tree_tables.dofs, self.tree_tables.islands, q, v)
        mass_matrix(self.tree_tables.dofs, H)
        J = self.slopes(q)[:m]
        system = np.block([[H, -J.T], [J, np.zeros((m, m))]])
        right = np.concatenate([push - bias, -self.bends(q, v)[:m]])
        return np.linalg.lstsq(system, right, rcond=1e-10)[0][:n]


def check_forward(model, result, motion):
    """The forces found give the prescribed accelerations."""
    dense = Dense(model)
    gaps = len(dense.hold)
    for i, t in enumerate(result.times):
        q, v = result.q[i], result.v[i]
        J = dense.slopes(q)
        push = np.zeros(dense.system.nv)
        for name, values in result.torques.items():
            push = push + values[i] * J[gaps + dense.names.index(name)]
        a = dense.accelerations(q, v, t, push)
        np.testing.assert_allclose(a, result.qdd[i], atol=1e-9 * np.abs(result.qdd).max())
        reached = J @ a + dense.bends(q, v)
        read = dense.read(q)
        assert np.abs(read[:gaps]).max(initial=0.0) < 1e-12
        for name, function in motion.items():
            k = gaps + dense.names.index(name)
            x, xd, xdd = function(t)
            assert read[k] == pytest.approx(x, abs=1e-11)
            assert J[k] @ v == pytest.approx(xd, abs=1e-10 * max(1.0, np.abs(result.v).max()))
            assert reached[k] == pytest.approx(xdd, abs=1e-9 * max(1.0, np.abs(result.qdd).max()))


TIMES = np.linspace(0.0, 1.5, 7)
PUSH, AT = np.array([3.0, -1.0, 0.0]), (0.3, 0.2, 0.0)


def four_bar(**fields):
    """A crank and rocker without motor, with springs, a spring between points, dampers and a push on the lever."""
    model = scene("crank_rocker")
    model.drives.clear()
    model.joints["knee"] = dataclasses.replace(
        model.joints["knee"], spring=0.3, rest=0.4, damping=0.02, armature=0.003
    )
    model.add(Spring("coil", "ground", "lever", at_a=(0.2, 0.4, 0.0), at_b=(0.3, 0.2, 0.0), stiffness=40.0))
    model.add(Force("push", "lever", force=tuple(PUSH), at=AT, signal=Sine(0.5)))
    for name, value in fields.items():
        model.joints["crank"] = dataclasses.replace(model.joints["crank"], **{name: value})
    return model


def jaws_without_motor():
    model = scene("jaws", stop=1.0)
    model.drives.clear()
    for name in ("left", "right"):
        model.joints[name] = dataclasses.replace(model.joints[name], friction=0.0, limits=None)
    model.add(Spring("rubber", "left_jaw", "right_jaw", at_a=(0, 0, 0), at_b=(0.0, 0.05, 0), stiffness=30.0))
    return model


def coasting(name, **parameters):
    model = scene(name, **parameters)
    model.drives.clear()
    return model


CASES = {
    "four-bar": (four_bar, {"crank.angle": swing()}),
    "rotor": (lambda: four_bar(armature=0.02), {"crank.angle": swing(start=0.3)}),
    "closing joint": (four_bar, {"rocker.angle": wave(0.15, 3.0, 0.0, 0.3)}),
    "spatial": (lambda: coasting("slidercrank3d"), {"crank.angle": swing(2.0)}),
    "spatial slider": (lambda: coasting("slidercrank3d"), {"guide.travel": wave(0.03, 4.0, 0.3, 0.03)}),
    "redundant": (lambda: coasting("peaucellier"), {"crank.angle": wave(0.8, 2.0, 0.0, -0.5)}),
    "repeater": (jaws_without_motor, {"right.travel": wave(0.02, 5.0)}),
    "ball": (
        lambda: scene("spherical_pendulum"),
        {"ball.wx": wave(0.5, 2.0), "ball.wy": wave(0.4, 3.0, 1.0), "ball.wz": wave(0.3, 1.0, 2.0)},
    ),
    "trailer": (
        lambda: coasting("hitch"),
        {
            "gimbal.angle_x": wave(0.3, 2.0),
            "gimbal.angle_y": wave(0.2, 3.0),
            "hitch.wx": wave(0.2, 2.0, 1.0),
            "hitch.wy": wave(0.2, 1.0, 2.0),
            "hitch.wz": wave(0.1, 4.0),
        },
    ),
}


BIG = {
    "stewart": {f"leg{k}.travel": wave(0.1, 3.0, k) for k in range(1, 7)},
    "bennett": {"joint1.angle": swing(2.0)},
}


@pytest.mark.parametrize("name", BIG)
def test_forces_in_larger_loops_do_too(name):
    model = coasting(name)
    result = inverse(model, BIG[name], TIMES[:3])
    check_forward(model, result, BIG[name])


@pytest.mark.parametrize("case", CASES)
def test_forces_give_the_prescribed_accelerations(case):
    build, motion = CASES[case]
    model = build()
    result = inverse(model, motion, TIMES)
    check = check_ball if case in ("ball", "trailer") else check_forward
    check(model, result, motion)


def check_ball(model, result, motion):
    """Torques at a ball act about the axes of b, not along its rotation vector.

    In an open mechanism forces along the rates are all there is: recursive Newton and Euler must agree.
    """
    system = compile_model(model)
    tables, tau = system.fresh_tables(), np.zeros(system.nv)
    rates = [column.name.removesuffix("_rate") for column in system.rates]
    dense = Dense(model)
    for i, t in enumerate(result.times):
        inverse_dynamics(tables, result.q[i], result.v[i], t, result.qdd[i], tau)
        found = np.array([result.torques[name][i] for name in rates])
        np.testing.assert_allclose(found, tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())
        read = dense.read(result.q[i])
        J, bends = dense.slopes(result.q[i]), dense.bends(result.q[i], result.v[i])
        for name, function in motion.items():
            k = dense.names.index(name)
            x, xd, xdd = function(t)
            assert read[k] == pytest.approx(x, abs=1e-12)
            assert J[k] @ result.v[i] == pytest.approx(xd, abs=1e-10)
            assert J[k] @ result.qdd[i] + bends[k] == pytest.approx(xdd, abs=1e-8)


def test_springs_and_dampers_in_the_joint_that_closes_the_loop_act_too():
    plain, motion = four_bar(), {"crank.angle": swing()}
    model = four_bar()
    k, c = 2.0, 0.1
    model.joints["rocker"] = dataclasses.replace(model.joints["rocker"], spring=k, rest=0.1, damping=c)
    bare, full = inverse(plain, motion, TIMES), inverse(model, motion, TIMES)
    record = full.record
    power = (k * (record["rocker.angle"] - 0.1) + c * record["rocker.angle_rate"]) * record[
        "rocker.angle_rate"
    ]
    more = (full.torques["crank.angle"] - bare.torques["crank.angle"]) * record["crank.angle_rate"]
    np.testing.assert_allclose(more, power, atol=1e-11)


def test_an_open_arm_needs_what_newton_and_euler_say():
    model = scene("puma560")
    motion = {f"joint{i}.angle": wave(0.5, 1.0 + 0.3 * i, i) for i in range(1, 7)}
    result = inverse(model, motion, TIMES)
    system = compile_model(model)
    tables, tau = system.fresh_tables(), np.zeros(6)
    for i, t in enumerate(TIMES):
        x = np.array([motion[f"joint{k}.angle"](t) for k in range(1, 7)])
        inverse_dynamics(tables, x[:, 0].copy(), x[:, 1].copy(), t, x[:, 2].copy(), tau)
        found = [result.torques[f"joint{k}.angle"][i] for k in range(1, 7)]
        np.testing.assert_allclose(found, tau, rtol=1e-11, atol=1e-11)
    assert result.warnings == []


# --- formulas ---

R, L, PISTON = 0.05, 0.2, 3.0


def slider_crank(rod=1e-10, gravity=0.0, gas=None):
    """A piston on a crank by a rod of next to no mass, along x."""
    model = Model("engine", gravity=(-gravity, 0.0, 0.0))
    light = {"mass": rod, "inertia": (rod, rod, rod)}
    model.add(Body("web", **light))
    model.add(Body("rod", at=(R, 0.0, 0.0), **light))
    model.add(Body("piston", at=(R + L, 0.0, 0.0), mass=PISTON, inertia=(0.01, 0.01, 0.01)))
    model.add(Hinge("crank", "ground", "web"))
    model.add(Hinge("pin", "web", "rod", at=(R, 0.0, 0.0)))
    model.add(Hinge("wrist", "rod", "piston", at=(R + L, 0.0, 0.0)))
    model.add(Slider("bore", "ground", "piston", at=(R + L, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    if gas is not None:
        model.add(Force("gas", "piston", force=(-gas, 0.0, 0.0)))
    return model


def piston(angle):
    """Position of the piston, dx/dθ, d²x/dθ²."""
    s, c = math.sin(angle), math.cos(angle)
    root = math.sqrt(L * L - R * R * s * s)
    first = -R * s - R * R * s * c / root
    second = -R * c - R * R * (c * c - s * s) / root - R**4 * s * s * c * c / root**3
    return R * c + root, first, second


def test_a_slider_crank_turns_as_virtual_work_says():
    model = slider_crank(gravity=GRAVITY, gas=500.0)
    motion = swing(40.0, 0.3, 0.2)
    times = np.linspace(0.0, 0.3, 31)
    result = inverse(model, {"crank.angle": motion}, times)
    for i, t in enumerate(times):
        angle, rate, acceleration = motion(t)
        x, first, second = piston(angle)
        inertia = PISTON * (second * rate**2 + first * acceleration)
        tau = (inertia + 500.0 + PISTON * GRAVITY) * first
        # The rod's mass is 1e-10 of what it drives.
        assert result.torques["crank.angle"][i] == pytest.approx(tau, abs=1e-8 * 2000.0 * R)
        assert result.record["bore.travel"][i] == pytest.approx(x - R - L, abs=1e-13)
        assert result.power[i] == pytest.approx(tau * rate, abs=1e-4)


def test_held_still_it_carries_the_gas():
    result = inverse(slider_crank(gas=1000.0), {"crank.angle": 1.0}, [0.0])
    assert result.torques["crank.angle"][0] == pytest.approx(1000.0 * piston(1.0)[1], rel=1e-9)
    assert result.units == {"crank.angle": "N m"}


def test_power_of_the_crank_is_the_change_of_energy():
    """τ ω = dE/dt + dampers - pushes, E from energies of the tree; dE/dt by differences of order 8."""
    model = four_bar()
    system = compile_model(model)
    tables, h = system.fresh_tables(), 2e-3
    for middle in (0.1, 0.7, 1.3):
        times = middle + h * np.arange(-4, 5)
        result = inverse(model, {"crank.angle": swing()}, times)
        E = [sum(energies(tables, q, v, t)) for q, v, t in zip(result.q, result.v, times, strict=True)]
        change = sum(w * (E[4 + k] - E[4 - k]) for k, w in FIRST.items()) / h
        damper = 0.02 * result.record["knee.angle_rate"][4] ** 2
        push = math.sin(math.pi * middle) * PUSH @ velocity_of(system, "lever", AT, result.q[4], result.v[4])
        assert result.power[4] == pytest.approx(change + damper - push, rel=1e-9)


def velocity_of(system, body, at, q, v):
    """Velocity of the point of a body that was drawn at `at`."""
    tables, index = system.fresh_tables(), system.body(body)
    place(tables.dofs, tables.islands, np.zeros(system.nq), np.zeros(system.nv))
    p, R = body_pose(tables, index)
    local = np.reshape(R, (3, 3)).T @ (np.array(at) - p)
    place(tables.dofs, tables.islands, q, v)
    w, u = map(np.array, body_twist(tables, index))
    return u + np.cross(w, np.reshape(body_pose(tables, index)[1], (3, 3)) @ local)


def test_the_same_motion_driven_elsewhere_needs_the_same_power():
    model, times = four_bar(), np.linspace(0.2, 0.8, 5)
    at_crank = inverse(model, {"crank.angle": swing()}, times)
    at_rocker = inverse(model, {"crank.angle": swing()}, times, at=["rocker.angle"])
    np.testing.assert_allclose(at_rocker.power, at_crank.power, rtol=1e-10)
    np.testing.assert_allclose(
        at_rocker.torques["rocker.angle"] * at_rocker.record["rocker.angle_rate"], at_crank.power, rtol=1e-10
    )


# --- the branch is kept, whatever the times ---


def test_coarse_times_find_the_same_poses_as_fine_ones():
    motion = {"crank.angle": swing(2 * math.pi, 0.0)}
    fine = inverse(four_bar(), motion, np.linspace(0.0, 3.0, 301))
    coarse = inverse(four_bar(), motion, np.linspace(0.0, 3.0, 4))
    np.testing.assert_allclose(coarse.q, fine.q[::100], atol=1e-11)
    np.testing.assert_allclose(coarse.torques["crank.angle"], fine.torques["crank.angle"][::100], atol=1e-9)
    assert fine.record["crank.angle"][-1] == pytest.approx(6 * math.pi)
    assert np.ptp(fine.record["rocker.angle"]) < math.pi


def test_turns_of_a_closing_joint_are_counted():
    """Declared in another order, the loop is cut at the crank."""
    model = four_bar()
    model.joints = {name: model.joints[name] for name in ("rocker", "wrist", "knee", "crank")}
    assert compile_model(model).cuts == ("crank",)
    times = np.linspace(0.0, 4.0, 9)
    result = inverse(model, {"crank.angle": swing(5.0, 0.0)}, times)
    np.testing.assert_allclose(result.record["crank.angle"], 5.0 * times, atol=1e-11)
    other = inverse(four_bar(), {"crank.angle": swing(5.0, 0.0)}, times)
    np.testing.assert_allclose(result.torques["crank.angle"], other.torques["crank.angle"], atol=1e-9)


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


def test_a_singular_position_on_the_way_is_named():
    """Pushed by its piston, an engine stands still in its dead centre."""
    travel = piston(1.0)[0] - R - L
    with pytest.raises(LinkworkError, match="out of reach, or through a singular position"):
        inverse(
            slider_crank(), {"bore.travel": lambda t: (travel + t * 0.05, 0.05, 0.0)}, np.linspace(0, 2, 5)
        )


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
