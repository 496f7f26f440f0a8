"""What a STEP file cannot say, in a small file beside it: joints, what stands still, what parts weigh."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..io.entry import Entry
from ..io.kinds import file_types
from ..io.yaml_source import read_source
from ..model.errors import LinkworkError, ModelError, Problem, nearest
from ..model.item import GROUND, _is_number, field_names
from ..model.joints.base import Joint
from .step_joints import Candidate

ENDING = ".joints.yaml"
"""Of the file beside `arm.step`: `arm.joints.yaml`."""
_KEYS = ("ground", "densities", "joints")
_FITS = {
    "hinge": ("hinge", "cylindrical"), "cylindrical": ("cylindrical", "hinge"), "screw": ("cylindrical", "hinge"),
    "slider": ("slider", "cylindrical", "hinge"), "spherical": ("spherical",), "planar": ("planar",),
    "weld": (), "free": (),
}  # fmt: skip
"""Joints, and what of the shapes tells their axis."""


@dataclass
class Sidecar:
    """What it says."""

    file: Path | None = None
    ground: tuple[str, ...] = ()
    densities: dict[str, float] = field(default_factory=dict)
    """[kg/m³] by patterns of names, the first that fits counts."""
    joints: dict[str, Entry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def density(self, name: str) -> float | None:
        """Of a part [kg/m³], if it says so."""
        return next((rho for key, rho in self.densities.items() if fnmatch.fnmatchcase(name, key)), None)


def read_sidecar(file: Path) -> Sidecar:
    """Read it; what is wrong with it is gathered."""
    node, twice = read_source(file)
    found = Sidecar(file, problems=twice)
    root = Entry(file, (), node, (node.line, node.column), found.problems)
    if not isinstance(root.value, dict):
        root.refuse(f"must be a mapping with {', '.join(_KEYS)}")
        return found
    root.refuse_unknown(_KEYS)
    if (entry := root.get("ground")) is not None:
        names = entry.node.plain() if isinstance(entry.value, list) else [entry.value]
        if all(isinstance(name, str) for name in names):
            found.ground = tuple(names)
        else:
            entry.refuse(f"must be names of parts (got {entry.shown})")
    if (entry := root.get("densities")) is not None:
        _densities(entry, found)
    if (entry := root.get("joints")) is not None:
        if isinstance(entry.value, dict):
            found.joints = dict(entry.entries())
        else:
            entry.refuse("must be a mapping from names to joints")
    return found


def _densities(entry: Entry, found: Sidecar) -> None:
    if not isinstance(entry.value, dict):
        entry.refuse('must be a mapping from names of parts to densities, "*" for all others [kg/m³]')
        return
    for key, one in entry.entries():
        if _is_number(one.value) and one.value > 0.0:
            found.densities[key] = float(one.value)
        else:
            one.refuse(f"must be a density [kg/m³] (got {one.shown})")


def check_names(sidecar: Sidecar, names: Collection[str]) -> None:
    """Note names that no part has."""
    if sidecar.file is None:
        return
    node, _ = read_source(sidecar.file)
    root = Entry(sidecar.file, (), node, (node.line, node.column), sidecar.problems)
    for name in sidecar.ground:
        if name not in names and (entry := root.get("ground")) is not None:
            entry.refuse(f"there is no part '{name}'{nearest(name, names)}")
    densities = root.get("densities")
    for pattern in sidecar.densities:
        if densities is not None and not fnmatch.filter(names, pattern):
            entry = densities.get(pattern)
            assert entry is not None
            entry.refuse(f"no part has a name like that{nearest(pattern, names)}", at_key=True)


def make_joint(
    name: str, entry: Entry, names: Collection[str], found: Sequence[Candidate]
) -> tuple[Joint, str] | None:
    """A joint that an entry describes, its axis by the shapes where it gives none, and how it was found."""
    if not isinstance(entry.value, dict):
        entry.refuse("must be a mapping: {type: hinge, a: one, b: other}")
        return None
    kinds: dict[str, Any] = dict(file_types("joints"))
    fields: dict[str, Any] = entry.node.plain()
    kind = fields.pop("type", None)
    cls = kinds.get(kind) if isinstance(kind, str) else None
    if cls is None:
        entry.refuse(
            f"needs a type of joint{nearest(str(kind), kinds)}", ("type",) if kind is not None else ()
        )
        return None
    before = len(entry.problems)
    entry.refuse_unknown(("type", *(one for one in field_names(cls) if one != "name")))
    for end in ("a", "b"):
        body = fields.get(end)
        if not isinstance(body, str) or (body not in names and body != GROUND):
            what = f"there is no part '{body}'{nearest(str(body), names)}" if body else "needs a part"
            entry.refuse(what, (end,) if end in fields else ())
    if len(entry.problems) > before:
        return None
    how = ""
    if kind not in ("weld", "free") and "at" not in fields:
        one = _find(entry, str(kind), fields, found)
        if one is None:
            return None
        fields["at"], how = one.at, one.why
        if kind != "spherical":
            fields.setdefault("axis", one.axis)
    try:
        made: Joint = cls(name, fields.pop("a"), fields.pop("b"), **fields)
    except ModelError as error:
        for problem in error.problems:
            entry.refuse(problem.what if not problem.where else f"{problem.where}: {problem.what}")
        return None
    except (LinkworkError, TypeError) as error:
        entry.refuse(str(error))
        return None
    return made, how


def _find(entry: Entry, kind: str, fields: dict[str, Any], found: Sequence[Candidate]) -> Candidate | None:
    """The one axis that two parts share."""
    ends = {fields["a"], fields["b"]}
    for fitting in _FITS.get(kind, ()):
        fit = [one for one in found if {one.a, one.b} == ends and one.kind == fitting]
        if len(fit) == 1:
            return fit[0]
        if fit:
            choice = "; ".join(f"at {list(one.at)}, axis {list(one.axis)}" for one in fit[:4])
            entry.refuse(f"the parts share {len(fit)} axes: say which by at and axis ({choice})")
            return None
    entry.refuse(f"the shapes of its parts do not tell where a {kind} is: give at and axis")
    return None


def sidecar_text(found: Sequence[Candidate], ground: str, unsaid: bool) -> str:
    """A file with all candidates as joints."""
    lines = [
        "# Joints of an assembly. Without `at` and `axis` (metres, in the assembly), the shapes of a and b tell.",
        f"ground: {_quoted(ground)}  # what stands still",
    ]
    if unsaid:
        lines += ["densities:  # kg/m³, by name; the first that fits counts", '  "*": 1000']
    lines += ["joints:" if any(one.kind != "planar" for one in found) else "joints: {}"]
    taken: dict[str, int] = {}
    for one in found:
        taken[one.name] = taken.get(one.name, 0) + 1
        name = one.name if taken[one.name] == 1 else f"{one.name}_{taken[one.name]}"
        several = sum((c.a, c.b, c.kind) == (one.a, one.b, one.kind) for c in found) > 1
        place = f", at: {list(one.at)}, axis: {list(one.axis)}" if several and one.kind != "weld" else ""
        # Faces that lie on each other are fastened more often than they glide.
        unsure = "# or a weld: " if one.kind == "planar" else ""
        ends = f"a: {_quoted(one.a)}, b: {_quoted(one.b)}"
        lines.append(f"  {unsure}{_quoted(name)}: {{type: {one.kind}, {ends}{place}}}  # {one.why}")
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return (
        name
        if name.replace("_", "").isalnum() and not name[0].isdigit()
        else '"' + name.replace('"', "") + '"'
    )
