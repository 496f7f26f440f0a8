"""A mechanism that was read from MJCF beside MuJoCo's own, in MuJoCo's coordinates."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from helpers.probe import Probe
from linkwork import import_model
from linkwork.model.rotation import matrix, quaternion

_OFF = ("CONTACT", "EQUALITY", "LIMIT", "FRICTIONLOSS", "ACTUATION")


class MujocoTwin:
    """The tree alone in both: contacts, equalities, limits, dry friction and actuators are left out."""

    def __init__(self, file):
        self.m = mujoco.MjModel.from_xml_path(str(file))
        for what in _OFF:
            self.m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}"))
        self.m.opt.density = self.m.opt.viscosity = 0.0
        model, self.report = import_model(file, contact=False)
        self.weight = sum(body.mass_properties.mass for body in model.bodies.values())
        own = {self.m.joint(j).name or f"joint{j}" for j in range(self.m.njnt)}
        for name, joint in list(model.joints.items()):
            if joint.coordinates and name in own:
                plain = {"limits": None, "friction": 0.0, "position": None, "velocity": None}
                model.joints[name] = dataclasses.replace(joint, **plain)
            elif not name.endswith("_weld"):
                del model.joints[name]
        model.couplings.clear()
        model.drives.clear()
        self.probe = Probe(model)
        self.joints = {placed.joint.name: placed for placed in self.probe.system.joints.values()}

    def random(self, seed):
        """Coordinates and rates of MuJoCo."""
        rng = np.random.default_rng(seed)
        qpos = self.m.qpos0.copy()
        mujoco.mj_integratePos(self.m, qpos, rng.uniform(-1.0, 1.0, self.m.nv), 1.0)
        return qpos, rng.uniform(-1.0, 1.0, self.m.nv)

    def ours(self, qpos):
        """Our coordinates, and our rates as a linear map of MuJoCo's."""
        m, q, T = self.m, np.zeros(self.probe.system.nq), np.zeros((self.probe.nv, self.m.nv))
        for j in range(m.njnt):
            placed, a, k = self.joints[m.joint(j).name or f"joint{j}"], m.jnt_qposadr[j], m.jnt_dofadr[j]
            if m.jnt_type[j] >= 2:  # hinge and slide
                q[placed.q] = qpos[a] - m.qpos0[a]
                T[placed.v.start, k] = 1.0
            elif m.jnt_type[j] == 1:
                q[placed.q] = qpos[a : a + 4]
                T[placed.v, k : k + 3] = np.eye(3)
            else:
                R0 = matrix(m.qpos0[a + 3 : a + 7])
                turned = quaternion(R0.T @ matrix(qpos[a + 3 : a + 7]))
                q[placed.q] = *(R0.T @ (qpos[a : a + 3] - m.qpos0[a : a + 3])), *turned
                T[placed.v, k : k + 6] = np.kron([[1, 0], [0, 0]], R0.T) + np.kron(
                    [[0, 0], [0, 1]], np.eye(3)
                )
        return q, T

    def both(self, seed):
        """(ours, theirs) of mass matrix, forces at rest and accelerations."""
        qpos, qvel = self.random(seed)
        q, T = self.ours(qpos)
        rest, moving = (mujoco.MjData(self.m) for _ in range(2))
        rest.qpos[:] = moving.qpos[:] = qpos
        moving.qvel[:] = qvel
        mujoco.mj_forward(self.m, rest)
        mujoco.mj_forward(self.m, moving)
        M = np.zeros((self.m.nv, self.m.nv))
        try:
            mujoco.mj_fullM(self.m, M, moving.qM)
        except (TypeError, AttributeError):  # from version 4 on
            mujoco.mj_fullM(self.m, moving, M)
        ours = (
            T.T @ self.probe.mass_matrix(q) @ T,
            T.T @ self.probe.bias(q, np.zeros(self.probe.nv)),
            np.linalg.solve(T, self.probe.qdd(q, T @ qvel)),
        )
        return zip(ours, (M, rest.qfrc_bias - rest.qfrc_passive, moving.qacc), strict=True)
