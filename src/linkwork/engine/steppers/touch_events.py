"""When a contact opens, closes, begins to slip or sticks within an explicit step, and what is told of contact.

As for rows (`events`): what is watched of a point is positive before the event and zero at it. Of a point that is apart
its gap; of one that touches its load, and what is left of its cone or, if it slides, its slip in the direction that it
had where the step began.
"""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import dot3, get3, set3
from .events import BARELY, PEEK, SEARCHES, STILL, STOPPED, TOUCH, crossing
from .touch_log import REPORT
from .touch_tables import FREE, OPEN, SLIDES, SLIP


@inlined
def _watched(slot, watch):
    """What is positive before an event of a slot, and its rate where that is known (else 0)."""
    if watch == OPEN:
        return (slot.gap, slot.rate[0]) if slot.mode == FREE else (slot.p[0], 0.0)
    if slot.mode == SLIDES:
        ahead = get3(slot.ahead)
        t = dot3(ahead, (slot.axes[3], slot.axes[4], slot.axes[5]))
        s = dot3(ahead, (slot.axes[6], slot.axes[7], slot.axes[8]))
        return t * slot.rate[1] + s * slot.rate[2], t * slot.accel[1] + s * slot.accel[2]
    return slot.friction * slot.p[0] - (slot.p[1] * slot.p[1] + slot.p[2] * slot.p[2]) ** 0.5, 0.0


@kernel
def note_touch(touch):
    """(end of a step) Where slots start the next one; those that are gone are forgotten."""
    state, slots = touch.state[0], touch.slots
    kept = 0
    for k in range(state.slots):
        if slots[k].found == 0 and slots[k].mode == FREE:
            continue
        if kept != k:
            slots[kept] = slots[k]
        slot = slots[kept]
        kept += 1
        slot.known = 1
        if slot.mode == SLIDES:
            set3(slot.ahead, get3(slot.way))
        for watch in range(2):
            slot.began[watch], slot.began_rate[watch] = _watched(slot, watch)
    state.slots = kept
    state.deepest = max(state.deepest, state.depth)


@kernel
def _largest(touch):
    """Of all forces of contact."""
    largest = 0.0
    for k in range(touch.state[0].slots):
        for m in range(3):
            largest = max(largest, abs(touch.slots[k].p[m]))
    return largest


@kernel
def _first(touch, h):
    """(share of the step at which the first event of a slot happens, interpolated; slot; what of it is watched)."""
    state, slots = touch.state[0], touch.slots
    share, event, watched, largest = 1.0, -1, OPEN, _largest(touch)
    for k in range(state.slots):
        slot = slots[k]
        if slot.found == 0:
            continue
        for watch in range(2):
            if watch == SLIP and (slot.mode == FREE or slot.friction == 0.0):
                continue
            end, end_rate = _watched(slot, watch)
            begin, rate = slot.began[watch], slot.began_rate[watch]
            if slot.known == 0:  # it came near within the step
                begin, rate = max(end - h * end_rate, 0.0), end_rate
            if slot.mode == FREE or (watch == SLIP and slot.mode == SLIDES):
                slack = TOUCH if watch == OPEN else STOPPED
                if begin <= 0.0 and (end >= -slack or (watch == OPEN and end_rate >= 0.0)):
                    continue
                at, by = crossing(max(begin, 0.0), h * rate, end, h * end_rate, slack)
                if at > by:
                    continue
            else:
                if end >= -BARELY * largest:
                    continue
                at = begin / (begin - end) if begin > BARELY * largest else PEEK
            if at < share or event < 0:
                share, event, watched = at, k, watch
    return share, event, watched


@kernel
def locate_touch(touch, course, refused, again):
    """(end of a trial evaluated) => course.share up to which to try again, and whether to; else state.event tells
    whose event it is, or -1. `again`: whether an event of a row is to be tried, or one of a slot was."""
    state, h = touch.state[0], course.length
    if state.event < 0:
        if course.event >= 0 and course.searches > 0:
            return again
        share, event, watch = _first(touch, h)
        if event < 0 or (course.event >= 0 and course.share <= share):
            return again
        if refused:
            course.factor = min(course.factor, min(max(share, 0.2), 0.9))
            return False
        course.event, course.share, course.searches, course.low, course.high = -1, share, 0, 0.0, 1.0
        state.event, state.watch = event, watch
        if share == 0.0:
            return False
        course.before, course.before_at = _watched(touch.slots[event], watch)[0], 1.0
        return True
    slot, share = touch.slots[state.event], course.share
    if slot.found == 0:
        state.event = -1
        return False
    value, rate = _watched(slot, state.watch)
    course.searches += 1
    forced = slot.mode != FREE and not (state.watch == SLIP and slot.mode == SLIDES)
    enough = BARELY * max(abs(slot.began[state.watch]), _largest(touch)) if forced else STILL
    if course.searches == 1 and share == PEEK and value <= 0.0 and forced:
        course.share = 0.0
        return False
    if abs(value) <= enough or course.searches == SEARCHES:
        if value > enough:
            state.event = -1
        return False
    if rate == 0.0:
        rate = (value - course.before) / (h * (share - course.before_at))
    course.before, course.before_at = value, share
    if value > 0.0:
        course.low = share
    else:
        course.high = share
    newton = share - value / (h * rate) if rate < 0.0 else -1.0
    course.share = newton if course.low < newton < course.high else 0.5 * (course.low + course.high)
    return True


@kernel
def recall_mean(touch, a):
    """Where an evaluation is no good: accelerations are the means of the last step, which was by impulses."""
    touch.state[0].bad = 0
    for i in range(a.shape[0]):
        a[i] = touch.mean[i]


@kernel
def sample_touch(touch, solver):
    """Pairs of shapes that are near, deepest penetration, residual, and forces of contact on owners of shapes and of
    chosen pairs, as `touch_log.sample_contact` has them."""
    state, slots, mounts, pairs = touch.state[0], touch.slots, touch.colliders.mounts, touch.pairs
    solver[3], solver[4], solver[5] = touch.found.counts[0].patches, state.depth, state.residual
    for k in range(REPORT, solver.shape[0]):
        solver[k] = 0.0
    after = solver.shape[0] - 3 * pairs.shape[0]
    for k in range(state.slots):
        slot = slots[k]
        if slot.mode == FREE:
            continue
        one, other = mounts[slot.i].owner, mounts[slot.j].owner
        for axis in range(3):
            push = 0.0
            for m in range(3):
                push += slot.p[m] * slot.axes[3 * m + axis]
            solver[REPORT + 3 * one + axis] -= push
            solver[REPORT + 3 * other + axis] += push
            for p in range(pairs.shape[0]):
                if pairs[p, 0] == one and pairs[p, 1] == other:
                    solver[after + 3 * p + axis] += push
                elif pairs[p, 0] == other and pairs[p, 1] == one:
                    solver[after + 3 * p + axis] -= push
