"""Manoeuvres straight ahead: acceleration, braking, bump, ramp, side slope, pull-away on a slope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import Material, Plane, Scenery
from ...model.errors import LinkworkError
from ..car import AXLES, Car
from ..driver import Path
from ..roads import kerb, slope_road
from ..roads import ramp as ramp_road
from .base import (
    KMH,
    SIDES,
    Outcome,
    driver_of,
    figure,
    first_time,
    flat,
    motion,
    need_brakes,
    need_motor,
    need_positive,
    run,
)

G = 9.81
_STANDS = 0.02  # speed below which a car counts as standing [m/s]


def acceleration(
    car: Car, *, to: float = 100.0 * KMH, friction: float = 1.0, longest: float = 40.0
) -> Outcome:
    """From rest, at full load of all motors, up to a speed [m/s]."""
    need_positive("acceleration", to=to, longest=longest)
    full = ((0.0, 0.2, 0.4), (0.0, 0.0, 1.0))
    tables = dict.fromkeys(need_motor(car, "acceleration"), full)
    record = run(
        car,
        flat(friction),
        longest,
        speed=0.0,
        tables=tables,
        until=lambda sim: sim["chassis.velocity.x"] >= to,
    )
    m = motion(record)
    figures = {
        f"time to {to / KMH * share:.0f} km/h": figure(first_time(m.time, m.speed >= share * to) - 0.2, "s")
        for share in (0.5, 1.0)
    }
    figures |= {
        "way": figure(m.x[-1] - m.x[0], "m"),
        "largest acceleration": figure(m.forward.max(), "m/s²"),
        "largest pitch": figure(math.degrees(m.pitch.min()), "°"),
    }
    return Outcome("acceleration", figures, m, record, {})


def braking(
    car: Car, *, speed: float = 100.0 * KMH, pedal: float = 1.0, friction: float = 1.0, longest: float = 60.0
) -> Outcome:
    """From a speed [m/s] to rest, the brakes pressed by a share 0 to 1 within 0.1 s; there is no anti-lock system."""
    need_positive("braking", speed=speed, pedal=pedal, longest=longest)
    start = 0.5
    table = ((0.0, start, start + 0.1), (0.0, 0.0, min(pedal, 1.0)))
    tables = dict.fromkeys(need_brakes(car, "braking"), table)
    record = run(
        car, flat(friction), longest, speed=speed, tables=tables,
        until=lambda sim: sim.time > start and sim["chassis.velocity.x"] < _STANDS,
    )  # fmt: skip
    m = motion(record)
    k = int(np.searchsorted(m.time, start))
    begin, way = float(m.speed[k]), float(m.x[-1] - m.x[k])
    # ISO 21994: between 80 and 10 % of the speed.
    upper, lower = (int(np.argmax((m.time >= start) & (m.speed <= share * begin))) for share in (0.8, 0.1))
    fully = (
        (m.speed[upper] ** 2 - m.speed[lower] ** 2) / (2.0 * (m.x[lower] - m.x[upper]))
        if lower > upper
        else 0.0
    )
    if m.speed[-1] > 2.0 * _STANDS:
        raise LinkworkError(
            f"braking: still at {m.speed[-1]:.3g} m/s after {longest:g} s; press harder, or give it longer"
        )
    figures = {
        "way from the pedal on": figure(way, "m"),
        "mean deceleration": figure(begin**2 / (2.0 * way), "m/s²"),
        "fully developed deceleration": figure(fully, "m/s²"),
        "time": figure(m.time[-1] - start, "s"),
        "largest pitch": figure(math.degrees(m.pitch.max()), "°"),
    }
    return Outcome("braking", figures, m, record, {})


def bump(
    car: Car, *, speed: float = 20.0 * KMH, height: float = 0.05, length: float = 0.4, one_side: bool = False
) -> Outcome:
    """Over a plate on the road, under both wheels or the left ones alone, the pedals free."""
    need_positive("bump", speed=speed, height=height, length=length)
    start = 3.0 + car.arms[0]
    width, y = (car.track, 0.5 * car.track) if one_side else (3.0 * car.track, 0.0)
    road = [*flat(), kerb("bump", start=start, length=length, height=height, width=width, y=y)]
    duration = (start + length + car.arms[1]) / speed + 2.0
    m, record = _rolls(car, road, duration, speed)
    return Outcome("bump", _shaken(car, m, record), m, record, {})


def ramp(car: Car, *, speed: float = 10.0 * KMH, slope: float = 0.15, length: float = 8.0) -> Outcome:
    """Onto a ramp of a slope [1], at a speed that the driver keeps."""
    need_positive("ramp", speed=speed, slope=slope, length=length)
    need_motor(car, "ramp")
    start = 4.0 + car.arms[0]
    road = [
        *flat(),
        ramp_road("ramp", start=start, length=length, height=slope * length, width=3.0 * car.track),
    ]
    way = start + length - 0.5 - car.arms[0]
    path = Path([(-10.0, 0.0), (start + length + 10.0, 0.0)])
    record = run(car, road, way / speed, speed=speed, driver=driver_of(car, path, speed))
    m = motion(record)
    k = int(np.argmin(np.abs(m.x - (start + 0.6 * length))))
    figures = {
        "pitch on the ramp": figure(math.degrees(-m.pitch[k]), "°"),
        "pitch of the ramp": figure(math.degrees(math.atan(slope)), "°"),
        "lowest speed": figure(m.speed.min(), "m/s"),
    }
    return Outcome("ramp", figures | _shaken(car, m, record), m, record, {})


def side_slope(
    car: Car, *, speed: float = 30.0 * KMH, slope: float = 0.2, duration: float = 8.0, friction: float = 1.0
) -> Outcome:
    """Along a slope that rises to the left [1], by a driver who keeps straight on."""
    need_positive("side slope", speed=speed, duration=duration)
    need_motor(car, "side slope")
    tilt = math.atan(slope)
    road = [Material("road", friction=friction), slope_road("road", side=tilt)]
    path = Path([(-10.0, 0.0), (speed * duration + 50.0, 0.0)])
    record = run(car, road, duration, speed=speed, driver=driver_of(car, path, speed), at=(0.0, 0.0, 0.02))
    m = motion(record)
    late = m.time > duration - 1.0
    loads = {
        side: sum(float(record[f"{axle}.{side}.tyre.force.z"][late].mean()) for axle in AXLES)
        for side in SIDES
    }
    figures = {
        "steering wheel": figure(math.degrees(m.wheel[late].mean()), "°"),
        "off the way": figure(m.y[late].mean(), "m"),
        "sideslip": figure(math.degrees(m.slip[late].mean()), "°"),
        "roll against the slope": figure(math.degrees(m.roll[late].mean() - tilt), "°"),
        "load on the lower wheels": figure(100.0 * loads["right"] / (loads["left"] + loads["right"]), "%"),
    }
    return Outcome("side slope", figures, m, record, {})


def pull_away(
    car: Car,
    *,
    slope: float = 0.3,
    hold: float = 4.0,
    duration: float = 4.0,
    pedal: float = 1.0,
    friction: float = 1.0,
) -> Outcome:
    """Stands on a slope [1] by its brakes, then they are let go within 0.3 s while the motor pulls."""
    need_positive("pull-away", hold=hold, duration=duration, pedal=pedal)
    tilt = math.atan(slope)
    held = ((0.0, hold, hold + 0.3), (1.0, 1.0, 0.0))
    pulls = ((0.0, hold, hold + 0.3), (0.0, 0.0, pedal))
    tables: dict[str, Any] = dict.fromkeys(need_brakes(car, "pull-away"), held)
    tables |= dict.fromkeys(need_motor(car, "pull-away"), pulls)
    record, m = _on_slope(car, tilt, hold + duration, tables, friction)
    along = (m.x - m.x[0]) / math.cos(tilt)
    k = int(np.searchsorted(m.time, hold))
    creep = float(np.abs(np.diff(along[k - 50 : k])).max()) / 0.01
    figures = {
        "creep while it stands": figure(creep, "m/s"),
        "rolls back": figure(max(0.0, along[k] - along[k:].min()), "m"),
        "time to 1 m": figure(first_time(m.time[k:], along[k:] >= along[k] + 1.0) - hold, "s"),
        "speed at the end": figure(m.speed[-1] / math.cos(tilt), "m/s"),
    }
    return Outcome("pull-away", figures, m, record, {})


def _on_slope(car: Car, tilt: float, duration: float, tables: Any, friction: float) -> Any:
    """At rest on a plane that rises along x: the car stands as it does on flat ground, with gravity tilted."""
    road = [Material("road", friction=friction), Scenery("road", shapes=(Plane(),), material="road")]
    from ...run.simulate import Simulation
    from .base import EVERY, STEP, staged

    model = staged(car, road, speed=0.0, tables=tables)
    model.gravity = (-G * math.sin(tilt), 0.0, -G * math.cos(tilt))
    record = Simulation(model, dt=STEP).run(
        EVERY * math.ceil(duration / EVERY - 1e-9), every=EVERY, reactions=False
    )
    return record, motion(record)


def _rolls(car: Car, road: Any, duration: float, speed: float) -> Any:
    record = run(car, road, duration, speed=speed)
    return motion(record), record


def _shaken(car: Car, m: Any, record: Any) -> dict[str, Any]:
    """What an uneven road does."""
    loads = [
        record[f"{axle}.{side}.tyre.force.z"] for axle in AXLES for side in SIDES if car.tyres[0] is not None
    ]
    figures = {
        "largest vertical acceleration": figure(np.abs(m.upward).max(), "m/s²"),
        "largest pitch": figure(math.degrees(np.abs(m.pitch).max()), "°"),
        "largest roll": figure(math.degrees(np.abs(m.roll).max()), "°"),
    }
    if loads:
        figures["lowest wheel load"] = figure(min(load.min() for load in loads), "N")
        figures["largest wheel load"] = figure(max(load.max() for load in loads), "N")
    return figures


__all__ = ["acceleration", "braking", "bump", "pull_away", "ramp", "side_slope"]
