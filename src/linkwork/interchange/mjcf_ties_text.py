"""What ties bodies and joints to each other as equalities, tendons and actuators of MJCF, and where it starts."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..engine.elements import Actuator, DCMotor, PositionServo, Repeater, TorqueSource, VelocityServo
from ..engine.loads import Force, Spring
from ..model import GROUND, Flat, Model
from ..model.drive import Drive
from ..model.joints import Spherical, Weld
from ..model.joints.base import Joint
from ..model.rotation import Array, vector
from .alike import alike, restates
from .mjcf_extension import Extension
from .mjcf_joints_text import Column, JointWriter
from .tree import Trunk, body_pose, joint_pose
from .values import Names, Pose
from .xml_text import Tag, words

_HERE = "Linkwork reads it in the extension"
_STEEP = 100.0
"""Slope of what MuJoCo has for a servo of rates, as a multiple of its strength [s/rad or s/m]."""
_FIRM = 1e3
"""The slope where its strength has no bound [N m s/rad or N s/m]."""


class TieWriter:
    """Writes everything beyond bodies, joints and shapes."""

    def __init__(
        self,
        trunk: Trunk,
        gravity: tuple[float, float, float],
        extension: Extension,
        joints: JointWriter,
        holders: dict[str, Tag],
    ):
        self.trunk, self.flat, self.extension = trunk, trunk.flat, extension
        self.gravity = np.array(gravity)
        self.report, self.joints, self.holders = extension.report, joints, holders
        self.equality, self.tendon, self.actuator = Tag("equality"), Tag("tendon"), Tag("actuator")
        self.couplings, self.sites = Names(), Names(self.flat.markers)
        self.controls: list[float] = []
        self.states: list[float] = []

    def sections(self) -> list[Tag | None]:
        """Equalities, tendons, actuators, the start."""
        for joint in self.trunk.closing:
            self._loop(joint)
        for coupling in self.flat.couplings.values():
            self._coupling(coupling)
        for name, value in self.joints.still:
            self.equality.add("joint", joint1=name, polycoef=[value, 0, 0, 0, 0])
        for slide, hinge, way in self.joints.screws:
            name = self.couplings.fit(slide)
            self.equality.add("joint", name=name, joint1=slide, joint2=hinge, polycoef=[0, way, 0, 0, 0])
            self.extension.drop("couplings", name)
        for load in self.flat.loads.values():
            self._load(load)
        for drive in self.flat.drives.values():
            self._drive(drive)
        parts = (self.equality, self.tendon, self.actuator, self._key())
        return [part if part is not None and part.inside else None for part in parts]

    def _body(self, name: str) -> str:
        return "world" if name == GROUND else name

    # --- loops ---

    def _loop(self, joint: Joint) -> None:
        """A joint that closes a loop."""
        place = joint_pose(self.flat, joint)
        ends = {"body1": self._body(joint.a), "body2": self._body(joint.b)}
        active: dict[str, Any] = {} if joint.attached_at_start else {"active": "false"}
        found: list[Joint] = []
        home = body_pose(self.flat, joint.a)
        state: dict[str, Any] = {"attached": ()} if active else {}
        if joint.kind == "spherical":
            found.append(self._connect(joint, joint.name, place.p, home, ends | active, state))
            self.report.add("mapped", f"spherical '{joint.name}'", "a connect equality, which is soft")
        elif joint.kind == "weld":
            name = self.joints.names.fit(joint.name)
            own = body_pose(self.flat, joint.b)
            self.equality.add("weld", name=name, **ends, anchor=place.seen_from(own).p, **active)
            found.append(Weld(name, joint.a, joint.b, at=vector(place.p), **state))
            self.report.add("mapped", f"weld '{joint.name}'", "a weld equality, which is soft")
        elif joint.kind == "hinge":
            for label, along in ((joint.name, -1.0), (f"{joint.name}_2", 1.0)):
                point = place.p + along * 0.5 * self._reach(joint) * place.R[:, 2]
                found.append(self._connect(joint, label, point, home, ends | active, state))
            how = "two points of its axis are connected, softly"
            self.report.add("approximated", f"hinge '{joint.name}'", how)
        else:
            how = f"MJCF closes no loop by a {joint.kind} joint; {_HERE}"
            self.report.add("dropped", f"{joint.kind} '{joint.name}'", how)
        if joint.attached:
            self.report.add("dropped", f"times of joint '{joint.name}'", f"MuJoCo has none; {_HERE}")
        if len(found) != 1 or restates(joint, found[0]):
            for one in found:
                if one.name != joint.name:
                    self.extension.drop("joints", one.name)
            self.extension.add(joint)

    def _connect(
        self,
        joint: Joint,
        label: str,
        point: Array,
        home: Pose,
        fields: dict[str, str],
        state: dict[str, Any],
    ) -> Joint:
        name = self.joints.names.fit(label)
        self.equality.add("connect", name=name, anchor=home.R.T @ (point - home.p), **fields)
        return Spherical(name, joint.a, joint.b, at=vector(point), **state)

    def _reach(self, joint: Joint) -> float:
        """Distance of the centres of what a joint joins [m]."""
        ends = []
        for name in (joint.a, joint.b):
            if name != GROUND:
                pose = body_pose(self.flat, name)
                ends.append(pose.p + pose.R @ self.flat.bodies[name].mass_properties.com)
        apart = float(np.linalg.norm(ends[0] - ends[1])) if len(ends) == 2 else 0.0
        return apart or 0.1

    def _coupling(self, coupling: Any) -> None:
        """A joint that follows another."""
        one = self._column(coupling.a, getattr(coupling, "coordinate_a", None))
        other = self._column(coupling.b, getattr(coupling, "coordinate_b", None))
        if not isinstance(coupling, Repeater) or one is None or other is None:
            self.extension.add(coupling)
            how = f"only hinges and slides of the tree follow each other; {_HERE}"
            self.report.add("dropped", f"{coupling.kind} '{coupling.name}'", how)
            return
        starts = [self._start_of(column) for column in (one, other)]
        offset = starts[0] - coupling.ratio * starts[1]
        name = self.couplings.fit(coupling.name)
        self.equality.add(
            "joint", name=name, joint1=one.name, joint2=other.name, polycoef=[offset, coupling.ratio, 0, 0, 0]
        )
        if abs(offset) > 1e-12 and (read := self.joints.read.get(one.name)) is not None:
            self.joints.read[one.name] = dataclasses.replace(read, position=offset)
        read_as = Repeater(name, one.name, other.name, ratio=coupling.ratio)
        if restates(coupling, read_as):
            self.extension.add(coupling, name)
        self.report.add("mapped", f"repeater '{coupling.name}'", "a joint equality, which is soft")

    def _column(self, joint: str, coordinate: str | None) -> Column | None:
        """MuJoCo's joint that is a coordinate of one of ours, if it is a hinge or slide of the tree."""
        for column in self.joints.columns:
            own = column.branch.joint
            if own.name == joint and column.kind in ("hinge", "slide"):
                wanted = coordinate or own.coordinates[0]
                if own.rates[column.rate] == f"{wanted}_rate":
                    return column
        return None

    def _start_of(self, column: Column) -> float:
        joint = column.branch.joint
        return joint.start()[joint.coordinates.index(joint.rates[column.rate].removesuffix("_rate"))]

    # --- loads ---

    def _load(self, load: Any) -> None:
        if isinstance(load, Spring) and (load.stiffness or load.damping):
            self._spring(load)
        elif not (isinstance(load, Force) and self._lifts(load)):
            self.extension.add(load)
            self.report.add("dropped", f"{load.kind} '{load.name}'", f"MJCF has nothing like it; {_HERE}")

    def _spring(self, spring: Spring) -> None:
        """A tendon between two sites."""
        sites, points = [], []
        for body, at, end in ((spring.a, spring.at_a, "a"), (spring.b, spring.at_b, "b")):
            if isinstance(at, str):
                sites.append(at)
                points.append(np.array(self.flat.markers[at].frame[0]))
                continue
            name = self.sites.fit(f"{spring.name}_{end}")
            seen = Pose(np.array(at), np.eye(3)).seen_from(body_pose(self.flat, body))
            self.holders[body].add("site", name=name, pos=seen.p)
            self.extension.drop("markers", name)
            sites.append(name)
            points.append(np.array(at))
        drawn = float(np.linalg.norm(points[0] - points[1]))
        length = drawn if spring.length is None else spring.length
        made = self.tendon.add(
            "spatial", name=spring.name, stiffness=spring.stiffness or None, damping=spring.damping or None,
            springlength=length,
        )  # fmt: skip
        for site in sites:
            made.add("site", site=site)
        read = dataclasses.replace(spring, at_a=sites[0], at_b=sites[1], length=length)
        if restates(spring, read):
            self.extension.add(spring, spring.name)
        self.report.add("mapped", f"spring '{spring.name}'", "a tendon")

    def _lifts(self, force: Force) -> bool:
        """Whether a force does nothing but carry its body; then MuJoCo does."""
        gravity = self.gravity
        body = self.flat.bodies[force.body]
        mass, com, _ = body.mass_properties
        pose = body_pose(self.flat, force.body)
        weight = mass * float(np.linalg.norm(gravity))
        if force.follows or force.signal or not weight or "gravcomp" in self.holders[force.body].attributes:
            return False
        share = float(np.linalg.norm(force.force)) / weight
        at = vector(pose.p + pose.R @ com)
        read = Force(f"{force.body}_gravcomp", force.body, force=vector(-gravity * mass * share), at=at)
        if not alike(force.force, read.force) or not alike(force.at, at):
            return False
        self.holders[force.body].attributes["gravcomp"] = repr(share)
        if restates(force, read):
            self.extension.add(force, read.name)
        self.report.add("mapped", f"force '{force.name}'", "gravcomp of its body")
        return True

    # --- drives ---

    def _drive(self, drive: Drive) -> None:
        """An actuator."""
        column = self._column(drive.joint, drive.coordinate)
        made = None if column is None else self._actuator(drive, column)
        if made is None or column is None:
            self.extension.add(drive)
            how = f"MuJoCo has no such drive of a joint of the tree; {_HERE}"
            self.report.add("dropped", f"{drive.kind} '{drive.name}'", how)
            return
        read, state = made
        self.controls.append(drive.command)
        self.states += state
        bound = drive.bound
        if math.isfinite(bound):
            self.actuator.inside[-1].attributes["forcerange"] = words([-bound, bound])
        if drive.signal is not None:
            self.report.add("dropped", f"signal of drive '{drive.name}'", f"MuJoCo has none; {_HERE}")
        if restates(drive, read):
            self.extension.add(drive, drive.name)
        if isinstance(drive, VelocityServo):
            how = "a velocity actuator, which lags behind what it is told"
            self.report.add("approximated", f"velocity_servo '{drive.name}'", how)
        else:
            self.report.add("mapped", f"{drive.kind} '{drive.name}'", self.actuator.inside[-1].name)

    def _actuator(self, drive: Drive, column: Column) -> tuple[Drive, list[float]] | None:
        """What is read of an actuator, and the states that it has in MuJoCo."""
        name, joint = drive.name, column.name
        add = self.actuator.add
        if isinstance(drive, TorqueSource):
            add("motor", name=name, joint=joint)
            return TorqueSource(name, joint), []
        if isinstance(drive, PositionServo):
            add("position", name=name, joint=joint, kp=drive.stiffness, kv=drive.damping or None)
            return dataclasses.replace(drive, joint=joint, coordinate=None, command=0.0, signal=None), []
        if isinstance(drive, Actuator):
            add(
                "general", name=name, joint=joint, dyntype="filterexact", dynprm=drive.time_constant,
                biastype="affine", biasprm=[0, 0, -drive.damping],
            )  # fmt: skip
            read = dataclasses.replace(drive, joint=joint, coordinate=None, command=0.0, signal=None)
            return dataclasses.replace(read, built_up=0.0), [drive.built_up]
        if isinstance(drive, DCMotor):
            pull, slope = drive.numbers()
            add(
                "general", name=name, joint=joint, gainprm=pull, biastype="affine", biasprm=[0, 0, -slope],
                ctrlrange=[-1, 1],
            )  # fmt: skip
            self._burden(column, slope, drive.rotor)
            return TorqueSource(name, joint), []
        if isinstance(drive, VelocityServo):
            slope = _STEEP * drive.strength if math.isfinite(drive.strength) else _FIRM
            add("velocity", name=name, joint=joint, kv=slope)
            self._burden(column, slope, 0.0)
            return TorqueSource(name, joint), []
        return None

    def _burden(self, column: Column, damping: float, rotor: float) -> None:
        """Rotor of a motor, which MuJoCo has in the joint, and its damping, which is read there."""
        if rotor:
            for holder in self.holders.values():
                for element in holder.inside:
                    if element.name == "joint" and element.attributes["name"] == column.name:
                        own = float(element.attributes.get("armature", "0"))
                        element.attributes["armature"] = repr(own + rotor)
        if (read := self.joints.read.get(column.name)) is not None:
            self.joints.read[column.name] = dataclasses.replace(
                read,
                damping=read.per_rate("damping")[0] + damping,
                armature=read.per_rate("armature")[0] + rotor,
            )

    # --- the start ---

    def _key(self) -> Tag | None:
        """A keyframe, if it starts otherwise than drawn, or is told something."""
        flat = self.flat
        moved = [
            joint
            for joint in flat.joints.values()
            if joint.position is not None or joint.velocity is not None
        ]
        if not moved and not any(self.controls) and not any(self.states):
            return None
        q = {branch.joint.name: np.array(branch.joint.start()) for branch in self.trunk.branches}
        v = {branch.joint.name: _rates(branch.joint) for branch in self.trunk.branches}
        if moved and (self.trunk.closing or flat.couplings):
            from ..run.simulate import Simulation  # which loads Numba

            simulation = Simulation(_model(flat, self.gravity))
            for branch in self.trunk.branches:
                name, joint = branch.joint.name, branch.joint
                if name in flat.joints:
                    q[name] = np.array([simulation[f"{name}.{label}"] for label in joint.coordinates])
                    v[name] = np.array([simulation[f"{name}.{label}"] for label in joint.rates])
        qpos, qvel = self.joints.start(q, v)
        section = Tag("keyframe")
        section.add(
            "key", name="start", qpos=qpos, qvel=qvel if any(qvel) else None,
            act=self.states or None, ctrl=self.controls or None,
        )  # fmt: skip
        self.report.add(
            "mapped", "start", "the keyframe 'start'; MuJoCo's coordinates begin as drawn without it"
        )
        return section


def _rates(joint: Joint) -> Array:
    given = joint.velocity
    if given is None:
        return np.zeros(len(joint.rates))
    return np.array(given if isinstance(given, tuple) else (given,) * len(joint.rates), float)


def _model(flat: Flat, gravity: Array) -> Model:
    model = Model(gravity=vector(gravity))
    model.take_from(flat)
    return model
