"""The real-time loop: paced by a clock, paused, stepped, told and listened to."""

import numpy as np
import pytest

from helpers.paced import ADAPTIVE, DT, WAYS, check_against_run, listen, pendulum, ways
from linkwork import Simulation
from linkwork.live.realtime import RealTime


class Clock:
    """A clock that is set by hand, and by simulations whose steps take time [s]."""

    def __init__(self):
        self.now, self.cost, self.stretches = 100.0, 1e-5, []

    def __call__(self):
        return self.now

    def slow(self, simulation):
        advance = simulation.advance

        def costly(counts):
            self.stretches.append(counts[-1])
            block = advance(counts)
            self.now += self.cost * counts[-1]
            return block

        simulation.advance = costly
        return simulation


def by_hand(way=WAYS["tree"], **options):
    """A loop without a thread, and its clock."""
    clock = Clock()
    simulation = clock.slow(Simulation(pendulum(), dt=DT, **way))
    return RealTime(simulation, clock=clock, **options), clock


def let_run(loop):
    """What the thread does until nothing is due; returns the number of calls."""
    calls = 0
    while loop.attend():
        calls += 1
        assert calls < 10_000, "there is always something due"
    return calls


# --- a clock set by hand ---


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_steps_are_taken_when_they_fall_due(speed):
    loop, clock = by_hand(speed=speed)
    began = clock.now
    for pause in (0.0004, 0.0031, 0.0, 0.017, 0.08, 0.0009, 0.0451):
        clock.now += pause
        let_run(loop)
        # Never ahead of the clock, and behind by less than a step.
        due = speed * (clock.now - began)
        assert due - DT - 1e-9 < loop.simulation.time <= due + 1e-9
    assert loop.status.lost == 0.0
    assert loop.status.keeps_up


def test_a_step_that_is_not_due_is_waited_for():
    loop, clock = by_hand(speed=0.5)
    clock.now += 0.0005
    assert loop.delay() == pytest.approx((DT - 0.00025) / 0.5)
    assert let_run(loop) == 0
    assert loop.simulation.steps == 0


def test_a_clock_that_jumps_leads_to_no_burst():
    loop, clock = by_hand(backlog=0.1)
    clock.now += 10.0
    let_run(loop)
    assert loop.status.lost == pytest.approx(9.9, abs=0.01)
    # 0.1 s is caught up with, and what that takes.
    assert loop.simulation.time == pytest.approx(0.1, abs=0.005)
    # Then time is kept again.
    time_then, clock_then = loop.simulation.time, clock.now
    for _ in range(100):
        clock.now += 0.004
        let_run(loop)
    assert loop.simulation.time - time_then == pytest.approx(clock.now - clock_then, abs=2 * DT)
    assert loop.status.lost == pytest.approx(9.9, abs=0.01)


@pytest.mark.parametrize("speed", [0.1, 4.0])
def test_the_backlog_is_time_of_the_clock(speed):
    loop, clock = by_hand(backlog=0.2, speed=speed)
    clock.now += 5.0
    let_run(loop)
    assert loop.status.lost == pytest.approx(4.8, abs=0.01)
    # And what became due while it was caught up with.
    assert loop.simulation.time == pytest.approx(0.2 * speed, abs=0.01 * speed)


def test_what_is_caught_up_with_after_a_pause_of_the_machine_is_not_the_pace():
    """The factor once was that of the steps after the pause alone: ten and more times real time."""
    loop, clock = by_hand()
    for _ in range(500):
        clock.now += DT
        let_run(loop)
    clock.now += 2.0  # nobody had time for it
    let_run(loop)
    assert loop.status.factor < 1.0


def test_a_step_longer_than_the_backlog_is_still_taken():
    clock = Clock()
    loop = RealTime(clock.slow(Simulation(pendulum(), dt=0.05)), clock=clock, speed=0.1, backlog=0.1)
    for _ in range(40):
        clock.now += 0.1  # a step is due every 0.5 s
        let_run(loop)
    assert loop.simulation.time == pytest.approx(0.4, abs=0.051)
    assert loop.status.lost == 0.0


def test_a_simulation_that_cannot_keep_up_says_so():
    loop, clock = by_hand()
    clock.cost = 2 * DT  # a step takes twice as long as it lasts
    began = clock.now
    clock.now += DT
    while clock.now < began + 4.0:
        assert loop.attend()  # a step is always due
    status = loop.status
    assert not status.keeps_up
    assert status.factor == pytest.approx(0.5, rel=0.05)
    assert status.load == pytest.approx(1.0, rel=0.05)
    assert status.step_time == pytest.approx(2 * DT, rel=0.05)
    assert status.lost == pytest.approx(2.0, abs=0.2)
    assert status.lateness <= 0.1 + 1e-9
    # Lighter work: it is in time again, and says that too.
    clock.cost = 0.1 * DT
    for _ in range(500):
        clock.now += 2 * DT
        let_run(loop)
    assert loop.status.keeps_up
    assert loop.status.factor == pytest.approx(1.0, rel=0.03)
    assert loop.status.load == pytest.approx(0.1, rel=0.3)


def test_no_call_lasts_long():
    loop, clock = by_hand(backlog=1.0)
    clock.cost = 0.2 * DT
    for _ in range(200):
        clock.now += 0.02
        let_run(loop)
    clock.stretches.clear()
    clock.now += 0.5
    let_run(loop)
    assert sum(clock.stretches) > 400
    assert max(clock.stretches) * clock.cost < 5e-3  # tasks are heard between calls


def test_a_clock_too_coarse_to_see_a_step_does_no_harm():
    loop, clock = by_hand()
    clock.cost = 0.0
    for _ in range(7000):  # the mean time of a step loses a tenth of itself each time
        clock.now += DT
        let_run(loop)
    assert 0.0 < loop.status.step_time < 1e-300
    before = loop.simulation.steps
    clock.now += 0.05
    let_run(loop)
    assert loop.simulation.steps == before + 50


def test_what_was_missed_while_paused_is_not_caught_up_with():
    loop, clock = by_hand()
    clock.now += 0.01
    let_run(loop)
    loop.pause()
    assert let_run(loop) == 1
    clock.now += 50.0
    assert let_run(loop) == 0
    assert loop.delay() == float("inf")
    loop.resume()
    assert let_run(loop) == 1  # to hear that
    clock.now += 0.01
    let_run(loop)
    assert loop.simulation.time == pytest.approx(0.02, abs=2 * DT)
    assert loop.status.lost == 0.0


# --- samples ---


@ways(WAYS, ADAPTIVE)
def test_listeners_get_every_sample_of_the_grid_once(way):
    loop, clock = by_hand(way)
    heard = listen(loop)
    for pause in np.random.default_rng(0).exponential(0.006, size=60):
        clock.now += pause
        let_run(loop)
    assert len(heard) > 20
    check_against_run(heard, way, bits=way in WAYS.values())


def test_samples_of_a_run_are_those_of_the_recorder():
    loop, clock = by_hand()
    heard = listen(loop)
    for _ in range(30):
        clock.now += 0.0137
        let_run(loop)
    record = Simulation(pendulum(), dt=DT, **WAYS["tree"]).run(0.4, every=0.01)
    for k, (_, t, q, v) in enumerate(heard[:40], start=1):
        assert t == record.time[k]
        assert q[0] == record["pivot.angle"][k]
        assert v[0] == record["pivot.angle_rate"][k]


def test_the_latest_state_is_always_handed_out():
    loop, clock = by_hand()
    seen = []
    loop.listeners.append(lambda samples: seen.append((samples.kept, samples.block[0].copy())))
    clock.now += 0.0035
    let_run(loop)
    kept, times = seen[-1]
    assert kept == 0
    assert times == pytest.approx([0.003])
    clock.now += 0.01
    let_run(loop)
    assert seen[-1][1][-1] == pytest.approx(0.013)


def test_samples_can_be_observed():
    loop, clock = by_hand()
    columns = []

    def hear(samples):
        if not columns:
            samples.observer.restart()
        columns.append(samples.observer.observe(samples.block)["coordinates"][-1, 0])

    loop.listeners.append(hear)
    clock.now += 0.05
    let_run(loop)
    assert columns[-1] == loop.simulation["pivot.angle"]


def test_a_grid_finer_than_a_step_is_every_step():
    loop, clock = by_hand(every=1e-5)
    heard = listen(loop)
    clock.now += 0.02
    let_run(loop)
    np.testing.assert_allclose([t for _, t, _, _ in heard], DT * np.arange(1, len(heard) + 1), atol=1e-12)
    assert len(heard) == loop.simulation.steps
