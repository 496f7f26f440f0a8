"""The doctor: what a mechanism is, and everything about it that looks wrong, all at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from ..compile import compile_model
from ..errors import ModelError
from ..item import GROUND
from ..model import Flat, Model
from ..spanning import spanning_tree

# Bodies further apart in mass than this are usually a slip of units; explicit steps also suffer.
_MASS_RATIO = 1e4
# An inertia beyond that of the same mass spread over this length, or below that of this length [m].
_LARGE, _SMALL = 10.0, 1e-3


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
    """Degrees of freedom: rates of the tree less the equations of the cut joints (Grübler's count)."""
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


def check(model: Model) -> Checkup:
    """Look a model over without running it."""
    flat = model.flatten()
    checkup = Checkup(model.name, len(flat.bodies), len(flat.joints), 0)
    broken = [Finding("error", problem.where, problem.what) for problem in flat.problems()]
    checkup.findings += broken
    if not broken and flat.bodies:
        edges, cuts, notes = spanning_tree(flat)
        checkup.tree = [f"{edge.parent} --{edge.joint.name}--> {edge.child}" for edge in edges]
        checkup.cuts = [joint.name for joint in cuts]
        checkup.dof = sum(len(edge.joint.rates) for edge in edges) - sum(6 - len(j.rates) for j in cuts)
        checkup.findings += [Finding("note", "tree", note) for note in notes]
        if checkup.dof < 0:
            checkup.findings.append(
                Finding(
                    "warning",
                    "mobility",
                    f"counts {checkup.dof} degrees of freedom: redundant joints, or stuck",
                )
            )
        try:
            compile_model(model)
        except ModelError as error:
            checkup.findings += [Finding("error", p.where, p.what) for p in error.problems]
    elif not flat.bodies:
        checkup.findings.append(Finding("error", "bodies", "the model has none"))
    checkup.findings += _suspicious_masses(flat)
    checkup.findings += _loose_ends(flat)
    return checkup


def _suspicious_masses(flat: Flat) -> list[Finding]:
    findings = []
    masses = {name: body.mass_properties.mass for name, body in flat.bodies.items()}
    real = {name: mass for name, mass in masses.items() if mass > 0}
    if real:
        light, heavy = min(real, key=real.__getitem__), max(real, key=real.__getitem__)
        if real[heavy] > _MASS_RATIO * real[light]:
            findings.append(
                Finding(
                    "warning",
                    f"bodies.{light}",
                    f"is {real[heavy] / real[light]:.0g} times lighter than '{heavy}' "
                    f"({real[light]:g} kg against {real[heavy]:g} kg): a slip of units?",
                )
            )
    for name, body in flat.bodies.items():
        mass, _, inertia = body.mass_properties
        moments = np.linalg.eigvalsh(inertia)
        if mass == 0.0 and not inertia.any():
            findings.append(Finding("warning", f"bodies.{name}", "has neither mass nor inertia"))
        elif mass > 0.0 and not inertia.any():
            findings.append(
                Finding("note", f"bodies.{name}", "is a point mass: it has no inertia of its own")
            )
        elif mass > 0.0:
            reach = float(np.sqrt(moments[-1] / mass))
            if not _SMALL < reach < _LARGE:
                findings.append(
                    Finding(
                        "warning",
                        f"bodies.{name}",
                        f"has a radius of gyration of {reach:.3g} m: is its inertia in kg m² and about the "
                        "centre of mass?",
                    )
                )
        if body.trust_inertia:
            a, b, c = moments
            if a + b < c:
                findings.append(
                    Finding(
                        "note",
                        f"bodies.{name}",
                        f"its inertia violates the triangle inequality ({a:g} + {b:g} < {c:g}), as allowed",
                    )
                )
    return findings


def _loose_ends(flat: Flat) -> list[Finding]:
    used = {name for joint in flat.joints.values() for name in (joint.a, joint.b)}
    if flat.joints and GROUND not in used:
        return [Finding("note", GROUND, "no joint is fixed to the ground: the mechanism floats")]
    return []
