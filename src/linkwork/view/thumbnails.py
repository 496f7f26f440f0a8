"""Thumbnails of scenes, made when they are first wanted and kept beside the compiled kernels."""

from __future__ import annotations

import hashlib
import sys
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

from ..engine.kernels.store import cache_directory
from ..results.files import atomic
from ..scenes import find_scene


class Thumbnails:
    """Pictures of scenes as PNG, drawn one after the other in a thread of their own."""

    def __init__(self) -> None:
        self._made: dict[str, Future[bytes | None]] = {}
        self._painter = ThreadPoolExecutor(1, "linkwork-thumbnails")

    def get(self, name: str) -> bytes | None:
        """The picture of a scene; None if it is not ready yet, or cannot be drawn."""
        kept = _file(name)
        if kept is not None and kept.is_file():
            return kept.read_bytes()
        if name not in self._made:
            self._made[name] = self._painter.submit(_picture, name, kept)
        return self._made[name].result() if self._made[name].done() else None

    def stop(self) -> None:
        """Leave the rest undrawn."""
        self._painter.shutdown(cancel_futures=True)


def _picture(name: str, kept: Path | None) -> bytes | None:
    """A new picture, which is kept if there is a place for it."""
    from .picture import png, thumbnail

    try:
        picture = png(thumbnail(name))
    except Exception:  # the page does without
        traceback.print_exc(file=sys.stderr)
        return None
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with atomic(kept) as temporary:
            temporary.write_bytes(picture)
    return picture


def _file(name: str) -> Path | None:
    """Where a thumbnail is kept: another place for every version of the scene and of what draws it."""
    folder = cache_directory()
    if folder is None:
        return None
    scene = sys.modules[find_scene(name).build.__module__]
    digest = hashlib.sha256(_drawers())
    digest.update(Path(str(scene.__file__)).read_bytes())
    return folder.parent / "thumbnails" / f"{name}-{digest.hexdigest()[:12]}.png"


@cache
def _drawers() -> bytes:
    """A hash of the sources that decide how a scene looks."""
    from ..stage import bounds, geometry, meshes
    from . import camera, layers, painter, picture, surface

    digest = hashlib.sha256()
    for drawer in (bounds, camera, geometry, layers, meshes, painter, picture, surface):
        digest.update(Path(str(drawer.__file__)).read_bytes())
    return digest.digest()
