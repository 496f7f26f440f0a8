"""The doctor: what a mechanism is, and everything about it that looks wrong, all at once, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt, tau
from typing import Any, Literal

import numpy as np

from ..compile.compiler import Compiled
from ..compile.system import System
from ..engine.elements import Repeater
from ..mechanism.assemble import assemble
from ..mechanism.assembly import Assembly
from ..mechanism.dependence import LOCKED, dependence
from ..mechanism.softness import softness
from ..methods.capabilities import STIFF_SPRINGS
from ..methods.options import DEFAULT_DT
from ..model import Flat, Model
from ..model.errors import LinkworkError, ModelError
from ..model.item import GROUND
from ..model.rotation import Array
from ..run.simulate import Simulation
from .cures import Diagnosis
from .redundancy import diagnose
from .stresses import Loop, Redundant
from .trial import Trial, try_out

# Bodies further apart in mass than this are usually a slip of units; explicit steps also suffer.
_MASS_RATIO = 1e4
# An inertia beyond that of the same mass spread over this length, or below that of this length [m].
_LARGE, _SMALL = 10.0, 1e-3
_SHOWN = 4  # loops that findings speak of; the rest is counted
# What a model can do wrong: numbers without bound leave no singular values.
_WRONG = (LinkworkError, np.linalg.LinAlgError)
# Implicit steps damp a vibration by a share ω h/2 of the critical: beyond this it is lost, at this it is kept.
_LOST, _KEPT = 0.5, 0.02
_NEARLY = 1e-3  # a locked mechanism this near to a freedom was probably meant to move


@dataclass(frozen=True)
class Finding:
    """One thing the doctor noticed."""

    level: Literal["error", "warning", "note"]
    where: str
    what: str


@dataclass
class Checkup:
    """The result of `check`."""

    model: str
    bodies: int
    joints: int
    dof: int
    """Grübler's count: rates of the tree less the equations of the cut joints and couplings."""
    mobility: int | None = None
    """Degrees of freedom that it really has near its start; None if that could not be told."""
    redundant_equations: int = 0
    """Joint equations that say what others say already."""
    redundant: list[Redundant] = field(default_factory=list)
    """Joints that have such equations, and how many could be given up in each."""
    loops: list[Loop] = field(default_factory=list)
    """Loops that are overconstrained by themselves."""
    suggestions: list[str] = field(default_factory=list)
    """Changes that together leave no redundant equation, or as few as were found, and keep the mobility."""
    singular: bool = False
    """The start is a singular position."""
    singular_distance: float | None = None
    """Of the start from a singular position: smallest singular value of the scaled Jacobian against the largest."""
    nearest_singular: Trial | None = None
    """The nearest singular position of a short run."""
    start: list[str] = field(default_factory=list)
    """What assembly changes of the start as written."""
    tree: list[str] = field(default_factory=list)
    """Joints of the tree as `parent --joint--> child`, from the ground outward."""
    cuts: list[str] = field(default_factory=list)
    """Joints that close loops."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No errors."""
        return not any(finding.level == "error" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ok": self.ok}

    def add(self, level: Literal["error", "warning", "note"], where: str, what: str) -> None:
        """One more finding."""
        self.findings.append(Finding(level, where, what))

    def _fail(self, error: Exception, where: str) -> None:
        """Findings of an error, each once."""
        problems = error.problems if isinstance(error, ModelError) else ()
        found = [Finding("error", problem.where, problem.what) for problem in problems]
        for finding in found or [Finding("error", where, str(error))]:
            if finding not in self.findings:
                self.findings.append(finding)


def check(model: Model, *, test_run: bool = True) -> Checkup:
    """Look a model over; with `test_run` also simulate a second of it with the default method and step.

    Nothing that is wrong with a model raises: it becomes a finding.
    """
    compiled = Compiled(model)
    flat = compiled.flat
    checkup = Checkup(model.name, len(flat.bodies), len(flat.joints), 0)
    for problem in flat.problems():
        checkup.add("error", problem.where, problem.what)
    if not flat.bodies:
        checkup.add("error", "bodies", "the model has none")
    if checkup.ok:
        _look_at_tree(checkup, compiled)
        _look_at_mechanism(checkup, compiled, test_run)
    _weigh(checkup, flat)
    used = {name for joint in flat.joints.values() for name in (joint.a, joint.b)}
    if flat.joints and GROUND not in used:
        checkup.add("note", GROUND, "no joint is fixed to the ground: the mechanism floats")
        _look_for_ground(checkup, flat)
    return checkup


def _look_for_ground(checkup: Checkup, flat: Flat) -> None:
    """What floats and may touch, with nothing below it: wheels without a road."""
    touching = [name for name, body in flat.bodies.items() if body.material is not None]
    if touching and not any(thing.material is not None for thing in flat.scenery.values()):
        what = (
            f"{_listed(touching)} may touch, but there is no scenery with a material to stand on: add a road (a "
            "plane, a height field), or give the one that is there a material"
        )
        checkup.add("warning", "scenery", what)


def _look_at_tree(checkup: Checkup, compiled: Compiled) -> None:
    flat, (edges, cut, notes) = compiled.flat, compiled.spanning
    cuts = [joint for joint in cut if joint.attached_at_start]
    checkup.tree = [f"{edge.parent} --{edge.joint.name}--> {edge.child}" for edge in edges]
    checkup.cuts = [joint.name for joint in cuts]
    checkup.dof = sum(len(edge.joint.rates) for edge in edges) - sum(joint.held for joint in cuts)
    checkup.dof -= sum(isinstance(coupling, Repeater) for coupling in flat.couplings.values())
    for note in notes:
        checkup.add("note", "tree", note)
    for joint in cut:
        if joint.switchable:
            state = "attached" if joint.attached_at_start else "released"
            what = f"is attached and released during a run; the mechanism is looked at as it starts, with it {state}"
            checkup.add("note", f"joint '{joint.name}'", what)


def _look_at_mechanism(checkup: Checkup, compiled: Compiled, test_run: bool) -> None:
    system: System | None = None
    assembly: Assembly | None = None
    diagnosis: Diagnosis | None = None
    try:
        system = compiled.rows
    except LinkworkError as error:
        checkup._fail(error, "model")
    if system is not None:
        try:
            assembly = assemble(system)
            _tell_start(checkup, assembly)
        except _WRONG as error:
            checkup._fail(error, "start")
    try:
        diagnosis = diagnose(compiled, drawn=assembly is None)
        _tell_mobility(checkup, diagnosis)
    except _WRONG as error:
        checkup._fail(error, "mobility")
    if system is None or assembly is None:
        return
    for misfit in dependence(system, assembly.q).misfits:
        checkup.add("warning", "mobility", str(misfit))
    try:
        simulation = Simulation(compiled)
    except LinkworkError as error:
        checkup._fail(error, "start")
        return
    if simulation.method.has(STIFF_SPRINGS):  # else no step is too long for them: explicit steps were chosen
        for where, what in _lost_vibrations(system, assembly.q, DEFAULT_DT):
            checkup.add("note", where, what)
    if test_run and diagnosis is not None:
        trial, complaints = try_out(simulation, system, assembly.q, diagnosis.mobility.rank)
        known = {*checkup.start, *(finding.what for finding in checkup.findings), LOCKED}
        for complaint in complaints:
            if complaint not in known and " is beyond its " not in complaint:
                checkup.add("warning", "test run", complaint)
        checkup.nearest_singular = trial
        if trial is not None and trial.near and not checkup.singular:
            checkup.add("warning", "test run", str(trial))


def _tell_start(checkup: Checkup, assembly: Assembly) -> None:
    checkup.start = assembly.report()
    for line in checkup.start:
        if " is beyond its " not in line:  # told below
            text = line.removeprefix("start: ")
            checkup.add("warning" if assembly.gave_way else "note", "start", text)
    if assembly.gave_way:
        checkup.add(
            "note", "start", "write these numbers into the model, or leave positions and velocities open"
        )
    for gap in assembly.beyond:
        joint, _, limit = gap.row.partition(": ")
        checkup.add(
            "warning",
            joint,
            f"starts beyond its {limit} by {gap.size:.3g} {gap.unit}: it is pushed back from the first step on; "
            "correct the start or the limit",
        )


def _tell_mobility(checkup: Checkup, diagnosis: Diagnosis) -> None:
    found = diagnosis.mobility
    checkup.mobility, checkup.redundant_equations = found.mobility, found.redundant
    checkup.redundant, checkup.loops = diagnosis.redundant, diagnosis.loops
    checkup.suggestions = [str(change) for change in diagnosis.replacements]
    checkup.singular, checkup.singular_distance = found.singular, found.distance
    if found.rates == 0:
        checkup.add("warning", "mobility", "nothing can move: every body is welded to the ground")
    elif found.singular and found.mobility == 0:
        checkup.add(
            "warning",
            "mobility",
            "is locked, but only just: in this position it may have a velocity but no motion, and forces have no "
            "bound; change lengths or the position",
        )
    elif found.singular:
        checkup.add(
            "warning",
            "mobility",
            f"starts in a singular position: {found.instantaneous} freedoms of velocity where nearby there are "
            f"{found.mobility}, and rounding decides which way it goes; start a little beside it",
        )
    elif found.mobility == 0:
        near = " (but very nearly free: are lengths or axes rounded?)" if found.distance < _NEARLY else ""
        checkup.add(
            "warning",
            "mobility",
            f"is locked: the loops leave no motion{near}; loosen a joint if it is meant to move",
        )
    for body in diagnosis.idle:
        checkup.add(
            "note",
            f"bodies.{body}",
            "can spin about itself between its two spherical joints: one degree of freedom is idle; make one of "
            "them universal if that matters",
        )
    if found.redundant:
        _tell_redundancy(checkup, diagnosis)


def _tell_redundancy(checkup: Checkup, diagnosis: Diagnosis) -> None:
    found = diagnosis.mobility
    alike: dict[str, list[str]] = {}
    for joint in diagnosis.redundant:
        alike.setdefault(f"{joint.dependent} of {joint.equations} in", []).append(joint.joint)
    which = "; ".join(f"{share} {_listed(names)}" for share, names in alike.items())
    which = f" ({which})" if which else ""
    checkup.add(
        "note",
        "mobility",
        f"{found.redundant} joint equations are redundant{which}: motion is not affected, but forces in these joints "
        "depend on how they share the load",
    )
    for loop, changes in diagnosis.cures[:_SHOWN]:
        ring = _listed(loop.joints)
        cure = " and ".join(str(c) if c is changes[0] else str(c).removeprefix("make ") for c in changes)
        checkup.add(
            "note", "mobility", f"the loop through {ring} is overconstrained by {loop.excess}: {cure}"
        )
    if len(diagnosis.cures) > _SHOWN:
        checkup.add(
            "note", "mobility", f"and {len(diagnosis.cures) - _SHOWN} more loops; --json lists all changes"
        )
    if diagnosis.cures and diagnosis.remaining:
        checkup.add(
            "note",
            "mobility",
            f"these changes leave {diagnosis.remaining} redundant; no joint kind does better",
        )
    if diagnosis.skipped:
        checkup.add("note", "mobility", diagnosis.skipped)


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _weigh(checkup: Checkup, flat: Flat) -> None:
    """Masses and inertias that look like slips of units."""
    real = {
        name: body.mass_properties.mass for name, body in flat.bodies.items() if body.mass_properties.mass > 0
    }
    if real:
        light, heavy = min(real, key=real.__getitem__), max(real, key=real.__getitem__)
        ratio = real[heavy] / real[light]
        if ratio > _MASS_RATIO:
            masses = f"({real[light]:g} kg against {real[heavy]:g} kg)"
            what = f"is {ratio:.0g} times lighter than '{heavy}' {masses}: a slip of units?"
            checkup.add("warning", f"bodies.{light}", what)
    welded = {
        name for joint in flat.joints.values() if joint.kind == "weld" for name in (joint.a, joint.b)
    }  # brackets and the like: they are part of what they are welded to
    for name, body in flat.bodies.items():
        mass, _, inertia = body.mass_properties
        where, (a, b, c) = f"bodies.{name}", np.linalg.eigvalsh(inertia)
        reach = float(np.sqrt(c / mass)) if mass > 0.0 else 0.0
        if mass == 0.0 and not inertia.any() and name not in welded:
            checkup.add("warning", where, "has neither mass nor inertia")
        elif mass > 0.0 and not inertia.any():
            checkup.add("note", where, "is a point mass: it has no inertia of its own")
        elif mass > 0.0 and not _SMALL < reach < _LARGE:
            asked = "is its inertia in kg m² and about the centre of mass?"
            checkup.add("warning", where, f"has a radius of gyration of {reach:.3g} m: {asked}")
        if body.trust_inertia and a + b < c:
            what = f"its inertia violates the triangle inequality ({a:g} + {b:g} < {c:g}), as allowed"
            checkup.add("note", where, what)


def _lost_vibrations(system: System, q: Array, h: float) -> Iterator[tuple[str, str]]:
    """(where, what) of every element that vibrates too fast for steps of h [s], at a pose that closes the loops."""
    soft = softness(system, q)
    for k, row in enumerate(soft.names):
        name, _, what = row.partition(": ")
        mobility = soft.mobility[k, k]
        frequency, decay = sqrt(soft.slopes.stiffness[k] * mobility), soft.slopes.damping[k] * mobility
        if h * frequency > _LOST and decay < 2.0 * frequency:
            fact = (
                f"its {what} vibrates at {frequency / tau:.3g} Hz, too fast for the default step of {h:g} s"
            )
            advice = f"where that matters take dt below {_KEPT / frequency:.2g} s"
            yield name, f"{fact}: the motion is stable but the vibration is damped out; {advice}"
