"""Mimic joints of URDF as couplings, transmissions as drives."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from ..engine.elements import Repeater, TorqueSource, VelocityServo
from ..model import Model
from ..model.drive import Drive
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import Joint
from .values import Names, Values
from .xml_source import Element

Joints = Mapping[str, Element]
Made = dict[str, Joint]
ENDLESS = 1e9
"""What is written for a limit where there is none."""
_HOLDS = 1e-12  # how far a start may be from what a mimic joint wants, relative to it


def read_mimics(model: Model, joints: Joints, made: Made, values: Values) -> None:
    """Couplings; followers start where they must."""
    names = Names()
    wanted: dict[str, tuple[str, float, float, Element]] = {}
    for name, joint in joints.items():
        mimic = joint.find("mimic")
        if mimic is None or name not in made:
            continue
        if not made[name].coordinates:
            values.note("dropped", mimic, f"mimic of joint '{name}'", "the joint is fixed")
            continue
        leader = values.text(mimic, "joint")
        if leader in joints and joints[leader].attributes.get("type") == "fixed" and made[name].coordinates:
            _hold(model, made, name, mimic, values)
            continue
        if leader not in made or len(made[leader].coordinates) != 1 or len(made[name].coordinates) != 1:
            if leader:
                what = f"there is no joint '{leader}' with one coordinate to follow{nearest(leader, made)}"
                values.refuse(mimic, what, "joint")
            continue
        ratio, offset = values.number(mimic, "multiplier", 1.0), values.number(mimic, "offset", 0.0)
        if ratio == 0.0:
            values.refuse(mimic, "must not be zero: a joint that stands still is fixed", "multiplier")
            continue
        wanted[name] = leader, ratio, offset, mimic
    for name, (leader, ratio, _, mimic) in wanted.items():
        if _circle(name, wanted):
            values.refuse(mimic, "follows itself, by way of other mimic joints", "joint")
            continue
        start = _start(name, wanted, made)
        if abs(start - made[name].start()[0]) > _HOLDS * max(1.0, abs(start)):
            moved = dataclasses.replace(made[name], position=start)
            model.joints[moved.name] = made[name] = moved
        low, high = made[name].bounds()[0]
        if (low is not None and start < low) or (high is not None and start > high):
            what = f"it must start at {start:g}, outside of its limits; they are left out"
            values.note("approximated", mimic, f"limits of mimic joint '{name}'", what)
            model.joints[made[name].name] = made[name] = dataclasses.replace(made[name], limits=None)
        try:
            model.add(
                Repeater(
                    names.fit(f"{made[name].name}_mimic"), made[name].name, made[leader].name, ratio=ratio
                )
            )
        except LinkworkError as error:
            values.told(mimic, error)
            continue
        values.note("mapped", mimic, f"mimic of joint '{name}'", f"a repeater of '{leader}'")


def _hold(model: Model, made: Made, name: str, mimic: Element, values: Values) -> None:
    """Keep a joint that follows a fixed one where that wants it."""
    at = values.number(mimic, "offset", 0.0)
    model.joints[made[name].name] = made[name] = dataclasses.replace(made[name], limits=(at, at), position=at)
    values.note(
        "mapped", mimic, f"mimic of joint '{name}'", f"it follows a fixed joint: its limits hold it at {at:g}"
    )


def _circle(name: str, wanted: Mapping[str, tuple[str, float, float, Element]]) -> bool:
    seen = {name}
    while name in wanted:
        name = wanted[name][0]
        if name in seen:
            return True
        seen.add(name)
    return False


def _start(name: str, wanted: Mapping[str, tuple[str, float, float, Element]], made: Made) -> float:
    """Where a joint starts if all that it follows do."""
    if name not in wanted:
        return made[name].start()[0]
    leader, ratio, offset, _ = wanted[name]
    return ratio * _start(leader, wanted, made) + offset


def read_transmissions(model: Model, root: Element, joints: Joints, made: Made, values: Values) -> None:
    """Drives of simple transmissions: torques, or rates within the joint's effort."""
    names = Names()
    driven: set[str] = set()
    for element in root.all("transmission"):
        name = element.attributes.get("name", "") or "transmission"
        inner = list(element.all("joint"))
        kind = element.attributes.get("type", "") or _text(element, "type")
        targets = [one.attributes.get("name", "") for one in inner]
        if len(targets) != 1 or "Simple" not in kind or targets[0] not in made:
            what = "only simple transmissions of one movable joint are drives here"
            values.note("dropped", element, f"transmission '{name}'", what)
            continue
        target = targets[0]
        interface = _text(inner[0], "hardwareInterface") or _text(
            element.find("actuator"), "hardwareInterface"
        )
        interface = interface.rpartition("/")[2]
        if target in driven or interface == "JointStateInterface":
            how = (
                "it only measures"
                if interface == "JointStateInterface"
                else "another transmission drives the joint"
            )
            values.note("dropped", element, f"transmission '{name}'", how)
            continue
        driven.add(target)
        drive = _drive(names.fit(name), made[target].name, interface, _effort(joints[target]))
        try:
            model.add(drive)
        except LinkworkError as error:
            values.told(element, error)
            continue
        if interface == "PositionJointInterface":
            how = "a torque source: the gains of its controller are not in the file; a position servo holds positions"
            values.note("approximated", element, f"transmission '{name}'", how)
        else:
            values.note(
                "mapped", element, f"transmission '{name}'", f"a {drive.kind} on the side of the joint"
            )
    for name, joint in joints.items():
        if (
            name in made
            and _effort(joint) > 0.0
            and not isinstance(_drive_of(model, made[name].name), VelocityServo)
        ):
            limit = joint.find("limit")
            assert limit is not None

            values.note(
                "dropped", limit, f"effort limit of joint '{name}'", "give it to a drive as its strength"
            )


def _drive(name: str, joint: str, interface: str, effort: float) -> Drive:
    if interface == "VelocityJointInterface":
        return VelocityServo(name, joint, strength=effort if effort > 0.0 else math.inf)
    return TorqueSource(name, joint)


def _drive_of(model: Model, joint: str) -> Drive | None:
    return next((drive for drive in model.drives.values() if drive.joint == joint), None)


def _effort(joint: Element) -> float:
    limit = joint.find("limit")
    try:
        effort = 0.0 if limit is None else float(limit.attributes.get("effort", "0"))
    except ValueError:
        return 0.0
    return effort if effort < ENDLESS else 0.0


def _text(element: Element | None, tag: str) -> str:
    found = None if element is None else element.find(tag)
    return "" if found is None else found.text.strip()
