"""Pictures of all scenes, which come with the package: the gallery draws nothing by itself.

Beside them is kept what each of them was drawn from, so that a test can tell which are of another model than today's.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..results.files import atomic, need
from ..scenes import Scene, find_scene, gallery_names, is_scene

KIND = "image/webp"
"""Content type."""
FOLDER = Path(__file__).with_name("cards")
_DIGESTS = FOLDER / "digests.json"
_QUALITY = 82  # of 100
_DIGITS, _NOTHING = 6, 1e-12  # of numbers that count: those of another machine differ in the last ones


def thumbnail_of(name: str) -> bytes | None:
    """The picture of a scene; None if there is none."""
    path = FOLDER / f"{name}.webp"
    return path.read_bytes() if is_scene(name) and path.is_file() else None


def stale() -> list[str]:
    """Scenes without a picture, and those that were drawn of another model."""
    known = json.loads(_DIGESTS.read_text()) if _DIGESTS.is_file() else {}
    return [
        name
        for name in gallery_names()
        if thumbnail_of(name) is None or known.get(name) != digest(find_scene(name))
    ]


def make(names: Iterable[str], progress: Callable[[str], object] = print) -> None:
    """Draw these scenes anew, and forget pictures of scenes that are gone; needs the extra `video`."""
    from .picture import thumbnail

    images = need("PIL.Image", "video", "a thumbnail")
    FOLDER.mkdir(exist_ok=True)
    digests = json.loads(_DIGESTS.read_text()) if _DIGESTS.is_file() else {}
    for name in names:
        progress(name)
        file = io.BytesIO()
        images.fromarray(thumbnail(name)).save(file, "WEBP", quality=_QUALITY, method=6)
        with atomic(FOLDER / f"{name}.webp") as temporary:
            temporary.write_bytes(file.getvalue())
        digests[name] = digest(find_scene(name))
    for path in FOLDER.glob("*.webp"):
        if not is_scene(path.stem):
            path.unlink()
    kept = {name: digests[name] for name in sorted(digests) if is_scene(name)}
    with atomic(_DIGESTS) as temporary:
        temporary.write_text(json.dumps(kept, indent=1) + "\n")


def digest(scene: Scene) -> str:
    """Of all that a scene's picture shows: its model, looks included, and how long it moves."""
    told = scene.duration, scene.watched, scene.dt, scene.method, _plain(vars(scene.build().flatten()))
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """As JSON may hold it: functions by their sources, files by their contents."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        parts = [_plain(part) for part in value]
        return sorted(parts) if isinstance(value, set | frozenset) else parts
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return f"{value:.{_DIGITS}g}" if abs(float(value)) > _NOTHING else "0"
    if isinstance(value, str) and Path(value).is_absolute():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    if callable(value):
        return inspect.getsource(value)
    return None if value is None else str(value)
