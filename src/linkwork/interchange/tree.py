"""A model as a tree of bodies with joints, as robot descriptions have it, and what is left over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..model import GROUND, Body, Flat, Model
from ..model.errors import ModelError, Problem
from ..model.joints.base import Joint
from ..model.rotation import frame_from_axis, matrix
from .values import Pose


class Branch(NamedTuple):
    """A body, and the joint that holds it, turned so that its parent comes first."""

    body: Body
    parent: str
    joint: Joint
    backwards: bool
    """Whether the joint's body a is the child."""


class Trunk(NamedTuple):
    """A model as a tree."""

    flat: Flat
    branches: list[Branch]
    """From the ground outward, every body once."""
    closing: list[Joint]
    """Joints that close loops."""


def as_tree(model: Model, tried: tuple[str, ...]) -> Trunk:
    """The tree of a model; joints of the kinds `tried` are taken before others, and those that switch never.

    Raises a ModelError where bodies float without a joint.
    """
    flat = model.flatten()
    waiting = [joint for joint in flat.joints.values() if not joint.closes_only]
    waiting.sort(key=lambda joint: joint.kind not in tried)  # stable
    reached = {GROUND}
    branches: list[Branch] = []
    used: set[str] = set()
    while True:
        for joint in waiting:
            if joint.name not in used and (joint.a in reached) != (joint.b in reached):
                break
        else:
            break
        backwards = joint.b in reached
        parent, child = (joint.b, joint.a) if backwards else (joint.a, joint.b)
        used.add(joint.name)
        reached.add(child)
        branches.append(Branch(flat.bodies[child], parent, joint, backwards))
    loose = [name for name in flat.bodies if name not in reached]
    if loose:
        what = "is held by no joint that leads to the ground; give it a free joint"
        raise ModelError(Problem(f"body '{name}'", what) for name in loose)
    return Trunk(flat, branches, [joint for joint in flat.joints.values() if joint.name not in used])


def body_pose(flat: Flat, name: str) -> Pose:
    """Of a body in the assembled pose; of the ground, the world's."""
    if name == GROUND:
        return Pose(np.zeros(3), np.eye(3))
    body = flat.bodies[name]
    return Pose(np.array(body.at), matrix(body.rotation))


def joint_pose(flat: Flat, joint: Joint) -> Pose:
    """Of a joint's frame in the assembled pose."""
    if isinstance(joint.at, str):
        p, R = flat.markers[joint.at].frame
        if joint.axis is not None or joint.reference is not None:
            z = (float(R[0, 2]), float(R[1, 2]), float(R[2, 2]))
            R = frame_from_axis(joint.axis or z, joint.reference)
        return Pose(p, R)
    return Pose(np.array(joint.at), frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference))


def children(trunk: Trunk) -> Iterator[tuple[str, list[Branch]]]:
    """Branches by the body that carries them."""
    found: dict[str, list[Branch]] = {GROUND: []}
    for branch in trunk.branches:
        found.setdefault(branch.parent, []).append(branch)
        found.setdefault(branch.body.name, [])
    yield from found.items()
