"""Accelerations and forces of methods that step with impulses: means over the last step before a sample."""

import numpy as np

from ..elements.respond import sample_states
from ..kernels.jit import inlined, kernel


@inlined
def begin_mean(mean, v):
    """Keep the rates at the start of a step."""
    for i in range(mean.shape[0]):
        mean[i] = v[i]


@inlined
def end_mean(mean, v, h):
    """(rates at the start of a step, and at its end) => mean accelerations."""
    for i in range(mean.shape[0]):
        mean[i] = (v[i] - mean[i]) / h


@kernel
def sample(state, out_t, out_q, out_v, out_work, row, t):
    """State into a sample."""
    out_t[row] = t
    for i in range(state.q.shape[0]):
        out_q[row, i] = state.q[i]
    for i in range(state.v.shape[0]):
        out_v[row, i] = state.v[i]
    out_work[row, 0] = state.work[0]
    out_work[row, 1] = state.work[1]


@kernel
def sample_means(constraints, mean, steps, h, out, row):
    """Accelerations and forces of rows into a sample; not a number before the first step."""
    for i in range(mean.shape[0]):
        out.a[row, i] = mean[i]
    sample_states(constraints, out.states[row])
    for i in range(constraints.rows.shape[0]):
        out.forces[row, i] = constraints.rows[i].p / h if steps > 0 else np.nan
