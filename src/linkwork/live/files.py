"""Names of files that come from a page, kept inside the folder that was chosen for them."""

from __future__ import annotations

import re
from pathlib import Path

from ..model.errors import LinkworkError

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}")


def inside(folder: Path, name: str, ending: str) -> Path:
    """The path of a file in a folder; a name that could lead elsewhere, or hide, is refused."""
    plain = name.strip()
    if not plain.endswith(ending):
        plain += ending
    if not _PLAIN.fullmatch(plain) or ".." in plain:
        raise LinkworkError(
            f"'{name}' cannot be the name of a file here: use letters, digits, spaces, dots, dashes and underscores"
        )
    if not folder.is_dir():
        raise LinkworkError(f"there is no folder '{folder}' to write into")
    path = folder / plain
    if path.is_symlink() or path.resolve().parent != folder.resolve():
        raise LinkworkError(f"'{name}' leads out of the folder '{folder}'")
    return path
