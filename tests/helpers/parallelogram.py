"""A parallelogram linkage turning freely, with something that acts on one of its joints."""

import dataclasses

import pytest

from linkwork import scene

exactly = pytest.mark.parametrize("integrator", ["adams", "rk4", "adaptive"])

ROUNDING = 1e-11
"""Of positions and rates of order one after some thousand steps."""


def parallelogram(joint, *drives, rate=2.0, **fields):
    """Two four-bars without gravity: 1.5 ω² is their energy, so every joint turns the inertia 3 kg m² evenly."""
    model = scene("double_four_bar", rate=rate)
    model.gravity = (0.0, 0.0, 0.0)
    model.joints[joint] = dataclasses.replace(model.joints[joint], **fields)
    for drive in drives:
        model.add(drive)
    return model


# One joint in the tree, and two that close loops.
JOINTS = {"A0": -1.0, "A1": -1.0, "B2_in": -1.0}

anywhere = pytest.mark.parametrize("joint", JOINTS)
