"""Drives, couplings and limits that contradict the model are refused with names and reasons."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.compile.compiler import compile_model
from linkwork.engine.elements import DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from linkwork.engine.loads import Force
from linkwork.io import load_model
from linkwork.model import Body, Component, Model
from linkwork.model.errors import ModelError, Problem
from linkwork.model.joints import Cylindrical, Hinge, Planar, Spherical, Universal, Weld
from linkwork.model.shapes import Mesh
from linkwork.run.simulate import Simulation

SHEET = {"stall_torque": 1.0, "idle_speed": 100.0, "time_constant": 0.01}


def mechanism() -> Model:
    """One body behind every joint that a drive may be put on."""
    model = Model("mechanism")
    kinds = {
        "pin": Hinge,
        "guide": Cylindrical,
        "cross": Universal,
        "table": Planar,
        "ball": Spherical,
        "glue": Weld,
    }
    for name, kind in kinds.items():
        model.add(Body(f"{name}_body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
        model.add(kind(name, "ground", f"{name}_body"))
    return model


def problems_of(*things: Any) -> tuple[Problem, ...]:
    model = mechanism()
    for thing in things:
        model.add(thing)
    with pytest.raises(ModelError) as caught:
        compile_model(model, rows=True)
    return caught.value.problems


# --- what only the whole model shows ---


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (DCMotor("motor", "glue", **SHEET), ("dc_motor 'motor'.joint", "joint 'glue' is a weld", "no coord")),
        (TorqueSource("t", "glue", coordinate="angle"), ("torque_source 't'", "joint 'glue' is a weld")),
        (
            VelocityServo("spin", "guide", coordinate="angel"),
            ("velocity_servo 'spin'", "joint 'guide' has no coordinate 'angel'", "did you mean 'angle'?"),
        ),
        (
            PositionServo("hold", "table", coordinate="z", stiffness=1),
            ("position_servo 'hold'", "joint 'table' has no coordinate 'z'", "known: angle, x, y"),
        ),
        (
            DCMotor("motor", "cross", coordinate="angle", **SHEET),
            ("dc_motor 'motor'", "joint 'cross' has no coordinate 'angle'", "'angle_"),
        ),
        (TorqueSource("t", "ball", coordinate="qx"), ("'t'", "joint 'ball' has no coordinate 'qx'", "wx")),
        (TorqueSource("t", "pin", coordinate=""), ("'t'", "joint 'pin' has no coordinate ''", "angle")),
        (TorqueSource("t", "pin", coordinate="angle_rate"), ("'t'", "'angle_rate'", "mean 'angle'?")),
        (
            Repeater("belt", "glue", "pin"),
            ("repeater 'belt'.a", "joint 'glue' is a weld: it has no coordinate"),
        ),
        (Repeater("belt", "pin", "glue"), ("repeater 'belt'.b", "joint 'glue' is a weld")),
        (
            Repeater("belt", "pin", "guide", coordinate_b="trvel"),
            ("repeater 'belt'", "joint 'guide' has no coordinate 'trvel'", "did you mean 'travel'?"),
        ),
        (DCMotor("motor", "pinn", **SHEET), ("dc_motor 'motor'.joint", "no joint 'pinn'", "mean 'pin'?")),
        (DCMotor("motor", "pin_body", **SHEET), ("dc_motor 'motor'.joint", "there is no joint 'pin_body'")),
        (Repeater("belt", "pin", "gide"), ("repeater 'belt'.b", "no joint 'gide'", "mean 'guide'?")),
    ],
)
def test_contradictions_are_told_by_name(thing: Any, words: tuple[str, ...]) -> None:
    (problem,) = problems_of(thing)
    for word in words:
        assert word in str(problem)


def test_all_contradictions_come_at_once() -> None:
    found = problems_of(
        TorqueSource("one", "glue"),
        VelocityServo("two", "pin", coordinate="x"),
        Repeater("three", "glue", "pin", coordinate_b="y"),
        PositionServo("right", "pin", stiffness=1),
    )
    assert sorted(str(problem).split("'")[1] for problem in found) == ["one", "three", "three", "two"]


def test_drives_inside_components_are_told_by_their_dotted_names() -> None:
    part = Component("part")
    part.add(Body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    part.add(Hinge("pin", "ground", "rod"))
    part.add(DCMotor("motor", "pin", coordinate="travel", **SHEET))
    (problem,) = problems_of(part.instance("left"))
    assert str(problem).startswith("dc_motor 'left.motor': joint 'left.pin' has no coordinate 'travel'")


def test_a_file_may_hold_what_only_compiling_refuses(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(
        "linkwork: 1\nunits: SI\nbodies: {arm: {mass: 1}}\njoints: {glue: {type: weld, a: ground, b: arm}}\n"
        "drives: {motor: {type: torque_source, joint: glue}}\n"
    )
    with pytest.raises(ModelError, match=r"torque_source 'motor'\.joint: joint 'glue' is a weld"):
        compile_model(load_model(file), rows=True)


# --- what the constructors refuse ---


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hinge("p", "ground", "b", limits=(2, 1)), ("Hinge 'p'", "limits", "lowest 2", "highest 1")),
        (lambda: Hinge("p", "ground", "b", limits=(0, 1, 2)), ("Hinge 'p'.limits", "at most 2")),
        (lambda: Hinge("p", "ground", "b", limits=()), ("Hinge 'p'.limits", "2 entries")),
        (lambda: Hinge("p", "ground", "b", limits=np.zeros((2, 2))), ("limits needs 1 pairs", "not 2")),
        (lambda: Hinge("p", "ground", "b", limits=(0, math.inf)), ("Hinge 'p'.limits.1", "finite")),
        (lambda: Weld("w", "ground", "b", limits=[(0, 1)]), ("Weld 'w'", "limits needs 0 pairs")),
        (lambda: Hinge("p", "ground", "b", friction=-1), ("Hinge 'p'.friction", "less than 0")),
        (lambda: Planar("p", "ground", "b", friction=(1, 2)), ("friction needs 3", "not 2")),
        (lambda: Hinge("p", "ground", "b", restitution=1.1), ("Hinge 'p'.restitution", "got 1.1")),
        (lambda: Hinge("p", "ground", "b", restitution=math.nan), ("Hinge 'p'.restitution", "got nan")),
        (lambda: DCMotor("m", "p", **SHEET, gear=0), ("DCMotor 'm'.gear", "not be zero")),
        (lambda: DCMotor("m", "p", **SHEET | {"stall_torque": -1}), ("stall_torque", "greater than 0")),
        (lambda: DCMotor("m", "p", **SHEET, ger=2), ("DCMotor 'm'.ger", "did you mean 'gear'?")),
        (lambda: DCMotor("m", joint="", **SHEET), ("DCMotor 'm'.joint", "must not be empty")),
        (lambda: PositionServo("s", "p"), ("PositionServo 's'.stiffness", "is required")),
        (lambda: VelocityServo("s", "p", command="fast"), ("VelocityServo 's'.command", "a number")),
        (lambda: VelocityServo("s", "p", strength=math.nan), ("VelocityServo 's'.strength", "nan")),
        (lambda: TorqueSource("s", "p", signal=2.0), ("TorqueSource 's'.signal", "2.0")),
        (lambda: Repeater("r", "p", "q", ratio=0), ("Repeater 'r'.ratio", "not be zero")),
    ],
)
def test_constructors_explain(make: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("wrong", [1, 0, 1.0, "true", "yes", None])
def test_flags_are_true_or_false(wrong: Any) -> None:
    makers = {
        "mirrored": lambda flag: Hinge("p", "ground", "b", mirrored=flag),
        "trust_inertia": lambda flag: Body("b", mass=1, trust_inertia=flag),
        "inverted": lambda flag: Mesh("part.stl", inverted=flag),
        "follows": lambda flag: Force("f", "b", force=(0, 0, 1), follows=flag),
    }
    for field, make in makers.items():
        assert getattr(make(np.True_), field) is True
        with pytest.raises(ModelError, match=f"{field}: must be true or false"):
            make(wrong)


def test_unlimited_servos_work_in_components() -> None:
    part = Component("part")
    part.add(Body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    part.add(Hinge("pin", "ground", "rod"))
    part.add(VelocityServo("spin", "pin"))
    model = Model("two")
    model.add(part.instance("left"))
    assert model.flatten().drives["left.spin"].bound == math.inf


def test_a_loop_that_cannot_be_closed_is_refused() -> None:
    def tied(start: float) -> Model:
        model = Model("tied", gravity=(0.0, 0.0, 0.0))
        model.add(Body("arm", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
        model.add(Hinge("shoulder", "ground", "arm", position=start))
        model.add(Spherical("tie", "ground", "arm", at=(1.0, 0.0, 0.0)))
        return model

    Simulation(tied(0.01), method="simgc")  # a centimetre off: it closes
    # Turned half round, the arm's end is 2 m from where it is tied, and no small motion brings it nearer.
    with pytest.raises(ModelError, match=r"joint '(tie|shoulder)': stays open by \d"):
        Simulation(tied(math.pi), method="simgc")
