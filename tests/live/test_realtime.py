"""The real-time loop: paced by a clock, paused, stepped, told and listened to."""

import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from helpers.processes import PATIENCE, wait_until
from linkwork import Body, Hinge, LinkworkError, Model, Simulation, SimulationError, scene
from linkwork.live.realtime import RealTime
from linkwork.model.edit import with_gravity

DT = 1e-3
WAYS = {
    "tree": {"method": "tree"},
    "adams": {"method": "simgc"},
    "maximal": {"method": "simmc", "integrator": "rk4"},
    "impulses": {"method": "simgc", "solver": "impulses"},
}
ADAPTIVE = {
    "adaptive tree": {"method": "tree", "integrator": "adaptive"},
    "adaptive": {"method": "simgc", "integrator": "adaptive"},
}


def ways(*known):
    merged = {name: way for group in known for name, way in group.items()}
    return pytest.mark.parametrize("way", merged.values(), ids=merged)


def pendulum():
    model = Model("pendulum")
    model.add(Body("bob", mass=1.0, com=(0, 0, -1.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0, 1, 0), position=1.0))
    return model


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


@pytest.fixture
def running():
    """Starts loops and ends them again, however a test goes."""
    loops = []

    def start(model=None, *, way=WAYS["tree"], **options):
        loop = RealTime(Simulation(model or pendulum(), dt=DT, **way), **options)
        loops.append(loop)
        loop.start()
        return loop

    yield start
    for loop in loops:
        loop.stop()


def physics():
    return [thread for thread in threading.enumerate() if thread.name == "linkwork-physics"]


def done(future):
    return future.result(timeout=PATIENCE)


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


def listen(loop):
    """Samples on the grid as they come: (run, time, coordinates, rates)."""
    heard = []

    def hear(samples):
        for k in range(samples.kept):
            t, q, v = (array[k] for array in samples.block[:3])
            heard.append((samples.run, float(t), q.copy(), v.copy()))
        assert samples.kept <= len(samples.block[0]) <= samples.kept + 1

    loop.listeners.append(hear)
    return heard


def check_against_run(heard, way, bits=True):
    times = np.array([t for _, t, _, _ in heard])
    last = round(times[-1] / 0.01)
    np.testing.assert_allclose(times, 0.01 * np.arange(1, last + 1), atol=1e-9)  # each once, in order
    plain = Simulation(pendulum(), dt=DT, **way)
    # To 1e-8 by the tolerance of steps, which end elsewhere, a few hundred of them.
    near = 0.0 if bits else 1e-6
    for _, t, q, v in heard:
        plain.run(0.01, every=0.01)
        assert plain.time == pytest.approx(t, abs=0.0 if bits else 1e-12)
        np.testing.assert_allclose(q, plain.q, rtol=0, atol=near)
        np.testing.assert_allclose(v, plain.v, rtol=0, atol=near)


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


# --- a clock that runs: assertions hold on any machine, however busy ---


@pytest.mark.parametrize("speed", [1.0, 0.3, 5.0])
def test_the_motion_keeps_the_speed_that_was_asked_for(running, speed):
    before = time.perf_counter()
    loop = running(speed=speed)
    after = time.perf_counter()
    wait_until(lambda: loop.simulation.time > 0.3 * speed)

    def keeps_pace():
        """Never ahead; behind by what was given up, and by no more than may be caught up with, when it has its turn."""
        early = time.perf_counter()
        status = loop.status
        assert status.time <= speed * (time.perf_counter() - before) + DT
        assert status.speed == speed
        return status.time / speed + status.lost > early - after - 0.1 - 0.01

    wait_until(keeps_pace)


def test_another_speed_holds_from_now_on(running):
    loop = running()
    wait_until(lambda: loop.simulation.time > 0.05)
    began, then = time.perf_counter(), loop.simulation.time
    done(loop.set_speed(20.0))
    wait_until(lambda: loop.simulation.time > then + 2.0)
    # 2 s of motion take 0.1 s, but for the 0.1 s that it may have been behind and catch up with.
    assert time.perf_counter() - began > 0.09
    assert loop.status.speed == 20.0


def test_a_pause_stops_the_motion_and_it_goes_on(running):
    loop = running()
    wait_until(lambda: loop.simulation.time > 0.02)
    done(loop.pause())
    then = loop.simulation.time
    time.sleep(0.1)
    assert loop.simulation.time == then
    assert loop.status.paused
    assert loop.status.keeps_up
    done(loop.resume())
    assert not loop.status.paused
    wait_until(lambda: loop.simulation.time > then + 0.02)


@ways(WAYS, ADAPTIVE)
def test_steps_by_hand_are_counted(running, way):
    loop = running(way=way, paused=True)
    assert loop.simulation.time == 0.0
    done(loop.step(7))
    done(loop.step())
    assert loop.simulation.time == pytest.approx(8 * DT, abs=1e-12)
    if way in WAYS.values():
        assert loop.simulation.steps == 8
    plain = Simulation(pendulum(), dt=DT, **way)
    plain.step(8)
    np.testing.assert_allclose(loop.simulation.q, plain.q, atol=1e-12)


def test_a_step_by_hand_pauses(running):
    loop = running()
    wait_until(lambda: loop.simulation.time > 0.02)
    done(loop.step(3))
    then = loop.simulation.steps
    assert loop.status.paused
    time.sleep(0.05)
    assert loop.simulation.steps == then


@pytest.mark.parametrize("count", [0, -3])
def test_no_steps_are_refused(running, count):
    with pytest.raises(LinkworkError, match="at least 1"):
        running(paused=True).step(count)


@pytest.mark.parametrize("paused", [True, False])
def test_a_reset_begins_a_new_run(running, paused):
    loop = running(paused=paused)
    heard = listen(loop)
    if paused:
        done(loop.step(25))
    else:
        wait_until(lambda: loop.simulation.time > 0.05)
    assert loop.run == 0
    done(loop.reset())
    assert loop.run == 1
    assert loop.status.paused is paused
    if paused:
        assert loop.simulation.time == 0.0
        assert loop.simulation["pivot.angle"] == 1.0
        done(loop.step(25))
    else:
        wait_until(lambda: loop.simulation.time > 0.02)
        done(loop.pause())
    new = [(t, q[0]) for run, t, q, _ in heard if run == 1]
    assert new[0] == (0.0, 1.0)
    np.testing.assert_allclose([t for t, _ in new], 0.01 * np.arange(len(new)), atol=1e-9)
    assert [run for run, *_ in heard] == sorted(run for run, *_ in heard)


@ways({name: WAYS[name] for name in ("tree", "adams")}, ADAPTIVE)
def test_listeners_of_a_running_thread_miss_nothing(running, way):
    loop = running(way=way, paused=True, speed=4.0)
    heard = listen(loop)
    done(loop.resume())
    wait_until(lambda: loop.simulation.time > 0.5)
    done(loop.pause())
    check_against_run(heard, way, bits=way in WAYS.values())


def test_tasks_return_results_and_exceptions_and_the_loop_goes_on(running):
    loop = running()
    assert done(loop.do(lambda simulation: simulation["pivot.angle"])) <= 1.0
    assert done(loop.do(lambda _: threading.current_thread().name)) == "linkwork-physics"
    with pytest.raises(LinkworkError, match=r"did you mean 'pivot\.angle'"):
        done(loop.do(lambda simulation: simulation["pivot.angel"]))
    with pytest.raises(ZeroDivisionError):
        done(loop.do(lambda _: 1 / 0))
    then = loop.simulation.time
    wait_until(lambda: loop.simulation.time > then + 0.02)


def test_tasks_are_done_in_order_between_steps(running):
    loop = running()
    order = []
    futures = [loop.do(lambda _, k=k: order.append(k)) for k in range(50)]
    for future in futures:
        done(future)
    assert order == list(range(50))


def test_a_changed_model_is_a_new_run_at_the_same_time(running):
    loop = running(paused=True)
    heard = listen(loop)
    done(loop.step(25))
    done(loop.change(lambda simulation: simulation.alter(with_gravity(pendulum(), (0, 0, 0)))))
    assert loop.run == 1
    assert loop.simulation.time == pytest.approx(0.025)
    assert heard[-1][:2] == (1, pytest.approx(0.025))
    rate = loop.simulation["pivot.angle_rate"]
    done(loop.step(25))
    assert loop.simulation["pivot.angle_rate"] == pytest.approx(rate, abs=1e-12)
    with pytest.raises(LinkworkError, match="cannot go on"):
        done(loop.change(lambda simulation: simulation.alter(scene("chain5"))))
    assert loop.run == 1
    done(loop.step(5))
    assert loop.simulation.time == pytest.approx(0.055)


def test_what_comes_before_steps_acts_on_them(running):
    loop = running(paused=True)
    times = []

    def hold(simulation):
        times.append(simulation.time)
        simulation["pivot.angle_rate"] = 0.5

    loop.before_steps.append(hold)
    for _ in range(20):
        done(loop.step())
    np.testing.assert_allclose(times, DT * np.arange(20), atol=1e-12)
    # Set before every step, gravity changes the rate within it alone: by 8 rad/s² of 1 ms.
    assert loop.simulation["pivot.angle"] == pytest.approx(1.0 + 20 * DT * 0.5, abs=20 * 8 * DT**2)


# --- what goes wrong ---


@ways(WAYS, ADAPTIVE)
def test_a_motion_that_diverges_is_told_and_a_reset_cures_it(running, way):
    loop = running(way=way)
    wait_until(lambda: loop.simulation.time > 0.02)

    def spoil(simulation):
        simulation.v[:] = np.nan

    done(loop.do(spoil))
    wait_until(lambda: loop.status.failure is not None)
    assert "not a number" in loop.status.failure or "t = " in loop.status.failure
    assert done(loop.do(lambda _: 42)) == 42  # it still answers
    with pytest.raises(LinkworkError, match=r"the motion has ended.*reset it"):
        done(loop.step())
    done(loop.pause())
    done(loop.reset())
    assert loop.status.failure is None
    done(loop.step(50))
    fresh = Simulation(pendulum(), dt=DT, **way)
    fresh.advance([10, 20, 30, 40, 50])  # where the loop stops for samples
    assert loop.status.failure is None
    assert loop.simulation.q.tobytes() == fresh.q.tobytes()
    assert loop.simulation.v.tobytes() == fresh.v.tobytes()


def test_a_motion_that_fails_by_hand_is_told_too():
    model = scene("torsion_bar", stiffness=1e9)
    loop = RealTime(Simulation(model, method="tree", dt=DT), paused=True)
    loop.simulation["bar.angle"] = 0.1
    loop.start()
    try:
        done(loop.step(1000))
        assert "bar" in loop.status.failure
    finally:
        loop.stop()
    with pytest.raises(SimulationError):
        loop.simulation.advance([10])


@pytest.mark.parametrize("where", ["listeners", "before_steps"])
def test_others_that_fail_do_not_kill_the_loop(running, where):
    loop = running(paused=True)

    def fail(_):
        raise ValueError("the hand slipped")

    getattr(loop, where).append(fail)
    done(loop.resume())
    wait_until(lambda: loop.status.failure is not None)
    assert "the hand slipped" in loop.status.failure
    assert done(loop.do(lambda _: 42)) == 42
    getattr(loop, where).clear()
    done(loop.reset())
    wait_until(lambda: loop.simulation.time > 0.02)
    assert loop.status.failure is None


def test_the_thread_ends_and_later_tasks_are_refused():
    before = set(physics())
    loop = RealTime(Simulation(pendulum(), dt=DT))
    loop.start()
    assert len(set(physics()) - before) == 1
    with pytest.raises(LinkworkError, match="running already"):
        loop.start()
    wait_until(lambda: loop.simulation.time > 0.0)
    loop.stop()
    assert set(physics()) <= before
    then = loop.simulation.time
    with pytest.raises(LinkworkError, match="has ended"):
        loop.do(lambda _: None)
    with pytest.raises(LinkworkError, match="has ended"):
        loop.reset()
    with pytest.raises(LinkworkError, match="has ended"):
        loop.start()
    time.sleep(0.02)
    assert loop.simulation.time == then
    loop.stop()  # once more does no harm


def test_tasks_that_were_not_begun_are_cancelled():
    loop = RealTime(Simulation(pendulum(), dt=DT), paused=True)
    loop.start()
    begun, go_on = threading.Event(), threading.Event()

    def work(_):
        begun.set()
        go_on.wait(PATIENCE)
        return "done"

    busy = loop.do(work)
    waiting = loop.do(lambda _: "never")
    assert begun.wait(PATIENCE)
    ending = threading.Thread(target=loop.stop)
    ending.start()

    def ends():
        try:
            loop.do(lambda _: "never either")
        except LinkworkError:
            return True
        return False

    wait_until(ends)
    go_on.set()
    ending.join(PATIENCE)
    assert not ending.is_alive()
    assert done(busy) == "done"
    with pytest.raises(CancelledError):
        done(waiting)


def test_a_task_may_end_the_loop():
    before = set(physics())
    loop = RealTime(Simulation(pendulum(), dt=DT))
    loop.start()
    (thread,) = set(physics()) - before
    done(loop.do(lambda _: loop.stop()))
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["speed", "every", "backlog"])
def test_numbers_that_make_no_sense_are_refused(option, value):
    with pytest.raises(LinkworkError, match=f"{option} must be a positive number"):
        RealTime(Simulation(pendulum()), **{option: value})


def test_a_speed_that_makes_no_sense_is_refused_while_running(running):
    loop = running()
    with pytest.raises(LinkworkError, match="speed must be a positive number"):
        loop.set_speed(0.0)
    assert loop.status.speed == 1.0
