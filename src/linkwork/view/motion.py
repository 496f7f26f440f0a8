"""Where the bodies of a stage were, as a record tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..results.record import Record
from ..results.schema import Group
from ..stage.geometry import turns
from ..stage.stage import Poses, Stage


class Motion(NamedTuple):
    """Poses over time."""

    time: Array
    """[s]"""
    positions: Array
    """times × bodies × 3 [m]"""
    rotations: Array
    """times × bodies × 4, unit quaternions w, x, y, z"""

    def poses(self, row: int) -> Poses:
        """The poses of one row."""
        return Poses(self.positions[row], self.rotations[row])

    @property
    def every(self) -> Poses:
        """All poses, times × bodies × 3 and × 4."""
        return Poses(self.positions, self.rotations)


def stage_in(record: Record) -> Stage:
    """The stage that a record carries."""
    described = record.info.get("stage")
    if described is None:
        raise LinkworkError(
            "the record does not tell what its bodies look like: it was written by an older version, or "
            "without a model"
        )
    return Stage.from_dict(described)


def motion(record: Record, stage: Stage, times: npt.ArrayLike | None = None) -> Motion:
    """The poses of all rows of a record, or those at `times` [s], interpolated."""
    if not len(record):
        raise LinkworkError("the record has no rows: there is nothing to see")
    names = [body.name for body in stage.bodies]
    wanted = {
        "positions": [f"{name}.position.{axis}" for name in names for axis in "xyz"],
        "rotations": [f"{name}.rotation.{axis}" for name in names for axis in "wxyz"],
    }
    for group, columns in wanted.items():
        known = record.groups[group].columns if group in record.groups else ()
        for column in columns:
            if column not in known:
                body = column.rpartition(f".{group[:-1]}.")[0]
                raise LinkworkError(f"the record has no {group} of body '{body}', so it cannot be drawn")
    # All of a record need not be interpolated for its poses.
    data = {
        group: np.column_stack([record[column] for column in columns])
        if columns
        else np.empty((len(record), 0))
        for group, columns in wanted.items()
    }
    groups = [Group(group, tuple(columns), ("1",) * len(columns)) for group, columns in wanted.items()]
    poses = Record(record.time, groups, data)
    if times is not None:
        poses = poses.resample(times)
    result = Motion(
        poses.time,
        poses.array("positions").reshape(len(poses), len(names), 3),
        poses.array("rotations").reshape(len(poses), len(names), 4),
    )
    check(stage, result)
    return result


def check(stage: Stage, poses: Motion | Poses) -> None:
    """Refuse poses that cannot be drawn, by the name of the body."""
    bodies = len(stage.bodies)
    if poses.positions.shape[-2:] != (bodies, 3) or poses.rotations.shape[-2:] != (bodies, 4):
        raise LinkworkError(
            f"poses of the {bodies} bodies of '{stage.name}' must be {bodies} × 3 positions and {bodies} × 4 "
            f"rotations, not {_shape(poses.positions)} and {_shape(poses.rotations)}"
        )
    good = np.isfinite(poses.positions).all(axis=-1) & np.isfinite(poses.rotations).all(axis=-1)
    good &= np.abs(poses.rotations).max(axis=-1, initial=0.0) > 0.0
    if not good.all():
        bad = tuple(np.argwhere(~good)[0])
        when = f" at {poses.time[bad[0]]:g} s" if isinstance(poses, Motion) else ""
        raise LinkworkError(
            f"body '{stage.bodies[bad[-1]].name}' has no place{when}: position {poses.positions[bad]}, "
            f"rotation {poses.rotations[bad]}"
        )


def traces(stage: Stage, moving: Motion, markers: Iterable[str] | None = None) -> dict[str, Array]:
    """Ways of markers [m], n × 3 each; by default of all markers that stand on a body."""
    known = {point.name: point for point in stage.points}
    if markers is None:
        markers = [point.name for point in stage.points if stage.index(point.body) >= 0]
    ways = {}
    for name in markers:
        if name not in known:
            none = "" if known else "; the model has none"
            raise LinkworkError(f"there is no marker '{name}' to trace{nearest(name, known)}{none}")
        point = known[name]
        body = stage.index(point.body)
        if body < 0:
            ways[name] = np.tile(np.array(point.at), (len(moving.time), 1))
        else:
            turned = turns(moving.rotations[:, body]) @ np.array(point.at)
            ways[name] = moving.positions[:, body] + turned
    return ways


def fine_traces(
    record: Record, stage: Stage, times: Array, fine: int, markers: Iterable[str] | None
) -> dict[str, Array]:
    """Ways of markers [m] with `fine` points from each time [s] to the next, so that fast ones are round."""
    between = np.interp(np.arange(fine * (len(times) - 1) + 1) / fine, np.arange(len(times)), times)
    return traces(stage, motion(record, stage, between), markers)


def _shape(array: Array) -> str:
    return " × ".join(map(str, array.shape))
