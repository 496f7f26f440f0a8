"""STEP assemblies to models: parts as bodies with the mass of their solids, joints from names or a file beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..io.files import stamp
from ..io.kinds import file_types
from ..model import GROUND, Body, Mesh, Model
from ..model.errors import LinkworkError, ModelError, Problem, nearest
from ..model.joints import Free, Weld
from ..model.rotation import vector
from .mjcf_geoms import kept_file
from .places import PlaceError, Places
from .report import Fate, Imported, LossReport
from .step_joints import Candidate, Shape, candidates, chosen
from .step_parts import Part, read_parts
from .step_scan import check_step
from .step_sidecar import ENDING, Sidecar, check_names, make_joint, read_sidecar
from .touching import let_touch
from .values import Names, Pose, six

USUAL = 1000.0
"""Density of what says none [kg/m³]."""
_SLACK = 1e-5
"""Share of the size of an assembly that lengths may differ by where they are to be one."""


def read_step(
    file: Path,
    *,
    search: Sequence[Path] = (),
    meshes: bool = True,
    free_base: bool = False,
    contact: bool = False,
    joints: Path | None = None,
    density: float | None = None,
) -> Imported:
    """The model of a STEP assembly; needs the extra `cad`.

    Joints stand in the file `joints`, by default NAME.joints.yaml beside it, or are parts called
    `hinge:name:one:other`. What nothing joins is welded to the assembly that it is in.
    """
    assembly = Assembly(file, search, joints, density, meshes)
    model = assembly.model(free_base)
    if contact:
        let_touch(model, assembly.report)
    return Imported(model, assembly.report)


class Suggested(NamedTuple):
    """Joints that the shapes of an assembly suggest."""

    candidates: list[Candidate]
    model: Model
    """The assembly without joints of its own."""
    unsaid: bool
    """Whether there are parts that say no density."""


def suggest_joints(path: str | os.PathLike[str]) -> Suggested:
    """Joints that coaxial cylinders, concentric spheres and faces on each other suggest; needs the extra `cad`."""
    assembly = Assembly(Path(path), (), None, None, True, alone=True)
    found = chosen(assembly.found, assembly.shapes, assembly.slack)
    unsaid = any(part.density is None for part in assembly.parts.values())
    return Suggested(found, assembly.model(False), unsaid)


class Assembly:
    """A STEP file with all that is known about it."""

    def __init__(
        self,
        file: Path,
        search: Sequence[Path],
        joints: Path | None,
        density: float | None,
        meshes: bool,
        *,
        alone: bool = False,
    ):
        self.file, self.given = Path(os.path.abspath(file)), density
        self.report = LossReport()
        check_step(self.file)
        self.sidecar = Sidecar() if alone else self._sidecar(search, joints)
        self.problems = self.sidecar.problems
        self.parts: dict[str, Part] = {}
        self.hinted: list[Part] = []
        """Parts that are no parts, but say where joints are."""
        names = Names()
        for part in read_parts(self.file, meshes):
            if _hint(part.name):
                self.hinted.append(part)
            else:
                self.parts[self._fit(names, part)] = part
        if not self.parts:
            raise ModelError([Problem("", "has no parts but those that stand for joints", self.file)])
        self.shapes = [Shape(name, part.surfaces, part.low, part.high) for name, part in self.parts.items()]
        size = max(float(np.linalg.norm(shape.high - shape.low)) for shape in self.shapes)
        self.slack = _SLACK * size
        self.found = candidates(self.shapes, self.slack)

    def _sidecar(self, search: Sequence[Path], joints: Path | None) -> Sidecar:
        beside = self.file.with_name(f"{self.file.stem}{ENDING}")
        if joints is not None:
            return read_sidecar(joints)
        if not beside.exists():
            return Sidecar()
        try:
            return read_sidecar(Places(self.file, tuple(search)).find(beside.name))
        except PlaceError as error:
            raise LinkworkError(str(error)) from None

    def _fit(self, names: Names, part: Part) -> str:
        """A name like the part's own; where several have that, with the assembly that they are in."""
        fitting = names.fit(part.name)
        if fitting != part.name:
            where = "/".join((*part.path, part.name))
            self.report.add("mapped", f"part '{where}'", f"it is called '{fitting}' here", self.file)
        return fitting

    def model(self, free_base: bool) -> Model:
        """Bodies, and what holds them together."""
        model = Model(_model_name(self.file))
        self._bodies(model)
        check_names(self.sidecar, self.parts)
        self._joints(model)
        if self.problems:
            raise ModelError(self.problems)
        self._hold(model, free_base)
        self.report.add(
            "dropped", "layers, dimensions, notes, curves and points", "they are no mechanics", self.file
        )
        known = [self.file] if self.sidecar.file is None else [self.file, self.sidecar.file]
        model.files = {str(path.absolute()): stamp(str(path.absolute())) for path in known}
        return model

    # --- bodies ---

    def _bodies(self, model: Model) -> None:
        for name, part in self.parts.items():
            if part.volume <= 0.0:
                what = "encloses no volume: its surface is open or inside out; mend it in CAD"
                self.problems.append(Problem(f"part '{name}'", what, self.file))
                continue
            rho = self._density(name, part)
            look = (
                (Mesh(str(kept_file(part.name, ".obj", part.mesh)), color=part.color),) if part.mesh else ()
            )
            model.add(
                Body(
                    name, at=part.pose.at, rotation=part.pose.rotation, mass=rho * part.volume,
                    com=vector(part.centre), inertia=six(rho * part.inertia), shapes=look,
                )
            )  # fmt: skip
            self.report.add("taken", f"part '{name}'", "", self.file)
        if any(part.mesh for part in self.parts.values()):
            how = "triangles, up to 0.2 % of a part's size off; masses are those of the exact solids"
            self.report.add("approximated", "shapes", how, self.file)

    def _density(self, name: str, part: Part) -> float:
        """By the sidecar, by what is asked for, by the file, or as of water."""
        for known in (self.sidecar.density(name), self.given, part.density):
            if known is not None:
                return known
        how = f"nothing says what it is made of: {USUAL:g} kg/m³; state it by densities of NAME{ENDING} or --density"
        self.report.add("approximated", f"density of part '{name}'", how, self.file)
        return USUAL

    # --- joints ---

    def _joints(self, model: Model) -> None:
        for name, entry in self.sidecar.joints.items():
            made = make_joint(name, entry, self.parts, self.found)
            if made is None:
                continue
            joint, how = made
            try:
                model.add(joint)
            except ModelError as error:
                entry.refuse(error.problems[0].what)
                continue
            told = f"found by {how}" if how else ""
            self.report.add(
                "mapped" if how else "taken", f"{joint.kind} '{name}'", told, str(self.sidecar.file)
            )
        for part in self.hinted:
            self._by_name(model, part)

    def _by_name(self, model: Model, part: Part) -> None:
        """A joint where a part stands that is called `hinge:name:one:other`."""
        kind, name, *ends = (_fitting(word) for word in part.name.split(":"))
        where = f"part '{part.name}'"
        for end in ends:
            if end not in self.parts and end != GROUND:
                what = f"there is no part '{end}'{nearest(end, self.parts)}"
                self.problems.append(Problem(where, what, self.file))
                return
        found = part.surfaces
        fields: dict[str, Any] = {"at": part.pose.at}
        if found.rounds:
            one = found.rounds[0]
            fields = {
                "at": vector(one.point + 0.5 * (one.low + one.high) * one.axis),
                "axis": vector(one.axis),
            }
        elif found.balls:
            fields = {"at": vector(found.balls[0].centre)}
        elif kind not in ("weld", "free"):
            what = "is neither a cylinder along the axis of the joint nor a sphere at its centre"
            self.problems.append(Problem(where, what, self.file))
            return
        try:
            model.add(file_types("joints")[kind](name, *ends, **fields))
        except (LinkworkError, TypeError) as error:
            self.problems.append(Problem(where, str(error), self.file))
            return
        self.report.add("mapped", where, f"the {kind} '{name}' stands there; it has no mass", self.file)

    def _hold(self, model: Model, free_base: bool) -> None:
        """Weld what nothing joins to the assembly that it is in, and the root to the ground."""
        groups = {name: name for name in self.parts}

        def root(name: str) -> str:
            while groups[name] != name:
                name = groups[name]
            return name

        grounded = GROUND
        for joint in model.joints.values():
            ends = [joint.a, joint.b]
            if GROUND in ends:
                ends.remove(GROUND)
                if grounded == GROUND:
                    grounded = ends[0]
                ends.append(grounded)
            groups[root(ends[0])] = root(ends[1])
        taken = Names(model.joints)

        def weld(one: str, other: str) -> None:
            groups[root(other)] = root(one)
            model.add(Weld(taken.fit(f"{one}_{other}_fixed"), one, other, at=model.bodies[other].at))

        # From the innermost assemblies outward, the one of all last.
        for depth in range(max(len(part.path) for part in self.parts.values()), 0, -1):
            homes: dict[tuple[str, ...], str] = {}
            for name, part in self.parts.items():
                if len(part.path) < depth:
                    continue
                first = homes.setdefault(part.path[:depth], name)
                if root(first) != root(name) and not (depth == 1 and self._whole()):
                    weld(first, name)
                    how = f"no joint leads to it: it is fixed to '{first}' of its assembly"
                    self.report.add("mapped", f"part '{name}'", how, self.file)
        self._ground(model, root, weld, grounded, free_base)

    def _whole(self) -> bool:
        """Whether all parts are in one outermost assembly."""
        return len({part.path[:1] for part in self.parts.values()}) == 1

    def _ground(self, model: Model, root: Any, weld: Any, grounded: str, free_base: bool) -> None:
        """What stands still, or moves freely."""
        still = [name for name in self.sidecar.ground if name in self.parts]
        first = still[0] if still else grounded if grounded != GROUND else next(iter(self.parts))
        for name in still[1:]:
            if root(name) != root(first):
                weld(first, name)
        if not (grounded != GROUND and root(grounded) == root(first)):
            pose: Pose = self.parts[first].pose
            frame: dict[str, Any] = {"at": pose.at}
            if free_base:
                frame |= {"axis": (0.0, 0.0, 1.0), "reference": (1.0, 0.0, 0.0)}
            model.add(
                (Free if free_base else Weld)(
                    Names(model.joints).fit(f"{first}_base"), GROUND, first, **frame
                )
            )
            how = (
                "it moves freely"
                if free_base
                else "it is welded to the ground; free_base (--free-base) lets it move"
            )
            fate: Fate = "mapped" if still or free_base else "approximated"
            told = "" if still else f"; it is the first part: name others by ground of NAME{ENDING}"
            self.report.add(fate, f"part '{first}'", how + told, self.file)
        for name in self.parts:
            if root(name) != root(first):
                weld(first, name)
                how = f"no joint leads to it: it is fixed to '{first}'; give it a joint in NAME{ENDING}"
                self.report.add("approximated", f"part '{name}'", how, self.file)


def _hint(name: str) -> bool:
    """Whether a name says that a part stands for a joint: `hinge:name:one:other`."""
    words = name.split(":")
    return len(words) == 4 and words[0] in file_types("joints") and all(words)


def _fitting(word: str) -> str:
    return Names().fit(word) if word != GROUND else word


def _model_name(file: Path) -> str:
    return Names().fit(file.stem)
