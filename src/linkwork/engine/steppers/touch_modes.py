"""Which points touch, stick and slide from here on: the laws of Signorini and Coulomb for accelerations.

Points without a gap that do not part are taken to touch, those with slip to slide and the others to stick. Then, until
all is well, what would pull opens, what needs more friction than it may have begins to slide the way it was pushed,
what would sink in touches again, and what would not slide after all sticks.
"""

from ..kernels.jit import apart, kernel
from ..kernels.math3 import add3, get3, norm3, scale3, set3
from .touch_forces import apply_touch, gather_closed, reach_touch, solve_touch
from .touch_log import note
from .touch_survey import GIVE_UP, survey_touch
from .touch_tables import FREE, OPEN, SLIDES, SLIP, STICKS
from .touch_ways import STOPPED, point_ways, slip_of, turn_rows

NEAR, RESTING = 1e-7, 1e-4
"""Points with less of a gap touch, and have not hit if they come nearer no faster than this: it would come back by half
a nanometre, again and again [m, m/s]."""
_EXACT = 1e-9  # of the largest accelerations and forces
_STRAIGHT = 1e-7  # what begins to slide goes the way of its acceleration to within this angle [rad]
_TOGETHER, _LIMIT = 12, 60  # changes of modes all at once, and in all
_SETTLED, _MUST_OPEN, _MUST_SLIDE = range(3)


@apart
def push_touch(tables, constraints, work, touch, motion, course):
    """(rows solved) => forces of contact, with their effect on accelerations, rows and power."""
    if look_touch(tables, touch, course):
        reach_touch(tables, work, touch)
        settle_touch(touch, motion.a, course)
        apply_touch(constraints, work, touch, motion.a, course.bounded)


@kernel
def look_touch(tables, touch, course):
    """Points that touch, with modes to begin with where they are to be found anew; whether forces mean anything."""
    state = touch.state[0]
    survey_touch(tables, touch, course.ahead)
    if state.bad != 0:
        return False
    if state.renew != 0:
        course.changed = True
        _begin_modes(touch)
        if state.hit != 0:  # forces mean nothing here: impulses come first
            _unload(touch)
            _tell(touch, course.at)
            return False
    else:
        for k in range(state.slots):
            if touch.slots[k].mode != FREE and touch.slots[k].found == 0:
                state.bad = GIVE_UP
    point_ways(touch)
    return state.bad == 0 and gather_closed(touch)


@kernel
def settle_touch(touch, a, course):
    """(J, Z and G; a: accelerations without contact) => forces, at modes that are found anew if that was asked for."""
    state = touch.state[0]
    solve_touch(touch, a, 0.0 if state.renew != 0 else course.ahead)
    if state.renew != 0:
        _settle_modes(touch, a)
        state.renew, state.event = 0, -1
        _tell(touch, course.at)


@kernel
def _begin_modes(touch):
    """Modes from gaps and velocities; state.hit tells if something comes nearer where there is no gap."""
    state, slots = touch.state[0], touch.slots
    state.hit = 0
    for k in range(state.slots):
        slot = slots[k]
        was, slot.onset = slot.mode, _SETTLED
        slot.was = 1 if was != FREE else 0
        if slot.found == 0 or slot.gap > NEAR or slot.rate[0] > RESTING:
            slot.mode = FREE
            continue
        if slot.gap < -state.slop:
            state.bad = GIVE_UP
        if slot.rate[0] < -RESTING:
            state.hit = 1
        slip = slip_of(slot)
        speed = norm3(slip)
        slot.mode = STICKS
        if speed > STOPPED or slot.friction == 0.0:
            slot.mode = SLIDES
            if speed > STOPPED:
                set3(slot.way, scale3(1.0 / speed, slip))
                set3(slot.ahead, get3(slot.way))
        elif k == state.event and state.watch == SLIP and was == STICKS:
            slot.onset = _MUST_SLIDE
            _slide_as_pushed(slot)
        if k == state.event and state.watch == OPEN and was != FREE:
            slot.onset = _MUST_OPEN


@kernel
def _unload(touch):
    """No forces, for the moment of an impact."""
    state, slots = touch.state[0], touch.slots
    state.renew, state.event, state.closed, state.lost = 0, -1, 0, 0.0
    for k in range(state.slots):
        for m in range(3):
            slots[k].p[m] = 0.0


@kernel
def _slide_as_pushed(slot):
    """Begin to slide the way that friction held back."""
    t, s = (slot.axes[3], slot.axes[4], slot.axes[5]), (slot.axes[6], slot.axes[7], slot.axes[8])
    push = add3(scale3(slot.p[1], t), scale3(slot.p[2], s))
    size = norm3(push)
    slot.mode = SLIDES
    if size > 0.0:
        set3(slot.way, scale3(-1.0 / size, push))
    set3(slot.ahead, get3(slot.way))


@kernel
def _settle_modes(touch, a):
    """Change modes until forces and accelerations go together."""
    for turn in range(_LIMIT):
        if turn == 0:  # what the event is about changes first
            changed = _let_go(touch)
        else:
            changed = _change_modes(touch, turn < _TOGETHER)
        if changed == 0 and turn > 0:
            return
        if changed != 0:
            solve_touch(touch, a, 0.0)
    touch.state[0].bad = GIVE_UP


@kernel
def _let_go(touch):
    state, slots, order, changed = touch.state[0], touch.slots, touch.order, 0
    for c in range(state.closed):
        if slots[order[c]].onset == _MUST_OPEN:
            slots[order[c]].mode = FREE
            changed += 1
    return changed


@kernel
def _change_modes(touch, together):
    """Change the modes that do not fit, all of them or the worst; how many."""
    state, slots, order = touch.state[0], touch.slots, touch.order
    force, push = 0.0, 0.0
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            force = max(force, abs(slot.p[m]))
            push = max(push, abs(touch.vector[0, 3 * c + m]))
    worst, at, changed = 0.0, -1, 0
    for c in range(state.closed):
        slot = slots[order[c]]
        wrong = _wrong(slot, force, push)
        if wrong > 0.0:
            changed += 1
            if together:
                _correct_mode(touch, c)
            elif wrong > worst:
                worst, at = wrong, c
    if not together and at >= 0:
        _correct_mode(touch, at)
    return changed


@kernel
def _wrong(slot, force, push):
    """By how much, without dimension, a slot is not in the mode that it should be in; 0 if it is."""
    slack = _EXACT * (1e3 if slot.onset == _MUST_OPEN or slot.onset == _MUST_SLIDE else 1.0)
    if slot.mode == FREE:
        return max(-slot.accel[0] / push - slack, 0.0) if push > 0.0 else 0.0
    if slot.p[0] < -_EXACT * force:
        return -slot.p[0] / force
    if slot.mode == STICKS:
        pull = (slot.p[1] * slot.p[1] + slot.p[2] * slot.p[2]) ** 0.5
        return max((pull - slot.friction * slot.p[0]) / force - _EXACT, 0.0) if force > 0.0 else 0.0
    if slot.friction == 0.0 or norm3(slip_of(slot)) > STOPPED or push == 0.0:
        return 0.0
    # It is about to slide: the way of its acceleration.
    if slot.accel[1] < -slack * push:
        return -slot.accel[1] / push
    askew = abs(slot.accel[2])
    return askew / push if askew > max(_STRAIGHT * slot.accel[1], _EXACT * push) else 0.0


@kernel
def _correct_mode(touch, c):
    slot = touch.slots[touch.order[c]]
    if slot.mode == FREE:
        slot.mode = STICKS if norm3(slip_of(slot)) <= STOPPED and slot.friction > 0.0 else SLIDES
    elif slot.p[0] < 0.0:
        slot.mode = FREE
    elif slot.mode == STICKS:
        _slide_as_pushed(slot)
        turn_rows(touch, c)
    elif slot.accel[1] < 0.0:
        slot.mode = STICKS
    else:
        t, s = (slot.axes[3], slot.axes[4], slot.axes[5]), (slot.axes[6], slot.axes[7], slot.axes[8])
        way = add3(scale3(slot.accel[1], t), scale3(slot.accel[2], s))
        set3(slot.way, scale3(1.0 / norm3(way), way))
        set3(slot.ahead, get3(slot.way))
        turn_rows(touch, c)


@kernel
def _tell(touch, t):
    """Pairs of shapes that began or ceased to touch."""
    state, slots = touch.state[0], touch.slots
    for k in range(state.slots):
        was, now, first = 0, 0, True
        for m in range(state.slots):
            if slots[m].i == slots[k].i and slots[m].j == slots[k].j:
                first &= m >= k
                was |= slots[m].was
                now |= 1 if slots[m].mode != FREE else 0
        if first and was != now:
            note(touch.events, state, t, slots[k].i, slots[k].j, now)
