"""What an operator does to a running simulation, and what its control diagram tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..methods.base import Method
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array

if TYPE_CHECKING:
    from ..control.blocks.panel import Element
    from ..control.diagram import Diagram

_RUNS_AWAY = 2.0
"""Largest product of step and rate that explicit steps stand (Euler; Runge-Kutta of order four: 2.8)."""


class Operating:
    """The part of a simulation that is about its control diagram."""

    method: Method
    dt: float

    def _refuse_fast_blocks(self) -> None:
        """Steps of fixed size in which a block of the diagram would run away by itself."""
        told = self.method.diagram
        if told is not None and not self.method.adaptive and self.dt * told.fastest[1] > _RUNS_AWAY:
            block, rate = told.fastest
            raise LinkworkError(
                f"block '{block}' changes within {1.0 / rate:.3g} s, too fast for steps of dt = {self.dt:g} s: take "
                f"steps of {_RUNS_AWAY / rate:.2g} s or less, integrator 'adaptive', or a slower block"
            )

    @property
    def diagram(self) -> Diagram | None:
        """The control diagram, resolved; None if the model has none."""
        told = self.method.diagram
        return None if told is None else told.diagram

    @property
    def wires(self) -> tuple[str, ...]:
        """Names of all outputs of the control diagram, in the order of `wire_values`."""
        told = self.method.diagram
        return () if told is None else tuple(told.diagram.outputs)

    def wire_values(self) -> Array:
        """Values of all outputs of the control diagram now, in the order of `wires`."""
        return self.method.wire_values()

    def operate(self, channel: str, value: float) -> None:
        """Move an element of the panel, `stick.x`, from now on; beyond its range it stays at the end."""
        element = self._element(channel)
        if not np.isfinite(value):
            raise LinkworkError(f"'{channel}' must be a finite number, not {value}")
        low, high = element.span()
        self.method.operate(channel, min(max(float(value), low), high))

    def let_go(self, channel: str) -> None:
        """Let go of an element of the panel: it goes back to rest if it springs, else it stays."""
        element = self._element(channel)
        if element.springs:
            self.method.operate(channel, element.rest())

    def _element(self, channel: str) -> Element:
        """The element of the panel that an output belongs to."""
        told = self.method.diagram
        known = [] if told is None else [one.name for one in told.channels if one.operated]
        if told is None or channel not in known:
            raise LinkworkError(
                f"there is no element of the panel '{channel}' to operate{nearest(channel, known)}"
            )
        return cast("Element", told.diagram.blocks[channel.rpartition(".")[0]])
