"""While somebody works on a model file: what is saved runs at once; what is wrong with it is told meanwhile."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from ..interchange.open_file import read_any
from ..model import Model
from ..model.errors import LinkworkError
from .session import Session
from .watch import Stamps, Watch

Tell = Callable[[str | None], object]


def follow_files(
    session: Session, path: str, settings: Mapping[str, Any], *, trouble: Tell, news: Callable[[str], object]
) -> None:
    """Let a session follow the model file that it was opened with, and all files that it names, until it ends.

    `trouble` is told what is wrong with what was saved, and None when it is right again: until then the last good model
    goes on. `news` is told what became of a good one. Both are called in a thread of their own.
    """
    name = Path(path).name

    def read() -> Stamps:
        reading = read_any(path, settings)
        wrong: str | None = str(reading.error)
        if reading.model is not None:
            wrong = _rewritten(session, reading.model, path, lambda text: news(f"{name} was saved: {text}"))
        if not watch.ended:  # else another session may be there by now
            trouble(wrong)
        return reading.stamps

    watch = Watch(session.written.files, read)
    session.watch_files(watch)


def _rewritten(session: Session, model: Model, path: str, news: Callable[[str], object]) -> str | None:
    """Let a session go on with another model; returns what is wrong with that."""
    try:
        anew = session.rewrite(model)
    except CancelledError:
        return None  # the session has ended
    except LinkworkError as error:
        return f"{path}: {error}"
    except Exception as error:  # the thread must live for the next save
        traceback.print_exc()
        return f"{path}: {type(error).__name__}: {error}"
    news(f"it begins anew, for {anew}" if anew else "it goes on")
    return None
