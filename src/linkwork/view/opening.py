"""A model on its way to the page: what is missing is compiled elsewhere, while the page shows it and how far it is."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile.compiler import Compiled
from ..live.needs import needed
from ..live.realtime import positive
from ..live.session import Session
from ..methods.capabilities import require
from ..methods.registry import way_for
from ..model import Model
from ..model.errors import LinkworkError
from ..run.warmup import left, missing, warm_up
from ..scenes import Scene, live_settings, open_subject
from ..stage.stage import Poses, Stage, stage_of

if TYPE_CHECKING:
    from .page import Page


class Overtaken(Exception):  # noqa: N818 (nothing is wrong)
    """Something else is to be opened instead."""


class Opening:
    """One subject with its parameters; `options` are those of `Session`; `compiles()` is called if that is needed."""

    def __init__(
        self,
        subject: str | Model,
        settings: dict[str, Any],
        options: dict[str, Any],
        compiles: Callable[[], object] = lambda: None,
    ):
        settings = live_settings(subject, settings)
        self.subject, self.settings, self.options, self._compiles = subject, settings, options, compiles
        self._overtaken = threading.Event()
        self.model: Model
        self.scene: Scene | None
        self.model, self.scene = open_subject(subject, settings)
        positive("speed", options.get("speed", 1.0))

    @property
    def name(self) -> str:
        """Of the scene or model."""
        return self.model.name if self.scene is None else self.scene.name

    def cancel(self) -> None:
        """Do not go on: something else is wanted."""
        self._overtaken.set()

    def session(self, page: Page) -> Session:
        """A session that is ready to start; may take as long as compiling does."""
        compiled = Compiled(self.model)
        if not compiled.flat.bodies:
            raise LinkworkError(f"the model '{self.model.name}' has no bodies: there is nothing to see")
        method = self.options.get("method") or (None if self.scene is None else self.scene.method)
        solver = self.options.get("solver")
        if isinstance(method or solver, str):  # what cannot be is not compiled first
            require([way_for(compiled, method, solver, None).name], compiled.flat, compiled.spanning)
        lacking = missing(needed(compiled, method, solver))
        if lacking:
            if page.subject != self.name:
                page.preview(self.name, *_as_written(compiled), None)
            self._compiles()
            page.progress(0.0, _compiling(lacking))
            began = time.monotonic()
            try:
                warm_up(lacking, report=lambda share, names: self._report(page, share, names, began))
            finally:
                page.progress(None, "")
        self._go_on()
        fresh = Session(self.model, scene=self.scene, **self.options)
        fresh.warm()
        self._go_on()
        return fresh

    def _report(self, page: Page, share: float, names: Sequence[str], began: float) -> None:
        self._go_on()
        page.progress(share, _compiling(names, left(share, time.monotonic() - began)))

    def _go_on(self) -> None:
        if self._overtaken.is_set():
            raise Overtaken


def _as_written(compiled: Compiled) -> tuple[Stage, Poses]:
    """Stage and poses as the model is written, for which nothing is compiled."""
    bodies = compiled.flat.bodies.values()
    poses = Poses(np.array([body.at for body in bodies]), np.array([body.rotation for body in bodies]))
    return stage_of(compiled), poses


def _compiling(names: Sequence[str], remaining: float = math.inf) -> str:
    """What is done, and how many seconds it goes on, if that can be foreseen."""
    rest = f", {remaining:.0f} s left" if remaining < math.inf else ""
    return f"First start: compiling the solver ({', '.join(names)}){rest}. Later starts take a second."
