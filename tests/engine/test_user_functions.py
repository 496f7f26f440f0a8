"""Functions of users and signals as loads of trees, and the same motion without the compiler."""

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest

from helpers.probe import Probe
from helpers.processes import python
from helpers.trees import Link, Plan, build, random_plan, triple, unit
from linkwork.engine.loads import BodyFunction, Force, JointFunction, Spring, Torque
from linkwork.model import Body, Model
from linkwork.model.item import GROUND
from linkwork.model.joints import Hinge, Slider, Spherical
from linkwork.model.rotation import matrix
from linkwork.model.signals import Sine, Table

# --- users' functions ---


def spill_pose_and_twist(t, x, v, parameters, out):
    """Push along x with entry int(t) of (x, v), so that an acceleration shows it."""
    k = int(t)
    out[3] = x[k] if k < 12 else v[k - 12]


def test_a_body_function_sees_position_rotation_and_twist_in_the_documented_order():
    rng = np.random.default_rng(3)
    mass = 2.0
    model = Model(gravity=(0.0, 0.0, 0.0))
    at, turn = rng.normal(size=3), unit(rng, 4)
    model.add(Body("body", at=triple(at), rotation=tuple(turn), mass=mass, inertia=(1.0, 2.0, 2.5)))
    model.add(BodyFunction("spill", "body", spill_pose_and_twist))
    probe = Probe(model)
    q, v = probe.state(1)
    probe.place(q, v)
    (p, R), twist = probe.pose("body"), probe.twist("body")
    seen = [mass * probe.qdd(q, v, float(k))[0] for k in range(18)]
    np.testing.assert_allclose(seen, np.r_[p, R.ravel(), twist], rtol=1e-14, atol=1e-14)
    # The pose is the body's own, not that of the joint that carries it.
    np.testing.assert_allclose(probe.poses(probe.system.q0)[1][0], matrix(turn), atol=1e-15)


def world_push(t, x, v, parameters, out):
    s = 1.0 + 0.5 * np.sin(2.0 * np.pi * t)
    for k in range(3):
        out[k] = parameters[k] * s
        out[3 + k] = parameters[3 + k] * s


def tail_push(t, x, v, parameters, out):
    for i in range(3):
        for k in range(3):
            out[i] += x[3 + 3 * i + k] * parameters[k]
            out[3 + i] += x[3 + 3 * i + k] * parameters[3 + k]


@pytest.mark.parametrize(("function", "follows"), [(world_push, False), (tail_push, True)])
def test_a_body_function_does_what_force_and_torque_do(function, follows):
    rng = np.random.default_rng(5)
    plan = random_plan(4, max_links=5, loads=0, placed="here")
    n, f = rng.normal(size=(2, 3))
    loaded, called = build(plan), build(plan)
    body = loaded.bodies["body0"]
    signal = None if follows else Sine(1.0, amplitude=0.5, offset=1.0)
    loaded.add(Torque("n", "body0", torque=triple(n), follows=follows, signal=signal))
    loaded.add(Force("f", "body0", force=triple(f), follows=follows, signal=signal))
    # A load that follows is written in world axes of the assembled pose; a function gets the body's axes.
    turn = matrix(body.rotation).T if follows else np.eye(3)
    called.add(BodyFunction("b", "body0", function, parameters=tuple(np.r_[turn @ n, turn @ f])))
    one, two = Probe(loaded), Probe(called)
    q, v = one.state(2)
    for t in (0.0, 0.3):
        qdd, supplied, dissipated = one.derive(q, v, t)
        other = two.derive(q, v, t)
        np.testing.assert_allclose(other[0], qdd, rtol=1e-11, atol=1e-11 * np.abs(qdd).max())
        assert other[1:] == pytest.approx((supplied, dissipated), rel=1e-12)


def drag(t, x, v, parameters, out):
    for k in range(len(out)):
        out[k] = -parameters[0] * v[k]


def spring_and_damper(t, x, v, parameters, out):
    for k in range(len(out)):
        out[k] = parameters[0] * (parameters[1] - x[k]) - parameters[2] * v[k]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", ["hinge", "slider", "universal", "planar", "cylindrical", "screw"])
def test_a_joint_function_does_what_spring_and_damper_in_the_joint_do(kind, backwards):
    links = (Link("spherical"), Link(kind, 0, backwards), Link("hinge", 1))
    model = build(Plan(links, seed=1, passive=False, decades=1))
    joint = model.joints["joint1"]
    called = build(Plan(links, seed=1, passive=False, decades=1))
    called.add(JointFunction("f", "joint1", spring_and_damper, parameters=(3.0, 0.2, 0.4)))
    model.joints["joint1"] = dataclasses.replace(joint, spring=3.0, rest=0.2, damping=0.4)
    one, two = Probe(model), Probe(called)
    q, v = one.state(3)
    wanted = one.qdd(q, v)
    np.testing.assert_allclose(two.qdd(q, v), wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("backwards", [False, True])
def test_a_joint_function_on_a_ball_acts_on_its_three_rates(backwards):
    links = (Link("hinge"), Link("spherical", 0, backwards))
    plan = Plan(links, seed=2, passive=False, decades=1)
    damped, called = build(plan), build(plan)
    damped.joints["joint1"] = dataclasses.replace(damped.joints["joint1"], damping=0.4)
    called.add(JointFunction("f", "joint1", drag, parameters=(0.4,)))
    one, two = Probe(damped), Probe(called)
    q, v = one.state(3)
    qdd, _, dissipated = one.derive(q, v)
    other, supplied, _ = two.derive(q, v)
    np.testing.assert_allclose(other, qdd, atol=1e-12 * np.abs(qdd).max())
    # What a function takes out counts as supplied from outside, with its sign.
    assert supplied == pytest.approx(-dissipated, rel=1e-13)


def spill_coordinates(t, x, v, parameters, out):
    k = int(t)
    out[0] = x[k] if k < len(x) else v[k - len(x)]
    out[1] = 100.0 * len(x) + 10.0 * len(v) + len(out)
    out[2] = parameters[0] + len(parameters)


def test_a_joint_function_sees_its_own_coordinates_and_rates_and_nothing_else():
    plan = Plan((Link("free"), Link("hinge", 0), Link("free")), seed=3, passive=False)
    model = build(plan)
    model.add(JointFunction("f", "joint2", spill_coordinates, parameters=(0.5, 7.0)))
    probe = Probe(model)
    q, v = probe.state(4)
    joint = probe.system.joints["joint2"]
    bare = Probe(plan).bias(q, v)
    forces = np.array([bare - probe.bias(q, v, float(k)) for k in range(13)])[:, joint.v]
    np.testing.assert_allclose(forces[:, 0], np.r_[q[joint.q], v[joint.v]], atol=1e-12)
    np.testing.assert_allclose(forces[:, 1], 766, rtol=1e-13)
    np.testing.assert_allclose(forces[:, 2], 2.5, atol=1e-12)
    np.testing.assert_allclose(forces[:, 3:], 0, atol=1e-12)


@pytest.mark.parametrize(
    "signal",
    [
        Sine(0.8, amplitude=2.0, phase=0.3, offset=-0.5),
        Table((0.5, 1.0, 1.0, 2.0), (1.0, 3.0, -1.0, 0.0)),
        Table((0.0,), (2.5,)),
    ],
    ids=["sine", "table with a step", "constant"],
)
def test_a_signal_scales_its_load_over_time(signal):
    model = Model(gravity=(0.0, 0.0, 0.0))
    model.add(Body("cart", mass=2.0))
    model.add(Slider("rail", GROUND, "cart", axis=(1.0, 0.0, 0.0)))
    model.add(Force("push", "cart", force=(2.0, 0.0, 0.0), signal=signal))
    probe = Probe(model)
    for t in (0.0, 0.25, 0.5, 0.75, 0.999, 1.001, 1.5, 2.0, 3.0):
        if isinstance(signal, Sine):
            wanted = -0.5 + 2.0 * np.sin(2 * np.pi * 0.8 * t + 0.3)
        else:
            wanted = np.interp(t, signal.times, signal.values)
        assert probe.qdd(np.zeros(1), np.zeros(1), t)[0] == pytest.approx(wanted, abs=1e-14)


# --- without the compiler ---


def wind(t, x, v, parameters, out):
    """Drag in a wind that turns, with whole-array arithmetic."""
    out[3:] = parameters * (np.array([np.cos(t), np.sin(t), 0.1 * x[2]]) - v[3:])
    out[:3] = -0.01 * v[:3]


def brake(t, x, v, parameters, out):
    out[:] = -parameters[0] * v


def short_motion():
    """Twenty steps of a mechanism with one of everything: where it ends."""
    model = Model("whirl")
    model.add(Body("arm", at=(0.0, 0.0, -0.5), mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0.0, 0.02, 0.0)))
    model.add(Body("vane", at=(0.3, 0.0, -1.0), mass=0.5, inertia=(0.01, 0.02, 0.02)))
    model.add(Spherical("ball", GROUND, "arm", velocity=(1.0, 2.0, 3.0), spring=2.0))
    model.add(Hinge("pin", "vane", "arm", at=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0), damping=0.02))
    ends = {"at_a": (0.3, 0.0, -1.0), "at_b": (1.0, 0.0, -1.0)}
    model.add(Spring("spring", "vane", GROUND, **ends, stiffness=20.0, damping=0.2, length=0.5))
    model.add(Force("push", "vane", force=(0.0, 1.0, 0.0), signal=Sine(2.0)))
    model.add(BodyFunction("wind", "vane", wind, parameters=(0.5, 0.6, 0.7)))
    model.add(JointFunction("brake", "ball", brake, parameters=(0.05,)))
    probe = Probe(model)
    path = probe.run(probe.system.q0, probe.system.v0, 5e-3, 20, stride=20)
    return [*path.q[-1], *path.v[-1], *path.work[-1], *probe.energies(path.q[-1], path.v[-1], path.t[-1])]


def test_without_the_compiler_the_motion_is_the_same():
    here = Path(__file__).parent
    script = "import json, test_user_functions as t; print(json.dumps([float(x) for x in t.short_motion()]))"
    paths = os.pathsep.join([str(here), str(here.parents[0]), *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = python("-c", script, environment={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths})
    # The compiler fuses products with sums: a few ulp in each of 80 evaluations of numbers below 10.
    np.testing.assert_allclose(json.loads(printed), short_motion(), rtol=1e-12, atol=1e-12)
