"""The recording of the opening scene that comes with the package: something moves while kernels are compiled.

Its beginning is a film, too: browsers show that at once, and need seconds to begin with a picture in three dimensions
where they have no graphics card. `python -m linkwork.view.recorded` makes both anew; a test says when that is due.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.files import need
from ..stage.bounds import extent
from ..stage.stage import Stage
from .camera import camera
from .motion import Motion

if TYPE_CHECKING:
    from .painter import Image

SCENE = "excavator"
"""What is shown first."""
FILE = Path(__file__).parent / "opening.npz"
FILM = FILE.with_suffix(".webp")
RATE = 25.0
"""Poses per second."""
_TURN = 32767  # a rotation of 1 in the file
# Of the film: how long it is [s], which poses it shows, its size as the picture on the page, and quality of 100.
_LONG, _EACH, _SIZE, _QUALITY = 6.0, 2, (900, 500), 60


def load(path: Path = FILE) -> tuple[Stage, Motion]:
    """What there is to see, and how it moves."""
    with np.load(path) as data:
        stage = Stage.from_dict(json.loads(data["stage"].tobytes()))
        positions = data["positions"].astype(float)
        rotations = data["rotations"].astype(float)
        rotations /= np.linalg.norm(rotations, axis=2, keepdims=True)
        return stage, Motion(data["time"].astype(float), positions, rotations)


def save(stage: Stage, moving: Motion, path: Path = FILE) -> None:
    """Write it compactly: positions to single precision, rotations to 16 bits."""
    np.savez_compressed(
        path,
        stage=np.frombuffer(json.dumps(stage.to_dict()).encode(), np.uint8),
        time=moving.time.astype(np.float32),
        positions=moving.positions.astype(np.float32),
        rotations=np.rint(_TURN * moving.rotations).astype(np.int16),
    )


def simulate(duration: float | None = None) -> tuple[Stage, Motion]:
    """The opening scene as it is now; by default for as long as it is worth watching [s]."""
    from ..live.session import Session
    from ..run.simulate import Simulation
    from ..scenes import find_scene
    from .motion import motion

    found = find_scene(SCENE)
    model = found.build()
    options: dict[str, Any] = {"dt": found.dt} | ({"method": found.method} if found.method else {})
    record = Simulation(model, **options).run(duration or found.duration).resample(rate=RATE)
    stage = Session(model, scene=found).stage
    return stage, motion(record, stage)


def frames(stage: Stage, moving: Motion) -> Iterator[Image]:
    """Pictures of the film, seen from where the page sees the recording."""
    from .picture import draw

    width, height = _SIZE
    corners = extent(stage, *moving.every)
    seen = camera(stage, moving.poses(0), *corners, "best", width / height)
    for row in range(0, int(_LONG * RATE), _EACH):
        yield draw(stage, moving.poses(row), seen, width=width, height=height, bounds=corners)


def save_film(stage: Stage, moving: Motion, path: Path = FILM) -> None:
    """Write the film, which repeats; needs the extra `video`."""
    images = need("PIL.Image", "video", "the film of the opening scene")
    first, *others = (images.fromarray(frame) for frame in frames(stage, moving))
    duration = round(1e3 * _EACH / RATE)  # [ms]
    first.save(
        path, save_all=True, append_images=others, duration=duration, loop=0, quality=_QUALITY, method=6
    )


if __name__ == "__main__":
    save(*simulate())
    save_film(*load())
    for made in (FILE, FILM):
        print(f"{made}: {made.stat().st_size / 1024:.0f} KiB")
