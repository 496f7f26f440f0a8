"""Motions that are prescribed, and mechanisms without motors that they are prescribed to."""

import dataclasses
import math

import numpy as np

from linkwork import Force, Sine, Spring, scene


def swing(rate=3.0, wobble=0.4, start=0.0):
    """A crank that turns unevenly: value, rate, acceleration."""
    return lambda t: (
        start + rate * t + wobble * math.sin(2 * t),
        rate + 2 * wobble * math.cos(2 * t),
        -4 * wobble * math.sin(2 * t),
    )


def wave(amplitude, frequency, phase=0.0, offset=0.0):
    """An oscillation: value, rate, acceleration."""
    return lambda t: (
        offset + amplitude * math.sin(frequency * t + phase),
        amplitude * frequency * math.cos(frequency * t + phase),
        -amplitude * frequency**2 * math.sin(frequency * t + phase),
    )


TIMES = np.linspace(0.0, 1.5, 7)
PUSH, AT = np.array([3.0, -1.0, 0.0]), (0.3, 0.2, 0.0)


def four_bar(**fields):
    """A crank and rocker without motor, with springs, a spring between points, dampers and a push on the lever."""
    model = scene("crank_rocker")
    model.drives.clear()
    model.joints["knee"] = dataclasses.replace(
        model.joints["knee"], spring=0.3, rest=0.4, damping=0.02, armature=0.003
    )
    model.add(Spring("coil", "ground", "lever", at_a=(0.2, 0.4, 0.0), at_b=(0.3, 0.2, 0.0), stiffness=40.0))
    model.add(Force("push", "lever", force=tuple(PUSH), at=AT, signal=Sine(0.5)))
    for name, value in fields.items():
        model.joints["crank"] = dataclasses.replace(model.joints["crank"], **{name: value})
    return model


def jaws_without_motor():
    model = scene("jaws", stop=1.0)
    model.drives.clear()
    for name in ("left", "right"):
        model.joints[name] = dataclasses.replace(model.joints[name], friction=0.0, limits=None)
    model.add(Spring("rubber", "left_jaw", "right_jaw", at_a=(0, 0, 0), at_b=(0.0, 0.05, 0), stiffness=30.0))
    return model
