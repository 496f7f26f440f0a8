"""Manoeuvres of steering: step steer, sine with dwell, frequency response, constant radius, double lane change."""

from __future__ import annotations

import math

import numpy as np

from ...model.errors import LinkworkError
from ...model.rotation import Array
from ..car import Car
from ..driver import Path, circle
from ..roads import paint
from ..roll_track import roll_track, understeer
from .base import (
    KMH,
    STEERING,
    Outcome,
    driver_of,
    figure,
    first_time,
    flat,
    motion,
    need_motor,
    need_positive,
    run,
    single_track,
)

G = 9.81
_RATE = 7.0  # of the steering wheel in a step [rad/s]; ISO 7401 asks for 200 to 500 °/s
_LANE = (15.0, 30.0, 25.0, 25.0, 15.0, 15.0)
"""Lengths of the six sections of ISO 3888-1 [m]."""
_OFFSET, _EARLY = 3.5, 4.0  # of the middle lane; how far before its end a lane is left [m]


def step_steer(
    car: Car, *, speed: float = 80.0 * KMH, lateral: float = 4.0, angle: float | None = None, duration: float = 4.0,
    friction: float = 1.0,
) -> Outcome:  # fmt: skip
    """ISO 7401: the steering wheel turned at once, the pedals free.

    `angle` of the steering wheel [rad]; by default what gives the `lateral` acceleration [m/s²] by linear theory.
    """
    need_positive("step steer", speed=speed, duration=duration)
    yaw_gain, gain = single_track(car).steady(speed)
    rolling = roll_track(car)
    turned = lateral / gain * car.steering_ratio if angle is None else angle
    _within_reach(car, "step steer", turned)
    start = 0.5
    rise = abs(turned) / _RATE
    table = ((0.0, start, start + rise), (0.0, 0.0, turned))
    record = run(car, flat(friction), start + duration, speed=speed, tables={STEERING: table})
    m = motion(record)
    half = start + 0.5 * rise
    late = m.time > m.time[-1] - 0.5
    yaw, aside = float(m.yaw_rate[late].mean()), float(m.lateral[late].mean())
    sign = math.copysign(1.0, turned)
    peak = int(np.argmax(sign * m.yaw_rate))
    figures = {
        "steering wheel": figure(math.degrees(turned), "°"),
        "lateral acceleration": figure(aside, "m/s²"),
        "yaw rate": figure(yaw, "rad/s"),
        "yaw rate of linear theory": figure(turned / car.steering_ratio * yaw_gain, "rad/s"),
        "yaw rate of linear theory with roll": figure(
            turned / car.steering_ratio * rolling.steady(speed)[0], "rad/s"
        ),
        "response time of yaw rate": figure(
            first_time(m.time, sign * m.yaw_rate >= 0.9 * sign * yaw) - half, "s"
        ),
        "response time of lateral acceleration": figure(
            first_time(m.time, sign * m.lateral >= 0.9 * sign * aside) - half, "s"
        ),
        "peak response time of yaw rate": figure(m.time[peak] - half, "s"),
        "overshoot of yaw rate": figure(100.0 * (m.yaw_rate[peak] / yaw - 1.0), "%"),
        "sideslip": figure(math.degrees(m.slip[late].mean()), "°"),
        "roll": figure(math.degrees(m.roll[late].mean()), "°"),
        "roll of linear theory": figure(math.degrees(rolling.roll(speed) * aside), "°"),
    }
    return Outcome("step steer", figures, m, record, {})


def sine_with_dwell(
    car: Car, *, speed: float = 80.0 * KMH, scale: float = 6.5, friction: float = 1.0
) -> Outcome:
    """FMVSS 126: one sine of 0.7 Hz with a dwell of 0.5 s at its second peak, the pedals free.

    Its amplitude is `scale` times the angle that gives 0.3 g by linear theory [1].
    """
    need_positive("sine with dwell", speed=speed, scale=scale)
    amplitude = scale * 0.3 * G / single_track(car).steady(speed)[1] * car.steering_ratio
    amplitude = min(amplitude, car.steering_reach)
    begin, frequency, dwell = 0.5, 0.7, 0.5
    peak = 0.75 / frequency
    t = np.linspace(0.0, 1.0 / frequency, 141)
    shifted = np.where(t > peak + 1e-9, t + dwell, t)
    times = np.r_[0.0, begin + shifted]
    values = np.r_[0.0, amplitude * np.sin(math.tau * frequency * t)]
    end = begin + 1.0 / frequency + dwell
    record = run(car, flat(friction), end + 2.0, speed=speed, tables={STEERING: (times, values)})
    m = motion(record)
    second = m.time >= begin + 0.5 / frequency
    highest = float(np.abs(m.yaw_rate[second]).max())

    def left_after(seconds: float) -> float:
        return 100.0 * abs(float(np.interp(end + seconds, m.time, m.yaw_rate))) / highest

    # To the side that it was steered to first, from the way it was going.
    aside = float(np.interp(begin + 1.07, m.time, m.y))
    figures = {
        "amplitude": figure(math.degrees(amplitude), "°"),
        "yaw rate ratio after 1 s": figure(left_after(1.0), "%"),
        "yaw rate ratio after 1.75 s": figure(left_after(1.75), "%"),
        "way aside after 1.07 s": figure(abs(aside), "m"),
        "largest sideslip": figure(math.degrees(np.abs(m.slip).max()), "°"),
        "largest lateral acceleration": figure(np.abs(m.lateral).max(), "m/s²"),
    }
    return Outcome("sine with dwell", figures, m, record, {})


def frequency_response(
    car: Car, *, speed: float = 80.0 * KMH, lateral: float = 0.5, duration: float = 6.0
) -> Outcome:
    """ISO 7401: yaw rate and lateral acceleration over the frequency of steering, from a pulse of half a sine.

    The pulse is as high as would give the `lateral` acceleration if it lasted [m/s²]; marks: gains over frequency,
    beside linear theory, without and with roll.
    """
    need_positive("frequency response", speed=speed, duration=duration)
    theory = single_track(car)
    height = lateral / theory.steady(speed)[1] * car.steering_ratio
    width, start = 0.25, 0.2
    t = np.linspace(0.0, width, 51)
    table = (np.r_[0.0, start + t], np.r_[0.0, height * np.sin(math.pi * t / width)])
    record = run(car, flat(), start + duration, speed=speed, tables={STEERING: table}, every=2e-3)
    m = motion(record)
    f = np.linspace(0.1, 3.0, 146)
    steer = _spectrum(m.time, m.wheel, f) / car.steering_ratio
    yaw, aside = _spectrum(m.time, m.yaw_rate, f) / steer, _spectrum(m.time, m.lateral, f) / steer
    k = int(np.argmax(np.abs(yaw)))
    rolling = roll_track(car)
    figures = {
        "yaw resonance": figure(f[k], "Hz"),
        "yaw resonance of linear theory": figure(theory.resonance(speed)[0], "Hz"),
        "yaw resonance of linear theory with roll": figure(rolling.resonance(speed)[0], "Hz"),
        "yaw gain there": figure(abs(yaw[k]), "1/s"),
        "yaw gain at 0.2 Hz": figure(np.interp(0.2, f, np.abs(yaw)), "1/s"),
        "lag of yaw rate at 1 Hz": figure(-math.degrees(np.angle(yaw[np.argmin(np.abs(f - 1.0))])), "°"),
    }
    marks = {"frequency": f, "yaw": yaw, "lateral": aside, "theory": theory.response(speed, f)}
    marks["theory with roll"] = rolling.response(speed, f)
    return Outcome("frequency response", figures, m, record, marks)


def _spectrum(t: Array, values: Array, f: Array) -> Array:
    """Fourier transform of what comes back to where it began."""
    kernel = np.exp(-2j * math.pi * np.outer(f, t))
    found: Array = np.trapezoid(kernel * (values - values[0]), t, axis=1)
    return found


def constant_radius(
    car: Car, *, radius: float = 40.0, lateral: float = 6.0, gain: float = 0.25, friction: float = 1.0
) -> Outcome:
    """ISO 4138: a circle at a speed that grows slowly, up to a `lateral` acceleration, which grows by `gain` [m/s³].

    The understeer gradient is that of the steer angle over lateral acceleration, from 0.15 to 0.3 g.
    """
    need_positive("constant radius", radius=radius, lateral=lateral, gain=gain)
    need_motor(car, "constant radius")
    first = 0.3
    settle = 4.0
    duration = settle + (lateral - first) / gain
    path = circle(radius)

    def speed(t: float) -> float:
        return math.sqrt(radius * (first + gain * max(0.0, t - settle)))

    driver = driver_of(car, path, speed)
    road = [*flat(friction), paint("circle", [*map(tuple, path.points[::4]), (0.0, 0.0)])]
    record = run(car, road, duration, speed=speed(0.0), driver=driver)
    m = motion(record)
    slow = m.speed**2 / radius
    # Means over half a second: the driver corrects.
    smooth = np.ones(50) / 50.0
    angle = np.convolve(m.wheel, smooth, "same") / car.steering_ratio
    within = (slow > 0.15 * G) & (slow < 0.3 * G) & (m.time < m.time[-1] - 0.5)
    if np.count_nonzero(within) < 100:
        raise LinkworkError(
            "constant radius: needs lateral accelerations up to 3 m/s² for a gradient; ask for more"
        )
    slope, at_rest = np.polyfit(slow[within], angle[within], 1)
    off = np.abs(np.hypot(m.x, m.y - radius) - radius)
    figures = {
        "understeer gradient": figure(math.degrees(slope) * G, "°/g"),
        "understeer gradient of linear theory": figure(math.degrees(single_track(car).understeer) * G, "°/g"),
        "understeer gradient of linear theory with roll": figure(
            math.degrees(understeer(roll_track(car), car.wheelbase)) * G, "°/g"
        ),
        "steer angle at no speed": figure(math.degrees(at_rest), "°"),
        "wheelbase over radius": figure(math.degrees(car.wheelbase / radius), "°"),
        "lateral acceleration reached": figure(slow.max(), "m/s²"),
        "largest way off the circle": figure(off[m.time > settle].max(), "m"),
    }
    return Outcome("constant radius", figures, m, record, {"lateral": slow, "angle": angle})


def double_lane_change(car: Car, *, speed: float = 80.0 * KMH, friction: float = 1.0) -> Outcome:
    """ISO 3888-1: six sections, into the lane 3.5 m to the left and back, by a driver who looks ahead.

    Lanes are 1.1, 1.2 and 1.3 times as wide as the car and 0.25 m; no corner of it may leave them.
    """
    need_positive("double lane change", speed=speed)
    need_motor(car, "double lane change")
    ends = np.cumsum(_LANE)
    width = car.track + 0.6 * car.radius
    lanes = []
    for begin, end, factor, middle in (
        (0.0, ends[0], 1.1, 0.0), (ends[1], ends[2], 1.2, _OFFSET), (ends[3], ends[4], 1.3, 0.0)
    ):  # fmt: skip
        half = 0.5 * (factor * width + 0.25)
        right = -0.5 * (1.1 * width + 0.25) if middle == 0.0 else middle - half
        lanes.append((float(begin), float(end), float(right), float(right + 2.0 * half)))
    x = np.linspace(0.0, float(ends[-1]), 251)
    # From lane to lane in as gentle a bend as they let a car begin before their ends.
    out, back = (ends[0] - _EARLY, ends[1] + _EARLY), (ends[2] - _EARLY, ends[3] + _EARLY)
    y = _OFFSET * (_smooth((x - out[0]) / (out[1] - out[0])) - _smooth((x - back[0]) / (back[1] - back[0])))
    ahead = 60.0
    path = Path(np.vstack([[-ahead, 0.0], np.stack([x, y], axis=1), [float(ends[-1]) + ahead, 0.0]]))
    marks = [
        paint(f"{side}{k}", [(b, low), (e, low)])
        for k, (b, e, *bounds) in enumerate(lanes)
        for side, low in zip(("right", "left"), bounds, strict=True)
    ]
    record = run(
        car, [*flat(friction), *marks], (float(ends[-1]) + 20.0) / speed, speed=speed,
        driver=driver_of(car, path, speed), at=(-5.0, 0.0, 0.0),
    )  # fmt: skip
    m = motion(record)
    worst = -math.inf
    for along in (car.arms[0], -car.arms[1]):
        for side in (0.5 * width, -0.5 * width):
            px = m.x + along * np.cos(m.yaw) - side * np.sin(m.yaw)
            py = m.y + along * np.sin(m.yaw) + side * np.cos(m.yaw)
            for begin, end, right, left in lanes:
                inside = (px >= begin) & (px <= end)
                if inside.any():
                    worst = max(worst, float((py[inside] - left).max()), float((right - py[inside]).max()))
    figures = {
        "room left beside the lanes": figure(-worst, "m"),
        "largest lateral acceleration": figure(np.abs(m.lateral).max(), "m/s²"),
        "largest yaw rate": figure(np.abs(m.yaw_rate).max(), "rad/s"),
        "largest steering wheel angle": figure(math.degrees(np.abs(m.wheel).max()), "°"),
        "largest roll": figure(math.degrees(np.abs(m.roll).max()), "°"),
        "speed at the end": figure(m.speed[-1] / KMH, "km/h"),
    }
    return Outcome("double lane change", figures, m, record, {"lanes": lanes, "path": path.points})


def _smooth(share: Array) -> Array:
    """From 0 to 1 with continuous curvature."""
    s = np.clip(share, 0.0, 1.0)
    found: Array = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return found


def _within_reach(car: Car, name: str, angle: float) -> None:
    if abs(angle) > car.steering_reach:
        raise LinkworkError(
            f"{name}: the steering wheel would have to turn by {math.degrees(angle):.0f}°, its rack lets it go to "
            f"{math.degrees(car.steering_reach):.0f}°; ask for less, or drive faster"
        )


__all__ = ["constant_radius", "double_lane_change", "frequency_response", "sine_with_dwell", "step_steer"]
