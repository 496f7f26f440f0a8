"""Inverse dynamics with loops: against the equations of motion solved by other code, formulas and power balances."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.driven import AT, PUSH, TIMES, four_bar, jaws_without_motor, swing, wave
from linkwork import Body, Force, Hinge, LinkworkError, Model, Slider, scene
from linkwork.analysis.inverse import inverse
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.dynamics import body_pose, body_twist, energies, inverse_dynamics
from linkwork.engine.coordinates.tree import mass_matrix, place, retract
from linkwork.engine.kernels.rows import measure
from linkwork.engine.tables import HOLD

GRAVITY = 9.81
# Central differences of order 8 for the first derivative, and of order 8 for the second.
FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


# --- forward dynamics by other code: dense, gaps differentiated numerically, springs as forces of the tree ---


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


def test_a_singular_position_on_the_way_is_named():
    """Pushed by its piston, an engine stands still in its dead centre."""
    travel = piston(1.0)[0] - R - L
    with pytest.raises(LinkworkError, match="out of reach, or through a singular position"):
        inverse(
            slider_crank(), {"bore.travel": lambda t: (travel + t * 0.05, 0.05, 0.0)}, np.linspace(0, 2, 5)
        )
