"""What acts in random mechanisms: limits, friction, springs, rotors, drives and loads, scaled to what they act on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.elements import (
    PID,
    Actuator,
    Backlash,
    DCMotor,
    HydraulicCylinder,
    PositionServo,
    Repeater,
    TorqueSource,
    VelocityServo,
)
from ..engine.loads import Bushing, Force, Spring, Torque
from ..model import Body, Sine
from ..model.item import GROUND, Item
from ..model.joints import Joint
from ..model.rotation import Array, Vector
from .random_plan import EXTRA_KEYS, ON_GROUND, RUBBER, Extra, Plan

SPIN, DRIFT = 5.0, 1.5  # fastest turning [rad/s] and sliding or moving [m/s] at the start
FREQUENCY = 20.0  # of springs in joints and between points, at most [rad/s]
DECAY = 10.0  # of dampers, at most [1/s]
SUPPLY, BULK = 1e7, 1.4e9  # of hydraulic cylinders: pressure of the pump, bulk modulus of oil [Pa]
EFFORT = (40.0, 15.0)  # largest acceleration by a drive: turning [rad/s²], sliding [m/s²]
CHANGES = (0.01, 0.09)  # when joints are attached and released [s]
TRAVEL = (0.5, 0.25)  # limits at most this far from the start: turning [rad], sliding [m]


class Actions(ABC):
    """Extras of a plan as items, and the fields that they give to joints.

    Every number comes from a generator of its own, seeded by the plan and the key of the item.
    """

    plan: Plan
    names: dict[int, str]
    """Of joints, by the key of their link or closure."""
    bodies: dict[int, Body]
    origins: dict[int, Array]
    inertia: dict[str, float]
    """What coordinates and point springs feel, by the names of their rows."""

    def rng(self, key: int) -> np.random.Generator:
        return np.random.default_rng([self.plan.seed, key])

    def number(self, value: float) -> float:
        digits = self.plan.digits
        return float(value) if digits is None else float(f"{float(value):.{digits - 1}e}")

    def vector(self, values: Iterable[float]) -> Vector:
        """Three numbers, rounded to the same place: what a plan rounds stays of one size."""
        x, y, z = map(float, values)
        if self.plan.digits is None:
            return x, y, z
        step = 10.0**-self.plan.digits
        # A last division instead of a product leaves numbers that print short.
        x, y, z = (round(value / step) / round(1.0 / step) for value in (x, y, z))
        return x, y, z

    def body_name(self, key: int) -> str:
        return GROUND if key == ON_GROUND else f"body{key}"

    @abstractmethod
    def joint(self, key: int, **fields: Any) -> Joint:
        """The joint of a link or closure."""

    def _felt(self, key: int) -> tuple[Array, Array]:
        """Inertia and whether it turns (0) or slides (1), for every rate of a joint."""
        joint = self.joint(key)
        slides = [int(not (motion.rot or motion.ball)) for motion in joint.motions() for _ in motion.rates]
        labels = [f"{joint.name}.{rate.removesuffix('_rate')}: friction" for rate in joint.rates]
        return np.array([self.inertia[label] for label in labels]), np.array(slides, int)

    def feature(self, extra: Extra) -> dict[str, Any]:
        rng = self.rng(extra.key)
        inertia, slides = self._felt(extra.on)
        n = len(inertia)
        effort, travel = np.array(EFFORT)[slides], np.array(TRAVEL)[slides]

        def numbers(values: Array) -> tuple[float, ...]:
            return tuple(self.number(value) for value in values)

        match extra.kind:
            case "limits":
                sides = travel * 10.0 ** rng.uniform(-1.3, 0.0, (2, n))
                there = rng.random((2, n)) < 0.85
                pairs = tuple(
                    (-self.number(low) if is_low else None, self.number(high) if is_high else None)
                    for low, high, is_low, is_high in zip(*sides, *there, strict=True)
                )
                return {"limits": pairs, "restitution": self.plan.restitution}
            case "friction":
                return {"friction": numbers(inertia * effort * 10.0 ** rng.uniform(-2.0, 0.5, n))}
            case "spring":
                frequency = FREQUENCY * rng.uniform(0.1, 1.0, n)
                rest = rng.uniform(-0.5, 0.5, n) * travel
                return {"spring": numbers(inertia * frequency**2), "rest": numbers(rest)}
            case "damping":
                return {"damping": numbers(inertia * DECAY * rng.uniform(0.02, 1.0, n))}
            case "released":
                return {"attached": ((0.0, self.number(rng.uniform(*CHANGES))),)}
            case "attached":
                return {"attached": ((self.number(rng.uniform(*CHANGES)), None),)}
        return {"armature": numbers(inertia * 10.0 ** rng.uniform(-2.0, 0.0, n))}

    def drive(self, extra: Extra) -> list[Item]:
        rng = self.rng(extra.key)
        name = f"drive{extra.key - EXTRA_KEYS}"
        if extra.kind in ("repeater", "backlash_between"):
            return self._coupling(extra, name, rng)
        inertia, slides = self._felt(extra.on)
        i = int(rng.integers(len(inertia)))
        coordinate = self.joint(extra.on).rates[i].removesuffix("_rate")
        felt, effort, travel = inertia[i], EFFORT[slides[i]], TRAVEL[slides[i]]
        strength = self.number(felt * effort * 10.0 ** rng.uniform(-1.0, 0.0))
        sign = float(rng.choice([-1.0, 1.0]))
        wave = Sine(self.number(rng.uniform(0.5, 5.0)), phase=self.number(rng.uniform(0.0, 6.0)))
        common: dict[str, Any] = {"coordinate": coordinate, "signal": wave if rng.random() < 0.5 else None}
        joint = self.names[extra.on]
        match extra.kind:
            case "torque_source":
                return [TorqueSource(name, joint, command=sign * strength, **common)]
            case "velocity_servo":
                rate = sign * self.number((SPIN, DRIFT)[slides[i]] * rng.uniform(0.0, 0.5))
                return [VelocityServo(name, joint, command=rate, strength=strength, **common)]
            case "position_servo":
                frequency, ratio = FREQUENCY * rng.uniform(0.1, 1.0), rng.uniform(0.0, 1.0)
                place = sign * self.number(travel * rng.uniform(0.0, 1.0))
                gains: dict[str, Any] = {
                    "stiffness": self.number(felt * frequency**2), "strength": strength,
                    "damping": self.number(2.0 * ratio * felt * frequency),
                }  # fmt: skip
                return [PositionServo(name, joint, command=place, **gains, **common)]
        # Behind the gear the motor stalls at `strength` and idles at 10 rad/s or 10 m/s; its rotor adds at most a fifth
        # of what the joint feels: gear² stall_torque time_constant/idle_speed = strength time_constant/10.
        gear = self.number(10.0 ** rng.uniform(0.0, 2.0)) * sign
        voltage = self.number(rng.uniform(0.1, 1.0))
        motor: dict[str, Any] = {
            "stall_torque": self.number(strength / abs(gear)), "idle_speed": self.number(10.0 * abs(gear)),
            "time_constant": self.number(rng.uniform(0.0, 0.05)), "gear": gear,
        }  # fmt: skip
        return [DCMotor(name, joint, command=voltage, **motor, **common)]

    def stateful(self, extra: Extra) -> list[Item]:
        """An element with a state, samples or free play."""
        rng = self.rng(extra.key)
        name = f"drive{extra.key - EXTRA_KEYS}"
        if extra.kind == "backlash_between":
            return self._coupling(extra, name, rng)
        inertia, slides = self._felt(extra.on)
        i = int(rng.integers(len(inertia)))
        felt, slide = inertia[i], slides[i]
        joint = self.names[extra.on]
        coordinate = self.joint(extra.on).rates[i].removesuffix("_rate")
        strength = felt * EFFORT[slide] * 10.0 ** rng.uniform(-1.0, 0.0)
        frequency, sign = FREQUENCY * rng.uniform(0.1, 1.0), float(rng.choice([-1.0, 1.0]))
        limited = {"strength": self.number(strength)} if rng.random() < 0.5 else {}
        match extra.kind:
            case "actuator":
                lag = {
                    "time_constant": self.number(rng.uniform(0.01, 0.1)),
                    "command": self.number(2 * sign * strength),
                }
                damping = self.number(felt * DECAY * rng.uniform(0.0, 0.5))
                return [Actuator(name, joint, coordinate=coordinate, damping=damping, **lag, **limited)]
            case "hydraulic_cylinder":
                # Its oil is a spring of 4 B area²/volume; a stall at `strength`, and `SPIN` or `DRIFT` without load.
                area = strength / SUPPLY
                volume = 4.0 * BULK * area**2 / (felt * frequency**2)
                fluid = {
                    "area": self.number(area), "supply": SUPPLY, "flow": self.number(area * (SPIN, DRIFT)[slide]),
                    "volume": self.number(volume), "bulk_modulus": BULK,
                    "leakage": self.number(DECAY * rng.uniform(0.0, 1.0) * volume / (4.0 * BULK)),
                }  # fmt: skip
                opening = self.number(sign * rng.uniform(0.1, 1.0))
                return [HydraulicCylinder(name, joint, coordinate=coordinate, command=opening, **fluid)]
            case "pid":
                stiffness, ratio = felt * frequency**2, rng.uniform(0.0, 1.0)
                gains = {
                    "proportional": self.number(stiffness), "integral": self.number(2.0 * stiffness * rng.uniform()),
                    "derivative": self.number(2.0 * ratio * felt * frequency),
                    "sample_time": self.number(rng.uniform(0.002, 0.02)),
                    "command": sign * self.number(TRAVEL[slide] * rng.uniform()),
                }  # fmt: skip
                return [PID(name, joint, coordinate=coordinate, **gains, **limited)]
        play = self._play(rng, felt, float(TRAVEL[slide]), frequency)
        return [Backlash(name, joint, coordinate_a=coordinate, **play)]

    def _play(self, rng: np.random.Generator, felt: float, travel: float, frequency: float) -> dict[str, Any]:
        """Free play between flanks that are rigid or springs."""
        gap = {"gap": self.number(travel * 10.0 ** rng.uniform(-2.0, 0.0))}
        if rng.random() < 0.4:
            return {**gap, "restitution": self.plan.restitution}
        return {
            **gap, "stiffness": self.number(felt * frequency**2),
            "damping": self.number(felt * DECAY * rng.uniform()),
        }  # fmt: skip

    def _coupling(self, extra: Extra, name: str, rng: np.random.Generator) -> list[Item]:
        """A repeater between two coordinates, or free play."""
        chosen, felt, travel = [], [], []
        for key in (extra.on, extra.other):
            inertia, slides = self._felt(key) if extra.kind != "repeater" else (np.zeros(6), np.zeros(6, int))
            rates = self.joint(key).rates
            i = int(rng.integers(len(rates)))
            chosen.append(rates[i].removesuffix("_rate"))
            felt.append(float(inertia[i]))
            travel.append(TRAVEL[slides[i]])
        ratio = self.number(float(rng.choice([-1.0, 1.0])) * rng.uniform(0.5, 2.0))
        ends = self.names[extra.on], self.names[extra.other]
        if extra.kind != "repeater":
            # A spring between two coordinates is felt by the lighter one, of which `ratio` is at most two.
            play = self._play(rng, min(felt) / 4.0, min(travel), FREQUENCY * rng.uniform(0.1, 1.0))
            both = {"coordinate_a": chosen[0], "coordinate_b": chosen[1]}
            return [Backlash(name, *ends, ratio=ratio, **both, **play)]
        return [Repeater(name, *ends, ratio=ratio, coordinate_a=chosen[0], coordinate_b=chosen[1])]

    def load(self, extra: Extra) -> Item:
        rng = self.rng(extra.key)
        name, body = f"load{extra.key - EXTRA_KEYS}", self.body_name(extra.on)
        if extra.kind == RUBBER:
            felt = min(self.inertia[f"{name}: bushing {axis}"] for axis in "xyz")
            frequency, decay = FREQUENCY * rng.uniform(0.1, 1.0, 3), DECAY * rng.uniform(0.0, 1.0, 3)
            return self.bushing(extra, felt * frequency**2, felt * decay)
        if extra.kind == "spring_load":
            felt = self.inertia[f"{name}: spring"]
            frequency, decay = FREQUENCY * rng.uniform(0.1, 1.0), DECAY * rng.uniform(0.0, 1.0)
            return self.spring(extra, felt * frequency**2, felt * decay)
        mass = self.bodies[extra.on].mass_properties.mass
        wave = Sine(self.number(rng.uniform(0.5, 5.0)), phase=self.number(rng.uniform(0.0, 6.0)))
        common: dict[str, Any] = {
            "follows": bool(rng.random() < 0.5),
            "signal": wave if rng.random() < 0.5 else None,
        }
        push = unit(rng) * rng.uniform(0.0, 1.0)
        if extra.kind == "torque":  # radii of gyration are some 0.3 m
            return Torque(name, body, torque=self._load_vector(push * 0.1 * mass * EFFORT[0]), **common)
        at = self.vector(self.origins[extra.on] + rng.uniform(-0.3, 0.3, 3))
        return Force(name, body, force=self._load_vector(push * mass * EFFORT[1]), at=at, **common)

    def _load_vector(self, values: Array) -> Vector:
        x, y, z = (self.number(value) for value in values)
        return x, y, z

    def bushing(self, extra: Extra, stiffness: Array, damping: Array) -> Bushing:
        """Its points are up to some centimetres from each other at the start."""
        rng = self.rng(extra.key + EXTRA_KEYS)
        near = np.array(self.vector(self.origins[extra.on] + rng.uniform(-0.2, 0.2, 3)))
        return Bushing(
            f"load{extra.key - EXTRA_KEYS}",
            self.body_name(extra.on),
            self.body_name(extra.other),
            at_a=self.vector(near),
            at_b=self.vector(near + rng.uniform(-0.05, 0.05, 3)),
            stiffness=self._load_vector(stiffness),
            damping=self._load_vector(damping),
            rest=(0.0, 0.0, 0.0),
        )

    def spring(self, extra: Extra, stiffness: float, damping: float) -> Spring:
        rng = self.rng(extra.key + EXTRA_KEYS)
        near = np.array(self.vector(self.origins[extra.on] + rng.uniform(-0.2, 0.2, 3)))
        # Far enough apart that a run does not shrink it to nothing, where it has no direction.
        far = np.array(self.vector(near + unit(rng) * rng.uniform(0.6, 1.2)))
        drawn = float(np.linalg.norm(far - near))
        return Spring(
            f"load{extra.key - EXTRA_KEYS}",
            self.body_name(extra.on),
            self.body_name(extra.other),
            at_a=self.vector(near),
            at_b=self.vector(far),
            stiffness=self.number(stiffness),
            damping=self.number(damping),
            length=None if rng.random() < 0.5 else self.number(drawn * rng.uniform(0.9, 1.1)),
        )


def unit(rng: np.random.Generator, n: int = 3) -> Array:
    x = rng.normal(size=n)
    return np.asarray(x / np.linalg.norm(x))
