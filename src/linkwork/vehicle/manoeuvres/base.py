"""What manoeuvres share: a run of a car on a road with tables and a driver, and its motion as ISO 8855 names it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model import Material, Model, Plane, Scenery
from ...model.errors import LinkworkError
from ...model.item import Item
from ...model.rotation import Array
from ..car import AXLES, Car
from ..driver import Driver, drive_by
from ..linear_tyres import linear_tyres, whole
from ..single_track import SingleTrack

if TYPE_CHECKING:
    from ...results.record import Record

SIDES = ("left", "right")
STEERING = "front.steering"
EVERY = 0.01
"""Between samples of a manoeuvre [s]."""
STEP = 1e-3
KMH = 1.0 / 3.6

Timeline = tuple[Sequence[float], Sequence[float]]
"""Times [s] and values of a table."""


class Motion(NamedTuple):
    """The chassis over time, axes by ISO 8855: x forward, y to the left, z up, in the ground's plane."""

    time: Array
    """[s]"""
    x: Array
    """[m]"""
    y: Array
    """[m]"""
    z: Array
    """[m]"""
    speed: Array
    """Forward [m/s]."""
    slip: Array
    """Sideslip angle [rad]."""
    yaw: Array
    """[rad]"""
    pitch: Array
    """Positive with the nose down [rad]."""
    roll: Array
    """Positive to the right [rad]."""
    yaw_rate: Array
    """[rad/s]"""
    forward: Array
    """Longitudinal acceleration [m/s²]."""
    lateral: Array
    """Lateral acceleration [m/s²]."""
    upward: Array
    """Vertical acceleration [m/s²]."""
    wheel: Array
    """Angle of the steering wheel [rad]; zero without one."""


class Figure(NamedTuple):
    """A number that a manoeuvre is about."""

    value: float
    unit: str


@dataclass(frozen=True)
class Outcome:
    """What came of a manoeuvre."""

    name: str
    figures: dict[str, Figure]
    motion: Motion
    record: Record
    marks: dict[str, Any]
    """What its plot shows beside the motion: a reference, a lane."""

    def __getitem__(self, name: str) -> float:
        """A figure's value by its name."""
        return self.figures[name].value


def flat(friction: float = 1.0) -> list[Item]:
    """A plane with a friction [1]."""
    return [Material("road", friction=friction), Scenery("road", shapes=(Plane(),), material="road")]


def brakes(car: Car) -> list[str]:
    """Names of the brakes."""
    return [
        f"{axle}.{side}.brake" for k, axle in enumerate(AXLES) for side in SIDES if car.axles[k].wheel.brake
    ]


def motors(car: Car) -> list[str]:
    """Names of the motors."""
    return [f"{axle}.motor" for axle in AXLES if car.drive in (axle, "all")]


def need_motor(car: Car, name: str) -> list[str]:
    """The motors, of which there must be one."""
    found = motors(car)
    if not found:
        raise LinkworkError(f"{name}: the car has no motor; choose drive front, rear or all")
    return found


def need_brakes(car: Car, name: str) -> list[str]:
    """The brakes, of which there must be some."""
    found = brakes(car)
    if not found:
        raise LinkworkError(f"{name}: the car has no brakes; give brake a torque, or leave it out")
    return found


def need_positive(name: str, **values: float) -> None:
    """Refuse what is not greater than zero."""
    for label, value in values.items():
        if not value > 0.0:
            raise LinkworkError(f"{name}: {label} must be greater than 0 (got {value:g})")


def staged(
    car: Car, road: Sequence[Item], *, speed: float, tables: Mapping[str, Timeline], driver: Driver | None = None,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Model:  # fmt: skip
    """The car on a road, with tables that command drives by name, and a driver for those that no table commands."""
    from ...control.blocks.actuators import DriveCommand
    from ...control.blocks.sources import TimeTable

    model = car.model(*road, speed=speed, at=at)
    for k, (drive, (times, values)) in enumerate(tables.items()):
        model.add(TimeTable(f"table{k}", tuple(map(float, times)), tuple(map(float, values))))
        model.add(DriveCommand(f"told{k}", drive=drive, input=f"table{k}"))
    if driver is not None:
        steered = STEERING if STEERING not in tables and driver.path is not None else None
        told = [[name for name in names if name not in tables] for names in (motors(car), brakes(car))]
        drive_by(model, driver, steering=steered, motors=told[0], brakes=told[1])
    return model


def run(
    car: Car, road: Sequence[Item], duration: float, *, speed: float, tables: Mapping[str, Timeline] | None = None,
    driver: Driver | None = None, at: tuple[float, float, float] = (0.0, 0.0, 0.0), until: Any = None,
    dt: float = STEP, every: float = EVERY,
) -> Record:  # fmt: skip
    """Simulate a manoeuvre."""
    from ...run.simulate import Simulation

    model = staged(car, road, speed=speed, tables=tables or {}, driver=driver, at=at)
    simulation = Simulation(model, dt=dt)
    if speed:
        simulation.set(car.rolling(speed))
    duration = every * math.ceil(duration / every - 1e-9)
    return simulation.run(duration, every=every, until=until, reactions=False)


def driver_of(car: Car, path: Any, speed: Any, **options: Any) -> Driver:
    """A driver who knows the car: its wheelbase, steering ratio and understeer gradient."""
    known: dict[str, Any] = {"wheelbase": car.wheelbase}
    if path is not None:
        gradient = 0.0 if car.tyres[0] is None else single_track(car).understeer
        known |= {"steering_ratio": car.steering_ratio, "reach": car.steering_reach, "understeer": gradient}
    return Driver(path, speed, **{**known, **options})


def motion(record: Record) -> Motion:
    """The chassis' motion of a record."""
    w, qx, qy, qz = (record[f"chassis.rotation.{c}"] for c in "wxyz")
    x, y, z = (record[f"chassis.position.{c}"] for c in "xyz")
    vx, vy = (record[f"chassis.velocity.{c}"] for c in "xy")
    ax, ay, az = (record[f"chassis.acceleration.{c}"] for c in "xyz")
    yaw = np.unwrap(np.arctan2(2.0 * (w * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz)))
    pitch = np.arcsin(np.clip(2.0 * (w * qy - qx * qz), -1.0, 1.0))
    roll = np.arctan2(2.0 * (w * qx + qy * qz), 1.0 - 2.0 * (qx * qx + qy * qy))
    c, s = np.cos(yaw), np.sin(yaw)
    ahead, aside = c * vx + s * vy, c * vy - s * vx
    moving = np.hypot(ahead, aside) > 0.1
    slip = np.where(moving, np.arctan2(aside, np.where(moving, ahead, 1.0)), 0.0)
    try:
        wheel = np.asarray(record["front.column.angle"])
    except (KeyError, LinkworkError):
        wheel = np.zeros_like(x)
    return Motion(
        record.time, x, y, z, ahead, slip, yaw, pitch, roll, record["chassis.angular_velocity.z"],
        c * ax + s * ay, c * ay - s * ax, az, wheel,
    )  # fmt: skip


def single_track(car: Car, lateral: float = 0.0) -> SingleTrack:
    """What linear theory makes of a car with handling tyres: all of its mass as one, no roll, no steering of axles.

    At no slip; or, with a `lateral` acceleration [m/s²], by the secants of the tyres' forces and moments there.
    """
    front, rear = linear_tyres(car, lateral)
    mass, middle, inertia = whole(car)
    a, b = car.arms[0] - middle, car.arms[1] + middle
    return SingleTrack(
        mass, inertia, a - front.trail, b + rear.trail, front.stiffness, rear.stiffness,
        0.5 * (front.relaxation + rear.relaxation), 0.5 * (front.settling + rear.settling), front.trail, rear.trail,
    )  # fmt: skip


def figure(value: Any, unit: str) -> Figure:
    """A number with its unit."""
    return Figure(float(value), unit)


def first_time(time: Array, reached: NDArray[np.bool_]) -> float:
    """When something is so for the first time, NaN for never [s]."""
    where = np.flatnonzero(reached)
    return float(time[where[0]]) if len(where) else math.nan


__all__ = [
    "EVERY", "KMH", "STEERING", "STEP", "Figure", "Motion", "Outcome", "brakes", "driver_of", "figure", "first_time",
    "flat", "motion", "motors", "need_brakes", "need_motor", "need_positive", "run", "single_track", "staged",
]  # fmt: skip
