"""Bodies and joints of MJCF. A body of several joints hangs on a chain of bodies without mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.loads import Force
from ..model import GROUND, Body, Model
from ..model.errors import LinkworkError, ModelError
from ..model.joints import Free, Hinge, Slider, Spherical, Weld
from ..model.joints.base import Joint
from ..model.rotation import Array, matrix, vector
from .mjcf_source import Source, floats
from .values import six

KINDS: dict[int, type[Joint]] = {0: Free, 1: Spherical, 2: Slider, 3: Hinge}
"""Joints by the numbers of mjtJoint."""
_SAME = 1e-12


class Tree:
    """Makes bodies and joints; knows afterwards what each is called here."""

    def __init__(self, source: Source, model: Model):
        self.source, self.model = source, model
        self.body_names: list[str] = [GROUND]
        self.joint_names: list[str] = [""] * source.m.njnt
        self.refs: Array = np.zeros(source.m.njnt)
        """Of hinges and slides, what MuJoCo's coordinate is where ours is zero."""

    def read(self, shapes: dict[int, dict[str, Any]], free_base: bool) -> None:
        """Add all bodies with what `shapes` says of them, and their joints."""
        for i in range(1, self.source.m.nbody):
            name = self.source.bodies.fit(self.source.name("body", i))
            self.body_names.append(name)
            try:
                self._body(i, name, shapes.get(i, {}))
                self._joints(i, name)
                self.source.note(
                    "taken", "body", i, "" if name == self.source.name("body", i) else f"called '{name}' here"
                )
            except LinkworkError as error:
                self._told("body", i, error)
        if free_base:
            self.source.report.add("dropped", "free base", "MJCF says itself what is free", self.source.path)

    def _told(self, kind: str, i: int, error: LinkworkError) -> None:
        if not isinstance(error, ModelError):
            raise error
        source = self.source
        from ..model.errors import Problem

        for problem in error.problems:
            source.problems.append(Problem(problem.where, problem.what, source.path, source.line(kind, i)))

    def _body(self, i: int, name: str, shapes: dict[str, Any]) -> None:
        m, pose = self.source.m, self.source.poses[i]
        mass = float(m.body_mass[i])
        fields: dict[str, Any] = {"mass": mass}
        if mass > 0.0:
            R = matrix(m.body_iquat[i])
            fields["com"] = vector(m.body_ipos[i])
            fields["inertia"] = six(R @ np.diag(m.body_inertia[i]) @ R.T)
        elif shapes.get("shapes"):
            fields["inertia"] = (0.0, 0.0, 0.0)
        self.model.add(Body(name, at=pose.at, rotation=pose.rotation, **fields, **shapes))
        if share := float(m.body_gravcomp[i]):
            force = vector(-np.array(self.model.gravity) * mass * share)
            at = vector(pose.p + pose.R @ m.body_ipos[i])
            self.model.add(Force(f"{name}_gravcomp", name, force=force, at=at))
            self.source.note("mapped", "body", i, "a constant force against its weight", "gravcomp")

    def _joints(self, i: int, name: str) -> None:
        """Joints between a body and its parent."""
        source, m, pose = self.source, self.source.m, self.source.poses[i]
        parent = self.body_names[m.body_parentid[i]]
        first, count = int(m.body_jntadr[i]), int(m.body_jntnum[i])
        if count == 0:
            self.model.add(Weld(source.joints.fit(f"{name}_weld"), parent, name, at=pose.at))
            if m.body_mocapid[i] >= 0:
                source.note(
                    "approximated", "body", i, "it stands still: nothing moves it from outside", "mocap"
                )
            return
        for j in range(first, first + count):
            fitting = source.joints.fit(source.name("joint", j))
            self.joint_names[j] = fitting
            child = name
            if j < first + count - 1:
                child = source.bodies.fit(f"{name}_{fitting}")
                self.model.add(Body(child, mass=0.0, at=pose.at, rotation=pose.rotation))
                source.note(
                    "mapped",
                    "joint",
                    j,
                    f"a body without mass, '{child}', carries the next joint of its body",
                )
            self.model.add(self._joint(i, j, fitting, parent, child))
            source.note(
                "taken", "joint", j, "" if fitting == source.name("joint", j) else f"called '{fitting}' here"
            )
            parent = child

    def _joint(self, i: int, j: int, name: str, a: str, b: str) -> Joint:
        source, m, pose = self.source, self.source.m, self.source.poses[i]
        cls = KINDS[int(m.jnt_type[j])]
        dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + {Free: 6, Spherical: 3}.get(cls, 1))
        fields: dict[str, Any] = {"at": vector(pose.p + pose.R @ m.jnt_pos[j])}
        if cls in (Free, Spherical):
            fields["axis"], fields["reference"] = vector(pose.R[:, 2]), vector(pose.R[:, 0])
        else:
            fields["axis"] = vector(pose.R @ m.jnt_axis[j])
            self.refs[j] = m.qpos0[m.jnt_qposadr[j]]
        for field, values in (
            ("damping", m.dof_damping), ("friction", m.dof_frictionloss), ("armature", m.dof_armature),
        ):  # fmt: skip
            if np.any(values[dofs]):
                fields[field] = _shared(floats(values[dofs]))
        self._spring(j, cls, fields)
        self._limits(j, cls, fields)
        for table, what in (
            (getattr(m, "dof_dampingpoly", None), "damping"),
            (getattr(m, "jnt_stiffnesspoly", None), "stiffness"),
        ):
            row = None if table is None else table[dofs if what == "damping" else j]
            if row is not None and np.any(row):
                source.note("approximated", "joint", j, "its part that is not linear is left out", what)
        if m.jnt_actfrclimited[j]:
            source.note("dropped", "joint", j, "give it to drives as their strength", "actuatorfrcrange")
        return cls(name, a, b, **fields)

    def _spring(self, j: int, cls: type[Joint], fields: dict[str, Any]) -> None:
        m, source = self.source.m, self.source
        stiffness, adr = float(np.ravel(m.jnt_stiffness[j])[0]), int(m.jnt_qposadr[j])
        if stiffness == 0.0:
            return
        fields["spring"] = stiffness
        if cls in (Hinge, Slider):
            fields["rest"] = float(m.qpos_spring[adr] - m.qpos0[adr])
        elif cls is Free:
            source.note("approximated", "joint", j, "its spring pulls it to where it is drawn", "spring")
        elif np.abs(m.qpos_spring[adr : adr + 4] - m.qpos0[adr : adr + 4]).max() > _SAME:
            source.note("approximated", "joint", j, "its spring is slack where it is drawn", "springref")

    def _limits(self, j: int, cls: type[Joint], fields: dict[str, Any]) -> None:
        m, source = self.source.m, self.source
        if not m.jnt_limited[j]:
            return
        low, high = floats(m.jnt_range[j] - self.refs[j])
        if cls is Spherical:
            fields["limits"] = (-high, high)
            how = "each component of the rotation vector is limited instead of its length"
            source.note("approximated", "joint", j, how, "limit")
        elif cls is not Free:
            fields["limits"] = (low, high)
            if not low <= 0.0 <= high:
                fields["position"] = low if low > 0.0 else high
                source.note("mapped", "joint", j, "it starts at its limit, for it is drawn outside", "start")


def _shared(values: tuple[float, ...]) -> Any:
    """One number where all are equal."""
    return values[0] if len(set(values)) == 1 else values
