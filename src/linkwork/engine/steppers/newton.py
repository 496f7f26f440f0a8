"""Newton's method for the end of an implicit step.

Displacements of a step are sought for which, with the rates and accelerations that the integrator gives for them, the
forces balance at its end: generalized-α with spectral radius 1, which is the trapezoidal rule, or less, which damps
what the step cannot resolve. The tangent M + h/2 C + s K, s = h²/4 of the trapezoidal rule, has the exact derivatives
of inertial forces, loads, springs and drives. Constraints are met in one of two ways.

Without a partition: the index-3 augmented Lagrangian (Cuadrado and Dopico, eqs. 1-2 and 21-29),

    M z'' + Φᵀ (λ* + α Φ) = Q,    λ* ← λ* + α (Φ + Φ_z Δz) after every iteration Δz.

Penalties s Φᵀ α Φ stand in the tangent; second derivatives of constraints are left out: they cost an iteration at most.
As long as a tangent is in use, αΦ pushes along the gradients in it, since what turns out of them is not resisted. Rates
and accelerations are then projected onto the constraints with the same factors. Natural and relative coordinates differ
in what `evaluate` makes of them.

With a partition of relative coordinates into dependent and independent ones: Rᵀ (M z'' - Q) = 0 with the tangent
Rᵀ (M + h/2 C + s K) R, where the dependent ones follow from the constraints.

`part` is None or a `Partition`: each is compiled on its own, without the branches of the other.
"""

import numpy as np

from ..kernels.jit import inlined, woven
from ..solvers.multipliers import correct_penalised
from ..solvers.reduction import correct_independent
from .balance import evaluate, move
from .independent import close, make_consistent
from .path import ASIDE, guess, on_position, try_end
from .responses import aim_servos, begin_states

_SLOW = 0.1  # contraction beyond which the tangent is made anew
_NEARLY = 1e-5  # share of a step's displacement that may be left after the last iteration
_ASTRAY = 1e6  # a correction that is larger leads nowhere [rad or m]
# Of displacements [rad or m]; near singular positions gaps weigh a thousandfold.
_ROUNDING, _NOISE = 1e-14, 1e-11


@inlined
def _converged(turn, size, ratio, enough):
    """Whether corrections are small enough, or the next one will be, or they are rounding and will not get smaller."""
    # The first correction may be a leap that says little of how fast the next ones shrink.
    if size <= enough or (turn > 0 and ratio < 0.5 and size * max(ratio, _SLOW * _SLOW) <= enough):
        return True
    return turn > 1 and size <= _NOISE and ratio > 0.3


@woven
def _reach_trial(equations, part, path, options, t, h):
    """(displacement of a step of h that ends at t) => coordinates, rates and accelerations at its end.

    With a partition these are on the constraints; False if they cannot be met.
    """
    trial = path.trial
    if part is None:
        try_end(path, options, h)
        move(equations.tables, equations.work, path.state.q, trial.delta, trial.q)
        return True
    if not close(equations, part, path):
        return False
    try_end(path, options, h)
    return make_consistent(equations, part, trial.q, trial.v, trial.a, t)


@woven
def find_end(equations, part, path, stats, options, t, h):
    """Newton's method for the end of one step of size h; returns whether it converged, everything at the trial."""
    work, trial = equations.work, path.trial
    delta, change, s = trial.delta, work.change, on_position(options, h)
    on_v = s * options.gamma / (options.beta * h)
    guess(path, h)
    aim_servos(equations, t, h)
    begin_states(equations.constraints, work, h)
    last, ratio, size, moved, before = np.inf, 0.0, 0.0, 0.0, t + (1.0 - ASIDE) * h
    for turn in range(options.iterations):
        stats.last_iterations = turn + 1
        anew = part is not None or turn == 0 or ratio > _SLOW
        if not _reach_trial(equations, part, path, options, t + h, h):
            return False
        evaluate(equations, trial.q, trial.v, trial.a, before, on_v, s, anew)
        if part is None:
            correct_penalised(work, s, anew)
        else:
            correct_independent(work, part, s)
        stats.factored += 1 if anew else 0
        size, moved = 0.0, 0.0
        for i in range(delta.shape[0]):
            delta[i] += change[i]
            size, moved = max(size, abs(change[i])), max(moved, abs(delta[i]))
        if not size < _ASTRAY:  # or not a number
            return False
        ratio = size / last if turn > 0 else 0.0
        if _converged(turn, size, ratio, options.tolerance * moved + _ROUNDING):
            if part is not None:
                return close(equations, part, path)
            return True
        if turn > 3 and ratio > 2.0:
            return False
        last = size
    # At a singular position penalties resist little, and a gap closes slowly: what is left of it is told by the ratio.
    if part is None and ratio < 1.0 and size * ratio <= _NEARLY * moved * (1.0 - ratio):
        stats.slow += 1
        return True
    return False
