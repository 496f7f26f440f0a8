"""A diagram as a tape: each block becomes one operation or several, each after those that it takes at once.

`Tape` collects operations; how a block is written as operations is in `lower.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..engine.control import codes
from ..engine.kernels.record import named
from ..engine.tables import OP

NUMBERS = 8
"""Of an operation, or of a record behind it."""


class Named(NamedTuple):
    """An output of a block on the tape."""

    name: str
    unit: str
    op: int


@dataclass
class Tape:
    """Operations while a diagram is lowered."""

    records: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of operations, by block, so that a changed diagram can go on from where another one stood."""
    states: int = 0
    outputs: list[Named] = field(default_factory=list)
    owners: list[Any] = field(default_factory=list)
    """What has to live as long as the tape."""
    block: str = ""
    """Whose operations are added now."""
    _known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._record(codes.WHOLE)

    def _record(self, kind: int) -> Any:
        row: Any = np.zeros((), OP)
        row["kind"] = kind
        row["a"] = row["b"] = row["c"] = row["state"] = row["column"] = -1
        row["due"], row["margin"], row["began"], row["mode"] = math.inf, math.inf, math.inf, -1
        self.records.append(row)
        count = self._counts[self.block] = self._counts.get(self.block, -1) + 1
        self.names.append(f"{self.block}#{count}:{kind}")
        return row

    def add(
        self,
        kind: int,
        a: int = -1,
        b: int = -1,
        c: int = -1,
        p: Sequence[float] = (),
        *,
        behind: Iterable[float] = (),
        **fields: Any,
    ) -> int:
        """An operation, with numbers behind it; its place on the tape."""
        place = len(self.records)
        row = self._record(kind)
        row["a"], row["b"], row["c"] = a, b, c
        row["p"][: len(p)] = p
        for name, value in fields.items():
            row[name] = value
        if kind in codes.STATES:
            row["state"] = self.states
            self.states += 1
            row["value"] = row["x"]
        if kind in codes.TIMED and row["period"] == 0.0:
            row["due"] = -math.inf
        elif row["period"] > 0.0:
            row["due"] = 0.0
        more = list(behind)
        row["skip"] = -(-len(more) // NUMBERS)
        for k in range(0, len(more), NUMBERS):
            part = more[k : k + NUMBERS]
            self._record(codes.DATA)["p"][: len(part)] = part
        return place

    def once(self, kind: int, a: int = -1, b: int = -1, p: Sequence[float] = (), c: int = -1) -> int:
        """An operation that several blocks share: a number, a sensor."""
        key = (kind, a, b, c, *p)
        if key not in self._known:
            block, self.block = self.block, "~"
            place = self._known[key] = self.add(kind, a, b, c, p)
            if kind == codes.CONSTANT:
                self.records[place]["value"] = p[0]
            self.block = block
        return self._known[key]

    def number(self, value: float) -> int:
        """A constant."""
        return self.once(codes.CONSTANT, p=(float(value),))

    def blend(self, terms: Sequence[tuple[float, int]], offset: float = 0.0) -> int:
        """A sum of multiples, in their order."""
        terms = [(factor, op) for factor, op in terms if factor != 0.0]
        if not terms:
            return self.number(offset)
        if len(terms) == 1 and terms[0][0] == 1.0 and offset == 0.0:
            return terms[0][1]
        place = -1
        while terms:
            room = 3 if place < 0 else 2
            part, terms = terms[:room], terms[room:]
            now = part if place < 0 else [(1.0, place), *part]
            a, b, c = ([op for _, op in now] + [-1, -1])[:3]
            factors = [factor for factor, _ in now] + [0.0] * (3 - len(now))
            place = self.add(codes.BLEND, a, b, c, p=(*factors, 0.0 if terms else offset))
        return place

    def reduce(self, kind: int, ops: Sequence[int]) -> int:
        """One operation on two after the other."""
        place = ops[0]
        for op in ops[1:]:
            place = self.add(kind, place, op)
        return place

    def table(self) -> np.ndarray:
        """The records; none if there is no operation."""
        if len(self.records) == 1:
            return named(np.zeros(0, OP))
        table = np.array(self.records, OP)
        head, kinds = table[0], table["kind"]
        bounded = np.isfinite(table["p"][:, 1]) | np.isfinite(table["p"][:, 2])
        table["pieces"] = np.isin(kinds, codes.PIECES) & ((kinds != codes.INTEGRATE) | bounded)
        in_pieces = table["pieces"] != 0
        keeps_rate = (kinds == codes.COMMAND) & (table["p"][:, 0] != 0.0)
        head["a"] = int(in_pieces.any() or keeps_rate.any())
        head["b"] = int((table["due"][1:] < math.inf).any())
        head["c"] = int(np.isin(kinds, codes.MEASURED_LATER).any())
        table["samples"][np.isin(kinds, codes.MEASURED_LATER)] = -1.0
        head["due"], head["mode"] = -math.inf if head["b"] else math.inf, 0
        by_rate = in_pieces & (kinds == codes.PLAY)
        by_flow = in_pieces & (kinds == codes.INTEGRATE)
        head["p"][2:6] = (
            1.0 + (by_rate | by_flow).any(), (kinds == codes.ATTACH).any(), (kinds == codes.DRIVE_FORCE).any(),
            by_rate.any(),
        )  # fmt: skip
        _chain(table, "next_state", table["state"] >= 0)
        _chain(table, "next_piece", in_pieces)
        _chain(table, "next_late", np.isin(kinds, codes.LATE))
        _chain(table, "next_command", keeps_rate)
        _chain(table, "next_again", _again(table, in_pieces, keeps_rate))
        return named(table)


def _chain(table: np.ndarray, field_: str, chosen: npt.NDArray[np.bool_]) -> None:
    """Let each of some operations name the next one of them."""
    before = 0
    for place in np.flatnonzero(chosen).tolist():
        table[before][field_] = place
        before = place


def _again(
    table: np.ndarray, in_pieces: npt.NDArray[np.bool_], keeps_rate: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Operations whose rates hang on flows of states, and are wanted: by ends of pieces, by drives that keep a rate."""
    kinds = table["kind"]
    moving, wanted = np.isin(kinds, codes.STATES), keeps_rate.copy()
    for k in np.flatnonzero(in_pieces):
        wanted[_taken(table[k])] = True
    wanted |= in_pieces & moving
    known = -1
    while known != (known := int(moving.sum() + wanted.sum())):  # some take what comes after them
        for i in range(1, len(table)):
            moving[i] |= moving[_taken(table[i])].any()
            if wanted[-i] and kinds[-i] not in codes.STATES:
                wanted[_taken(table[-i])] = True
    return moving & wanted & (kinds >= codes.BLEND) & ~np.isin(kinds, (codes.FUNCTION, codes.PYTHON))


def _taken(op: Any) -> list[int]:
    """Places of the operations whose values another one takes."""
    kind = op["kind"]
    if kind < codes.BLEND:
        return []
    fields = ("a",) if kind in (codes.COMMAND, codes.SCALE, codes.ATTACH, codes.PICK) else ("a", "b", "c")
    return [int(op[name]) for name in fields if op[name] > 0]


WRITTEN = ("value", "x", "mode", "memory", "samples", "due")
"""What operations carry on when a diagram is changed, or saved."""


def carry_tape(names: Sequence[str], now: np.ndarray, old_names: Sequence[str], old: np.ndarray) -> None:
    """Go on with how another tape stood; operations are found by their blocks. Sources turn to the time anew."""
    if not len(now) or not len(old):
        return
    place = {name: k for k, name in enumerate(old_names)}
    for i, name in enumerate(names):
        k = place.get(name)
        if k is None or i == 0:
            continue
        if now[i]["kind"] == codes.DATA:
            if _writes(now, i):
                now[i]["p"] = old[k]["p"]
            continue
        if now[i]["kind"] in codes.TIMED and now[i]["kind"] != codes.NOISE:
            continue
        if now[i]["period"] != old[k]["period"]:
            continue
        for field_ in WRITTEN:
            now[i][field_] = old[k][field_]
    now[0]["due"] = -math.inf if now[0]["b"] else math.inf


def _writes(tape: np.ndarray, i: int) -> bool:
    """Whether the operation before a record of numbers writes to them."""
    while tape[i]["kind"] == codes.DATA:
        i -= 1
    return tape[i]["kind"] in (codes.DELAY, codes.AVERAGE)
