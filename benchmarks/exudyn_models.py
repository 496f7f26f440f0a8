"""Mechanisms as Exudyn wants them: bodies of the plane, bodies of space, or a tree of joints with cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.engine.tables import SCREW
from linkwork.model.errors import UnsupportedError
from linkwork.model.item import GROUND

from .contact_peer import joint_frame
from .peer_exudyn import Mechanism, engine
from .serial import gravity, symmetric

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model import Flat, Model
    from linkwork.model.joints.base import Joint
    from linkwork.model.rotation import Array
    from linkwork.run.simulate import Simulation


def planar(model: Model, simulation: Simulation, coordinate: str) -> Mechanism:
    """Bodies with three coordinates each and joints of two equations: for hinges about z in the plane z = 0."""
    exu, flat = engine(), model.flatten()
    items = exu.utilities
    _refuse_forces(flat)
    if any(joint.kind != "hinge" for joint in flat.joints.values()):
        raise UnsupportedError(f"'{model.name}' is no mechanism of hinges in a plane")
    container = exu.SystemContainer()
    system = container.AddSystem()
    bodies, nodes = {GROUND: system.AddObject(items.ObjectGround())}, {}
    places = {GROUND: (np.zeros(3), np.eye(3))}
    for name, body in flat.bodies.items():
        solid = body.mass_properties
        p, v, R, w = _motion(simulation, name, solid.com)
        nodes[name] = system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[p[0], p[1], float(np.arctan2(R[1, 0], R[0, 0]))],
                initialVelocities=[v[0], v[1], w[2]],
            )
        )
        bodies[name] = system.AddObject(
            items.ObjectRigidBody2D(nodeNumber=nodes[name], mass=solid.mass, inertia=solid.inertia[2, 2])
        )
        marker = system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[name]))
        system.AddLoad(
            items.Force(markerNumber=marker, loadVector=list(solid.mass * np.array(model.gravity)))
        )
        places[name] = (p, R)
    for joint in flat.joints.values():
        at, axes = joint_frame(flat, joint)
        if abs(axes[2, 2]) < 1.0 - 1e-12:
            raise UnsupportedError(f"joint '{joint.name}' does not turn about z")
        ends = []
        for side in (joint.a, joint.b):
            p, R = places[side]
            local = list(R.T @ (at - p))
            ends.append(
                system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[side], localPosition=local))
            )
        system.AddObject(items.RevoluteJoint2D(markerNumbers=ends))
    sensor = _watch_node(system, nodes[_on_ground(flat, coordinate).b])
    system.Assemble()
    return Mechanism(container, system, sensor, lambda table: table[:, 2])


def bodies(model: Model, simulation: Simulation, coordinate: str) -> Mechanism:
    """Bodies with Euler parameters and joints of as many equations as they hold: the way of its examples."""
    exu, flat = engine(), model.flatten()
    _refuse_forces(flat)
    items = exu.utilities
    container = exu.SystemContainer()
    system = container.AddSystem()
    made = {GROUND: system.AddObject(items.ObjectGround())}
    for name, body in flat.bodies.items():
        solid = body.mass_properties
        p, v, R, w = _motion(simulation, name, solid.com)
        made[name] = system.CreateRigidBody(
            referencePosition=list(p),
            referenceRotationMatrix=R,
            initialVelocity=list(v),
            initialAngularVelocity=list(w),
            inertia=items.RigidBodyInertia(mass=solid.mass, inertiaTensor=solid.inertia),
            gravity=list(model.gravity),
            nodeType=exu.NodeType.RotationEulerParameters,
        )
    for joint in flat.joints.values():
        at, axes = joint_frame(flat, joint)
        ends = [made[joint.a], made[joint.b]]
        if joint.kind == "spherical":
            system.CreateSphericalJoint(itemNumbers=ends, position=list(at), show=False)
            continue
        held = [1] * 6
        for motion in joint.motions():
            held[motion.axis + (3 if motion.rot else 0)] = 0
        system.CreateGenericJoint(
            itemNumbers=ends, position=list(at), rotationMatrixAxes=axes, constrainedAxes=held, show=False
        )
    joint = _on_ground(flat, coordinate)
    _, axes = joint_frame(flat, joint)
    sensor = system.AddSensor(
        items.SensorBody(
            bodyNumber=made[joint.b],
            storeInternal=True,
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.RotationMatrix,
        )
    )
    system.Assemble()
    return Mechanism(container, system, sensor, lambda table: _angles(table, axes))


def tree(model: Model, simulation: Simulation, coordinate: str) -> Mechanism:
    """Coordinates of the joints, cut where Linkwork cuts; points that coincide close the loops."""
    exu, compiled = engine(), simulation.system
    items = exu.utilities
    _refuse(compiled)
    dofs = compiled.tables.dofs[1:]
    container = exu.SystemContainer()
    system = container.AddSystem()
    turns, sign = dofs["rot"] != 0.0, dofs["rot"] + dofs["trans"]
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * len(dofs),
            initialCoordinates=list(sign * compiled.q0[dofs["q"]]),
            initialCoordinates_t=list(sign * compiled.v0[dofs["v"]]),
            numberOfODE2Coordinates=len(dofs),
        )
    )
    kinds = exu.JointType
    links = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=list(gravity(compiled)),
            jointTypes=[kinds.RevoluteZ if turn else kinds.PrismaticZ for turn in turns],
            linkParents=list(dofs["parent"] - 1),
            jointTransformations=exu.Matrix3DList([R.reshape(3, 3).copy() for R in dofs["X_R"]]),
            jointOffsets=exu.Vector3DList([p.copy() for p in dofs["X_p"]]),
            linkInertiasCOM=exu.Matrix3DList([symmetric(six) for six in dofs["inertia"]]),
            linkCOMs=exu.Vector3DList([com.copy() for com in dofs["com"]]),
            linkMasses=list(dofs["mass"]),
        )
    )
    ground = system.AddObject(items.ObjectGround())
    assert compiled.rows is not None
    flatland = bool(turns.all() and np.allclose(dofs["X_R"].reshape(-1, 9)[:, 8], 1.0))
    for pair in compiled.rows.constraints.pairs:
        ends = []
        for side in ("a", "b"):
            at = pair[f"X_{side.upper()}"][9:]
            if pair[side] == 0:
                ends.append(
                    system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=list(at)))
                )
            else:
                ends.append(
                    system.AddMarker(
                        items.MarkerKinematicTreeRigid(
                            objectNumber=links, linkNumber=int(pair[side]) - 1, localPosition=list(at)
                        )
                    )
                )
        # A point that cannot leave the plane needs no equation to stay there.
        held = [1, 1, 0] if flatland else [1, 1, 1]
        system.AddObject(items.SphericalJoint(markerNumbers=ends, constrainedAxes=held))
    sensor = _watch_node(system, node)
    system.Assemble()
    which = int(np.flatnonzero(dofs["q"] == compiled.coordinate(coordinate))[0])
    return Mechanism(container, system, sensor, lambda table: sign[which] * table[:, which])


def _refuse(system: System) -> None:
    """Stop at what a tree of Exudyn is not given here."""
    dofs = system.tables.dofs[1:]
    simple = (dofs["motion"] == SCREW) & (np.abs(dofs["rot"]) + np.abs(dofs["trans"]) == 1.0)
    plain = not any(np.any(dofs[name]) for name in ("armature", "stiffness", "damping"))
    if not (simple.all() and plain and len(system.tables.loads) == 0):
        raise UnsupportedError(
            f"'{system.name}' cannot be compared as a tree: only hinges and sliders without loads, springs, dampers "
            "and rotors are handed to Exudyn"
        )


def _refuse_forces(flat: Flat) -> None:
    """Stop at forces other than gravity, which Exudyn is not given here."""
    found = [*flat.loads, *flat.drives, *flat.couplings]
    found += [
        joint.name
        for joint in flat.joints.values()
        if any(
            value for name in ("spring", "damping", "armature", "friction") for value in joint.per_rate(name)
        )
    ]
    if found:
        raise UnsupportedError(f"forces other than gravity are not handed over: {', '.join(found[:3])}")


def _motion(simulation: Simulation, body: str, at: Array) -> tuple[Array, Array, Array, Array]:
    """Position [m] and velocity [m/s] of a point of a body at the start, its axes, angular velocity [rad/s]."""
    p, v = simulation.point(body, at)
    ends = [simulation.point(body, at + axis) for axis in np.eye(3)]
    R = np.column_stack([end - p for end, _ in ends])
    w = 0.5 * np.sum([np.cross(end - p, speed - v) for end, speed in ends], axis=0)
    return p, v, R, w


def _on_ground(flat: Flat, coordinate: str) -> Joint:
    """The hinge on the ground whose angle is asked for."""
    joint = flat.joints[coordinate.rpartition(".")[0]]
    if joint.a != GROUND or joint.kind != "hinge":
        raise UnsupportedError(f"'{coordinate}' cannot be compared: only angles of hinges on the ground are")
    return joint


def _angles(table: Array, axes: Array) -> Array:
    """Turns of a body about the z axis of a hinge since the start [rad], from its rotation matrices, a row each."""
    R = table.reshape(-1, 3, 3)
    turned = axes.T @ R @ R[0].T @ axes
    return np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]))


def _watch_node(system: Any, node: Any) -> Any:
    exu = engine()
    return system.AddSensor(
        exu.utilities.SensorNode(
            nodeNumber=node,
            storeInternal=True,
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.Coordinates,
        )
    )
