"""Real time on a clock that runs: assertions hold on any machine, however busy."""

import threading
import time

import numpy as np
import pytest

from helpers.paced import ADAPTIVE, DT, WAYS, check_against_run, done, listen, pendulum, started, ways
from helpers.processes import wait_until
from linkwork import LinkworkError, Simulation, scene
from linkwork.model.edit import with_gravity

running = pytest.fixture(started)

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
