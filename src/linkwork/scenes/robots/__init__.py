"""Robots as their makers describe them: scenes that are read from URDF files of the package example-robot-data.

One file each, written as scenes are. The descriptions are not part of Linkwork (extra `robots`); where they are not
installed, these scenes are not listed, and asking for one tells what is lacking.
"""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ...engine.elements import PositionServo
from ...interchange.open_file import import_model
from ...model import Model
from ...model.errors import MissingExtraError

PACKAGE = "example-robot-data"
_SHARE = f"cmeel.prefix/share/{PACKAGE}/robots"


def robot_names() -> list[str]:
    """Names of all robots, whether their descriptions are installed or not."""
    return [*_modules()]


@cache
def _modules() -> tuple[str, ...]:
    """Names of what is in this package, whose folder is read once."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


@cache
def robots_folder() -> Path | None:
    """Where the descriptions are; None if they are not installed."""
    try:
        found = Path(str(distribution(PACKAGE).locate_file(_SHARE)))
    except PackageNotFoundError:
        return None
    return found if found.is_dir() else None


def described(name: str, file: str, **options: Any) -> Model:
    """The robot of a file of the package, read with options of `import_model`."""
    folder = robots_folder()
    if folder is None:
        raise MissingExtraError(PACKAGE, "robots", f"the robot '{name}'")
    model = import_model(folder / file, **options).model
    model.name = name
    model.files = {}  # they are nobody's to edit
    return model


def hold(
    model: Model,
    pose: Mapping[str, float],
    *,
    stiffness: Mapping[str, float],
    damping: Mapping[str, float],
    strength: Mapping[str, float],
) -> None:
    """A servo on each joint of `pose` that pulls it there [rad, m].

    Of the numbers for it, the first whose key is part of the joint's name.
    """

    def of(numbers: Mapping[str, float], joint: str) -> float:
        return next(value for part, value in numbers.items() if part in joint)

    for joint, place in pose.items():
        model.add(
            PositionServo(
                f"{joint}_servo", joint, command=place, stiffness=of(stiffness, joint),
                damping=of(damping, joint), strength=of(strength, joint),
            )
        )  # fmt: skip


def start_at(model: Model, joint: str, position: Any) -> None:
    """Let a joint start somewhere else."""
    model.joints[joint] = dataclasses.replace(model.joints[joint], position=position)
