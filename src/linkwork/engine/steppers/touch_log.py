"""What is told of contact: events, when two things begin or cease to push each other, and forces in samples."""

import numpy as np

from ..kernels.jit import kernel, woven

REPORT = 6
"""Numbers of the solver in a sample, before the contact forces."""

EVENT = np.dtype(
    [
        ("time", "f8"),  # [s]
        ("i", "i8"),  # the two shapes
        ("j", "i8"),
        ("began", "i8"),  # 1 if they began to push each other, 0 if they ceased
    ]
)


@woven
def note_events(found, events, stats, t):
    """Pairs of shapes that began or ceased to push each other in the step that ended at t."""
    side = found.counts[0].side
    old_side = 1 - side
    for k in range(found.counts[0].patches):
        patch = found.patches[side, k]
        was = 0
        if patch.old >= 0:
            was = found.patches[old_side, patch.old].touches
            found.patches[old_side, patch.old].touches = 0
        if patch.touches != was:
            note(events, stats, t, patch.i, patch.j, patch.touches)
    for k in range(found.counts[0].old_patches):
        old = found.patches[old_side, k]
        if old.touches != 0:
            old.touches = 0
            note(events, stats, t, old.i, old.j, 0)


@woven
def note(events, stats, t, i, j, began):
    """Append an event to those that wait to be read."""
    if stats.waiting == events.shape[0]:
        stats.events_lost += 1
    else:
        event = events[stats.waiting]
        event.time, event.i, event.j, event.began = t, i, j, began
        stats.waiting += 1


@kernel
def sample_contact(found, mounts, pairs, stats, taken, h, solver):
    """Number of contacts, deepest penetration, residual, the sum of the contact forces on each owner of shapes and, of
    each of some pairs of owners, that of the first on the second; means of the last step [N], which are not numbers
    before the first step."""
    solver[3], solver[4], solver[5] = stats.contacts, stats.last_depth, stats.last_residual
    side = found.counts[0].side
    for k in range(REPORT, solver.shape[0]):
        solver[k] = 0.0 if taken > 0 else np.nan
    after = solver.shape[0] - 3 * pairs.shape[0]
    for k in range(found.counts[0].patches):
        patch = found.patches[side, k]
        one, other = mounts[patch.i].owner, mounts[patch.j].owner
        a, b = REPORT + 3 * one, REPORT + 3 * other
        for i in range(patch.first, patch.first + patch.count):
            point = found.points[side, i]
            if point.p[0] <= 0.0:
                continue
            for axis in range(3):
                push = point.p[0] * point.n[axis] + point.p[1] * point.t[axis] + point.p[2] * point.s[axis]
                solver[a + axis] -= push / h
                solver[b + axis] += push / h
                for p in range(pairs.shape[0]):
                    if pairs[p, 0] == one and pairs[p, 1] == other:
                        solver[after + 3 * p + axis] += push / h
                    elif pairs[p, 0] == other and pairs[p, 1] == one:
                        solver[after + 3 * p + axis] -= push / h
