"""Redundant joints: which equations of a mechanism say what others say already, and the smallest change that cures it.

Which *joints* are redundant does not depend on where Linkwork cuts loops: it is asked of all joints at once, every body
floating. The self-stresses of the mechanism (impulses of all joints that cancel on every body) are the left null space
of that Jacobian. Equations can be given up without a new freedom exactly as far as self-stresses reach into them: so
the search is linear algebra, and only its result is tried by rebuilding the model.
"""

from __future__ import annotations

import dataclasses

from ..compile.compiler import Compiled
from ..mechanism.mobility import analyse
from ..model import Flat, Model
from ..model.item import GROUND, Refers
from .cures import Diagnosis, cure
from .stresses import Stresses

MANY_ROWS = 800
"""Joint equations beyond which redundancy is counted but not looked for joint by joint."""


def diagnose(model: Model | Compiled, *, drawn: bool = False) -> Diagnosis:
    """Mobility and redundant joints of a model at its assembled start, or in the pose as drawn, which always closes.

    Raises a ModelError if the start cannot be assembled.
    """
    bare, driven = _skeleton(Compiled.of(model), drawn)
    system, flat = bare.rows, bare.flat
    diagnosis = Diagnosis(analyse(system))
    diagnosis.idle = _idle(flat)
    if diagnosis.mobility.redundant == 0:
        return diagnosis
    equations = sum(joint.held for joint in flat.joints.values())
    if equations > MANY_ROWS:
        diagnosis.skipped = (
            f"the mechanism has {equations} joint equations: redundant joints were not looked for one by one"
        )
        return diagnosis
    stresses = Stresses(bare, driven, system, diagnosis.mobility.pose)
    diagnosis.redundant = stresses.redundant()
    diagnosis.loops = stresses.loops()
    if diagnosis.mobility.mobility == 0 < diagnosis.mobility.instantaneous:
        diagnosis.skipped = "locked in a singular position, where redundant equations cannot be told from it"
    else:
        cure(bare, diagnosis, stresses)
    return diagnosis


def _skeleton(compiled: Compiled, drawn: bool) -> tuple[Compiled, set[str]]:
    """The model's geometry alone: no loads and drives, every body heavy enough to float; joints that these act on."""
    flat = compiled.flat
    bare = Model(compiled.name, gravity=compiled.gravity)
    bare.bodies = {
        name: dataclasses.replace(
            body,
            mass=1.0,
            inertia=(1.0, 1.0, 1.0),
            com=None,
            density=None,
            shapes=(),
            trust_inertia=False,
            material=None,
        )
        for name, body in flat.bodies.items()
    }
    bare.joints, bare.markers, bare.couplings = flat.joints, flat.markers, flat.couplings
    if drawn:
        bare.joints = {name: dataclasses.replace(joint, position=None) for name, joint in flat.joints.items()}
    driven = {
        target for thing in flat.items() for _, what, target in thing.references() if what is Refers.JOINT
    }
    return Compiled(bare), driven


def _idle(flat: Flat) -> list[str]:
    balls: dict[str, list[bool]] = {}
    for joint in flat.joints.values():
        for body in (joint.a, joint.b):
            balls.setdefault(body, []).append(joint.kind == "spherical")
    return [body for body, kinds in balls.items() if body != GROUND and len(kinds) == 2 and all(kinds)]
