"""What explicit steps know of contact: points that touch or are near, each with its mode, and room to solve for them.

A *slot* is a point of contact that goes on from evaluation to evaluation while the same features touch. It is FREE
(apart, or without a load), STICKS (no relative velocity: rolling is that, too) or SLIDES (friction at its bound).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contact.detect import Detection
from ..kernels.record import named, new_records

FREE, STICKS, SLIDES = range(3)
"""Modes of slots."""

SLOTS, CLOSED = 128, 32
"""Points that may be near, and points that may touch at once, before steps are taken by impulses instead."""

OPEN, SLIP = range(2)
"""What is watched of a slot: its gap or, if it touches, its load; its slip or, if it sticks, what is left of its
cone."""

SLOT = np.dtype(
    [
        ("i", "i8"),  # shapes
        ("j", "i8"),
        ("a", "i8"),  # the dofs that carry them; 0 is the world
        ("b", "i8"),
        ("feature", "i8"),
        ("mode", "i8"),
        ("found", "i8"),  # 1 if it was there in the last evaluation
        ("onset", "i8"),  # how sure its mode is where modes are found anew
        ("was", "i8"),  # 1 if it touched before that
        ("friction", "f8"),
        ("x", "f8", 3),  # in the world [m]
        ("axes", "f8", 9),  # normal from A to B and two tangents
        ("gap", "f8"),  # [m]
        ("rate", "f8", 3),  # velocity of B against A along the axes [m/s]
        ("bias", "f8", 3),  # its derivative if no joint accelerated [m/s²]
        ("uneven", "f8", 3),  # by how much that differs when taken over twice the way [m/s²]
        ("accel", "f8", 3),  # its derivative
        ("p", "f8", 3),  # force on B [N]
        ("way", "f8", 3),  # direction of the slip, in the world
        ("ahead", "f8", 3),  # the same where the step began
        ("began", "f8", 2),  # what is watched, where the step began,
        ("began_rate", "f8", 2),  # and how fast it changed there
        ("known", "i8"),  # 1 if it was there then
    ]
)

TOUCHING = np.dtype(
    [
        ("slots", "i8"),
        ("closed", "i8"),  # how many touch
        ("near", "f8"),  # shapes nearer than this are looked at even if nothing moves [m]
        ("slop", "f8"),  # what sinks in deeper is got out by impulses [m]
        ("step", "f8"),  # how far the step goes that is evaluated [s]
        ("bad", "i8"),  # why the trial is no good: a status, or 0
        ("hit", "i8"),  # something hits here: impulses have to happen before the motion goes on
        ("renew", "i8"),  # modes are to be found anew
        ("lost", "f8"),  # power of friction [W]
        ("residual", "f8"),  # largest velocity of what should have none, before it was corrected [m/s]
        ("depth", "f8"),  # [m]
        ("deepest", "f8"),  # so far [m]
        # --- the search for an event ---
        ("event", "i8"),  # slot, -1 for none
        ("watch", "i8"),  # OPEN or SLIP
        # --- what is told ---
        ("events", "i8"),  # located so far
        ("waiting", "i8"),  # beginnings and ends of contact that wait to be read
        ("events_lost", "i8"),
    ]
)


class Touch(NamedTuple):
    """Contact as explicit steps need it."""

    colliders: Any
    found: Detection
    state: Any
    """A table of one record of `TOUCHING`."""
    slots: Any
    order: Any
    """Slots that touch, in the order of the rows below: three rows each."""
    J: Any
    """Rows × dofs: relative velocities along the axes."""
    Y: Any
    """Rows of `J` solved inward."""
    Z: Any
    """Response of the mechanism to unit forces, rows kept."""
    S: Any
    """What unit forces take off the forces of the rows that are kept."""
    G: Any
    """Rows × rows: J Zᵀ."""
    M: Any
    """Equations of what is unknown, and their factors."""
    vector: Any
    """Vectors over rows; see `touch_forces`."""
    pick: Any
    """Rows that are unknown, and pivots."""
    mean: Any
    """Mean accelerations of the last step that was taken by impulses."""
    events: Any
    """Records of `touch_log.EVENT`."""
    pairs: Any
    """Owners of shapes whose forces on each other are sampled: n × 2."""
    rate: Any
    """Of each dof, in the order of columns of `J`: the index of its rate."""


def new_touch(
    colliders: Any, found: Detection, dofs: Any, rows: int, events: Any, pairs: Any, near: float, slop: float
) -> Touch:
    """Room for a mechanism of these dofs and so many rows."""
    rate = np.array(dofs["v"][1:], np.int64)
    most, nv, state = 3 * CLOSED, len(rate), new_records(1, TOUCHING)
    state["near"], state["slop"], state["event"] = near, slop, -1
    return Touch(
        colliders, found, state, named(np.zeros(SLOTS, SLOT)), np.zeros(CLOSED, np.int64), np.zeros((most, nv)),
        np.zeros((most, nv)), np.zeros((most, nv)), np.zeros((most, max(rows, 1))), np.zeros((most, most)),
        np.zeros((2, most, most)), np.zeros((5, most)), np.zeros((2, most), np.int64), np.zeros(nv), events, pairs,
        rate,
    )  # fmt: skip
