"""A record as something to watch: its stage, and the poses of the bodies over time."""

from __future__ import annotations

from typing import NamedTuple

from ..record import Record
from ..rotation import Array
from ..stage import Stage
from .motion import motion, stage_in


class Replayed(NamedTuple):
    """The motion of a stage, with n rows."""

    stage: Stage
    times: Array
    """n [s]"""
    positions: Array
    """n × bodies × 3 [m], in the order of the stage"""
    rotations: Array
    """n × bodies × 4, quaternions w, x, y, z"""


def replayed(record: Record) -> Replayed:
    """What there is to see of a record."""
    stage = stage_in(record)
    return Replayed(stage, *motion(record, stage))
