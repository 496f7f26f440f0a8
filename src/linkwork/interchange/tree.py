"""A model as a tree of bodies with joints, as robot descriptions have it, and what is left over."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from ..model import GROUND, Body, Flat, Model
from ..model.errors import ModelError, Problem
from ..model.joints import Free
from ..model.joints.base import Joint
from ..model.rotation import frame_from_axis, matrix, vector
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

    Dots in names become underscores, for the formats' own readers take names apart at them or do not know them. What
    floats without a joint gets a free one.
    """
    flat = undotted(model.flatten())
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
            loose = next((name for name in flat.bodies if name not in reached), None)
            if loose is None:
                break
            joint = _floats(flat, loose)
        backwards = joint.b in reached
        parent, child = (joint.b, joint.a) if backwards else (joint.a, joint.b)
        used.add(joint.name)
        reached.add(child)
        branches.append(Branch(flat.bodies[child], parent, joint, backwards))
    return Trunk(flat, branches, [joint for joint in flat.joints.values() if joint.name not in used])


def _floats(flat: Flat, name: str) -> Joint:
    """A joint that lets a body float."""
    body, label = flat.bodies[name], f"{name}_floats"
    while label in flat.joints:
        label += "_"
    R = matrix(body.rotation)
    return Free(label, GROUND, name, at=body.at, axis=vector(R[:, 2]), reference=vector(R[:, 0]))


def undotted(flat: Flat) -> Flat:
    """A model with names that have no dots."""
    if not any("." in thing.name for thing in flat.items()):
        return flat
    found = Flat()
    for thing in flat.items():
        named = {field: target.replace(".", "_") for field, _, target in thing.references()}
        fitting = dataclasses.replace(thing, name=thing.name.replace(".", "_"), **named)
        shelf = getattr(found, fitting.shelf)
        if fitting.name in shelf:
            what = f"would be called '{fitting.name}', as another one is; rename one of them"
            raise ModelError([Problem(f"{thing.kind} '{thing.name}'", what)])
        shelf[fitting.name] = fitting
    return found


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


def children(trunk: Trunk) -> dict[str, list[Branch]]:
    """Branches by the body that carries them."""
    found: dict[str, list[Branch]] = {GROUND: []}
    for branch in trunk.branches:
        found.setdefault(branch.parent, []).append(branch)
        found.setdefault(branch.body.name, [])
    return found
