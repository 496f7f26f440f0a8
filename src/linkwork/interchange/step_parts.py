"""Parts of a STEP assembly, as a CAD kernel in another process finds them (extra `cad`)."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import MissingExtraError, ModelError, Problem
from ..model.rotation import Array
from .step_surfaces import Surfaces
from .values import Pose


class Part(NamedTuple):
    """A solid in an assembly."""

    name: str
    """Its own name."""
    path: tuple[str, ...]
    """Names of the assemblies that it is in, from the outside inward."""
    pose: Pose
    """Of its frame in the assembly [m]."""
    color: str | None
    density: float | None
    """What its material weighs, if the file says so [kg/m³]."""
    volume: float
    """[m³]"""
    centre: Array
    """In its frame [m]."""
    inertia: Array
    """About the centre, at a density of 1 [m⁵]."""
    mesh: bytes
    """Its surface in triangles, as OBJ [m]; empty if it was not asked for."""
    surfaces: Surfaces
    """Its planes, cylinders and spheres in the assembly [m]."""
    low: Array
    high: Array
    """Corners of the box around it in the assembly [m]."""


def read_parts(file: Path, meshes: bool) -> list[Part]:
    """All solids of a STEP file, in the order of its tree."""
    found = _ask_kernel(file, meshes)
    solids = {
        key: (one["volume"], np.array(one["centre"]), np.array(one["inertia"]), one["mesh"].encode())
        for key, one in found["solids"].items()
    }
    return [
        Part(
            one["name"], tuple(one["path"]), Pose(np.array(one["at"]), np.array(one["turn"])), one["color"],
            one["density"], *solids[one["solid"]], Surfaces.of(one), np.array(one["low"]), np.array(one["high"]),
        )
        for one in found["parts"]
    ]  # fmt: skip


def _ask_kernel(file: Path, meshes: bool) -> dict[str, Any]:
    if importlib.util.find_spec("OCP") is None:
        raise MissingExtraError("cadquery-ocp-novtk", "cad", f"reading '{file}'")
    command = [sys.executable, "-m", "linkwork.interchange.step_kernel", str(file), *["--meshes"] * meshes]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        found = {"error": f"the CAD kernel broke down over it ({_reason(done)}): it is damaged, or too large"}
    if "error" in found:
        raise ModelError([Problem("", found["error"], file)])
    return found


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode < 0:
        return signal.Signals(-done.returncode).name
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return last[0][:200] if last else f"it ended with {done.returncode}"
