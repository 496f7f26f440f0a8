"""Mesh files as MuJoCo reads them: binary STL and OBJ as they are, others written anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..model import Mesh
from ..model.errors import LinkworkError
from .keep import Copies
from .report import LossReport


def mesh_for_mujoco(copies: Copies, shape: Mesh, report: LossReport, whose: str) -> Path:
    """A file with a mesh inside the folder of a model."""
    source = Path(shape.file)
    if source.suffix.lower() == ".obj" or _is_binary_stl(source):
        return Path(copies.shape(shape).file)
    from ..engine.contact.surface import read_surface

    surface = read_surface(source)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(surface.points, float).tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (np.asarray(surface.triangles) + 1).tolist()]
    target = copies.write(f"{source.stem}.obj", ("\n".join(lines) + "\n").encode())
    report.add("mapped", f"mesh '{source.name}' of {whose}", "written as OBJ, which MuJoCo reads")
    return target


def _is_binary_stl(file: Path) -> bool:
    """Whether a file has the size that a binary STL file says of itself."""
    if file.suffix.lower() != ".stl":
        return False
    try:
        with file.open("rb") as stream:
            head = stream.read(84)
        return len(head) == 84 and file.stat().st_size == 84 + 50 * int.from_bytes(head[80:84], "little")
    except OSError as error:
        raise LinkworkError(f"{file}: cannot be read: {error.strerror or error}") from None
