"""What a record is made of: groups of named columns with units, and information that fits JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array

TIME = "time"
TIME_UNIT = "s"
TEXT = ".text"
"""Name of what else stands beside the groups in a file: all texts, once more."""
_AXES = "wxyz"


@dataclass(frozen=True)
class Group:
    """A block of columns recorded together."""

    name: str
    """Such as `coordinates`, `positions` or `energy`."""
    columns: tuple[str, ...]
    """Full names of the signals: `pivot.angle`, `arm.position.x` ..."""
    units: tuple[str, ...]
    """One per column; `1` if it has none."""

    def __post_init__(self) -> None:
        if len(self.units) != len(self.columns):
            raise LinkworkError(
                f"group '{self.name}' of a record has {len(self.columns)} columns but {len(self.units)} units"
            )

    def find(self, name: str) -> list[int]:
        """Where a signal stands, or all components of a vector or quaternion named without them; empty if nowhere."""
        index = self._index
        if name in index:
            return [index[name]]
        return [index[part] for axis in _AXES if (part := f"{name}.{axis}") in index]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.columns)}


def named(groups: Iterable[Group]) -> dict[str, Group]:
    """The groups by name, after a check that every name means one thing."""
    by_name: dict[str, Group] = {}
    owner: dict[str, str] = {}
    for group in groups:
        # A group becomes a dataset beside /time: a slash would nest it.
        if group.name in by_name or group.name in ("", TIME, TEXT) or "/" in group.name:
            raise LinkworkError(
                f"a record cannot have a group named '{group.name}' (taken, empty or with '/')"
            )
        by_name[group.name] = group
        for column in group.columns:
            if column == TIME:
                raise LinkworkError(f"group '{group.name}' of a record: the name '{TIME}' is reserved")
            if column in owner:
                where = (
                    f"'{owner[column]}' and '{group.name}'" if owner[column] != group.name else "one group"
                )
                raise LinkworkError(f"signal '{column}' stands twice in a record: in {where}")
            owner[column] = group.name
    return by_name


def check(time: Array, groups: Mapping[str, Group], data: Mapping[str, Array]) -> None:
    """Refuse times and blocks of numbers that do not fit together."""
    if time.ndim != 1 or not np.all(np.isfinite(time)) or np.any(np.diff(time) < 0.0):
        raise LinkworkError("times of a record must be a list of finite numbers that do not decrease")
    if data.keys() != groups.keys():
        raise LinkworkError(f"a record of the groups {sorted(groups)} was given data of {sorted(data)}")
    for name, group in groups.items():
        expected = (len(time), len(group.columns))
        if data[name].shape != expected:
            raise LinkworkError(
                f"group '{name}' of a record must have the shape {expected}, not {data[name].shape}"
            )


def plain(info: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy of `info` as JSON would give it back, so that a saved record equals the one in memory."""
    return {str(key): _plain(value, str(key)) for key, value in info.items()}


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        # JSON has no NaN and no infinity, and readers other than Python refuse them.
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise LinkworkError(f"info '{where}' of a record must fit JSON, and {type(value).__name__} does not")
