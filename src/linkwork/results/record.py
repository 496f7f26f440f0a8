"""What a simulation leaves behind: named signals over time, with units, files and plots.

This is pure data. It knows nothing of models or solvers, so that results can be read where none of them is
wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from . import exchange, hdf5, load
from .contents import Contents
from .frames import Frames, MovingFrames
from .interpolate import bracket, interpolate
from .measured import derivable, why_missing, why_no_group
from .plot import plot
from .quantity import derive
from .schema import TIME, TIME_UNIT, Group, check, named, plain

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["MISSING", "Group", "Record", "matching"]

# Times are sums of steps: they may miss a round number by rounding, relative to the largest of them.
_ROUNDING = 1e-12
MISSING = "missing_groups"
"""In `info`: groups that were not recorded, and why."""
_FRAMES = "frames"  # in `info`: points, markers and masses whose motion follows from that of the bodies


class Record:
    """Signals over time, by name: `record["pivot.angle"]`. Its arrays cannot be written to.

    Groups that follow from others (`measured.DERIVED`) are computed when first asked for.
    """

    time: Array
    """Times of the rows [s], never decreasing."""
    groups: dict[str, Group]
    """What was recorded, by the name of the group."""
    info: dict[str, Any]
    """How it was made: model, integrator, step, warnings ... as JSON has it."""
    complete: bool
    """False if it was read from a file whose simulation runs still, or was interrupted."""

    def __init__(
        self,
        time: Array,
        groups: Iterable[Group],
        data: Mapping[str, Array],
        info: Mapping[str, Any] | None = None,
        complete: bool = True,
    ):
        self._stored = named(groups)
        self.time = _frozen(time)
        self._data = {name: _frozen(block) for name, block in data.items()}
        check(self.time, self._stored, self._data)
        self.info = plain(info or {})
        self.complete = complete
        self._derive()

    def _derive(self) -> None:
        """Which groups follow from those at hand."""
        self._frames = Frames.of_dict(self.info[_FRAMES]) if self.info.get(_FRAMES) else Frames()
        self._derivable = derivable(self._frames, list(self._stored))
        self.groups = named([*self._stored.values(), *(group for _, group in self._derivable.values())])
        self._columns = {
            column: (group.name, i)
            for group in self.groups.values()
            for i, column in enumerate(group.columns)
        }

    # Signals

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all signals, in the order of the groups."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> Array:
        """One value per row; `time` is a signal too. A vector named without its components: rows × components."""
        if name == TIME:
            return self.time
        if name not in self._columns:
            for group in self.groups.values():
                if found := group.find(name):
                    return _frozen(self.array(group.name)[:, found])
        home, i = self._find(name)
        return self.array(home)[:, i]

    def __contains__(self, name: object) -> bool:
        return name == TIME or name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.time)

    def __repr__(self) -> str:
        span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        groups = ", ".join(f"{len(group.columns)} {group.name}" for group in self.groups.values())
        return (
            f"<Record{f' of {self.title!r}' if self.title else ''}: {len(self)} rows{span}"
            f"{f'; {groups}' if groups else ''}{'' if self.complete else '; unfinished'}>"
        )

    @property
    def title(self) -> str:
        """Name of the scene, or else of the model; empty if `info` has neither."""
        return str(self.info.get("scene") or self.info.get("model") or "")

    def find(self, pattern: str) -> list[str]:
        """Names that match a pattern, where `*` stands for any text and `?` for any character.

        A vector or quaternion named without its components stands for all of them.
        """
        vectors = (group.columns[i] for group in self.groups.values() for i in group.find(pattern))
        return matching(pattern, self._columns) or list(vectors)

    def unit(self, name: str) -> str:
        """Unit of a signal; `1` if it has none."""
        if name == TIME:
            return TIME_UNIT
        for group in () if name in self._columns else self.groups.values():
            if found := group.find(name):
                return group.units[found[0]]
        home, i = self._find(name)
        return self.groups[home].units[i]

    def array(self, group: str) -> Array:
        """All columns of a group [rows × columns], in the order of `groups[group].columns`."""
        if group not in self.groups:
            reason = why_no_group(group, self.info.get(MISSING, {}))
            hint = nearest(group, self.groups) if reason is None else f": {reason}"
            raise LinkworkError(f"the record has no group '{group}'{hint}")
        if group not in self._data:
            bodies = [column.removesuffix(".position.x") for column in self._stored["positions"].columns[::3]]
            motion = MovingFrames(self._frames, bodies, self._data.__getitem__)
            self._data[group] = _frozen(derive(self._derivable[group][0], motion, len(self)))
        return self._data[group]

    def with_point(self, name: str, body: str, at: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Record:
        """The record with the motion of a point of a body's frame [m], chosen afterwards: `<name>.position.x` ...

        Shares memory with this record.
        """
        bodies = self._stored["positions"].columns[::3] if "positions" in self._stored else ()
        owners = [column.removesuffix(".position.x") for column in bodies]
        frames = self._frames.with_point(name, body, at, owners)
        return self._like(self.time, self._kept, self.info | {_FRAMES: frames.to_dict()})

    @property
    def energy_drift(self) -> float | None:
        """Largest |energy.balance| [J]: energy gained or lost from nowhere. None if it was not recorded."""
        if "energy.balance" not in self:
            return None
        return float(np.max(np.abs(self["energy.balance"]), initial=0.0))

    # Rows

    def at(self, t: float) -> dict[str, float]:
        """All signals at a time [s], interpolated."""
        row = self.resample([t])
        return {name: float(row[name][0]) for name in row.names}

    def resample(self, times: npt.ArrayLike | None = None, *, rate: float | None = None) -> Record:
        """The record at other times [s], or from start to end at a rate [1/s].

        Interpolation is linear, and along the shortest arc for quaternions. Nothing is filtered: a rate
        below twice the highest frequency in a signal distorts it.
        """
        if (times is None) == (rate is None):
            raise LinkworkError("resample takes either times or rate=, one of the two")
        if not len(self):
            raise LinkworkError("the record has no rows to interpolate between")
        wanted = self._at_rate(rate) if rate is not None else self._at_times(times)
        place = bracket(self.time, wanted)
        data = {name: interpolate(self._stored[name], block, place) for name, block in self._kept.items()}
        return self._like(wanted, data, self.info)

    def between(self, start: float = -np.inf, end: float = np.inf) -> Record:
        """The rows from `start` to `end` [s], both included. Shares memory with this record."""
        if not start <= end:
            raise LinkworkError(f"between needs a start before its end, not {start:g} s and {end:g} s")
        slack = self._slack()
        first = np.searchsorted(self.time, start - slack, side="left")
        stop = np.searchsorted(self.time, end + slack, side="right")
        data = {name: block[first:stop] for name, block in self._kept.items()}
        return self._like(self.time[first:stop], data, self.info)

    # Files and other tools

    def save(self, path: Path | str) -> None:
        """Write an HDF5 file, which `Record.load` reads back exactly. An old file is replaced in the end."""
        groups = tuple(self._stored.values())
        hdf5.save(path, Contents(self.time, groups, self._kept, plain(self.info), self.complete))

    @classmethod
    def recover(cls, path: Path | str) -> tuple[Self, list[str]]:
        """Read what is still good of a damaged file, and tell what is lost; what is left is not `complete`."""
        contents, lost = load.salvage(path)
        return cls(*contents), lost

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a record that was saved, or the `.part` file of a run that goes on or was interrupted."""
        return cls(*load.load(path))

    def to_csv(self, path: Path | str) -> None:
        """Write a text table headed by `name [unit]`."""
        exchange.to_csv(self, path)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame indexed by time, with units in `attrs["units"]`. Needs the extra `data`."""
        return exchange.to_pandas(self)

    def to_xarray(self) -> xr.Dataset:
        """A Dataset over `time`, with `units` on every variable. Needs the extra `data`."""
        return exchange.to_xarray(self)

    def plot(self, *names: str, path: Path | str | None = None) -> Figure:
        """Draw signals, by name or pattern, over time: one plot per unit. Needs the extra `plot`.

        Without names, coordinates and energy are drawn. With a path the figure is also written, as PNG, PDF,
        SVG ... by its ending; no display is needed.
        """
        return plot(self, self._selected(names), path)

    # Within

    @property
    def _kept(self) -> dict[str, Array]:
        """Data of the groups that are stored."""
        return {name: self._data[name] for name in self._stored}

    def _like(self, time: Array, data: Mapping[str, Array], info: Mapping[str, Any]) -> Record:
        return Record(time, self._stored.values(), data, info, self.complete)

    def _find(self, name: str) -> tuple[str, int]:
        try:
            return self._columns[name]
        except KeyError:
            rates = self._stored["rates"].columns if "rates" in self._stored else ()
            reason = why_missing(name, rates, self.info.get(MISSING, {}))
            hint = nearest(name, self._columns) if reason is None else f": {reason}"
            raise LinkworkError(f"the record has no signal '{name}'{hint}") from None

    def _selected(self, patterns: Sequence[str]) -> list[str]:
        if not patterns:
            usual = [
                self.groups[group].columns for group in ("coordinates", "energy") if group in self.groups
            ]
            names = [name for columns in usual for name in columns] or list(self.names)
            if not names:
                raise LinkworkError("the record has no signals to plot")
            return names
        chosen: dict[str, None] = {}
        for pattern in patterns:
            names = self.find(pattern)
            if not names:
                # A pattern is no misspelt name, but its text may be close to one.
                hint = nearest(pattern, self._columns)
                raise LinkworkError(f"no signal of the record matches '{pattern}'{hint}")
            chosen |= dict.fromkeys(names)
        return list(chosen)

    def _slack(self) -> float:
        return _ROUNDING * float(np.max(np.abs(self.time), initial=0.0))

    def _at_times(self, times: npt.ArrayLike | None) -> Array:
        wanted = np.array(times, float)
        if wanted.ndim != 1:
            raise LinkworkError("times must be a list of times [s]; for a rate write resample(rate=...)")
        start, end, slack = self.time[0], self.time[-1], self._slack()
        outside = wanted[~((wanted >= start - slack) & (wanted <= end + slack))]
        if len(outside):
            raise LinkworkError(
                f"{outside[0]:g} s is outside of the record, which runs from {start:g} to {end:g} s"
            )
        if np.any(np.diff(wanted) < 0.0):
            raise LinkworkError("times to resample at must not decrease")
        return wanted

    def _at_rate(self, rate: float) -> Array:
        if not 0.0 < rate < np.inf:
            raise LinkworkError(f"the rate to resample at must be positive, not {rate:g} 1/s")
        start, end = self.time[0], self.time[-1]
        # A last time that the rate meets but for rounding belongs to it.
        steps = int(np.floor((end - start + self._slack()) * rate))
        wanted: Array = np.minimum(start + np.arange(steps + 1) / rate, end)
        return wanted


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Names that match a pattern, where `*` stands for any text and `?` for any character."""
    # Not fnmatch: brackets occur in names and mean themselves.
    expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return [name for name in names if re.fullmatch(expression, name, re.DOTALL)]


def _frozen(values: Array) -> Array:
    """A view that cannot be written to; the caller's own array stays as it is."""
    view = np.asarray(values, float).view()
    view.flags.writeable = False
    return view
