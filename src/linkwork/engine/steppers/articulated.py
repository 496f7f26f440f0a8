"""Open trees without rows: accelerations by articulated bodies, nothing to correct."""

from ..coordinates.dynamics import load
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import accelerate
from ..kernels.jit import woven
from .motion import EULER


@woven
def evaluate_tree(tables, motion, course, stats):
    """(trial) => accelerations and power; for Euler's method as means of a step, with how bodies on balls turn."""
    n = motion.a.shape[0]
    course.supplied, course.dissipated = load(tables, motion.q_trial, motion.y_trial[n : 2 * n], course.at)
    if course.integrator == EULER and motion.q.shape[0] != n:  # there are balls
        turn_freely(tables.dofs, course.step, motion.stages[0, :n])
    accelerate(tables.dofs, motion.a)
    stats.evaluations += 1
