"""Files to begin with: commented models, components, scenes and elements that work as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..model.errors import LinkworkError

Kind = Literal["model", "component", "scene", "element"]

_FOLDER = Path(__file__).parent / "starters"
_ENDINGS: dict[Kind, str] = {"model": ".yaml", "component": ".yaml", "scene": ".py", "element": ".py"}


def starter_files(kind: Kind, path: Path) -> dict[Path, str]:
    """The files that a start takes and what they hold, the one to look at last.

    A name without an ending gets the usual one of its kind.
    """
    ending = _ENDINGS[kind]
    if path.suffix == "":
        path = path.with_name(path.name + ending)
    if path.suffix != ending and (path.suffix, ending) != (".yml", ".yaml"):
        raise LinkworkError(f"{path}: a {kind} is a file that ends with {ending}")
    name = path.stem
    if not name.replace("_", "").replace("-", "").isalnum():
        raise LinkworkError(
            f"{path}: the name of a {kind} is made of letters, digits, dashes and underscores"
        )
    demo = path.with_name(f"{name}-demo{path.suffix}")
    wanted = {path: f"{kind}{ending}"}
    if kind == "component":
        wanted[demo] = "component-demo.yaml"
    words = {"NAME": name, "FILE": path.name, "DEMO": demo.name}
    return {file: _filled(source, words) for file, source in wanted.items()}


def _filled(source: str, words: dict[str, str]) -> str:
    text = (_FOLDER / source).read_text(encoding="utf-8")
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


def write_starter(kind: Kind, path: Path, *, overwrite: bool = False) -> list[Path]:
    """Write the files of a start, the one to look at last; existing ones only if told to."""
    files = starter_files(kind, path)
    for file in files:
        if file.exists() and not overwrite:
            raise LinkworkError(f"{file} is there already: choose another name, or overwrite it with --force")
        if not file.parent.is_dir():
            raise LinkworkError(f"{file}: there is no folder '{file.parent}' to write into")
    for file, text in files.items():
        try:
            # "x" fails if somebody else was faster.
            with file.open("w" if overwrite else "x", encoding="utf-8") as out:
                out.write(text)
        except OSError as error:
            raise LinkworkError(f"{file}: cannot be written: {error.strerror}") from None
    return list(files)
