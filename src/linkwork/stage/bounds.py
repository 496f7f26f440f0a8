"""How large it is what there is to see, and where the ground lies under it."""

from __future__ import annotations

import numpy as np

from ..model.item import GROUND
from ..model.rotation import Array, matrix
from .geometry import Piece, body_pieces, levels, scenery_pieces, turns
from .meshes import support
from .stage import Stage

_AXES = np.vstack([-np.eye(3), np.eye(3)])
_AROUND = 2.5  # how far around the bodies scenery counts as a whole, in diagonals of all that they do
_OF_LANDSCAPES = 0.6  # and so much around them of what reaches further
_FLAT = 0.02  # how thin scenery is that lies like paint on the ground, as a share of the bodies' height
_UNDER = 1e-3  # how much lower than the lowest point the ground is drawn, as a share of the size


def extent(stage: Stage, positions: Array, rotations: Array) -> tuple[Array, Array]:
    """Lowest and highest corner [m] of bodies and scenery, over any number of poses (… × bodies × 3 and × 4)."""
    far = reach(stage, positions, rotations, _AXES)
    if not np.isfinite(far).all():
        return np.full(3, -0.5), np.full(3, 0.5)
    return -far[:3], far[3:]


def reach(stage: Stage, positions: Array, rotations: Array, directions: Array) -> Array:
    """How far bodies, where they hang, and scenery around them reach along each direction (k × 3, of any length), over
    any number of poses: the largest dot product with it, minus infinity if there is nothing.

    Planes do not count, nor does what of a large landscape is far from all bodies, nor what lies flat on the ground.
    """
    far = _reach_of_bodies(stage, positions, rotations, directions)
    fixed = scenery_pieces(stage)
    if not fixed:
        return far
    ends = _reach_of_bodies(stage, positions, rotations, _AXES)
    slack = _AROUND * float(np.linalg.norm(ends[:3] + ends[3:]))
    near = ends + slack if np.isfinite(slack) else np.full(6, np.inf)
    nearest = ends + _OF_LANDSCAPES / _AROUND * slack if np.isfinite(slack) else near
    upright = np.array([stage.up, stage.up]) * [[1.0], [-1.0]]
    flat = _FLAT * float(_reach_of_bodies(stage, positions, rotations, upright).sum())
    for piece in fixed:
        if float(_reach_of_piece(piece, upright).sum()) < flat:
            continue
        box = _reach_of_piece(piece, _AXES)
        if (box <= near).all():
            far = np.maximum(far, _reach_of_piece(piece, directions))
        elif (box[:3] > -nearest[3:]).all() and (box[3:] > -nearest[:3]).all():
            part = np.minimum(box, nearest)
            low, high = -part[:3], part[3:]
            along = directions @ ((low + high) / 2) + np.abs(directions) @ ((high - low) / 2)
            far = np.maximum(far, along)
    return far


def _reach_of_piece(piece: Piece, directions: Array) -> Array:
    """In the frame that it stands in."""
    along: Array = directions @ np.array(piece.at)
    return along + support(piece.mesh, directions @ (matrix(piece.rotation) * piece.scale))


def _reach_of_bodies(stage: Stage, positions: Array, rotations: Array, directions: Array) -> Array:
    positions, rotations = (
        positions.reshape(-1, *positions.shape[-2:]),
        rotations.reshape(-1, *rotations.shape[-2:]),
    )
    R = turns(rotations)
    far = np.full(len(directions), -np.inf)
    for piece in body_pieces(stage):
        centres = positions[:, piece.body] + R[:, piece.body] @ np.array(piece.at)
        stretch = R[:, piece.body] @ (matrix(piece.rotation) * piece.scale)
        along = centres @ directions.T + support(piece.mesh, directions @ stretch)
        far = np.maximum(far, along.max(axis=0))
    # What slides or flies may have left its joint's place far behind.
    hung = [j.at_a for j in stage.joints if j.a == GROUND and all(freedom.turns for freedom in j.freedoms)]
    hung += [at for s in stage.springs for end, at in ((s.a, s.at_a), (s.b, s.at_b)) if end == GROUND]
    for at in hung:
        far = np.maximum(far, directions @ np.array(at))
    return far


def typical_size(stage: Stage) -> float:
    """Length of a body of the middle size [m]; 0 if there are none."""
    spans: dict[int, Array] = {}
    for piece in body_pieces(stage):
        far = _reach_of_piece(piece, _AXES)
        spans[piece.body] = np.maximum(far, spans.get(piece.body, far))
    lengths = [float(np.linalg.norm(far[:3] + far[3:])) for far in spans.values()]
    return float(np.median(lengths or [0.0]))


def floor(stage: Stage, low: Array, high: Array) -> float:
    """How high along `up` the ground is drawn [m]: at the highest level plane of the scenery, if there is one; else
    under all scenery and the whole motion, of which `low` and `high` are the corners [m]."""
    grounds = levels(stage)
    if grounds:
        return grounds[0][0]
    up = np.array(stage.up)
    lowest = float(np.minimum(low * up, high * up).sum())
    depths = [float(_reach_of_piece(piece, -up[None])[0]) for piece in scenery_pieces(stage)]
    return min([lowest, *(-depth for depth in depths)]) - _UNDER * float((high - low).max())
