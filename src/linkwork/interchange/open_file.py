"""Any file that describes a model, by its name and content."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io import Reading, load_model, read_model
from ..io.files import stamp
from ..model import Model
from ..model.errors import LinkworkError, ModelError, Problem
from .kinds import FOREIGN, MJCF, REFUSED, STEP, is_foreign, open_options
from .mjcf_read import read_mjcf
from .places import PlaceError, user_search
from .report import Imported
from .step_read import read_step
from .urdf_read import read_urdf


def import_model(
    path: str | os.PathLike[str],
    *,
    search: Sequence[str | os.PathLike[str]] = (),
    meshes: bool = True,
    free_base: bool = False,
    contact: bool | None = None,
    keyframe: str | None = None,
    joints: str | os.PathLike[str] | None = None,
    density: float | None = None,
) -> Imported:
    """Read a URDF, MJCF or STEP file: the model, and a report of what was taken, mapped, approximated and dropped.

    * `search`: folders in which packages and meshes may be, besides the file's own folder and package;
    * `meshes`: False leaves mesh files out;
    * `free_base`: True lets the root move freely, which is welded to the ground otherwise;
    * `contact`: True gives what has collision shapes a material, False leaves it without; by default as the format
      means: MJCF says what touches, URDF does not;
    * `keyframe`: of MJCF, the keyframe to start from;
    * `joints`: of STEP, the file that says its joints, by default NAME.joints.yaml beside it;
    * `density`: of STEP, of parts for which that file says none [kg/m³].

    Raises a ModelError with everything that is wrong, each with its line. Nothing is read from outside these folders.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in REFUSED:
        raise ModelError([Problem("", REFUSED[suffix], file)])
    if suffix not in FOREIGN:
        raise ModelError(
            [Problem("", f"is not known by its ending '{suffix}': {', '.join(FOREIGN[:6])}", file)]
        )
    try:
        folders = user_search(search)
    except PlaceError as error:
        raise LinkworkError(str(error)) from None
    if suffix in STEP:
        _refuse_others(file, "STEP", keyframe=keyframe)
        if density is not None and not (math.isfinite(density) and density > 0.0):
            raise LinkworkError(f"{file}: the density must be a positive number [kg/m³] (got {density})")
        sidecar = None if joints is None else Path(joints)
        return read_step(
            file,
            search=folders,
            meshes=meshes,
            free_base=free_base,
            contact=bool(contact),
            joints=sidecar,
            density=density,
        )
    _refuse_others(file, "MJCF" if suffix in MJCF else "URDF", joints=joints, density=density)
    if suffix in MJCF:
        return read_mjcf(
            file,
            search=folders,
            meshes=meshes,
            free_base=free_base,
            contact=contact is not False,
            keyframe=keyframe,
        )
    _refuse_others(file, "URDF", keyframe=keyframe)
    return read_urdf(file, search=folders, meshes=meshes, free_base=free_base, contact=bool(contact))


def _refuse_others(file: Path, kind: str, **options: Any) -> None:
    """Refuse options that a format has nothing for."""
    for name, value in options.items():
        if value is not None:
            raise LinkworkError(f"{file}: the option '{name}' is for other formats than {kind}")


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """The model of a file: a model file (.yaml), with `parameters`, or one of another program, with the options of
    `import_model`."""
    if is_foreign(path):
        return import_model(path, **options).model
    parameters: Mapping[str, float] | None = options.pop("parameters", None)
    if options:
        raise LinkworkError(f"{path}: a model file takes parameters, not {', '.join(options)}")
    return load_model(path, parameters)


def read_any(path: str | os.PathLike[str], settings: Mapping[str, Any]) -> Reading:
    """Read a file for somebody who wants to know when to read it again."""
    if not is_foreign(path):
        return read_model(path, settings)
    known = {os.path.abspath(path): stamp(os.path.abspath(path))}
    try:
        model = import_model(path, **open_options(path, settings)).model
        return Reading(model, None, model.files)
    except LinkworkError as error:
        told = error if isinstance(error, ModelError) else ModelError([Problem("", str(error), Path(path))])
        return Reading(None, told, known)
