"""MuJoCo as a contender where things touch: the same bodies, joints, servos and surroundings, stepped by the engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.model.errors import UnsupportedError
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix, quaternion

from .contact_peer import Engine, placed, principal, read_world

if TYPE_CHECKING:
    from linkwork.model import Body, Model, Scenery
    from linkwork.model.rotation import Array

HOW = (
    "mj_step(model, data, nstep), or rollout where commands change; defaults: Euler, Newton, pyramidal cones"
)
HOW_ELLIPTIC = "the same with elliptic cones and impratio 10"
HOW_TIGHT = "the same with elliptic cones, impratio 100, noslip_iterations 10 and solref = 2 dt"
HOW_CG = "the defaults, but for conjugate gradients in place of Newton's method, whose matrix fills up in large piles"
PRESETS = ("default", "elliptic", "tight", "cg")


class MujocoContact(Engine):
    """The same model in MuJoCo."""

    def __init__(self, model: Model, dt: float, preset: str = "default"):
        import mujoco
        from mujoco import rollout

        self._mujoco, self._roll, self._dt = mujoco, rollout.rollout, dt
        self._world = world = read_world(model)
        spec = mujoco.MjSpec()
        spec.option.gravity, spec.option.timestep = world.gravity, dt
        if preset == "cg":
            spec.option.solver = mujoco.mjtSolver.mjSOL_CG
        if preset in ("elliptic", "tight"):
            spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
            spec.option.impratio = 10.0 if preset == "elliptic" else 100.0
        if preset == "tight":
            spec.option.noslip_iterations = 10
        self._solref = (2.0 * dt, 1.0) if preset == "tight" else None
        self._spec = spec
        for scenery in world.flat.scenery.values():
            self._add_shapes(spec.worldbody, scenery, *placed(scenery))
        self._add_links()
        self._add_drives()
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        for link in world.links.values():
            for motion, start in zip(link.motions, link.starts(), strict=True):
                assert link.joint is not None
                joint = self._model.joint(f"{link.joint.name}.{motion.name}")
                self._model.qpos0[joint.qposadr] = 0.0
                self._data.qpos[joint.qposadr] = start
        self._warm = np.zeros(self._model.nv)
        self._steps = 0
        self._kept: tuple[Any, int] = (None, 0)
        self.keep()

    # --- building ---

    def _add_links(self) -> None:
        mujoco, spec, world = self._mujoco, self._spec, self._world
        frames: dict[str, tuple[Any, Array, Array]] = {GROUND: (spec.worldbody, np.zeros(3), np.eye(3))}
        for name, link in world.links.items():
            owner, p, R = frames[link.parent]
            at, turned = placed(link.body)
            mass, com, inertia = link.body.mass_properties
            moments, axes = principal(inertia)
            body = owner.add_body(
                name=name, pos=R.T @ (at - p), quat=quaternion(R.T @ turned), mass=mass, ipos=com,
                iquat=quaternion(axes), inertia=moments, explicitinertial=True,
            )  # fmt: skip
            frames[name] = (body, at, turned)
            if link.free:
                body.add_freejoint()
            for k, motion in enumerate(link.motions):
                assert link.joint is not None
                kinds = mujoco.mjtJoint
                joint = body.add_joint(
                    name=f"{link.joint.name}.{motion.name}",
                    type=kinds.mjJNT_HINGE if motion.rot else kinds.mjJNT_SLIDE,
                    pos=turned.T @ (link.at - at), axis=turned.T @ link.axis(motion),
                    armature=link.joint.per_rate("armature")[k], frictionloss=link.joint.per_rate("friction")[k],
                )  # fmt: skip
                joint.damping[0] = link.joint.per_rate("damping")[k]
                low, high = link.joint.bounds()[k]
                if low is not None and high is not None:
                    joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_TRUE, (low, high)
            if link.body.material is not None:
                self._add_shapes(body, link.body, np.zeros(3), np.eye(3))
        for a, b in sorted({tuple(sorted(pair)) for pair in world.apart()}):
            spec.add_exclude(bodyname1=a, bodyname2=b)

    def _add_shapes(self, body: Any, thing: Body | Scenery, p: Array, R: Array) -> None:
        kinds = self._mujoco.mjtGeom
        if thing.material is None:
            return
        for k, shape in enumerate(thing.shapes):
            options: dict[str, Any] = {}
            if shape.shape == "box":
                kind, size = kinds.mjGEOM_BOX, [s / 2 for s in shape.size]
            elif shape.shape == "sphere":
                kind, size = kinds.mjGEOM_SPHERE, [shape.radius, 0.0, 0.0]
            elif shape.shape in ("capsule", "cylinder"):
                kind = kinds.mjGEOM_CAPSULE if shape.shape == "capsule" else kinds.mjGEOM_CYLINDER
                size = [shape.radius, shape.length / 2, 0.0]
            elif shape.shape == "plane":
                kind, size = kinds.mjGEOM_PLANE, [0.0, 0.0, 1.0]
            elif shape.shape == "mesh" and not shape.inverted:
                kind, size = kinds.mjGEOM_MESH, [0.0, 0.0, 0.0]
                mesh = self._spec.add_mesh(
                    name=f"{thing.name}.{k}", file=shape.file, scale=(shape.scale,) * 3
                )
                options["meshname"] = mesh.name
            else:
                raise UnsupportedError(f"a shape '{shape.shape}' cannot be compared here")
            if self._solref is not None:
                options["solref"] = self._solref
            body.add_geom(
                type=kind, size=size, pos=p + R @ np.array(shape.at), quat=quaternion(R @ matrix(shape.rotation)),
                friction=(self._world.friction(thing), 0.005, 0.0001), condim=3, **options,
            )  # fmt: skip

    def _add_drives(self) -> None:
        mujoco, world = self._mujoco, self._world
        for name, drive in world.flat.drives.items():
            rows: Any = drive
            if drive.kind == "position_servo":
                gain, bias = rows.stiffness, (0.0, -rows.stiffness, -rows.damping)
            else:
                # Stalled at its command it pulls with all its strength.
                gain = rows.strength / abs(rows.command)
                bias = (0.0, 0.0, -gain)
            actuator = self._spec.add_actuator(
                name=name, target=world.coordinate(drive), trntype=mujoco.mjtTrn.mjTRN_JOINT,
                gaintype=mujoco.mjtGain.mjGAIN_FIXED, biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            )  # fmt: skip
            actuator.gainprm[0], actuator.biasprm[:3] = gain, bias
            if math.isfinite(rows.strength):
                actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
                actuator.forcerange = (-rows.strength, rows.strength)
        for coupling in world.flat.couplings.values():
            rule: Any = coupling
            equality = self._spec.add_equality(
                name=rule.name, type=mujoco.mjtEq.mjEQ_JOINT, name1=world.named(rule.a, rule.coordinate_a),
                name2=world.named(rule.b, rule.coordinate_b), objtype=mujoco.mjtObj.mjOBJ_JOINT,
            )  # fmt: skip
            equality.data[:2] = 0.0, rule.ratio
            if self._solref is not None:
                equality.solref = self._solref

    # --- running ---

    def _state(self) -> Array:
        m, spec = self._mujoco, int(self._mujoco.mjtState.mjSTATE_FULLPHYSICS)
        state = np.empty(m.mj_stateSize(self._model, spec))
        m.mj_getState(self._model, self._data, state, spec)
        return state

    def keep(self) -> None:
        self._kept = (self._state(), self._steps)
        self._kept_warm = np.array(self._data.qacc_warmstart)

    def reset(self) -> None:
        state, self._steps = self._kept
        self._mujoco.mj_setState(
            self._model, self._data, state, int(self._mujoco.mjtState.mjSTATE_FULLPHYSICS)
        )
        self._data.qacc_warmstart[:] = self._kept_warm

    def run(self, steps: int) -> None:
        """Take steps in one call of the engine."""
        m, drives = self._mujoco, self._world.flat.drives.values()
        if not drives:
            m.mj_step(self._model, self._data, nstep=steps)
        else:
            commands = [self._world.commands(drive, self._dt, self._steps, steps) for drive in drives]
            control = np.stack(commands, axis=1)[None]
            warm = np.array(self._data.qacc_warmstart)[None]
            states, _ = self._roll(
                self._model, self._data, self._state()[None], control, nstep=steps, initial_warmstart=warm
            )
            spec = int(m.mjtState.mjSTATE_FULLPHYSICS)
            m.mj_setState(self._model, self._data, np.ascontiguousarray(states[0, -1]), spec)
        self._steps += steps

    def pose(self, body: str) -> tuple[Array, Array]:
        self._mujoco.mj_kinematics(self._model, self._data)
        found = self._data.body(body)
        return np.array(found.xpos), np.array(found.xmat).reshape(3, 3)

    def depth(self) -> float:
        self._mujoco.mj_kinematics(self._model, self._data)
        self._mujoco.mj_collision(self._model, self._data)
        return max(0.0, -float(self._data.contact.dist.min())) if self._data.ncon else 0.0
