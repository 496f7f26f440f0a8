"""Which elements are too stiff for a step: the one judge that methods, checks and error messages ask.

An element with stiffness k and damping c on what yields by m⁻¹ to a unit of force oscillates at ω = √(k m⁻¹) and
decays at c m⁻¹; a continuous state decays at -f_x. Elements that share bodies are stiffer together than alone: W is
the matrix of how far each yields to a force along each, and ω² is the largest eigenvalue of √k W √k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.rotation import Array
from ..tables import LAW, Constraints, Tables
from . import LAWS
from .respond import command_of, flow, respond

__all__ = ["EXPLICIT", "Slopes", "fastest", "slopes_of", "soft_rows", "too_stiff"]

EXPLICIT = 2.0
"""Explicit steps diverge beyond this product of step and frequency or decay (Runge-Kutta of order four: 2.8)."""
# Step times frequency, and step times decay, from which an element is taken implicitly.
_STIFF_SPRING, _STIFF_DAMPER = 0.5, 0.2
_PIECES = 6  # a law has fewer
_ALIKE = 0.9  # of the largest part in the fastest vibration: elements that have as much are treated alike


class Slopes(NamedTuple):
    """Of some rows: stiffness, damping, decay of their states [1/s] and inertia of their rotors."""

    stiffness: Array
    damping: Array
    decay: Array
    inertia: Array


def soft_rows(constraints: Constraints) -> np.ndarray:
    """Rows whose elements can be too stiff to be stepped explicitly."""
    return np.flatnonzero(constraints.rows["role"] == LAW)


def slopes_of(tables: Tables, constraints: Constraints, chosen: Any, t: float = 0.0) -> Slopes:
    """How much the forces of measured rows resist being moved, where they are now; what pushes along is not stiff."""
    found = np.zeros((4, len(chosen)))
    for k, i in enumerate(chosen):
        row = constraints.rows[i]
        command = command_of(tables, constraints, row, t)
        if row["pieces"] != 0:  # it comes to its stiffest piece, wherever it is now
            found[:2, k] = _stiffest(tables, row, t)
            continue
        if row["law"] >= 0 and LAWS[row["law"]].sticks:  # it comes to hold, whatever it does now
            row, command = row.copy(), 1.0
            row["x"] = row["rate"] = 0.0
        answer = respond(tables, row, command, t, True)
        found[:2, k] = max(-answer.by_phi, 0.0), max(-answer.by_rate, 0.0)
        if row["state"] >= 0:
            change = flow(row, command)
            found[2, k] = max(-change.by_state, 0.0)
            # A state that follows the motion stiffens it in turn: pressure behind a piston.
            found[0, k] += max(-answer.by_state * change.by_rate, 0.0)
        found[3, k] = row["inertia"]
    return Slopes(*found)


def _stiffest(tables: Tables, row: Any, t: float) -> tuple[float, float]:
    """Largest stiffness and damping of the pieces of a law."""
    row = row.copy()
    answers = []
    for piece in range(_PIECES):
        row["memory"][0] = piece
        answers.append(respond(tables, row, 0.0, t, True))
    return max(-answer.by_phi for answer in answers), max(-answer.by_rate for answer in answers)


def fastest(slopes: Slopes, mobility: Array) -> float:
    """The largest frequency or decay of elements together [1/s]; mobility: W, see the module."""
    if not len(mobility):
        return 0.0
    W = _with_rotors(slopes, mobility)
    rates = [float(slopes.decay.max())]
    for weight, power in ((slopes.stiffness, 0.5), (slopes.damping, 1.0)):
        root = np.sqrt(weight)
        rates.append(max(float(np.linalg.eigvalsh(root[:, None] * W * root)[-1]), 0.0) ** power)
    return max(rates)


def too_stiff(slopes: Slopes, mobility: Array, h: float) -> list[int]:
    """Those of the rows that are to be taken implicitly in steps of h [s], so that the rest can be explicit."""
    W = _with_rotors(slopes, mobility)
    found = set(np.flatnonzero(h * slopes.decay > _STIFF_DAMPER).tolist())
    for weight, most in ((slopes.stiffness, (_STIFF_SPRING / h) ** 2), (slopes.damping, _STIFF_DAMPER / h)):
        found |= set(np.flatnonzero(weight * np.diag(W) > most).tolist())
        while len(left := [i for i in range(len(W)) if i not in found and weight[i] > 0.0]):
            root = np.sqrt(weight[left])
            matrix = root[:, None] * W[np.ix_(left, left)] * root
            if np.abs(matrix).sum(axis=1).max() <= most:  # no eigenvalue is larger than that (Gershgorin)
                break
            values, vectors = np.linalg.eigh(matrix)
            if values[-1] <= most:
                break
            shape = np.abs(vectors[:, -1])
            found |= {left[k] for k in np.flatnonzero(shape >= _ALIKE * shape.max())}
    return sorted(found)


def _with_rotors(slopes: Slopes, mobility: Array) -> Array:
    """W with the inertia of rotors, which move with their own rows: (W⁻¹ + I)⁻¹."""
    if not slopes.inertia.any():
        return mobility
    root = np.sqrt(slopes.inertia)
    inner = np.eye(len(root)) + root[:, None] * mobility * root
    W: Array = mobility - (mobility * root) @ np.linalg.solve(inner, root[:, None] * mobility)
    return W
