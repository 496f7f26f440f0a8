"""MJCF to models, by MuJoCo's own parser, so that defaults, classes, frames and includes mean what they mean there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..io.files import stamp
from ..model import Model
from ..model.errors import ModelError, Problem
from ..model.rotation import vector
from .extension import read_extension
from .mjcf_drives import Drives
from .mjcf_extension import extension_of
from .mjcf_geoms import Geoms
from .mjcf_joints import Tree
from .mjcf_source import Source
from .mjcf_ties import Ties
from .places import Places
from .report import Imported
from .touching import touch_nothing
from .values import Values


def read_mjcf(
    file: Path,
    *,
    search: Sequence[Path] = (),
    meshes: bool = True,
    free_base: bool = False,
    contact: bool = True,
    keyframe: str | None = None,
) -> Imported:
    """The model that an MJCF file describes, as it is drawn or from a keyframe; needs the extra `mjcf`."""
    file = Path(os.path.abspath(file))
    source = Source(file, Places(file, tuple(search)))
    m = source.m
    model = Model(source.spec.modelname or file.stem)
    if not int(m.opt.disableflags) & int(source.mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        model.gravity = vector(m.opt.gravity)
    else:
        model.gravity = (0.0, 0.0, 0.0)
    values = Values()
    extension = extension_of(source.roots, values)
    # Where Linkwork wrote the file, it stands there what touches what.
    told = extension is not None and any(child.tag == "material" for child in extension.children)
    touches = contact and not int(m.opt.disableflags) & int(source.mujoco.mjtDisableBit.mjDSBL_CONTACT)
    shapes = Geoms(source, model, touches and not told, meshes).read()
    tree = Tree(source, model)
    tree.read(shapes, free_base)
    if not source.problems:
        Ties(source, model, tree).read(keyframe)
        Drives(source, model, tree).read()
        _rest(source)
        if extension is not None:
            read_extension(model, extension, values)
            source.report.entries += values.report.entries
        source.problems += values.problems
        if told and not contact:
            touch_nothing(model)
        source.problems += model.flatten().problems()
        if not model.bodies:
            source.problems.append(Problem("", "it has no bodies", file))
    if source.problems:
        raise ModelError(source.problems)
    model.files = {str(path): stamp(str(path)) for path in source.files}
    return Imported(model, source.report)


def _rest(source: Source) -> None:
    """What has no counterpart."""
    m, report = source.m, source.report
    source.drop("camera", m.ncam, "pictures choose their own view")
    source.drop("light", m.nlight, "pictures have their own light")
    if m.nflex:
        report.add("dropped", f"{m.nflex} flexible bodies", "bodies are rigid here", source.path)
    if m.nskin:
        report.add("dropped", f"{m.nskin} skins", "bodies are rigid here", source.path)
    if m.opt.density or m.opt.viscosity:
        report.add("dropped", "density and viscosity of the medium", "nothing flows here", source.path)
    report.add("dropped", "options", "timestep, integrator and solver are chosen when it runs", source.path)
