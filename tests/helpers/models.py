"""Small models, and models with one thing changed."""

import dataclasses

import numpy as np

from linkwork import Body, Component, Free, Hinge, Model, Spherical, Spring
from linkwork.stage.stage import Poses


def changed(model, joint, **fields):
    """The model itself with other fields of a joint."""
    model.joints[joint] = dataclasses.replace(model.joints[joint], **fields)
    return model


def solid(name="body", **fields):
    """A body of 1 kg and 1 kg m² about every axis."""
    return Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), **fields)


def ball(*things):
    """A bob on a ball joint half a metre above it."""
    model = Model("ball")
    model.add(Body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, 0.0, -0.5)))
    model.add(Spherical("socket", "ground", "bob"))
    for thing in things:
        model.add(thing)
    return model


def twins():
    """Two instances of one component, one of them mirrored and inside another component."""
    leg = Component("leg")
    leg.add(Body("thigh", mass=2.0, inertia=(0.1, 0.1, 0.1)))
    leg.add(Body("shin", mass=1.0, at=(0, 0, -0.4), inertia=(0.1, 0.1, 0.1)))
    leg.add(
        Hinge("knee", "thigh", "shin", at=(0, 0, -0.4), axis=(0, 1, 0), friction=0.5, damping=0.2, spring=3.0)
    )
    leg.add(
        Spring("tendon", "thigh", "shin", at_a=(0.1, 0, 0), at_b=(0.1, 0, -0.5), stiffness=40.0, damping=1.0)
    )
    side = Component("side")
    side.add(leg.instance("leg", mirror=(0, 1, 0)))
    model = Model("walker", gravity=(0.0, -3.0, -4.0))
    model.add(leg.instance("left", at=(0, 0.1, 0)))
    model.add(side.instance("right", at=(0, -0.1, 0)))
    model.add(Body("hip", mass=5.0, inertia=(0.2, 0.2, 0.2)))
    model.add(Free("base", "ground", "hip"))
    model.add(Hinge("left_hip", "hip", "left.thigh", axis=(0, 1, 0)))
    model.add(Hinge("right_hip", "hip", "right.leg.thigh", axis=(0, 1, 0)))
    return model


def poses_at_start(model):
    """Where the bodies of a model stand as it is written."""
    bodies = model.flatten().bodies.values()
    return Poses(np.array([body.at for body in bodies]), np.array([body.rotation for body in bodies]))


def spring_law(t, x, v, parameters, out):
    """A function of users: a spring and damper of (stiffness, damping, rest), its energy and what it dissipates."""
    out[0] = parameters[0] * (x[0] - parameters[2]) + parameters[1] * v[0]
    out[1] = 0.5 * parameters[0] * (x[0] - parameters[2]) ** 2
    out[2] = parameters[1] * v[0] ** 2


def random_rotation(rng):
    """Any rotation matrix."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.sign(np.linalg.det(R))
