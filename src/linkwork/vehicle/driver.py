"""A driver that follows a path at a speed: looks ahead along it, steers, accelerates and brakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..model import Component
from ..model.errors import LinkworkError

Speed = float | Callable[[float], float]
_SEEN = (
    "position.x",
    "position.y",
    "rotation.w",
    "rotation.x",
    "rotation.y",
    "rotation.z",
    "velocity.x",
    "velocity.y",
)
_BEHIND, _AHEAD = 5.0, 20.0  # how far along the path the nearest point is looked for, from where it was [m]
_SPAN = 1.0
SAMPLE_TIME = 0.01
"""Time between two looks of the driver [s]."""


class Path:
    """A path over the ground through points (x, y) [m], straight between them."""

    def __init__(self, points: Any, *, closed: bool = False):
        self.points = np.asarray(points, float)
        if self.points.ndim != 2 or self.points.shape[1] != 2 or len(self.points) < 2:
            raise LinkworkError("a path needs at least two points (x, y)")
        if not np.isfinite(self.points).all():
            raise LinkworkError("a path has points that are not finite")
        if closed:
            self.points = np.vstack([self.points, self.points[:1]])
        ways = np.diff(self.points, axis=0)
        lengths = np.hypot(*ways.T)
        if not (lengths > 0.0).all():
            k = int(np.argmin(lengths))
            raise LinkworkError(
                f"points {k} and {k + 1} of a path are the same, {tuple(self.points[k])}; leave one out"
            )
        self.closed = closed
        self.along = np.r_[0.0, np.cumsum(lengths)]
        """Way to each point [m]."""
        self._ways = ways / lengths[:, None]

    @property
    def length(self) -> float:
        """[m]"""
        return float(self.along[-1])

    def at(self, s: float) -> tuple[float, float]:
        """The point after a way s; beyond the ends of an open path, straight on [m]."""
        if self.closed:
            s %= self.length
        k = int(np.clip(np.searchsorted(self.along, s) - 1, 0, len(self._ways) - 1))
        x, y = self.points[k] + (s - self.along[k]) * self._ways[k]
        return float(x), float(y)

    def heading(self, s: float) -> float:
        """Direction of the path there, a mean over a metre before and behind [rad]."""
        (x0, y0), (x1, y1) = self.at(s - _SPAN), self.at(s + _SPAN)
        return math.atan2(y1 - y0, x1 - x0)

    def curvature(self, s: float) -> float:
        """Of the path there, positive to the left, by headings a metre before and behind [1/m]."""
        turn = self.heading(s + _SPAN) - self.heading(s - _SPAN)
        return math.remainder(turn, math.tau) / (2.0 * _SPAN)

    def nearest(self, x: float, y: float, near: float | None = None) -> tuple[float, float]:
        """(way to the nearest point, how far (x, y) is to the left of it) [m]; `near`: look around that way only."""
        starts, ways = self.points[:-1], self._ways
        lengths = np.diff(self.along)
        reach = np.einsum("ij,ij->i", (x, y) - starts, ways)
        low, high = np.zeros_like(lengths), lengths.copy()
        if not self.closed:
            low[0], high[-1] = -np.inf, np.inf
        reach = np.clip(reach, low, high)
        off = (x, y) - (starts + reach[:, None] * ways)
        far = np.hypot(*off.T)
        if near is not None:
            apart = self.along[:-1] + reach - near
            if self.closed:
                apart = (apart + 0.5 * self.length) % self.length - 0.5 * self.length
            far = np.where((apart < -_BEHIND) | (apart > _AHEAD), np.inf, far)
            if not np.isfinite(far).any():
                return self.nearest(x, y)
        k = int(np.argmin(far))
        left = float(ways[k, 0] * off[k, 1] - ways[k, 1] * off[k, 0])
        return float(self.along[k] + reach[k]), left


def circle(radius: float, *, left: bool = True, count: int = 720) -> Path:
    """A circle that begins at the origin along x [m]."""
    if not radius > 0.0:
        raise LinkworkError(f"the radius of a circle must be greater than 0 (got {radius:g} m)")
    turn = np.linspace(0.0, math.tau, count, endpoint=False)
    y = radius * (1.0 - np.cos(turn))
    return Path(np.stack([radius * np.sin(turn), y if left else -y], axis=1), closed=True)


class Driver:
    """Looks ahead along a path, steers for it, and keeps a speed.

    It wants the curvature κ that the path has `lead` seconds ahead, less 2 sin(ψ)/l + e/l², with ψ the angle of the way
    it goes against the path, e how far it is to the left of it, and l the way of a `preview`: critically damped over
    the way. The front wheels get (wheelbase + understeer v²) κ, as a car of that gradient needs. The speed is
    kept by a proportional and integral law: its positive part is the pedal of the motor, the negative the brakes'.
    """

    def __init__(
        self, path: Path | None, speed: Speed, *, wheelbase: float, steering_ratio: float = 1.0,
        understeer: float = 0.0, preview: float = 0.7, lead: float = 0.3, least: float = 3.0,
        reach: float = math.inf, gain: float = 0.4, reset: float = 2.0,
    ):  # fmt: skip
        """`speed` [m/s], or a function of time; `understeer`: gradient [rad s²/m]; `preview` [s], `least` [m]: how
        far ahead it comes back to the path; `lead` [s]: how much earlier it steers into bends; `reach` of the
        steering wheel [rad]; `gain` of the pedals [s/m], their `reset` time [s]."""
        self.path, self.speed, self.wheelbase, self.steering_ratio = path, speed, wheelbase, steering_ratio
        self.understeer, self.preview, self.lead, self.least, self.reach = (
            understeer,
            preview,
            lead,
            least,
            reach,
        )
        self.gain, self.reset = gain, reset
        self._along: float | None = None
        self._kept = 0.0
        self._before = -math.inf

    def __call__(
        self, t: float, x: float, y: float, qw: float, qx: float, qy: float, qz: float, vx: float, vy: float
    ) -> tuple[float, float, float]:
        """(time, place, rotation, velocity) => steering wheel's angle [rad], pedals of motor and brakes, 0 to 1."""
        if t < self._before:  # a run that begins anew
            self._along, self._kept = None, 0.0
        self._before = t
        heading = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
        c, s = math.cos(heading), math.sin(heading)
        v = c * vx + s * vy
        drive, brake = self._pedals(t, v)
        if self.path is None:
            return 0.0, drive, brake
        self._along, aside = self.path.nearest(x, y, self._along)
        way = max(self.least, self.preview * v)
        if v > 1.0:  # where it goes, not where it points
            heading = math.atan2(vy, vx)
        off = heading - self.path.heading(self._along)
        bend = self.path.curvature(self._along + self.lead * v) - 2.0 * math.sin(off) / way - aside / way**2
        steer = math.atan((self.wheelbase + self.understeer * v * v) * bend) * self.steering_ratio
        return min(max(steer, -self.reach), self.reach), drive, brake

    def _pedals(self, t: float, v: float) -> tuple[float, float]:
        wanted = self.speed(t) if callable(self.speed) else self.speed
        short = wanted - v
        pedal = self.gain * short + self._kept
        if abs(pedal) < 1.0 or pedal * short < 0.0:  # what has no effect is not kept
            self._kept += self.gain * short * SAMPLE_TIME / self.reset
        return min(max(pedal, 0.0), 1.0), min(max(-pedal, 0.0), 1.0)


def drive_by(
    owner: Component, driver: Driver, *, chassis: str = "chassis", steering: str | None = None,
    motors: Sequence[str] = (), brakes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Put a driver behind the wheel: blocks of the control diagram that command these drives, every 10 ms."""
    from ..control.blocks.actuators import DriveCommand
    from ..control.blocks.user import PythonFunction

    inputs = tuple(f"{chassis}.{name}" for name in _SEEN)
    owner.add(
        PythonFunction("driver", driver, SAMPLE_TIME, inputs=inputs, outputs=("steering", "pedal", "brake"))
    )
    for output, drives in (
        ("steering", [steering] if steering else []),
        ("pedal", motors),
        ("brake", brakes),
    ):
        for drive in drives:
            owner.add(
                DriveCommand(f"driver_{drive.replace('.', '_')}", drive=drive, input=f"driver.{output}")
            )


__all__ = ["SAMPLE_TIME", "Driver", "Path", "circle", "drive_by"]
