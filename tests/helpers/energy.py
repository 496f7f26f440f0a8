"""Energy from recorded signals and the model's numbers alone: nothing of what a simulation says of its energy."""

import numpy as np

from linkwork.model.drive import Drive
from linkwork.model.rotation import matrix


def kinetic(model, record):
    """Of all bodies, from their recorded velocities, and of all rotors, from recorded rates [J]."""
    flat = model.flatten()
    total = np.zeros(len(record))
    for name, body in flat.bodies.items():
        mass, com, inertia = body.mass_properties
        R = np.array([matrix(tuple(q)) for q in record[f"{name}.rotation"]])
        w, v = record[f"{name}.angular_velocity"], record[f"{name}.velocity"]
        centre = v + np.cross(w, R @ np.asarray(com))
        turning = np.einsum("tji,tj->ti", R, w)  # in the axes of the body
        total += 0.5 * mass * np.einsum("ti,ti->t", centre, centre)
        total += 0.5 * np.einsum("ti,ij,tj->t", turning, np.asarray(inertia), turning)
    return total + rotors(flat, record)


def rotors(flat, record):
    """Of armatures and of the rotors of motors [J]."""
    total = np.zeros(len(record))
    for joint in flat.joints.values():
        for rate, inertia in zip(joint.rates, joint.per_rate("armature"), strict=True):
            if inertia > 0.0:
                total += 0.5 * inertia * record[f"{joint.name}.{rate}"] ** 2
    for drive in flat.drives.values():
        total += 0.5 * drive.rotor * rate_of(flat, drive, record) ** 2
    return total


def rate_of(flat, drive: Drive, record):
    """The rate of the coordinate that a drive turns."""
    joint = flat.joints[drive.joint]
    names = [rate.removesuffix("_rate") for rate in joint.rates]
    k = 0 if drive.coordinate is None else names.index(drive.coordinate)
    return record[f"{joint.name}.{joint.rates[k]}"]


def potential(model, record):
    """Of gravity [J]."""
    flat = model.flatten()
    total = np.zeros(len(record))
    for name, body in flat.bodies.items():
        mass, com, _ = body.mass_properties
        R = np.array([matrix(tuple(q)) for q in record[f"{name}.rotation"]])
        total -= mass * (record[f"{name}.position"] + R @ np.asarray(com)) @ np.asarray(model.gravity)
    return total


def by_drives(model, record):
    """What drives have supplied: their recorded force, of which the rotor is part, along the recorded rate [J].

    By trapezoids between samples, so with an error of the second order in their spacing.
    """
    flat = model.flatten()
    total = np.zeros(len(record))
    for drive in flat.drives.values():
        rate = rate_of(flat, drive, record)
        total += work(record.time, record[f"{drive.name}.force"] * rate)
        total += 0.5 * drive.rotor * (rate**2 - rate[0] ** 2)
    return total


def work(time, power):
    """Work since the start [J]."""
    parts = 0.5 * np.diff(time) * (power[1:] + power[:-1])
    return np.concatenate([[0.0], np.cumsum(parts)])
