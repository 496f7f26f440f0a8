"""Forces in joints, and what drives of a loop must do: against Newton and Euler, against records, against a motion."""

import numpy as np
import pytest

from helpers.newton_euler import check_balance
from linkwork import Dynamics, LinkworkError, Simulation, scene
from linkwork.model.rotation import matrix

WITHOUT = ("limits", "dry friction")


def test_reactions_of_a_tree_balance_every_body_and_hold_what_is_given_along_the_joints():
    model = scene("puma560", rotors=False, friction=False)
    arm = Dynamics(model)
    q, v, tau = np.random.default_rng(1).normal(size=(3, arm.nv))
    forces, torques = arm.reactions(q, v, tau)
    a = arm.forward(q, v, tau)
    check_balance(model, arm.system, q, v, a, (), None, forces.ravel(), torques.ravel())
    flat = model.flatten()
    for name, torque in zip(arm.joints, torques, strict=True):
        if f"{name}.angle" not in arm.coordinates:
            continue
        joint = flat.joints[name]
        turned = (
            arm.pose(q, joint.b)[1] @ matrix(flat.bodies[joint.b].rotation).T
        )  # since the pose as written
        along = torque @ (turned @ (np.array(joint.axis) / np.linalg.norm(joint.axis)))
        assert along == pytest.approx(tau[arm.coordinates.index(f"{name}.angle")], abs=1e-11)


@pytest.mark.parametrize("name", ["crank_rocker", "slidercrank3d", "bennett"])
def test_reactions_of_loops_are_those_of_a_simulation(name):
    """Drives and rotors act, too."""
    model = scene(name)
    rods = Dynamics(model, without=WITHOUT)
    q, v = rods.project(rods.q0, np.random.default_rng(4).normal(size=rods.nv))
    sim = Simulation(model, method="simgc", dt=1e-7)  # no law is too stiff for such a step
    sim.q[:], sim.v[:] = q, v
    sim.method.disturb()
    for found, what in zip(rods.reactions(q, v), ("force", "torque"), strict=True):
        for k, joint in enumerate(rods.joints):
            error = np.abs(found[k] - sim[f"{joint}.{what}"]).max()
            assert error < 1e-9 * max(np.abs(found).max(), 1.0), f"{joint}.{what} is off by {error:.1e}"


def test_reactions_of_arrays_are_those_of_each_state():
    rods = Dynamics(scene("crank_rocker"))
    random = np.random.default_rng(2)
    q, v = rods.project(rods.q0 + 0.01 * random.normal(size=(3, rods.nv)), random.normal(size=(3, rods.nv)))
    tau = random.normal(size=(3, rods.nv))
    out = np.empty((3, len(rods.joints), 3)), np.empty((3, len(rods.joints), 3))
    found = rods.reactions(q, v, tau, out=out)
    assert found[0] is out[0]
    for k in range(3):
        for whole, one in zip(found, rods.reactions(q[k], v[k], tau[k]), strict=True):
            assert np.array_equal(whole[k], one)
    with pytest.raises(LinkworkError, match="two arrays"):
        rods.poses(q, out=np.empty((3, 3)))


def test_six_legs_do_what_all_joints_would():
    platform = Dynamics(scene("stewart"), without=WITHOUT)
    random = np.random.default_rng(3)
    q, v = platform.project(platform.q0, 0.1 * random.normal(size=(2, platform.nv)))
    free = platform.forward(q, v, random.normal(size=(2, platform.nv)))  # accelerations that the loops allow
    tau = platform.inverse(q, v, free)
    legs = [name for name in platform.coordinates if name.endswith(".travel")]
    assert len(legs) == 6
    alone = np.zeros((2, platform.nv))
    alone[:, [platform.rates.index(f"{leg}_rate") for leg in legs]] = platform.actuate(q, tau, legs)
    moved = platform.forward(q, v, alone)
    assert np.abs(moved - free).max() < 1e-9 * np.abs(free).max()
    with pytest.raises(LinkworkError, match="cannot do what tau does"):
        platform.actuate(q, tau, legs[:5])
    with pytest.raises(LinkworkError, match="no coordinate or rate 'leg9"):
        platform.actuate(q, tau, ["leg9.travel"])
