"""Equalities, tendons, sites, sensors and keyframes of MJCF."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..engine.elements import Repeater
from ..engine.loads import Spring
from ..model import GROUND, Marker, Model, NoContact
from ..model.errors import LinkworkError
from ..model.joints import Hinge, Slider, Spherical, Weld
from ..model.rotation import matrix, vector
from .mjcf_geoms import pose_of
from .mjcf_joints import Tree
from .mjcf_source import Source, floats
from .values import Names, Pose

_CLOSED = 1e-6
"""How far what an equality holds together may be apart as drawn [m, 1]."""


class Ties:
    """Adds what ties bodies and joints to each other."""

    def __init__(self, source: Source, model: Model, tree: Tree):
        self.source, self.model, self.tree = source, model, tree
        self.loads, self.couplings, self.markers = Names(model.loads), Names(), Names()
        self.sites: list[str] = []

    def read(self, keyframe: str | None) -> None:
        """All of them."""
        source, m = self.source, self.source.m
        self._sites()
        for i in range(m.neq):
            how = self._equality(i)
            if how:
                source.note("dropped", "equality", i, how)
        for i in range(m.ntendon):
            how = self._tendon(i)
            if how:
                source.note("dropped", "tendon", i, how)
        for i in range(m.nexclude):
            a, b = (self.tree.body_names[k] for k in divmod(int(m.exclude_signature[i]), 1 << 16))
            if GROUND not in (a, b):
                self.model.add(NoContact(self.couplings.fit(source.name("exclude", i)), a, b))
                source.note("taken", "exclude", i)
            else:
                source.note("dropped", "exclude", i, "the world has no name that contact knows")
        for i in range(m.nsensor):
            self._sensor(i)
        self._keys(keyframe)

    def _sites(self) -> None:
        source, m = self.source, self.source.m
        for i in range(m.nsite):
            pose = self._site(i)
            name = self.markers.fit(source.name("site", i))
            self.sites.append(name)
            body = self.tree.body_names[int(m.site_bodyid[i])]
            self.model.add(Marker(name, body, at=pose.at, rotation=pose.rotation))
            source.note("mapped", "site", i, f"the marker '{name}'")

    def _site(self, i: int) -> Pose:
        m = self.source.m
        return self.source.poses[int(m.site_bodyid[i])].then(pose_of(m.site_pos[i], m.site_quat[i]))

    # --- equalities ---

    def _equality(self, i: int) -> str:
        """Add one; returns why it is dropped."""
        source, m = self.source, self.source.m
        kind = source.mujoco.mjtEq(int(m.eq_type[i])).name.removeprefix("mjEQ_").lower()
        attached: dict[str, Any] = {} if m.eq_active0[i] else {"attached": ()}
        if kind in ("connect", "weld"):
            return self._loop(i, kind, attached)
        if kind != "joint":
            return f"equalities of type {kind} are not known here"
        if attached:
            return "it is not active at the start, and couplings hold always here"
        return self._coupling(i)

    def _loop(self, i: int, kind: str, attached: dict[str, Any]) -> str:
        source, m = self.source, self.source.m
        data = m.eq_data[i]
        if source.has("eq_objtype", i, "mjtObj.mjOBJ_SITE"):
            frames = [self._site(int(k)) for k in (m.eq_obj1id[i], m.eq_obj2id[i])]
            bodies = [int(m.site_bodyid[int(k)]) for k in (m.eq_obj1id[i], m.eq_obj2id[i])]
        else:
            bodies = [int(m.eq_obj1id[i]), int(m.eq_obj2id[i])]
            first, second = (source.poses[k] for k in bodies)
            if kind == "connect":
                here = Pose(np.zeros(3), np.eye(3))
                frames = [first.then(here._replace(p=data[:3])), second.then(here._replace(p=data[3:6]))]
            else:  # the anchor is a point of the second body; the pose is the second's in the first
                anchor = Pose(np.array(data[:3]), np.eye(3))
                frames = [first.then(pose_of(data[3:6], data[6:10])).then(anchor), second.then(anchor)]
        apart = float(np.linalg.norm(frames[0].p - frames[1].p))
        turned = float(np.abs(frames[0].R - frames[1].R).max()) if kind == "weld" else 0.0
        if max(apart, turned) > _CLOSED:
            return f"what it holds together is {apart:.3g} m apart as drawn: draw it closed"
        a, b = (self.tree.body_names[k] for k in bodies)
        cls = Spherical if kind == "connect" else Weld
        name = source.joints.fit(source.name("equality", i))
        self.model.add(cls(name, a, b, at=vector(0.5 * (frames[0].p + frames[1].p)), **attached))
        source.note("mapped", "equality", i, f"the {cls.kind} joint '{name}', which holds to rounding")
        return ""

    def _coupling(self, i: int) -> str:
        source, m, tree = self.source, self.source.m, self.tree
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        a0, a1, *rest = floats(m.eq_data[i][:5])
        one = self.model.joints[tree.joint_names[first]]
        if not isinstance(one, Hinge | Slider):
            return "only hinges and slides follow others here"
        if second < 0 or a1 == 0.0:
            held = dataclasses.replace(one, limits=(a0, a0), position=a0)
            self.model.joints[one.name] = held
            source.note("mapped", "equality", i, f"limits hold '{one.name}' at {a0:g}")
            return ""
        if any(rest):
            return "joints follow each other in proportion here, not by polynomials"
        other = self.model.joints[tree.joint_names[second]]
        if not isinstance(other, Hinge | Slider):
            return "only hinges and slides are followed here"
        start = a0 + a1 * other.start()[0]
        if abs(start - one.start()[0]) > 1e-12:
            self.model.joints[one.name] = dataclasses.replace(one, position=start)
        name = self.couplings.fit(source.name("equality", i))
        self.model.add(Repeater(name, one.name, other.name, ratio=a1))
        source.note("mapped", "equality", i, f"the repeater '{name}', which holds to rounding")
        return ""

    # --- tendons ---

    def _tendon(self, i: int) -> str:
        """Add one; returns why it is dropped."""
        source, m = self.source, self.source.m
        first, count = int(m.tendon_adr[i]), int(m.tendon_num[i])
        kinds = [source.mujoco.mjtWrap(int(kind)).name for kind in m.wrap_type[first : first + count]]
        stiffness, damping = float(np.ravel(m.tendon_stiffness[i])[0]), float(m.tendon_damping[i])
        if m.tendon_limited[i] or m.tendon_frictionloss[i]:
            return "tendons with limits or friction are not known here"
        if stiffness == 0.0 and damping == 0.0:
            return "it has no spring; drives on tendons are not known here"
        low, high = floats(m.tendon_lengthspring[i])
        if kinds != ["mjWRAP_SITE", "mjWRAP_SITE"] or low != high:
            return "only a straight spring between two sites, without slack, is known here"
        a, b = (int(k) for k in m.wrap_objid[first : first + 2])
        bodies = [self.tree.body_names[int(m.site_bodyid[k])] for k in (a, b)]
        name = self.loads.fit(source.name("tendon", i))
        spring = Spring(
            name,
            *bodies,
            at_a=self.sites[a],
            at_b=self.sites[b],
            stiffness=stiffness,
            damping=damping,
            length=low,
        )
        self.model.add(spring)
        source.note("mapped", "tendon", i, f"the spring '{name}'")
        return ""

    # --- sensors and keyframes ---

    def _sensor(self, i: int) -> None:
        source, m = self.source, self.source.m
        kind = source.mujoco.mjtSensor(int(m.sensor_type[i])).name.removeprefix("mjSENS_")
        obj = int(m.sensor_objid[i])
        if kind in ("JOINTPOS", "JOINTVEL", "BALLQUAT", "BALLANGVEL") and obj >= 0:
            joint = self.model.joints[self.tree.joint_names[obj]]
            names = joint.coordinates if kind in ("JOINTPOS", "BALLQUAT") else joint.rates
            source.note("mapped", "sensor", i, f"the signal {joint.name}.{names[0]}")
        elif kind.startswith("FRAME") and source.has("sensor_objtype", i, "mjtObj.mjOBJ_SITE"):
            source.note("mapped", "sensor", i, f"signals of the marker '{self.sites[obj]}'")
        elif kind.startswith(("FRAME", "SUBTREE")) and source.has("sensor_objtype", i, "mjtObj.mjOBJ_BODY"):
            source.note("mapped", "sensor", i, f"signals of the body '{self.tree.body_names[obj]}'")
        elif kind in ("E_POTENTIAL", "E_KINETIC", "CLOCK"):
            source.note("mapped", "sensor", i, "signals of energy, and the time of every record")
        else:
            source.note("dropped", "sensor", i, f"nothing measures {kind.lower()} here")

    def _keys(self, wanted: str | None) -> None:
        """Take the start from a keyframe."""
        source, m = self.source, self.source.m
        names = [source.name("key", i) for i in range(m.nkey)]
        if wanted is not None and wanted not in names:
            raise LinkworkError(
                f"{source.path}: there is no keyframe '{wanted}' (known: {', '.join(names) or 'none'})"
            )
        for i, name in enumerate(names):
            if name != wanted:
                source.note("dropped", "key", i, f"keyframe='{name}' starts from it")
                continue
            for j, joint in enumerate(self.tree.joint_names):
                self._start(j, joint, m.key_qpos[i], m.key_qvel[i])
            source.note("mapped", "key", i, "positions and velocities are the start")

    def _start(self, j: int, name: str, qpos: Any, qvel: Any) -> None:
        m, joint = self.source.m, self.model.joints[name]
        adr, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if isinstance(joint, Hinge | Slider):
            place: Any = float(qpos[adr] - m.qpos0[adr])
            rate: Any = float(qvel[dof])
        else:
            free = len(joint.rates) == 6
            R0 = self.source.poses[int(m.jnt_bodyid[j])].R
            quat = qpos[adr + 3 : adr + 7] if free else qpos[adr : adr + 4]
            home = m.qpos0[adr + 3 : adr + 7] if free else m.qpos0[adr : adr + 4]
            turn = pose_of(np.zeros(3), home).R.T @ matrix(quat)
            spin = floats(qvel[dof + 3 : dof + 6] if free else qvel[dof : dof + 3])
            place, rate = Pose(np.zeros(3), turn).rotation, spin
            if free:
                place = (*floats(R0.T @ (qpos[adr : adr + 3] - m.qpos0[adr : adr + 3])), *place)
                rate = (*floats(R0.T @ qvel[dof : dof + 3]), *spin)
        self.model.joints[name] = dataclasses.replace(joint, position=place, velocity=rate)
