"""PyBullet as a contender where things touch: the same bodies, joints, servos and surroundings, one call a step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.model.errors import UnsupportedError
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix, quaternion

from .contact_peer import Engine, Link, placed, principal, read_world
from .peer_bullet import _hushed, _last

if TYPE_CHECKING:
    from linkwork.model import Body, Model, Scenery
    from linkwork.model.rotation import Array

HOW = (
    "stepSimulation() in a Python loop, 50 iterations (the default), deterministic overlapping pairs; servos are its "
    "position and velocity motors, told anew in every step while commands change; it knows no inertia of rotors"
)


class BulletContact(Engine):
    """The same model in PyBullet."""

    def __init__(self, model: Model, dt: float):
        import pybullet
        from pybullet_utils.bullet_client import BulletClient

        self._names, self._dt = pybullet, dt
        self._world = world = read_world(model)
        for link in world.links.values():
            if len(link.motions) > 1:
                assert link.joint is not None
                raise UnsupportedError(
                    f"joint '{link.joint.name}' of several motions is not given to PyBullet here"
                )
        with _hushed():
            self._engine = BulletClient(connection_mode=pybullet.DIRECT)
        self._engine.setGravity(*world.gravity)
        self._engine.setTimeStep(dt)
        self._engine.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
        for scenery in world.flat.scenery.values():
            self._add_scenery(scenery)
        self._place: dict[str, tuple[int, int]] = {}
        """Number of the multibody and of the link, -1 for its base, by name of the body."""
        self._origin: dict[str, tuple[Array, Array]] = {}
        """Where a body's frame stands in that of its link."""
        self._joints: dict[str, tuple[int, int]] = {}
        for root in [name for name, link in world.links.items() if link.parent == GROUND]:
            self._add_tree(root)
        self._add_couplings()
        self._steps = 0
        self._kept, self._kept_steps = self._engine.saveState(), 0

    # --- building ---

    def _shape(self, thing: Body | Scenery, p: Array, R: Array) -> int:
        """Its collision shape in a frame at p, R of the thing's own frame; -1 if it touches nothing."""
        names = self._names
        if thing.material is None:
            return -1
        made: dict[str, list[Any]] = {
            key: [] for key in ("shapeTypes", "radii", "halfExtents", "lengths", "collisionFramePositions",
                                "collisionFrameOrientations", "planeNormals", "fileNames", "meshScales")
        }  # fmt: skip
        for shape in thing.shapes:
            kinds = {
                "box": names.GEOM_BOX, "sphere": names.GEOM_SPHERE, "capsule": names.GEOM_CAPSULE,
                "cylinder": names.GEOM_CYLINDER, "plane": names.GEOM_PLANE, "mesh": names.GEOM_MESH,
            }  # fmt: skip
            if shape.shape not in kinds or getattr(shape, "inverted", False):
                raise UnsupportedError(f"a shape '{shape.shape}' cannot be compared here")
            made["shapeTypes"].append(kinds[shape.shape])
            made["radii"].append(getattr(shape, "radius", 1.0))
            made["lengths"].append(getattr(shape, "length", 1.0))
            size = getattr(shape, "size", (1.0, 1.0, 1.0))
            made["halfExtents"].append([s / 2 for s in size])
            made["planeNormals"].append([0.0, 0.0, 1.0])
            made["fileNames"].append(getattr(shape, "file", ""))
            made["meshScales"].append([getattr(shape, "scale", 1.0)] * 3)
            made["collisionFramePositions"].append(list(R.T @ (np.array(shape.at) - p)))
            made["collisionFrameOrientations"].append(_last(quaternion(R.T @ matrix(shape.rotation))))
        if len(thing.shapes) > 1:
            return int(self._engine.createCollisionShapeArray(**made))
        one = {key: values[0] for key, values in made.items()}
        options: dict[str, dict[str, Any]] = {
            "box": {"halfExtents": one["halfExtents"]}, "sphere": {"radius": one["radii"]},
            "capsule": {"radius": one["radii"], "height": one["lengths"]},
            "cylinder": {"radius": one["radii"], "height": one["lengths"]},
            "plane": {"planeNormal": one["planeNormals"]},
            "mesh": {"fileName": one["fileNames"], "meshScale": one["meshScales"]},
        }  # fmt: skip
        return int(
            self._engine.createCollisionShape(
                one["shapeTypes"], collisionFramePosition=one["collisionFramePositions"],
                collisionFrameOrientation=one["collisionFrameOrientations"], **options[thing.shapes[0].shape],
            )
        )  # fmt: skip

    def _add_scenery(self, scenery: Scenery) -> None:
        if scenery.material is None:
            return
        p, R = placed(scenery)
        shape = self._shape(scenery, np.zeros(3), np.eye(3))
        body = self._engine.createMultiBody(0.0, shape, -1, list(p), _last(quaternion(R)))
        # It multiplies the friction of both: each gets the root.
        self._engine.changeDynamics(
            body, -1, lateralFriction=math.sqrt(self._world.friction(scenery)), restitution=0.0
        )

    def _add_tree(self, root: str) -> None:
        """A multibody: a free root is its base, one on a joint hangs on a base without mass at the world's origin."""
        world, engine = self._world, self._engine
        members = self._members(root)
        head = world.links[root]
        base = {"baseMass": 0.0, "basePosition": (0.0, 0.0, 0.0)}
        frames: dict[str, tuple[Array, Array]] = {GROUND: (np.zeros(3), np.eye(3))}
        numbers = {GROUND: 0}
        if head.free:
            p, R = placed(head.body)
            frames[root], numbers[root] = (p, R), 0
            mass, com, inertia = head.body.mass_properties
            _, axes = principal(inertia)
            base = {
                "baseMass": mass, "basePosition": list(p), "baseOrientation": _last(quaternion(R)),
                "baseInertialFramePosition": list(com), "baseInertialFrameOrientation": _last(quaternion(axes)),
                "baseCollisionShapeIndex": self._shape(head.body, np.zeros(3), np.eye(3)),
            }  # fmt: skip
        lists: dict[str, list[Any]] = {
            key: [] for key in ("linkMasses", "linkCollisionShapeIndices", "linkVisualShapeIndices", "linkPositions",
                                "linkOrientations", "linkInertialFramePositions", "linkInertialFrameOrientations",
                                "linkParentIndices", "linkJointTypes", "linkJointAxis")
        }  # fmt: skip
        carried = [name for name in members if name not in numbers]
        for k, name in enumerate(carried):
            link = world.links[name]
            self._describe(lists, link, frames[link.parent], numbers[link.parent])
            frames[name], numbers[name] = (link.at, placed(link.body)[1]), k + 1
        number = engine.createMultiBody(**base, **lists)
        for name in members:
            index = numbers[name] - 1
            self._place[name] = (number, index)
            at, R = placed(world.links[name].body)
            self._origin[name] = (R.T @ (at - frames[name][0]), np.eye(3))
            self._finish(world.links[name], number, index)

    def _members(self, root: str) -> list[str]:
        found = [root]
        for name, link in self._world.links.items():
            if link.parent in found:
                found.append(name)
        return found

    def _describe(
        self, lists: dict[str, list[Any]], link: Link, frame: tuple[Array, Array], parent: int
    ) -> None:
        """A link whose frame stands at its joint, turned as its body."""
        names = self._names
        p, R = frame
        at, turned = placed(link.body)
        mass, com, inertia = link.body.mass_properties
        _, axes = principal(inertia)
        offset = turned.T @ (at - link.at)
        motion = link.motions[0] if link.motions else None
        kind = names.JOINT_FIXED
        if motion is not None:
            kind = names.JOINT_REVOLUTE if motion.rot else names.JOINT_PRISMATIC
        lists["linkMasses"].append(mass)
        lists["linkCollisionShapeIndices"].append(
            self._shape(link.body, turned.T @ (link.at - at), np.eye(3))
        )
        lists["linkVisualShapeIndices"].append(-1)
        lists["linkPositions"].append(list(R.T @ (link.at - p)))
        lists["linkOrientations"].append(_last(quaternion(R.T @ turned)))
        lists["linkInertialFramePositions"].append(list(offset + com))
        lists["linkInertialFrameOrientations"].append(_last(quaternion(axes)))
        lists["linkParentIndices"].append(parent)
        lists["linkJointTypes"].append(kind)
        axis = (0.0, 0.0, 1.0) if motion is None else turned.T @ link.axis(motion)
        lists["linkJointAxis"].append(list(axis))

    def _finish(self, link: Link, number: int, index: int) -> None:
        """Inertia, friction and start of a link."""
        engine = self._engine
        moments, _ = principal(link.body.mass_properties.inertia)
        engine.changeDynamics(
            number, index, localInertiaDiagonal=list(moments), linearDamping=0.0, angularDamping=0.0, jointDamping=0.0,
            restitution=0.0,
        )  # fmt: skip
        if link.body.material is not None:
            root = math.sqrt(self._world.friction(link.body))
            engine.changeDynamics(number, index, lateralFriction=root)
        if link.motions:
            assert link.joint is not None
            name = f"{link.joint.name}.{link.motions[0].name}"
            self._joints[name] = (number, index)
            low, high = link.joint.bounds()[0]
            if low is not None and high is not None:
                engine.changeDynamics(number, index, jointLowerLimit=low, jointUpperLimit=high)
            engine.resetJointState(number, index, link.starts()[0], 0.0)
            engine.setJointMotorControl2(number, index, self._names.VELOCITY_CONTROL, force=0.0)

    def _add_couplings(self) -> None:
        for one, other in self._world.apart():
            (i, k), (j, m) = self._place[one], self._place[other]
            self._engine.setCollisionFilterPair(i, j, k, m, 0)
        for coupling in self._world.flat.couplings.values():
            rule: Any = coupling
            a = self._joints[self._world.named(rule.a, rule.coordinate_a)]
            b = self._joints[self._world.named(rule.b, rule.coordinate_b)]
            none = (0.0, 0.0, 0.0)
            gear = self._engine.createConstraint(
                b[0], b[1], a[0], a[1], self._names.JOINT_GEAR, (0.0, 1.0, 0.0), none, none
            )
            # Its ratio turns the sign: q_b + ratio q_a = 0.
            self._engine.changeConstraint(gear, gearRatio=-1.0 / rule.ratio, maxForce=1e6, erp=0.8)

    # --- running ---

    def keep(self) -> None:
        self._engine.removeState(self._kept)
        self._kept, self._kept_steps = self._engine.saveState(), self._steps

    def reset(self) -> None:
        self._engine.restoreState(self._kept)
        self._steps = self._kept_steps

    def run(self, steps: int) -> None:
        """Take steps, one call each, and one for each drive."""
        step, names, tell = self._engine.stepSimulation, self._names, self._engine.setJointMotorControl2
        drives: list[tuple[tuple[int, int], Any, list[float]]] = []
        for drive in self._world.flat.drives.values():
            commands = self._world.commands(drive, self._dt, self._steps, steps)
            drives.append((self._joints[self._world.coordinate(drive)], drive, commands.tolist()))
        for k in range(steps):
            for (number, index), motor, told in drives:
                if motor.kind == "position_servo":
                    # Its motors are rows: they approach the command by this share in a step.
                    share = min(1.0, self._dt * motor.stiffness / max(motor.damping, 1e-12))
                    tell(
                        number, index, names.POSITION_CONTROL, targetPosition=told[k], positionGain=share,
                        velocityGain=1.0, force=min(motor.strength, 1e9),
                    )  # fmt: skip
                else:
                    force = min(motor.strength, 1e9)
                    tell(number, index, names.VELOCITY_CONTROL, targetVelocity=told[k], force=force)
            step()
        self._steps += steps

    def pose(self, body: str) -> tuple[Array, Array]:
        number, index = self._place[body]
        engine = self._engine
        if index < 0:
            p, q = engine.getBasePositionAndOrientation(number)
            at, turn = engine.getDynamicsInfo(number, -1)[3:5]  # of the principal frame in that of the body
            p, q = engine.multiplyTransforms(p, q, *engine.invertTransform(at, turn))
        else:
            p, q = engine.getLinkState(number, index, computeForwardKinematics=1)[4:6]
        R = np.array(engine.getMatrixFromQuaternion(q)).reshape(3, 3)
        return np.array(p) + R @ self._origin[body][0], R

    def depth(self) -> float:
        self._engine.performCollisionDetection()
        return max(0.0, -min((point[8] for point in self._engine.getContactPoints()), default=0.0))
