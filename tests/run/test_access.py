"""Loops of users: steps one by one, commands and states as arrays, handles of signals."""

import numpy as np
import pytest

from helpers.switched import pendulum
from linkwork import LinkworkError, Simulation, scene

WAYS = [
    ("chain5", {"method": "tree"}),
    ("chain5", {"method": "tree", "integrator": "adaptive"}),
    ("crank_rocker", {}),
    ("crank_rocker", {"integrator": "adaptive"}),
    ("crank_rocker", {"solver": "impulses"}),
    ("crank_rocker", {"method": "hybrid"}),
    ("gripper", {}),
]


def built(name, options):
    return Simulation(scene(name), dt=1e-3, **options)


def steps(sim, count):
    for _ in range(count):
        sim.step()


@pytest.mark.parametrize(("name", "options"), WAYS)
def test_a_state_brings_back_the_same_motion_to_the_last_bit(name, options):
    sim = built(name, options)
    sim.step(30)
    kept, time = sim.state, sim.time
    steps(sim, 20)
    q, v, later = sim.q.copy(), sim.v.copy(), sim.time
    sim.step(7)
    sim.state = kept
    assert sim.time == time
    steps(sim, 20)
    assert sim.time == later
    assert np.array_equal(sim.q, q)
    assert np.array_equal(sim.v, v)
    other = built(name, options)  # another one of the same model
    other.state = kept
    steps(other, 20)
    assert np.array_equal(other.q, q)


def test_a_state_may_be_changed_before_it_is_set():
    sim, other = built("chain5", {"method": "tree"}), built("chain5", {"method": "tree"})
    state = sim.state
    state.q[0] += 0.3
    sim.state = state
    other["joint1.angle"] = float(sim.q[0])
    sim.step(50)
    other.step(50)
    assert np.array_equal(sim.q, other.q)
    assert state.time == 0.0
    assert state.v.shape == sim.v.shape


def test_a_state_of_another_model_is_refused_and_changes_nothing():
    sim = built("chain5", {"method": "tree"})
    sim.step(5)
    q = sim.q.copy()
    with pytest.raises(LinkworkError, match="of another model or method"):
        sim.state = built("crank_rocker", {}).state
    assert np.array_equal(sim.q, q)


def test_a_state_remembers_which_joints_hold():
    sim = Simulation(pendulum(attached=()), dt=1e-3)
    joint = sim.method.switchable[0]
    kept, attached = sim.state, sim.attached
    (sim.release if joint in attached else sim.attach)(joint)
    sim.step(3)
    sim.state = kept
    assert sim.attached == attached
    sim.step(3)
    fresh = Simulation(pendulum(attached=()), dt=1e-3)
    fresh.step(3)
    assert np.array_equal(sim.q, fresh.q)


def test_commands_are_one_array():
    sim, other = built("gripper", {}), built("gripper", {})
    values = np.arange(1.0, 1.0 + len(sim.drives))
    sim.commands = values
    for drive, value in zip(sim.drives, values, strict=True):
        other.command(drive, value)
    sim.step(5)
    other.step(5)
    assert np.array_equal(sim.q, other.q)
    sim.commands[0] = 3.0
    assert sim.state.commands[0] == 3.0
    with pytest.raises(LinkworkError, match=r"commands are 5 numbers, for turret_servo.*shape \(4,\)"):
        sim.commands = values[:4]
    values[1] = np.nan
    with pytest.raises(LinkworkError, match="'shoulder_servo' must be a finite number"):
        sim.commands = values
    assert built("chain5", {}).drives == ()


@pytest.mark.parametrize(("name", "options"), [WAYS[0], WAYS[2], WAYS[4]])
def test_a_handle_reads_what_the_name_reads(name, options):
    sim = built(name, options)
    handles = [sim.signal(signal) for signal in sim.signals]
    body = sim.system.bodies[0]
    handles.append(sim.signal(f"{body}.position"))
    for _ in range(2):
        sim.step(3)
        for handle in handles:
            assert np.array_equal(handle(), sim[handle.name], equal_nan=True), handle
        assert handles[0].unit == sim.signals[handles[0].name]
        sim.reset()  # which makes the state anew
    with pytest.raises(LinkworkError, match="no signal"):
        sim.signal("nothing.angle")


def test_steps_one_by_one_tell_the_gap_that_is_there():
    sim = built("crank_rocker", {})
    for _ in range(10):
        sim.step()
    assert 0.0 < sim.method.report()["gap"] < 1e-9
