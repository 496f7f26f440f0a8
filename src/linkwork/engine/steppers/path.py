"""Where an implicit run is: the state, the trial of the step under way, options and statistics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel, woven
from .state import State

ASIDE = 1e-9
"""Share of a step: forces that jump at its end are those of just before in it, of just after in the next."""

OPTIONS = np.dtype(
    [
        ("step", "f8"),  # [s]
        ("beta", "f8"),  # β, γ, αm and αf of the generalized-α method
        ("gamma", "f8"),
        ("am", "f8"),
        ("af", "f8"),
        ("tolerance", "f8"),  # corrections that end Newton's method, against the displacement of the step
        ("iterations", "i8"),  # limit of Newton's method
        ("halvings", "i8"),  # how often a step that does not converge is halved
        ("error", "f8"),  # error that a step may make [rad or m]
        ("refinements", "i8"),  # how often a step is halved for that
        ("budget", "f8"),  # time that a step may take, in ticks of the clock; 0 for any
    ]
)

STATS = np.dtype(
    [
        ("iterations", "i8"),  # of Newton's method, in all
        ("most_iterations", "i8"),  # in one step
        ("last_iterations", "i8"),  # in the last step or attempt
        ("factored", "i8"),  # tangents made
        ("halved", "i8"),  # steps taken in halves
        ("slow", "i8"),  # attempts whose corrections shrank slowly, but enough
        ("overruns", "i8"),  # steps that took longer than the budget
        ("rechosen", "i8"),  # sets of independent unknowns given up for another
        ("gap", "f8"),  # largest gap of a joint equation at a sample [m or rad]
        ("gap_row", "i8"),  # its row, -1 for none
        ("gap_time", "f8"),  # [s]
        ("last_gap", "f8"),  # largest gap at the last sample [m or rad]
    ]
)


class Trial(NamedTuple):
    """End of the step under way, as far as it is known."""

    q: np.ndarray
    delta: np.ndarray
    """Displacement since the start of the step."""
    v: np.ndarray
    aux: np.ndarray
    """Auxiliary accelerations of generalized-α."""
    a: np.ndarray


class Path(NamedTuple):
    """State of an implicit run, in its unknowns."""

    state: State
    aux: np.ndarray
    """Auxiliary accelerations of generalized-α."""
    a: np.ndarray
    """Accelerations of the unknowns."""
    trial: Trial
    seen: np.ndarray
    """q, v and commands at the end of the last call: if they differ, somebody wrote to them."""


def new_path(state: State, commands: int) -> Path:
    """A path that begins at a state, whose accelerations are not known yet."""
    q, n = state.q, len(state.v)
    trial = Trial(q.copy(), *(np.zeros(n) for _ in range(4)))
    return Path(state, np.zeros(n), np.zeros(n), trial, np.full(len(q) + n + commands, np.nan))


@kernel
def on_position(options, h):
    """What a displacement in a step of h is worth as an acceleration [s²]: h²/4 of the trapezoidal rule."""
    return options.beta * h * h * (1.0 - options.af) / (1.0 - options.am)


@woven
def guess(path, h):
    """Displacement of a step of h if auxiliary accelerations stay."""
    v, aux, delta = path.state.v, path.aux, path.trial.delta
    for i in range(delta.shape[0]):
        delta[i] = h * v[i] + 0.5 * h * h * aux[i]


@kernel
def try_end(path, options, h):
    """(displacement) => rates, auxiliary accelerations and accelerations at the end of a step of h."""
    beta, gamma, am, af = options.beta, options.gamma, options.am, options.af
    v, trial = path.state.v, path.trial
    for i in range(v.shape[0]):
        aux = (trial.delta[i] - h * v[i]) / (beta * h * h) - (0.5 - beta) / beta * path.aux[i]
        trial.aux[i] = aux
        trial.v[i] = v[i] + h * ((1.0 - gamma) * path.aux[i] + gamma * aux)
        mixed = (1.0 - am) * aux + am * path.aux[i] - af * path.a[i]
        trial.a[i] = mixed / (1.0 - af)
