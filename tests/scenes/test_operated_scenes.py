"""Scenes with diagrams and panels: what levers do there, against formulas, other models and equations of their own."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linkwork import LinkworkError, Simulation, scene
from linkwork.control.blocks.panel import OPERATED
from linkwork.engine.kernels.jit import COMPILED
from linkwork.live.session import Session
from linkwork.model.rotation import matrix
from linkwork.scenes import (
    balancer,
    cart_pole,
    crane,
    excavator,
    excavator_driven,
    find_scene,
    gripper_driven,
    krt100,
    krt100_driven,
)

compiled = pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
SCENES = (
    "balancer",
    "cart_pole",
    "crane",
    "excavator_driven",
    "gripper_driven",
    "krt100_driven",
    "puma_pick",
)
G = 9.81


def started(name, *, dt=1e-3, **parameters):
    return Simulation(scene(name, **parameters), dt=dt)


@pytest.mark.parametrize("name", SCENES)
def test_every_one_is_driven_by_keyboard_and_gamepad_and_its_card_says_so(name):
    found = find_scene(name)
    blocks = [block for block in found.build().control.values() if isinstance(block, OPERATED)]
    keys, pads = [], []
    for block in blocks:
        keys += [*(getattr(block, "keys", None) or ()), *filter(None, [getattr(block, "key", None)])]
        axes = [*(getattr(block, "axes", None) or ()), getattr(block, "axis", None)]
        pads += [f"axis {axis}" for axis in axes if axis is not None]
        pads += [f"button {b}" for b in [getattr(block, "button", None)] if b is not None]
    assert all(getattr(block, "keys", None) or getattr(block, "key", None) for block in blocks)
    assert len(set(keys)) == len(keys), "a key does two things"
    if name != "puma_pick":  # where a mode chooses what the sticks do
        assert len(set(pads)) == len(pads), "a part of the gamepad does two things"
    assert any(pad.startswith("axis") for pad in pads)
    assert "gamepad" in found.description
    assert len(found.description) < 120


# --- wheels ---


@compiled
def test_both_levers_drive_the_robot_at_the_speed_of_its_motors_and_one_turns_it():
    sim = started("krt100_driven", course="flat")
    sim.operate("left.out", 1.0)
    sim.operate("right.out", 1.0)
    sim.operate("light.out", 1.0)
    record = sim.run(3.0, every=0.5)
    idle = krt100.MOTOR["idle_speed"] / krt100.MOTOR["gear"] * 0.2  # of the rim at nominal voltage [m/s]
    # Rolling resistance there is none; bearings and the cart take a few percent.
    assert record["speed.out"][-1] == pytest.approx(krt100_driven.SHARE * idle, rel=0.03)
    assert abs(record["robot.position.y"][-1]) < 1e-3
    forward = np.array([matrix([record[f"robot.rotation.{c}"][k] for c in "wxyz"])[:, 0] for k in range(7)])
    velocity = np.stack([record[f"robot.velocity.{c}"] for c in "xyz"], axis=1)
    # Steps by impulses are taken with what wires had at their start: records of them are a step old, of 1 ms at 3 m/s².
    np.testing.assert_allclose(record["speed.out"], (forward * velocity).sum(axis=1), rtol=0.0, atol=3e-3)
    assert sim["light.out"] == 1.0
    assert sim["backward.out"] == 0.0
    sim.operate("left.out", 0.0)
    sim.run(1.5)
    assert sim["robot.angular_velocity.z"] > 0.1  # to the left
    for side in ("left", "right"):
        sim.let_go(f"{side}.out")
    sim.run(3.0)  # the cart still swings into line
    assert abs(sim["speed.out"]) < 0.02
    assert sim["left_voltage.out"] == pytest.approx(0.0, abs=1e-9)


@compiled
def test_the_balancer_stands_up_follows_its_stick_and_survives_a_knock():
    sim = started("balancer", lean=0.1)
    sim.run(3.0)
    assert abs(sim["lean.out"]) < 2e-3
    assert abs(sim["speed.out"]) < 2e-3
    sim.operate("stick.y", 1.0)
    sim.run(1.0)
    assert sim["lean.out"] > 0.02  # to go faster it leans forward
    sim.run(4.0)
    assert sim["speed.out"] == pytest.approx(balancer.FASTEST, rel=0.02)
    sim.let_go("stick.y")
    sim.operate("stick.x", 1.0)
    sim.run(4.0)
    # It turns to the right on the spot; yaw rate of the trunk by its own pose.
    assert sim["trunk.angular_velocity.z"] == pytest.approx(-balancer.TURNING, rel=0.02)
    sim.let_go("stick.x")
    sim.operate("hit.out", 1.0)
    sim.run(0.1)
    sim.let_go("hit.out")
    sim.run(0.3)
    assert abs(sim["lean.out"]) > 0.01
    sim.run(3.5)
    assert abs(sim["lean.out"]) < 5e-3


# --- the pendulum on a cart ---


@pytest.mark.parametrize("nudge", [0.0, 1e-9, -0.02])
def test_the_pendulum_swings_itself_up_and_stays(nudge):
    sim = started("cart_pole")
    sim["pin.angle"] = nudge
    record = sim.run(cart_pole.DURATION, every=0.01)
    up = record["caught.out"] > 0.5
    assert up[-1]
    assert 1.0 < record.time[np.argmax(up)] < 9.0
    last = record.time > cart_pole.DURATION - 1.0
    assert np.abs(record["lean.out"][last]).max() < 5e-3
    assert np.abs(record["rail.travel"]).max() < cart_pole.RAIL
    assert np.abs(record["force.out"]).max() <= cart_pole.MOST
    # The energy that is pumped up, by the record's own account of it: of the pendulum as if the cart stood.
    swing = 0.5 * (cart_pole.POLE * (cart_pole.LENGTH**2 / 3 + cart_pole.RADIUS**2 / 4))
    lean = record["pin.angle"] + cart_pole.START
    want = swing * record["pin.angle_rate"] ** 2 + cart_pole.POLE * G * cart_pole.LENGTH / 2 * (
        np.cos(lean) - 1
    )
    np.testing.assert_allclose(record["excess.out"], want, rtol=0.0, atol=1e-12)


def test_the_cart_goes_where_the_operator_wants_it_and_a_knock_does_not_upset_it():
    sim = started("cart_pole")
    sim.run(9.0)
    sim.operate("place.out", 0.6)
    sim.run(6.0)
    assert sim["rail.travel"] == pytest.approx(0.6, abs=0.01)
    sim.operate("hit.out", 1.0)
    sim.run(0.2)
    sim.let_go("hit.out")
    assert abs(sim["lean.out"]) > 0.02
    sim.run(4.0)
    assert sim["caught.out"] == 1.0
    assert abs(sim["lean.out"]) < 2e-3
    sim.operate("works.out", 0.0)
    sim.run(4.0)
    assert sim["caught.out"] == 0.0  # without control it falls


# --- the crane ---


@pytest.mark.parametrize("damping", [0.0, crane.DAMPING])
def test_the_load_swings_as_its_equation_says(damping):
    """Against a pendulum of its own: rope and load as one body on a trolley whose speed is the diagram's law."""
    sim = started("crane", damping=damping)
    sim.operate("stick.x", 0.5)
    record = sim.run(8.0, every=0.02)
    flat = sim.compiled.flat
    # Mass, first and second moment of rope and load about the hinge, the rope at its written length.
    mass = first = second = 0.0
    for name in ("lines", "load"):
        body = flat.bodies[name]
        own = body.mass_properties
        down = crane.TALL - (body.at[2] + own.com[2])
        mass += own.mass
        first += own.mass * down
        second += own.inertia[1][1] + own.mass * down**2

    def rates(_, state):
        angle, rate, going = state  # angle_y, its rate, what the operator's part of the speed is
        wish = 0.5 * crane.FAST
        # the rate limit of the diagram, time constant 10 ms
        gathers = min(max((wish - going) / 0.01, -crane.GATHERING), crane.GATHERING)
        pull = 2.0 * damping * np.sqrt(G * crane.ROPE)
        # v = going - pull angle; the hinge's own damping is 2 N m s/rad
        # second ω' = -first g sin - 2 ω + first cos v'  (angle_y turns the load towards -x)
        push = first * np.cos(angle) * (gathers - pull * rate)
        turns = (-first * G * np.sin(angle) - 2.0 * rate + push) / second
        return rate, turns, gathers

    found = solve_ivp(
        rates, (0.0, 8.0), (0.0, 0.0, 0.0), t_eval=record.time, rtol=1e-11, atol=1e-13, max_step=1e-3
    )
    # Fourth order between the corners of the rate limit, which are met by the steps of either.
    assert np.abs(record["rope.angle_y"] - found.y[0]).max() < 1e-7
    pull = 2.0 * damping * np.sqrt(G * crane.ROPE)
    speed = found.y[2] - pull * found.y[0]
    np.testing.assert_allclose(record["bridge.travel_rate"], speed, rtol=0.0, atol=1e-7)
    late = record.time > 6.0
    sway = np.abs(record["rope.angle_y"][late]).max()
    assert sway < 0.003 if damping else sway > 0.03


def test_the_crane_stops_before_the_ends_of_its_rails_and_its_rope():
    sim = started("crane")
    sim.operate("stick.x", 1.0)
    sim.operate("stick.y", -1.0)
    sim.operate("winding.out", 1.0)
    record = sim.run(16.0, every=0.05)
    # What runs after the load comes on top of that, and is as long as the load has swung.
    for joint, way in (("bridge", 1.0), ("trolley", -1.0)):
        end = (way * record[f"{joint}.travel"]).max()
        assert crane.REACH[joint] - 0.1 < end < crane.REACH[joint] + 0.3
    assert record["length.out"].min() == pytest.approx(crane.ROPES[0], abs=0.01)


# --- the excavator ---


def test_patterns_of_the_excavator_change_boom_and_stick_and_nothing_else():
    records = []
    for pattern, levers in (
        ("ISO", {"left.y": 0.4, "right.y": -0.7}),
        ("SAE", {"left.y": -0.7, "right.y": 0.4}),
    ):
        sim = started("excavator_driven", pattern=pattern)
        for name, value in {**levers, "left.x": -0.5, "right.x": 0.3}.items():
            sim.operate(name, value)
        records.append(sim.run(0.8, every=0.05))
    for name in ("boom_cylinder.travel", "stick_cylinder.travel", "bucket_cylinder.travel", "slew.angle"):
        assert np.array_equal(records[0][name], records[1][name]), name
    # ISO: left stick away: stick out; right stick back: boom up; left: swing to the left; right: bucket out.
    ends = {
        name: records[0][name][-1] - records[0][name][0]
        for name in ("boom_pin.angle", "stick_pin.angle", "bucket_pin.angle")
    }
    assert all(end > 0.02 for end in ends.values()), ends
    assert records[0]["slew.angle"][-1] > 0.1


def test_cylinders_go_at_the_speed_of_the_lever_and_stop_at_their_ends():
    sim = started("excavator_driven")
    sim.operate("left.y", 1.0)
    sim.run(0.5)
    before = sim["stick_cylinder.travel"]
    sim.run(0.4)
    way = before - sim["stick_cylinder.travel"]
    assert way == pytest.approx(0.4 * excavator_driven.SPEEDS["stick"], rel=0.01)
    sim.run(2.5)
    # The angle that ends there is reached, less what the oil gives.
    end = np.radians(excavator_driven.TRAVEL["stick"][1])
    start = np.radians(excavator.CYCLE[excavator.LIFTED][2])
    assert sim["stick_pin.angle"] + start == pytest.approx(end, abs=0.02)
    with pytest.raises(LinkworkError, match="no pattern 'iso'"):
        scene("excavator_driven", pattern="iso")


# --- the gripper and the arm ---


@compiled
def test_the_hand_of_the_gripper_goes_where_it_is_told_grips_and_lifts():
    sim = started("gripper_driven")
    sim.operate("lift.out", -1.0)
    sim.run(1.6)
    assert sim["hand.position.z"] == pytest.approx(gripper_driven.BOUNDS["height"][0], abs=2e-3)
    assert sim["hand.position.x"] == pytest.approx(sim["reach.out"], abs=1e-3)
    sim.let_go("lift.out")
    sim.operate("grips.out", 1.0)
    sim.run(0.8)
    assert sim["has.out"] == 1.0
    sim.operate("lift.out", 1.0)
    sim.operate("stick.x", 1.0)
    sim.run(1.0)
    sim.let_go("stick.x")
    sim.let_go("lift.out")
    sim.run(0.5)
    lifted = sim["box.position.z"] - 0.03
    assert lifted > 0.1
    turn = sim["turn.out"]
    assert turn < -0.5
    place = np.array([sim[f"box.position.{c}"] for c in "xy"])
    np.testing.assert_allclose(place, sim["reach.out"] * np.array([np.cos(turn), np.sin(turn)]), atol=5e-3)
    sim.operate("grips.out", 0.0)
    sim.run(0.6)
    assert sim["has.out"] == 0.0
    assert sim["box.position.z"] < 0.05 + 0.02


@compiled
def test_the_arm_carries_the_part_from_place_to_place():
    sim = started("puma_pick")
    record = sim.run(8.0, every=0.05)
    # Forward kinematics of the diagram against the pose of the tool; the arm lags and sags by a millimetre or two.
    slow = record["miss.out"] < 0.003
    assert slow.sum() > 10
    for axis, told in (
        ("x", record["tool_x.out"]),
        ("y", record["tool_y.out"]),
        ("z", record["tool_z.out"] - 0.36),
    ):
        np.testing.assert_allclose(record[f"tool.position.{axis}"][slow], told[slow], rtol=0.0, atol=3e-3)
    assert [change.attached for change in sim.changes] == [True, False]
    at = [record[f"part.position.{c}"] for c in "xyz"]
    np.testing.assert_allclose([part[0] for part in at[:2]], (0.5, -0.22), atol=1e-6)
    np.testing.assert_allclose([part[-1] for part in at[:2]], (0.5, 0.28), atol=2e-3)
    assert at[2].max() > at[2][0] + 0.15
    assert at[2][-1] == pytest.approx(at[2][0], abs=1e-3)


@compiled
def test_the_tool_is_jogged_along_the_axes_of_the_world():
    sim = started("puma_pick", start="tool")
    sim.run(0.3)
    start = np.array([sim[f"tool_{c}.out"] for c in "xyz"])
    sim.operate("plane.y", 0.5)
    sim.run(1.0)
    sim.let_go("plane.y")
    sim.run(0.3)
    went = np.array([sim[f"tool_{c}.out"] for c in "xyz"]) - start
    np.testing.assert_allclose(went, (0.175, 0.0, 0.0), atol=2e-4)
    down = matrix([sim[f"link6.rotation.{c}"] for c in "wxyz"])[:, 2]
    np.testing.assert_allclose(down, (0.0, 0.0, -1.0), atol=5e-3)
    sim.operate("way.out", 0.0)
    before = sim["joint1.angle"]
    sim.operate("jog1.out", 0.5)
    sim.run(0.5)
    sim.let_go("jog1.out")
    sim.run(0.2)
    assert sim["joint1.angle"] - before == pytest.approx(0.25, abs=2e-3)
    with pytest.raises(LinkworkError, match="no mode 'jog'"):
        scene("puma_pick", start="jog")


# --- on the page ---


def test_a_session_offers_their_levers():
    session = Session(scene("cart_pole"), scene=find_scene("cart_pole"))
    assert {"place.out", "works.out", "hit.out"} <= set(session.desk.inputs)
    assert session.levers == []
