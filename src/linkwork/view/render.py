"""A record as a picture, a film or a page that plays it, by the ending of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..model.errors import LinkworkError
from ..results.record import Record

ENDINGS = (".html", ".mp4", ".gif", ".png")


def render(source: Record | Path | str, target: Path | str, **options: Any) -> int:
    """Write a record, or the file of one, as `target`; options are those of the function that does it.

    Returns the number of frames of a film, and 1 of all else.
    """
    record = source if isinstance(source, Record) else Record.load(source)
    ending = Path(target).suffix.lower()
    if ending == ".html":
        from .export import save_html

        save_html(record, target, **options)
    elif ending in (".mp4", ".gif"):
        from .film import film

        return film(record, target, **options)
    elif ending == ".png":
        from .picture import save_png, snapshot

        save_png(target, snapshot(record, **options))
    else:
        raise LinkworkError(f"{target}: cannot write '{ending}' (known: {', '.join(ENDINGS)})")
    return 1
