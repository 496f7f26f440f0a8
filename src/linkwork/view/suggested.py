"""Pictures of joints that the shapes of an assembly suggest: the two parts in colours, the joint between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..interchange.step_joints import Candidate
from ..io.kinds import file_types
from ..model import Model
from ..stage.stage import Poses, stage_of
from .camera import close_camera
from .painter import Arrow, Image
from .picture import draw, save_png

_COLORS = "#4060c0", "#e0a030"
"""Of the first and the second part."""
_SIZE = (640, 400)
_LONG = 0.35
"""Length of the axis that is shown, as a share of both parts' size."""


def save_candidates(model: Model, found: Sequence[Candidate], folder: Path) -> list[Path]:
    """A picture of every candidate, `01_hinge_base_arm.png` and so on."""
    folder.mkdir(exist_ok=True)
    files = []
    for number, one in enumerate(found, 1):
        file = folder / f"{number:02d}_{one.kind}_{one.name}.png"
        save_png(file, picture_of(model, one))
        files.append(file)
    return files


def picture_of(model: Model, one: Candidate) -> Image:
    """The two parts of a candidate, with its axis."""
    pair = Model(one.name, gravity=model.gravity)
    for name, color in zip((one.a, one.b), _COLORS, strict=True):
        body = model.bodies[name]
        shapes = tuple(dataclasses.replace(shape, color=color) for shape in body.shapes)
        pair.add(dataclasses.replace(body, shapes=shapes))
    frame: dict[str, Any] = {"at": one.at, "axis": one.axis}
    joint: Any = file_types("joints")[one.kind]
    pair.add(joint(one.name, one.a, one.b, **frame))
    stage = stage_of(pair)
    places = [(body.at, body.rotation) for body in pair.bodies.values()]
    poses = Poses(np.array([at for at, _ in places]), np.array([turn for _, turn in places]))
    arrows = []
    if one.kind not in ("weld", "spherical"):
        low, high = _corners(pair, poses)
        along = _LONG * float(np.linalg.norm(high - low)) * np.array(one.axis)
        arrows = [Arrow(tuple(np.array(one.at) - along), tuple(2.0 * along))]
    width, height = _SIZE
    seen = close_camera(stage, poses, aspect=width / height)
    return draw(stage, poses, seen, width=width, height=height, show=("bodies", "joints"), arrows=arrows)


def _corners(model: Model, poses: Poses) -> tuple[Any, Any]:
    from ..stage.bounds import extent

    return extent(stage_of(model), poses.positions, poses.rotations)
