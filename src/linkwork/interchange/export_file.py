"""Models to files of other programs."""

from __future__ import annotations

import os
from pathlib import Path

from ..model import Model
from ..model.errors import LinkworkError, nearest
from .keep import write_text
from .mjcf_write import write_mjcf
from .report import LossReport
from .urdf_write import write_urdf

WRITERS = {"urdf": write_urdf, "mjcf": write_mjcf}
"""Formats, and what writes them."""
ENDINGS = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}


def export_model(model: Model, path: str | os.PathLike[str], *, to: str | None = None) -> LossReport:
    """Write a model as URDF or MJCF; returns a report of what was taken, mapped, approximated and dropped.

    `to` names the format; by default the ending of the file tells. Meshes from elsewhere are copied beside it. A file
    of that name is replaced only when the new one is complete.
    """
    file = Path(os.path.abspath(path))
    kind = to or ENDINGS.get(file.suffix.lower(), file.suffix)
    if kind not in WRITERS:
        raise LinkworkError(f"{path}: models are not written as '{kind}'{nearest(kind, WRITERS)}")
    text, report = WRITERS[kind](model, file.parent, file.with_name(f"{file.stem}_meshes"))
    write_text(file, text)
    return report


def file_for(model: Model, to: str | None) -> Path:
    """A file named after a model, in this folder."""
    ending = next((ending for ending, kind in ENDINGS.items() if kind == to), None)
    if ending is None:
        raise LinkworkError(f"say what to write: --to {', --to '.join(WRITERS)}, or -o with its ending")
    return Path(f"{model.name}{ending}")
