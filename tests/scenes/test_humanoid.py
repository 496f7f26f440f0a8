"""The robot that stands on its own feet, takes a stone in its hand and lifts it, all by friction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkwork import Simulation, scene
from linkwork.methods.contact import DEFAULT_SLOP
from linkwork.scenes.humanoid_stone import DT, DURATION, STONE
from linkwork.scenes.humanoid_stone.robot import FOOT_WIDTH, HALF_HIPS, HEEL, HIP, TOE
from linkwork.scenes.humanoid_stone.script import COURSE, STONE_AT

PALM, FEET = "right_arm.hand.palm", ("left_leg.foot", "right_leg.foot")
HELD = DURATION - 1.5
"""From here on the stone is looked at as held still [s]."""
# Corners and middle of the stone, to see it turn in the hand too.
MARKS = [np.zeros(3), *(0.05 * np.eye(3))]


def in_hand(sim: Simulation) -> np.ndarray:
    """Points of the stone in the frame of the palm [m]."""
    origin, _ = sim.point(PALM)
    axes = np.array([sim.point(PALM, axis)[0] - origin for axis in np.eye(3)])
    return np.array([axes @ (sim.point("stone", mark)[0] - origin) for mark in MARKS])


def centre_of_mass(sim: Simulation) -> np.ndarray:
    """Of the robot with whatever it holds [m]."""
    holds = any("stone" in (t.a, t.b) and "right_arm" in t.a + t.b for t in sim.touches())
    bodies = [b for b in sim.model.flatten().bodies.values() if holds or b.name != "stone"]
    parts = [(b.mass_properties.mass, sim.point(b.name, b.mass_properties.com)[0]) for b in bodies]
    return np.sum([m * p for m, p in parts], axis=0) / sum(m for m, _ in parts)


def forces_on_stone(sim: Simulation) -> dict[str, np.ndarray]:
    """Sum of what each thing does to the stone [N]."""
    found: dict[str, np.ndarray] = {}
    for t in sim.touches():
        if "stone" in (t.a, t.b):
            on_b = np.array(t.friction) + t.force * np.array(t.normal)
            other, force = (t.a, on_b) if t.b == "stone" else (t.b, -on_b)
            found[other] = found.get(other, np.zeros(3)) + force
    return found


@pytest.fixture(scope="module")
def lifted() -> Any:
    """The whole script, looked at every 50 ms."""
    sim = Simulation(scene("humanoid_stone"), method="simgc", dt=DT)
    seen = SimpleNamespace(sim=sim, time=[], com=[], feet=[], hand=[], stone=[], depth=[])
    for _ in range(round(DURATION / 0.05)):
        sim.step(50)
        seen.time.append(sim.time)
        seen.com.append(centre_of_mass(sim))
        seen.feet.append([sim.point(foot)[0] for foot in FEET])
        seen.hand.append(in_hand(sim))
        seen.stone.append(sim.point("stone")[0])
        seen.depth.append(sim.method.report()["depth"])
    for name in ("time", "com", "feet", "hand", "stone", "depth"):
        setattr(seen, name, np.array(getattr(seen, name)))
    return seen


def test_sizes_and_masses_are_those_of_a_small_adult() -> None:
    flat = scene("humanoid_stone").flatten()
    mass = sum(body.mass_properties.mass for name, body in flat.bodies.items() if name != "stone")
    assert 60.0 < mass < 70.0
    assert 1.0 < flat.bodies["stone"].mass_properties.mass < 1.5
    assert STONE.is_file()
    for name, body in flat.bodies.items():
        if name.startswith("left_"):
            other = flat.bodies["right_" + name.removeprefix("left_")]
            assert np.allclose(np.array(body.at) * (1, -1, 1), other.at, atol=1e-12)
            assert body.mass_properties.mass == other.mass_properties.mass


def test_it_stands_without_the_script() -> None:
    sim = Simulation(scene("humanoid_stone", script=False), method="simgc", dt=DT)
    before = np.array([sim.point(foot)[0] for foot in FEET])
    sim.step(3000)
    after = np.array([sim.point(foot)[0] for foot in FEET])
    assert np.abs(after - before)[:, :2].max() < 1e-6
    assert np.abs(after - before)[:, 2].max() < DEFAULT_SLOP
    # Legs are straight and their feet below them: what the servos give changes heights in second order only.
    assert sim.point("pelvis")[0][2] == pytest.approx(HIP, abs=DEFAULT_SLOP)
    assert np.abs(sim.v).max() < 1e-4
    weight = 9.81 * sum(
        b.mass_properties.mass for b in sim.model.flatten().bodies.values() if b.name != "stone"
    )
    carried = sum(t.force for t in sim.touches() if "floor" in (t.a, t.b))
    assert carried == pytest.approx(weight, rel=1e-5)
    assert sim.method.outcome()["steps_cut_short"] == 0


def test_the_centre_of_mass_stays_over_the_feet(lifted: Any) -> None:
    x, y, _ = lifted.com.T
    margin = 0.05
    assert x.min() > HEEL + margin
    assert x.max() < TOE - margin
    assert np.abs(y).max() < HALF_HIPS + FOOT_WIDTH / 2 - margin


def test_feet_stay_where_they_are(lifted: Any) -> None:
    # Friction holds velocities, not places: a step errs by h²/2 times the acceleration of the feet as seen from the
    # pelvis. Knees turn by 1.2 rad in 1.8 s and legs are 0.8 m long: 0.5 * 1e-3 s * 0.8 m * (1.2/1.8)² /s² * 1.8 s
    # on the way down and, slower, on the way up.
    moved = np.abs(lifted.feet - lifted.feet[0])
    assert moved.max() < 4e-4


def test_the_stone_is_lifted_and_does_not_slip(lifted: Any) -> None:
    held = lifted.time > HELD - 1e-9
    assert lifted.stone[held][:, 2].min() > STONE_AT[2] + 0.15
    slip = np.linalg.norm(lifted.hand[held] - lifted.hand[held][0], axis=-1).max()
    assert slip < 1e-5
    assert lifted.depth[held].max() < 1.001 * DEFAULT_SLOP
    # Fingers close with 0.1 m/s: what touches between two steps may be this much too deep at most.
    assert lifted.sim.method.outcome()["deepest_m"] < DT * 0.1


def test_fingers_and_thumb_carry_the_stone(lifted: Any) -> None:
    forces = forces_on_stone(lifted.sim)
    digits = {
        name.split(".")[2] for name, force in forces.items() if np.linalg.norm(force) > 1.0 and "hand" in name
    }
    assert {"index", "middle", "ring", "thumb"} <= digits
    assert all(name.startswith("right_arm.hand.") for name in forces)
    weight = 9.81 * lifted.sim.model.flatten().bodies["stone"].mass_properties.mass
    # It is still to 1e-5 m/s by then, and swings with some rad/s: the rest of the acceleration is far below this.
    assert np.allclose(np.sum(list(forces.values()), axis=0), (0.0, 0.0, weight), atol=1e-4 * weight)


def test_events_in_order(lifted: Any) -> None:
    first: dict[str, float] = {}
    for event in lifted.sim.touch_events:
        if "stone" in (event.a, event.b) and event.began:
            first.setdefault(event.a if event.b == "stone" else event.b, event.time)
    down, up = COURSE[3].time, COURSE[-1].time
    assert first.pop("pedestal") <= DT
    hand = {name: t for name, t in first.items() if name.startswith("right_arm.hand.")}
    assert hand == first, "nothing but the hand touches it"
    assert all(down < t < up for t in hand.values())
    left = [e.time for e in lifted.sim.touch_events if {e.a, e.b} == {"stone", "pedestal"} and not e.began]
    assert max(hand.values()) < left[-1] < up
    feet = [e for e in lifted.sim.touch_events if "floor" in (e.a, e.b)]
    assert {(e.a if e.b == "floor" else e.b) for e in feet} == set(FEET)
    assert all(e.began and e.time <= DT for e in feet), "feet never leave the floor"


def test_maximal_coordinates_agree() -> None:
    model = scene("humanoid_stone")
    one, other = (Simulation(model, method=method, dt=DT) for method in ("simgc", "simmc"))
    for sim in (one, other):
        sim.step(800)
    # 0.3 s into the motion, at some 0.1 m/s². Joints in maximal coordinates open by h² times that in each step, and
    # most of it is removed in the next.
    apart = [np.abs(one.point(name)[0] - other.point(name)[0]).max() for name in model.flatten().bodies]
    assert max(apart) < 1e-6


@pytest.mark.peers
def test_mujoco_lifts_the_same_stone(lifted: Any) -> None:
    pytest.importorskip("mujoco")
    from benchmarks.peer_mujoco_contact import MujocoContact

    peer = MujocoContact(scene("humanoid_stone"), DT, "tight")
    peer.run(round(DURATION / DT))
    # Its contacts give in by some 50 µm, at the feet, which a hand 0.9 m above them multiplies, and at the fingers.
    for body in ("stone", PALM):
        assert np.abs(peer.pose(body)[0] - lifted.sim.point(body)[0]).max() < 1e-3
