"""Modes as motions that can be seen: one after the other, each swinging about the reference, loops closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.coordinates.dynamics import body_pose
from ..model.errors import LinkworkError
from ..model.rotation import Array, quaternion
from ..results.record import Group, Record
from ..stage.stage import stage_of
from .field import Field
from .linear_system import LinearSystem, Mode

_SWINGS, _PERIOD, _RATE = 3, 1.5, 30.0  # of each mode, how long one takes to be seen [s], pictures a second
_FARTHEST = 0.25  # a mode goes so far [rad, or sizes of the mechanism]


def modes_record(system: LinearSystem, modes: Sequence[int] | None = None) -> Record:
    """A record in which bodies move in one mode after the other, for pictures, films and pages, which name them.

    All modes swing at one pace and far enough to be seen; what they do in truth is in `system.modes`. `modes` are
    numbers of some of them.
    """
    chosen = range(len(system.modes)) if modes is None else modes
    field = Field(system.reference)
    field.choose(system.coordinates)
    at = {name: k for k, name in enumerate(field.place_names)}
    columns = [(i, at[port.name]) for i, port in enumerate(system.states) if port.name in at]
    poses, captions = [field.q0], []
    for k in chosen:
        if not 0 <= k < len(system.modes):
            raise LinkworkError(f"there is no mode {k}: there are {len(system.modes)}, from 0 on")
        captions.append(((len(poses) - 1) / _RATE, f"mode {k}: {system.modes[k].text}"))
        poses += _swing(field, system.modes[k], columns)
    time = np.arange(len(poses)) / _RATE
    names = list(field.system.bodies)
    positions, rotations = _bodies(field, poses, names)
    groups = [
        Group(
            "positions", tuple(f"{n}.position.{a}" for n in names for a in "xyz"), ("m",) * (3 * len(names))
        ),
        Group(
            "rotations", tuple(f"{n}.rotation.{a}" for n in names for a in "wxyz"), ("1",) * (4 * len(names))
        ),
    ]
    info = {
        "model": system.name, "stage": stage_of(system.reference.compiled).to_dict(),
        "modes": [system.modes[k].text for k in chosen], "captions": captions,
    }  # fmt: skip
    return Record(time, groups, {"positions": positions, "rotations": rotations}, info)


def _swing(field: Field, mode: Mode, columns: Sequence[tuple[int, int]]) -> list[Array]:
    """Poses of a mode; of one that moves no coordinate, such as the pressure of a cylinder, the reference."""
    shape = np.zeros(len(field.places), complex)
    for i, k in columns:
        shape[k] = mode.shape[i]
    far = max(field.mech.far(field.displacements() @ part) for part in (shape.real, shape.imag))
    if far > 0.0:
        shape *= _FARTHEST / far
    turns = np.arange(int(_SWINGS * _PERIOD * _RATE)) / (_PERIOD * _RATE)
    return [field.pose((shape * np.exp(2j * np.pi * turn)).real) for turn in turns]


def _bodies(field: Field, poses: Sequence[Array], names: Sequence[str]) -> tuple[Array, Array]:
    kin = field.mech.kin
    positions, rotations = np.zeros((len(poses), 3 * len(names))), np.zeros((len(poses), 4 * len(names)))
    for row, q in enumerate(poses):
        kin.place(q)
        for i, name in enumerate(names):
            p, R = body_pose(kin.tables, field.system.body(name))
            positions[row, 3 * i : 3 * i + 3] = p
            rotations[row, 4 * i : 4 * i + 4] = quaternion(np.array(R).reshape(3, 3))
    return positions, rotations
