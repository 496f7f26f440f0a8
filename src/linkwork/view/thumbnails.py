"""Thumbnails of scenes, made when they are first wanted and kept beside the compiled kernels."""

from __future__ import annotations

import hashlib
import sys
import threading
import traceback
from functools import cache
from pathlib import Path

from ..engine.kernels.store import cache_directory
from ..scenes import find_scene, scene_names


class Thumbnails:
    """Pictures of all scenes as PNG, drawn one after the other in a thread of their own."""

    def __init__(self) -> None:
        self._made: dict[str, bytes] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ending = threading.Event()

    def get(self, name: str) -> bytes | None:
        """The picture of a scene; None if it is not ready yet."""
        if name not in self._made:
            kept = _file(name)
            if kept is not None and kept.is_file():
                self._made[name] = kept.read_bytes()
            else:
                self._begin()
        return self._made.get(name)

    def stop(self) -> None:
        """Leave the rest undrawn."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._draw, name="linkwork-thumbnails", daemon=True)
                self._thread.start()

    def _draw(self) -> None:
        from .picture import png, thumbnail

        for name in scene_names():
            if self._ending.is_set():
                return
            if name in self._made:
                continue
            try:
                picture = png(thumbnail(name))
            except Exception:  # one scene that cannot be drawn must not cost the others their pictures
                traceback.print_exc(file=sys.stderr)
                continue
            self._made[name] = picture
            kept = _file(name)
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                part = kept.with_suffix(".part")
                part.write_bytes(picture)
                part.replace(kept)


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
    from . import camera, painter, picture, surface

    digest = hashlib.sha256()
    for drawer in (bounds, camera, geometry, meshes, painter, picture, surface):
        digest.update(Path(str(drawer.__file__)).read_bytes())
    return digest.digest()
