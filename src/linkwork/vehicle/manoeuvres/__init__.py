"""Manoeuvres of a car: what test tracks and standards ask for, as functions that run it and say what came of it."""

from __future__ import annotations

from collections.abc import Callable

from ..roll_track import roll_track
from .base import Figure, Motion, Outcome, driver_of, motion, single_track
from .steering import constant_radius, double_lane_change, frequency_response, sine_with_dwell, step_steer
from .straight import acceleration, braking, bump, pull_away, ramp, side_slope

MANOEUVRES: dict[str, Callable[..., Outcome]] = {
    "acceleration": acceleration,
    "braking": braking,
    "bump": bump,
    "constant-radius": constant_radius,
    "double-lane-change": double_lane_change,
    "frequency-response": frequency_response,
    "pull-away": pull_away,
    "ramp": ramp,
    "side-slope": side_slope,
    "sine-with-dwell": sine_with_dwell,
    "step-steer": step_steer,
}
"""Every manoeuvre by the name that the command line calls it."""

__all__ = [
    "MANOEUVRES", "Figure", "Motion", "Outcome", "acceleration", "braking", "bump", "constant_radius",
    "double_lane_change", "driver_of", "frequency_response", "motion", "pull_away", "ramp", "roll_track",
    "side_slope", "sine_with_dwell", "single_track", "step_steer",
]  # fmt: skip
