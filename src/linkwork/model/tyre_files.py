"""Tyre property files (.tir): sections, keys and units, and what of it is taken.

Coefficients of the Magic Formula are told by the names of such files, MF-Tyre 5.2 and MF-Tyre/MF-Swift 6.1.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .errors import ModelError, Problem, nearest
from .shape_files import file_version

COEFFICIENTS = [
    "FNOMIN", "FITTYP", "SENSE", "DPI", "LONGVL", "LFZO", "LCX", "LMUX", "LEX", "LKX", "LHX", "LVX", "LCY",
    "LMUY", "LEY", "LKY", "LHY", "LVY", "LGAY", "LGAZ", "LKYC", "LTR", "LRES", "LXAL", "LYKA", "LVYKA", "LS",
    "LMX", "LVMX", "LMY", "PCX1", "PDX1", "PDX2", "PDX3", "PEX1", "PEX2", "PEX3", "PEX4", "PKX1", "PKX2", "PKX3",
    "PHX1", "PHX2", "PVX1", "PVX2", "PPX1", "PPX2", "PPX3", "PPX4", "RBX1", "RBX2", "RBX3", "RCX1", "REX1",
    "REX2", "RHX1", "PCY1", "PDY1", "PDY2", "PDY3", "PEY1", "PEY2", "PEY3", "PEY4", "PEY5", "PKY1", "PKY2",
    "PKY3", "PKY4", "PKY5", "PKY6", "PKY7", "PHY1", "PHY2", "PHY3", "PVY1", "PVY2", "PVY3", "PVY4", "PPY1",
    "PPY2", "PPY3", "PPY4", "PPY5", "RBY1", "RBY2", "RBY3", "RBY4", "RCY1", "REY1", "REY2", "RHY1", "RHY2",
    "RVY1", "RVY2", "RVY3", "RVY4", "RVY5", "RVY6", "QSX1", "QSX2", "QSX3", "QSY1", "QSY2", "QSY3", "QSY4",
    "QBZ1", "QBZ2", "QBZ3", "QBZ4", "QBZ5", "QBZ9", "QBZ10", "QCZ1", "QDZ1", "QDZ2", "QDZ3", "QDZ4", "QDZ6",
    "QDZ7", "QDZ8", "QDZ9", "QDZ10", "QDZ11", "QEZ1", "QEZ2", "QEZ3", "QEZ4", "QEZ5", "QHZ1", "QHZ2", "QHZ3",
    "QHZ4", "SSZ1", "SSZ2", "SSZ3", "SSZ4",
]  # fmt: skip
"""Names of the numbers of a law, in the order of `engine/tyres/magic.py`."""

_UNITS: dict[str, dict[str, float]] = {
    "LENGTH": {"meter": 1.0, "metre": 1.0, "m": 1.0, "mm": 1e-3, "cm": 1e-2, "inch": 0.0254, "foot": 0.3048},
    "FORCE": {
        "newton": 1.0,
        "n": 1.0,
        "kn": 1e3,
        "kilonewton": 1e3,
        "pound_force": 4.4482216152605,
        "kg_force": 9.80665,
    },
    "ANGLE": {"radians": 1.0, "radian": 1.0, "rad": 1.0},
    "MASS": {"kg": 1.0, "kilogram": 1.0, "gram": 1e-3, "pound_mass": 0.45359237, "slug": 14.593902937},
    "TIME": {"second": 1.0, "sec": 1.0, "s": 1.0},
    "PRESSURE": {"pascal": 1.0, "pa": 1.0, "kpa": 1e3, "bar": 1e5},
}
_SOFTER, _STIFFER = 3.0, 1000.0  # radii per deflection under the nominal load that a tyre may have
_DAMPED = 0.02  # of critical, vertically, by default
_FREE, _OF_LOAD = 1 / 3, 9.81
_ALSO_READ = {
    "UNLOADED_RADIUS", "WIDTH", "VERTICAL_STIFFNESS", "VERTICAL_DAMPING", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS",
    "BREFF", "DREFF", "FREFF", "PTX1", "PTX2", "PTX3", "PTY1", "PTY2", "LSGKP", "LSGAL", "INFLPRES", "NOMPRES",
    "TYRESIDE",
    "PROPERTY_FILE_FORMAT", "FILE_TYPE", "FILE_VERSION", "FILE_FORMAT", *_UNITS,
}  # fmt: skip


class TyreFile(NamedTuple):
    """What was taken of a tyre property file, in SI units."""

    name: str
    fit: int
    """52 or 61: which Magic Formula."""
    side: str
    """For which side it was measured, "left" or "right"; nothing if it is symmetric or does not say."""
    convention: str
    """Its axes: "ISO" (y to the left, z upwards) or "SAE" (y to the right, z downwards), by the sign of PKY1."""
    radius: float
    """[m]"""
    width: float
    """[m]"""
    load: float
    """Nominal load [N]."""
    stiffness: float
    """Vertical [N/m]."""
    damping: float
    """Vertical [N s/m]."""
    rolling_share: float
    """Share of the deflection by which the rolling radius is less than the unloaded one, at the nominal load."""
    carcass: tuple[float, float]
    """Stiffness along and across [N/m]."""
    numbers: tuple[float, ...]
    """Of the law, in the order of `COEFFICIENTS`."""
    left_out: tuple[str, ...]
    """What of the file is not taken, in words."""


def read_tyre(file: str) -> TyreFile:
    """Read a .tir file; a ModelError tells everything that is wrong with it, with lines."""
    return _read(*file_version(str(file)))


@lru_cache(maxsize=64)
def _read(file: str, changed: int, size: int) -> TyreFile:
    try:
        text = Path(file).read_text(encoding="latin-1")
    except OSError as error:
        raise ModelError([Problem(f"tyre '{file}'", f"cannot be read: {error.strerror}")]) from None
    return _Reader(file, text).tyre()


class _Reader:
    """The keys of a file, and what was found wrong."""

    def __init__(self, file: str, text: str):
        self.file = file
        self.values: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.left_out: list[str] = []
        for k, line in enumerate(text.splitlines(), 1):
            found = re.match(r"\s*([A-Za-z_]\w*)\s*=\s*('[^']*'|\"[^\"]*\"|[^\s$!]+)", line)
            if found:
                name = found[1].upper()
                self.values[name], self.lines[name] = found[2].strip("'\" "), k

    def wrong(self, key: str, what: str) -> None:
        self.problems.append(
            Problem(f"tyre '{Path(self.file).name}': {key}", what, Path(self.file), self.lines.get(key))
        )

    def number(self, key: str, default: float = math.nan) -> float:
        if key not in self.values:
            return default
        try:
            value = float(self.values[key].replace("D", "E").replace("d", "e"))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.wrong(key, f"must be a finite number (got '{self.values[key][:40]}')")
            return default
        return value

    def unit(self, key: str) -> float:
        known = _UNITS[key]
        if key not in self.values:
            if key != "PRESSURE":
                self.wrong(
                    key,
                    f"is missing from [UNITS]: numbers mean nothing without; such as {key} = '{next(iter(known))}'",
                )
            return 1.0
        said = self.values[key].lower()
        if said not in known:
            other = [name for name, units in _UNITS.items() if said in units]
            hint = (
                f": '{said}' is a unit of {other[0].lower()}; are units swapped?"
                if other
                else nearest(said, known)
            )
            self.wrong(key, f"must be one of {', '.join(known)}{hint}")
            return 1.0
        return known[said]

    def positive(self, key: str, unit: float) -> float:
        value = self.number(key)
        if key not in self.values:
            self.wrong(key, "is missing")
        elif not value > 0.0:
            self.wrong(key, f"must be greater than 0 (got {value:g})")
        return value * unit

    def tyre(self) -> TyreFile:
        length, force, _, _, second, pressure = (self.unit(key) for key in _UNITS)
        radius, load = self.positive("UNLOADED_RADIUS", length), self.positive("FNOMIN", force)
        stiffness = self.positive("VERTICAL_STIFFNESS", force / length)
        for key in ("PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2"):
            if key not in self.values:
                self.wrong(key, "is missing: this is no file of the Magic Formula, or cut short")
        low, high = self.number("FZMIN", 0.0), self.number("FZMAX", math.inf)
        if low < 0.0 or high <= low:
            self.wrong(
                "FZMAX" if low >= 0.0 else "FZMIN",
                f"the range of loads, {low:g} to {high:g}, must be positive and grow",
            )
        fit, stated = self._fit()
        if self.problems:
            raise ModelError(self.problems)
        radii = radius * stiffness / load
        if not _SOFTER < radii < _STIFFER:
            self.wrong(
                "VERTICAL_STIFFNESS",
                f"presses the tyre in by {100 / radii:.3g} % of its radius under FNOMIN {load:g} N: are units swapped?",
            )
        values = {name: self.number(name, 1.0 if name.startswith("L") else 0.0) for name in COEFFICIENTS}
        for key in sorted(set(self.values) & {"BREFF", "DREFF", "FREFF", "VERTICAL_DAMPING", "WIDTH"}):
            self.number(key)
        if self.problems:
            raise ModelError(self.problems)
        values |= {"FNOMIN": load, "FITTYP": float(fit), "SENSE": 1.0 if values["PKY1"] < 0.0 else -1.0}
        nominal, inflation = (self.number(key, 0.0) * pressure for key in ("NOMPRES", "INFLPRES"))
        values["DPI"] = (
            (inflation - nominal) / nominal if fit == 61 and nominal > 0.0 and inflation > 0.0 else 0.0
        )
        values["LONGVL"] = self.number("LONGVL", 16.7 * second / length) * length / second
        if fit == 61 and "PKY4" not in self.values:
            values["PKY4"] = 2.0
        self._report(values, stated)
        damping = self.number("VERTICAL_DAMPING", -1.0)
        critical = 2.0 * math.sqrt(stiffness * load / _OF_LOAD)
        share = _FREE
        if "BREFF" in self.values:
            share = self.number("DREFF", 0.0) * math.atan(self.number("BREFF")) + self.number("FREFF", 0.0)
        return TyreFile(
            Path(self.file).name, fit, self._side(), "ISO" if values["PKY1"] < 0.0 else "SAE", radius,
            self.number("WIDTH", 0.6 * radius / length) * length, load, stiffness,
            damping * force * second / length if damping >= 0.0 else _DAMPED * critical, share,
            self._carcass(values, radius, load, force / length),
            tuple(values[name] for name in COEFFICIENTS), tuple(self.left_out),
        )  # fmt: skip

    def _fit(self) -> tuple[int, int]:
        stated = int(self.number("FITTYP", 61.0 if "PKY4" in self.values else 52.0))
        if stated in (5, 6, 51, 52):
            return 52, stated
        if stated in (60, 61, 62):
            return 61, stated
        self.wrong(
            "FITTYP",
            f"{stated} is not known: 52 (MF 5.2) and 61 (MF 6.1) are read, 51 and 62 as far as they agree",
        )
        return 52, stated

    def _side(self) -> str:
        said = self.values.get("TYRESIDE", "").lower()
        return said if said in ("left", "right") else ""

    def _carcass(
        self, values: dict[str, float], radius: float, load: float, unit: float
    ) -> tuple[float, float]:
        """Stiffness of the carcass: as stated, or slip stiffness over relaxation length at the nominal load."""
        nominal = values["LFZO"] * load
        slip = load * values["PKX1"] * values["LKX"]
        turn = values["PKY4"] if values["FITTYP"] == 61.0 else 2.0
        cornering = (
            abs(values["PKY1"])
            * nominal
            * math.sin(turn * math.atan(load / nominal / values["PKY2"]))
            * values["LKY"]
        )
        sigma_x, sigma_y = 0.5 * radius, 1.2 * radius
        if "PTX1" in self.values:
            sigma_x = self.number("PTX1") * radius * self.number("LSGKP", 1.0)
        if "PTY1" in self.values:
            reach = self.number("PTY2", 1.0)
            sigma_y = self.number("PTY1") * math.sin(2.0 * math.atan(load / (reach * nominal))) * radius
            sigma_y *= self.number("LSGAL", 1.0)
        found = []
        for key, stiff, sigma in (
            ("LONGITUDINAL_STIFFNESS", slip, sigma_x), ("LATERAL_STIFFNESS", cornering, sigma_y)
        ):  # fmt: skip
            stated = self.number(key, 0.0) * unit
            found.append(stated if stated > 0.0 else abs(stiff) / max(abs(sigma), 0.05 * radius))
        return found[0], found[1]

    def _report(self, values: dict[str, float], stated: int) -> None:
        said = self.left_out.append
        if stated not in (52, 61):
            said(f"FITTYP {stated} is read as {int(values['FITTYP'])}: what it has beyond that is left out")
        if values["SENSE"] < 0.0:
            said("PKY1 is positive: axes are taken as SAE, y to the right and z downwards")
        if "BREFF" in self.values:
            said("BREFF, DREFF, FREFF: the rolling radius is theirs at FNOMIN, and linear in the deflection")
        known = {*COEFFICIENTS, *_ALSO_READ}
        rest = [name for name in self.values if name not in known and self.values[name] not in ("0", "0.0")]
        if rest:
            said(f"not taken: {', '.join(sorted(rest))}")
