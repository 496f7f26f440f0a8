"""What holds a mechanism at rest, by name, and the model in the pose that was found."""

from __future__ import annotations

import dataclasses

from ..compile.system import as_coordinates
from ..engine.tables import LAW
from ..model import Model
from ..model.rotation import Array
from .forces import Forces
from .statics_result import Holder


def holders(forces: Forces, equal: Array, limits: Array, notes: list[str]) -> list[Holder]:
    mech, rows = forces.mech, forces.mech.kin.constraints.rows
    found = []
    for row in map(int, forces.acting):
        drive = rows["input"][row] >= 0
        force = mech.law(row, 0.0, 0.0, forces.command(row), forces.time)
        if drive or force != 0.0:
            name = mech.drive_name(row) if drive else mech.kin.names[row].partition(":")[0]
            found.append(Holder(name, "drive" if drive else "spring", force, mech.row_force_unit(row)))
        if drive and rows["role"][row] == LAW and abs(force) >= rows["strength"][row]:
            notes.append(f"drive '{mech.drive_name(row)}' pulls with all its strength")
    for row, force in zip(map(int, mech.limits), map(float, limits), strict=True):
        if force > 0.0:
            found.append(Holder(mech.kin.names[row], "limit", force, mech.row_force_unit(row)))
    for k, c in enumerate(forces.held):
        force = float(equal[len(mech.hold) + k])
        name = mech.coordinates[c]
        if c in forces.locks:
            row = forces.locks[c]
            name, strength = mech.drive_name(row), float(rows["strength"][row])
            if abs(force) > strength:
                notes.append(
                    f"velocity servo '{name}' would slip: it holds {abs(force):.4g} and has {strength:.4g}"
                )
        found.append(Holder(name, "held", force, mech.force_unit(c)))
    return found


def posed(forces: Forces, q: Array) -> Model:
    """The model with positions set: q for joints of the tree, what is read for those that close loops."""
    made, values, k = forces.compiled.dissolved(), forces.mech.values(), 0
    for joint in forces.mech.joints:
        read = values[k : k + len(joint.rates)]
        k += len(joint.rates)
        if not joint.rates or not joint.attached_at_start:  # one that is released takes hold where it will be
            continue
        placed = forces.mech.system.joints[joint.name]
        position = q[placed.q] if placed.in_tree else as_coordinates([joint], read[None])[0]
        made.joints[joint.name] = dataclasses.replace(
            joint, position=tuple(map(float, position)), velocity=None
        )
    return made
