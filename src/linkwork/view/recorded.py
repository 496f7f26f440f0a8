"""The recording of the opening scene that comes with the package: something moves while kernels are compiled.

`python -m linkwork.view.recorded` makes it anew; a test says when that is due.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..stage.stage import Stage
from .motion import Motion

SCENE = "excavator"
"""What is shown first."""
FILE = Path(__file__).parent / "opening.npz"
RATE = 25.0
"""Poses per second."""
_TURN = 32767  # a rotation of 1 in the file


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


if __name__ == "__main__":
    save(*simulate())
    print(f"{FILE}: {FILE.stat().st_size / 1024:.0f} KiB")
