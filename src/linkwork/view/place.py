"""Where pieces that ride on bodies are, for pictures that move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.rotation import IDENTITY, Array


def place_instances(
    positions: Array, rotations: Array, bodies: npt.NDArray[np.int64], at: Array, turn: Array
) -> tuple[Array, Array]:
    """Positions and quaternions of pieces set on bodies at `at`, turned by `turn`; body -1 is the ground.

    Not compiled: a picture is to move before a compiler is loaded.
    """
    p = np.vstack([positions, np.zeros((1, 3))])[bodies]  # -1 is the last
    q = np.vstack([rotations, np.array([IDENTITY])])[bodies]
    w, v = q[:, :1], q[:, 1:]
    u = 2.0 * np.cross(v, at)
    s, t = turn[:, :1], turn[:, 1:]
    scalar = w * s - np.sum(v * t, axis=1, keepdims=True)
    return p + at + w * u + np.cross(v, u), np.hstack([scalar, w * t + s * v + np.cross(v, t)])
