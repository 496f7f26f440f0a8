"""The chain of stages of the suite `control` in bdsim and in python-control."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from linkwork.model.rotation import Array

SWINGS, PULL, LIMIT = 0.5, 20.0, 1.5
"""Frequency of the sine [Hz], gain [1/s], and bound of each stage [1/s]."""


class Peer(NamedTuple):
    """Another program's diagram."""

    name: str
    rates: Callable[[float, Array], Array]
    """Time and states => derivatives of states."""
    states: int

    def evaluate(self, times: int) -> None:
        """All blocks, that often."""
        state, rates = np.full(self.states, 0.01), self.rates
        for _ in range(times):
            rates(0.25, state)


def peers(stages: int) -> Iterator[Peer]:
    """The chain in every program that is installed."""
    for make in (bdsim_chain, control_chain):
        with contextlib.suppress(ImportError):
            yield make(stages)


def bdsim_chain(stages: int) -> Peer:
    """In bdsim."""
    with contextlib.redirect_stdout(io.StringIO()):  # it tells of packages that it would like
        import bdsim

        simulator = bdsim.BDSim(graphics=False, progress=False, banner=False, sysargs=False, quiet=True)
        diagram = simulator.blockdiagram()
        before = diagram.WAVEFORM(wave="sine", freq=SWINGS)
        for _ in range(stages):
            error, gain = diagram.SUM("+-"), diagram.GAIN(PULL)
            bound, state = diagram.CLIP(min=-LIMIT, max=LIMIT), diagram.INTEGRATOR(0.0)
            for start, end in (
                (before, error[0]), (state, error[1]), (error, gain), (gain, bound), (bound, state)
            ):  # fmt: skip
                diagram.connect(start, end)
            before = state
        diagram.connect(before, diagram.NULL())
        diagram.compile(report=False)

    def rates(t: float, x: Array) -> Array:
        diagram.evaluate(diagram.state_map(x), t, sinks=False)
        return np.asarray(diagram.deriv(t), float)

    return Peer("bdsim", rates, stages)


def control_chain(stages: int) -> Peer:
    """In python-control."""
    import control

    made: list[Any] = []
    for k in range(stages):
        before = "wave" if k == 0 else f"state{k - 1}"
        made += [
            control.summing_junction(inputs=[before, f"-state{k}"], output=f"error{k}", name=f"sum{k}"),
            control.NonlinearIOSystem(
                None, lambda t, x, u, p: PULL * u, inputs=f"error{k}", outputs=f"pull{k}", name=f"gain{k}"
            ),
            control.NonlinearIOSystem(
                None, lambda t, x, u, p: np.clip(u, -LIMIT, LIMIT), inputs=f"pull{k}", outputs=f"bound{k}",
                name=f"clip{k}",
            ),
            control.tf2ss([1.0], [1.0, 0.0], inputs=f"bound{k}", outputs=f"state{k}", name=f"integrator{k}"),
        ]  # fmt: skip
    system = control.interconnect(made, inputs="wave", outputs=f"state{stages - 1}")

    def rates(t: float, x: Array) -> Array:
        return np.asarray(system.dynamics(t, x, [math.sin(2.0 * math.pi * SWINGS * t)]), float)

    return Peer("control", rates, stages)
