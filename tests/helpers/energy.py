"""Energy from recorded signals and the model's numbers alone: nothing of what a simulation says of its energy."""

import numpy as np

from linkwork import Backlash, BodyFunction, Bushing, Force, JointFunction, Torque
from linkwork.compile.colliders import may_touch
from linkwork.control.blocks.actuators import ForceCommand
from linkwork.engine.loads import Tyre
from linkwork.model.drive import Drive, PairDrive
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


def pushed_about(model, record):
    """a·M a of all bodies at every sample, from recorded accelerations [W/s].

    A step that adds h a to velocities v gives h a·M v + h²/2 a·M a; a method of first order has the first part right.
    """
    total = np.zeros(len(record))
    for name, body in model.flatten().bodies.items():
        mass, com, inertia = body.mass_properties
        R = np.array([matrix(tuple(q)) for q in record[f"{name}.rotation"]])
        w, turn = record[f"{name}.angular_velocity"], record[f"{name}.angular_acceleration"]
        arm = R @ np.asarray(com)
        centre = record[f"{name}.acceleration"] + np.cross(turn, arm) + np.cross(w, np.cross(w, arm))
        own = np.einsum("tji,tj->ti", R, turn)
        total += mass * np.einsum("ti,ti->t", centre, centre)
        total += np.einsum("ti,ij,tj->t", own, np.asarray(inertia), own)
    return total


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
    """The rate along which a drive acts: of its coordinate, less `ratio` times that of another joint if it has one."""
    rate = coordinate_rate(flat, drive.joint, drive.coordinate, record)
    if isinstance(drive, PairDrive):
        rate = rate - drive.ratio * coordinate_rate(flat, drive.other, drive.other_coordinate, record)
    return rate


def coordinate_rate(flat, name, coordinate, record):
    """The rate of a coordinate of a joint, of its first by default."""
    joint = flat.joints[name]
    names = [rate.removesuffix("_rate") for rate in joint.rates]
    k = 0 if coordinate is None else names.index(coordinate)
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


# --- what all forces have done, from their recorded values ---


def is_told(model):
    """Whether every force of a model that can do work is a signal: no contact, tyres, functions of users, ports."""
    flat = model.flatten()
    silent = (BodyFunction, JointFunction, Tyre)
    return not (may_touch(flat) or any(isinstance(load, silent) for load in flat.loads.values()))


def powers(model, record):
    """Of every force that is a signal or follows from the model, by name, at every sample [W]."""
    flat, found = model.flatten(), {}
    signals = {
        name
        for group in ("element_forces",)
        if group in record.groups
        for name in record.groups[group].columns
    }
    moves = Motion(flat, record)
    for name, drive in flat.drives.items():
        rate = rate_of(flat, drive, record)
        found[name] = record[f"{name}.force"] * rate
    for joint in flat.joints.values():
        for rate in joint.rates:
            own = f"{joint.name}.{rate.removesuffix('_rate')}"
            for what in ("spring", "friction", "limit"):
                if f"{own}_{what}_force" in signals:
                    found[f"{own} {what}"] = record[f"{own}_{what}_force"] * record[f"{joint.name}.{rate}"]
    for name, play in flat.couplings.items():
        if isinstance(play, Backlash):
            ends = [(play.a, play.coordinate_a, 1.0)] + (
                [(play.b, play.coordinate_b, -play.ratio)] if play.b else []
            )
            speed = sum(factor * moves.rate(joint, coordinate) for joint, coordinate, factor in ends)
            found[name] = record[f"{name}.force"] * speed
    for name, load in flat.loads.items():
        if isinstance(load, Force | Torque):
            found[name] = moves.pushed(load)
        elif isinstance(load, Bushing):
            found[name] = moves.held(
                load, np.column_stack([record[f"{name}.force.{axis}"] for axis in "xyz"])
            )
        else:
            found[name] = -record[f"{name}.force"] * moves.stretching(load)
    return found


class Motion:
    """How points of bodies move, by the poses and velocities of a record."""

    def __init__(self, flat, record):
        self.flat, self.record = flat, record
        self.turns = {n: np.array([matrix(tuple(q)) for q in record[f"{n}.rotation"]]) for n in flat.bodies}

    def rate(self, joint, coordinate):
        """Of a coordinate; its first by default."""
        rates = self.flat.joints[joint].rates
        names = [rate.removesuffix("_rate") for rate in rates]
        return self.record[f"{joint}.{rates[0 if coordinate is None else names.index(coordinate)]}"]

    def since(self, body):
        """How far a body has turned from the pose that it is written in."""
        return self.turns[body] @ matrix(self.flat.bodies[body].rotation).T

    def point(self, body, at):
        """Place and velocity of the point that stands at `at` as written; of the ground, too."""
        if isinstance(at, str):
            at = self.flat.markers[at].at
        if body == "ground":
            return np.broadcast_to(np.asarray(at), (len(self.record), 3)), np.zeros((len(self.record), 3))
        written = self.flat.bodies[body]
        # Without a point a force acts at the centre of mass, which is told along the body's axes.
        away = (
            matrix(written.rotation) @ written.mass_properties.com
            if at is None
            else np.asarray(at) - written.at
        )
        arm = self.since(body) @ away
        place = self.record[f"{body}.position"] + arm
        return place, self.velocity(body, place)

    def velocity(self, body, place):
        """Of a body where something is now."""
        if body == "ground":
            return np.zeros_like(place)
        arm = place - self.record[f"{body}.position"]
        return self.record[f"{body}.velocity"] + np.cross(self.record[f"{body}.angular_velocity"], arm)

    def pushed(self, load):
        """Power of a force or torque of the model."""
        scale = np.array([1.0 if load.signal is None else load.signal.value(t) for t in self.record.time])
        for block in self.flat.control.values():
            if isinstance(block, ForceCommand) and block.load == load.name:
                scale = scale * self.record[f"{block.input}.out"]
        vector = np.asarray(load.force if isinstance(load, Force) else load.torque)
        turned = self.since(load.body) @ vector if load.follows else np.broadcast_to(vector, (len(scale), 3))
        if isinstance(load, Force):
            speed = self.point(load.body, load.at)[1]
        else:
            speed = self.record[f"{load.body}.angular_velocity"]
        return scale * np.einsum("ti,ti->t", turned, speed)

    def stretching(self, load):
        """Rate at which the two points of a load along a line get away from each other."""
        (a, v_a), (b, v_b) = self.point(load.a, load.at_a), self.point(load.b, load.at_b)
        line = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
        return np.einsum("ti,ti->t", line, v_b - v_a)

    def held(self, load, pulls):
        """Power of a bushing, whose pulls along its axes act on both bodies at b's point."""
        axes = np.broadcast_to(matrix(load.rotation), (len(pulls), 3, 3))
        if load.a != "ground":
            axes = self.since(load.a) @ axes
        place, speed = self.point(load.b, load.at_b)
        seen = speed - self.velocity(load.a, place)
        return -np.einsum("tij,tj,ti->t", axes, pulls, seen)


def worked(model, record):
    """What all forces but gravity have done since the start, and how far the quadrature may be off [J].

    By Simpson's rule over pairs of steps, so at every second sample; the other number is what the rule of half its
    order says otherwise, many times its error where powers are smooth.
    """
    total = sum(powers(model, record).values(), np.zeros(len(record)))
    h = record.time[1] - record.time[0]
    pairs = h / 3.0 * (total[:-2:2] + 4.0 * total[1:-1:2] + total[2::2])
    coarse = h * (total[:-2:2] + total[2::2])
    work = np.concatenate([[0.0], np.cumsum(pairs)])
    off = np.concatenate([[0.0], np.cumsum(np.abs(pairs - coarse))])
    flat = model.flatten()
    for drive in flat.drives.values():  # its force is that behind the rotor
        rate = rate_of(flat, drive, record)[::2]
        work = work + 0.5 * drive.rotor * (rate**2 - rate[0] ** 2)
    return work, off
