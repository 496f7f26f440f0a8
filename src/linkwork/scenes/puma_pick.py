"""PUMA 560 that picks and places, or is jogged: M chooses which; arrow keys, PageUp, PageDown or a gamepad move it.

Modes: joints, one lever each; tool, straight along the axes of the world, by the inverse of the arm's Jacobian at the
commanded angles; pick and place, a state machine that gives the same jogging its goals. Space grips what is near.
"""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

from ..control.blocks.actuators import AttachCommand, DriveCommand
from ..control.blocks.continuous import Integrator
from ..control.blocks.logic import And, FlipFlop, Not, StateMachine, Transition
from ..control.blocks.mathematics import Formula
from ..control.blocks.nonlinear import Saturation
from ..control.blocks.panel import Gauge, Joystick, Lamp, Lever, Selector, Toggle
from ..engine.elements import PositionServo
from ..model import Body, Box, Cylinder, Material, Model, Scenery, Weld
from ..model.errors import LinkworkError, nearest
from ..model.panel import PanelGroup
from . import puma560

SOURCE = "arm: Corke and Armstrong-Hélouvry (1994); task, servos and panel made for Linkwork"
DURATION = 20.0
ENDLESS = True
PLOT = ("joint?.angle", "part.position.?", "task.state")
WATCHED = 8.0
ELBOW, SHIFT, FOREARM, BACK = 0.4318, 0.15005, 0.4318, 0.0203
"""Lengths a2, d3, d4 and a3 of the arm [m]."""
REACH = 0.1
"""From the wrist to the tool [m]."""
TABLE, PART = -0.36, 0.07
"""Height of the table's top, edge of the part [m]."""
PLACES = (0.5, -0.22), (0.5, 0.28)
"""Where the part is fetched and put, on the table [m]."""
HIGH, SLACK = 0.18, 0.002
"""Height over the part at which it is carried, and from which it is let go [m]."""
FAST, TURNS = 0.35, 1.0
"""Largest speeds of the tool along an axis [m/s] and of a joint that is jogged [rad/s]."""
START = (-0.7, pi / 4, -pi, 0.0, -pi / 4, -0.7)
SERVOS = ((3e4, 300.0), (3e4, 400.0), (2e4, 200.0), (2e3, 40.0), (2e3, 40.0), (1e3, 30.0))
"""Stiffness [N m/rad] and strength [N m] of the joints."""
LAG = 0.01
"""Time by which a joint follows its command [s]."""
PULLS = 5.0
"""How fast the wrist goes back to pointing down, and the tool to its goal [1/s]."""
KEYS = (
    ("KeyA", "KeyQ"),
    ("KeyS", "KeyW"),
    ("KeyD", "KeyE"),
    ("KeyF", "KeyR"),
    ("KeyG", "KeyT"),
    ("KeyH", "KeyY"),
)
AXES = (0, 1, 3, None, 2, None)
JOINTS, TOOL, TASK = range(3)
MODES = ("joints", "tool", "pick and place")
ROUND = (
    "at_a",
    "fetch_a",
    "raise_a",
    "carry_b",
    "lower_b",
    "at_b",
    "fetch_b",
    "raise_b",
    "carry_a",
    "lower_a",
)
"""States of the task, in their order; what is at a place is low or high over it."""
LOW = ("fetch", "lower")
HOLDING = ("raise", "carry", "lower")


def build(start: str = "pick and place") -> Model:
    """`start`: the mode in which it starts, "joints", "tool" or "pick and place"."""
    if start not in MODES:
        raise LinkworkError(f"puma_pick: there is no mode '{start}'{nearest(start, MODES)}")
    model = puma560.build(start=START)
    model.name = "puma_pick"
    model.add(Material("wood", friction=0.6))
    table = Box((0.5, 1.0, 0.05), at=(0.5, 0.0, TABLE - 0.025))
    foot = Cylinder(0.1, 0.6, at=(0.0, 0.0, -0.36)), Box((0.3, 0.3, 0.04), at=(0.0, 0.0, -0.66))
    legs = tuple(Box((0.05, 0.05, 0.27), at=(x, y, TABLE - 0.18)) for x in (0.3, 0.7) for y in (-0.45, 0.45))
    model.add(Scenery("table", shapes=(table, *legs), material="wood", color="#b09878"))
    model.add(Scenery("stand", shapes=foot, color="#5c6370"))
    at = (*PLACES[0], TABLE + PART / 2)
    model.add(Body("part", at=at, mass=0.8, shapes=(Box((PART,) * 3),), material="wood", color="#c05030"))
    model.add(Weld("grip", "link6", "part", attached=()))
    for k, (stiffness, strength) in enumerate(SERVOS, 1):
        model.add(
            PositionServo(
                f"servo{k}", f"joint{k}", stiffness=stiffness, damping=LAG * stiffness, strength=strength
            )
        )
    for block in (*_panel(MODES.index(start)), *_kinematics(), *_task(), *_commands()):
        model.add(block)
    return model


def _panel(chosen: int) -> list[Any]:
    blocks: list[Any] = [
        PanelGroup("mode", label="Mode", cell=(0, 0)),
        PanelGroup("tool_group", label="Tool", cell=(1, 0)),
        PanelGroup("joint_group", label="Joints", cell=(0, 1)),
        Selector("way", tuple(mode.capitalize() for mode in MODES), group="mode", label="Moves", chosen=chosen,
                 key="KeyM", button=3),
        Toggle("wanted", group="mode", label="Grip", key="Space", button=0, hint="Takes what is near."),
        Lamp("holds", "held", group="mode", label="Holds"),
        Joystick("plane", group="tool_group", label="Across", axes=(0, 1),
                 keys=("ArrowLeft", "ArrowRight", "ArrowDown", "ArrowUp")),
        Lever("height", group="tool_group", label="Height", keys=("PageDown", "PageUp"), axis=3, inverted=True),
        Gauge("tells_height", "tool_z", group="tool_group", label="Tool over table", low=0.0, high=0.6, unit="m"),
    ]  # fmt: skip
    for k, (keys, axis) in enumerate(zip(KEYS, AXES, strict=True), 1):
        blocks.append(Lever(f"jog{k}", group="joint_group", label=f"Joint {k}", keys=keys, axis=axis))
    return blocks


def _kinematics() -> list[Any]:
    """Where the wrist is at the commanded angles, in the plane of the arm, which joint 1 turns, and in the world."""
    return [
        Formula(
            "out",
            f"{ELBOW}*cos(angle2) + {BACK}*cos(angle2 + angle3) - {FOREARM}*sin(angle2 + angle3)",
            unit="m",
        ),
        Formula(
            "up",
            f"{ELBOW}*sin(angle2) + {BACK}*sin(angle2 + angle3) + {FOREARM}*cos(angle2 + angle3)",
            unit="m",
        ),
        Formula("out_beyond", f"out - {ELBOW}*cos(angle2)", unit="m"),
        Formula("up_beyond", f"up - {ELBOW}*sin(angle2)", unit="m"),
        Formula("tool_x", f"out*cos(angle1) + {SHIFT}*sin(angle1)", unit="m"),
        Formula("tool_y", f"out*sin(angle1) - {SHIFT}*cos(angle1)", unit="m"),
        Formula("tool_z", f"up - {REACH + TABLE}", unit="m"),
        # determinant of the Jacobian of joints 2 and 3, and where the arm is stretched, something that is not zero
        Formula("spread", "min(up_beyond*out - up*out_beyond, -0.03)"),
    ]


def _task() -> list[Any]:
    """Goals of the tool, and speeds that lead there."""
    ways = [
        Transition(source, target, "arrived", after=0.3) for source, target in pairwise((*ROUND, ROUND[0]))
    ]
    others = [Transition("*", ROUND[0], "-in_task")]
    at_b = " + ".join(f"task.{state}" for state in ROUND if state.endswith("_b"))
    low = " + ".join(f"task.{state}" for state in ROUND if state.startswith(LOW))
    holding = " + ".join(f"task.{state}" for state in ROUND if state.startswith(HOLDING))
    (ax, ay), (bx, by) = PLACES
    return [
        Formula("in_task", f"way > {TASK - 0.5}", unit="1"),
        StateMachine("task", ROUND, tuple(others + ways), 0.01),
        Formula("goal_x", f"{ax} + {bx - ax!r}*({at_b})", unit="m"),
        Formula("goal_y", f"{ay} + {by - ay!r}*({at_b})", unit="m"),
        Formula("goal_z", f"{PART + SLACK} + {HIGH}*(1 - ({low}))", unit="m"),
        Formula("miss", "hypot(hypot(goal_x - tool_x, goal_y - tool_y), goal_z - tool_z)", unit="m"),
        Formula("arrived", "miss < 0.001", unit="1"),
        # the grip
        Formula("wish", f"({holding}) if in_task > 0.5 else wanted", unit="1"),
        Formula("near", f"hypot(hypot(tool.position.x - part.position.x, tool.position.y - part.position.y), "
                f"tool.position.z - part.position.z - {PART / 2}) < 0.02", unit="1"),
        And("takes", ("wish", "near")),
        Not("leaves", "wish"),
        FlipFlop("held", "takes", "leaves"),
        AttachCommand("gripper", "grip", "held"),
    ]  # fmt: skip


def _commands() -> list[Any]:
    """Speeds of the tool become rates of joints, and these angles."""
    blocks: list[Any] = []
    for axis, jog in (("x", "plane.y"), ("y", "-plane.x"), ("z", "height")):
        goes = f"{PULLS}*(goal_{axis} - tool_{axis}) if in_task > 0.5 else {FAST}*{jog}"
        blocks += [
            Formula(f"wish_{axis}", goes),
            Saturation(f"go_{axis}", f"wish_{axis}", low=-FAST, high=FAST),
        ]
    down = f"{-pi!r} - angle2 - angle3 - angle5"
    rates = (
        "(cos(angle1)*go_y - sin(angle1)*go_x)/max(out, 0.1)",
        "(radial*out_beyond + go_z*up_beyond)/spread",
        "-(up*go_z + out*radial)/spread",
        f"-{PULLS}*angle4",
        f"{PULLS}*({down}) - turn2 - turn3",
        f"{PULLS}*(angle1 - angle6) + turn1",
    )
    blocks.append(Formula("radial", f"cos(angle1)*go_x + sin(angle1)*go_y - {SHIFT}*turn1"))
    for k, rate in enumerate(rates, 1):
        blocks += [
            Formula(f"rate{k}", f"{TURNS}*jog{k} if way < {JOINTS + 0.5} else {rate}"),
            Saturation(f"turn{k}", f"rate{k}", low=-2.0, high=2.0),
            Integrator(f"angle{k}", f"turn{k}", start=START[k - 1], unit="rad"),
            DriveCommand(f"joint{k}_goes", f"servo{k}", f"angle{k}"),
        ]
    return blocks
