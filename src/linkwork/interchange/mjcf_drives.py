"""Actuators of MJCF as drives.

An actuator pulls with gain · u + bias, where u is its control or, of one with an activation, what that has become; its
bias is b₀ + b₁ length + b₂ velocity, its length the gear times the coordinate, and the joint feels the gear times its
force.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..engine.elements import Actuator, PositionServo, TorqueSource
from ..model import Model
from ..model.drive import Drive
from ..model.joints import Hinge, Slider
from .mjcf_joints import Tree
from .mjcf_source import Source, floats
from .values import Names


class Drives:
    """Adds drives."""

    def __init__(self, source: Source, model: Model, tree: Tree):
        self.source, self.model, self.tree = source, model, tree
        self.names = Names()

    def read(self) -> None:
        """All actuators."""
        for i in range(self.source.m.nu):
            how = self._actuator(i)
            if how:
                self.source.note("dropped", "actuator", i, how)

    def _actuator(self, i: int) -> str:
        """Add one; returns why it is dropped."""
        source, m = self.source, self.source.m
        transmission = source.mujoco.mjtTrn(int(m.actuator_trntype[i])).name.removeprefix("mjTRN_")
        if transmission not in ("JOINT", "JOINTINPARENT"):
            return f"drives act on joints here, not on a {transmission.lower()}"
        j = int(m.actuator_trnid[i, 0])
        joint = self.model.joints[self.tree.joint_names[j]]
        if not isinstance(joint, Hinge | Slider):
            return "drives act on hinges and slides when they come from MJCF"
        dynamics = source.mujoco.mjtDyn(int(m.actuator_dyntype[i])).name.removeprefix("mjDYN_")
        gain_kind = source.mujoco.mjtGain(int(m.actuator_gaintype[i])).name.removeprefix("mjGAIN_")
        bias_kind = source.mujoco.mjtBias(int(m.actuator_biastype[i])).name.removeprefix("mjBIAS_")
        gain = m.actuator_gainprm[i]
        if gain_kind not in ("FIXED", "AFFINE") or (gain_kind == "AFFINE" and np.any(gain[1:3])):
            return f"a gain of type {gain_kind.lower()} is not known here"
        if bias_kind not in ("NONE", "AFFINE") or dynamics not in (
            "NONE",
            "FILTER",
            "FILTEREXACT",
            "INTEGRATOR",
        ):
            return f"a bias of type {bias_kind.lower()} with dynamics {dynamics.lower()} is not known here"
        b0, b1, b2 = floats(m.actuator_biasprm[i][:3]) if bias_kind == "AFFINE" else (0.0, 0.0, 0.0)
        if b1 > 0.0 or b2 > 0.0:
            return "its bias drives instead of holding"
        return self._drive(i, j, dynamics, (float(gain[0]), b0, b1, b2))

    def _drive(self, i: int, j: int, dynamics: str, law: tuple[float, float, float, float]) -> str:
        source, m = self.source, self.source.m
        gain, b0, b1, b2 = law
        gear, ref = float(m.actuator_gear[i, 0]), float(self.tree.refs[j])
        if gear == 0.0:
            return "its gear is zero"
        joint = self.tree.joint_names[j]
        name = self.names.fit(source.name("actuator", i))
        stiffness, damping = -b1 * gear**2, -b2 * gear**2
        strength = self._strength(i, gear)
        lag = float(m.actuator_dynprm[i, 0]) if dynamics.startswith("FILTER") else 0.0
        drive: Drive
        told, exact = f"its command is {gain * gear:g} times the control [N m or N]", True
        if stiffness > 0.0:
            command = gear * b0 / stiffness - ref
            drive = PositionServo(
                name, joint, stiffness=stiffness, damping=damping, strength=strength, command=command
            )
            told = (
                f"its command is the control divided by {gear * -b1 / gain:g}"
                if gain
                else "its control has no effect"
            )
            exact = lag == 0.0
            told += "" if exact else "; the lag is left out"
        elif lag > 0.0:
            drive = Actuator(name, joint, time_constant=lag, damping=damping, strength=strength, command=0.0)
            told += f", and a constant {gear * b0:g} is left out" if b0 else ""
        else:
            drive = TorqueSource(name, joint, command=gear * b0)
            if damping > 0.0:
                held = self.model.joints[joint]
                self.model.joints[joint] = dataclasses.replace(
                    held, damping=held.per_rate("damping")[0] + damping
                )
                told += f"; the joint has {damping:g} more damping"
            exact = not math.isfinite(strength)
            told += "" if exact else f"; it is not limited to {strength:g}"
        if dynamics == "INTEGRATOR":
            exact, told = False, told + "; what MuJoCo integrates is the command itself"
        self.model.add(drive)
        self._rotor(i, joint)
        source.note(
            "mapped" if exact else "approximated", "actuator", i, f"the {drive.kind} '{name}': {told}"
        )
        if m.actuator_ctrllimited[i]:
            source.note("dropped", "actuator", i, "nothing limits commands here", "ctrlrange")
        return ""

    def _strength(self, i: int, gear: float) -> float:
        m = self.source.m
        if not m.actuator_forcelimited[i]:
            return math.inf
        low, high = floats(m.actuator_forcerange[i])
        if low != -high:
            self.source.note(
                "approximated", "actuator", i, "it is as strong in both directions", "forcerange"
            )
        return abs(gear) * max(abs(low), abs(high))

    def _rotor(self, i: int, joint: str) -> None:
        """Armature and damping that newer versions of MuJoCo let an actuator have."""
        m, changes = self.source.m, dict[str, Any]()
        gear = float(m.actuator_gear[i, 0])
        for field in ("armature", "damping"):
            table: Any = getattr(m, f"actuator_{field}", None)
            if table is not None and (value := float(np.ravel(table[i])[0])):
                changes[field] = self.model.joints[joint].per_rate(field)[0] + gear**2 * value
        if changes:
            self.model.joints[joint] = dataclasses.replace(self.model.joints[joint], **changes)
