"""Which files belong to other programs, by their endings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..model.errors import LinkworkError, nearest

REFUSED = {
    ".xacro": "xacro is a language of macros: read its output (xacro robot.xacro > robot.urdf)",
    ".sdf": "SDF is not read: convert it to URDF or MJCF (gz sdf, sdformat tools)",
    ".world": "SDF is not read: convert it to URDF or MJCF (gz sdf, sdformat tools)",
    **dict.fromkeys(
        (".usd", ".usda", ".usdc", ".usdz"),
        "USD is not read: export URDF or MJCF from the program that wrote it",
    ),
}
"""Formats that are not read, and what to do."""
MJCF = (".xml", ".mjcf")
STEP = (".step", ".stp", ".p21")
FOREIGN = (".urdf", *MJCF, *STEP, *REFUSED)
"""Endings of files of other programs."""


def is_foreign(path: str | os.PathLike[str]) -> bool:
    """Whether a file belongs to another program, by its ending."""
    return Path(path).suffix.lower() in FOREIGN


OPTIONS = ("search", "meshes", "free_base", "contact", "keyframe", "joints", "density")
"""Options of `import_model`."""


def open_options(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a file as options of `open_model`: parameters of a model file, or options of an import."""
    if not is_foreign(path):
        return {"parameters": dict(settings)}
    for key in settings:
        if key not in OPTIONS:
            raise LinkworkError(f"{path}: there is no option '{key}' for an import{nearest(key, OPTIONS)}")
    return dict(settings)
