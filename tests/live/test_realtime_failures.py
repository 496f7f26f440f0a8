"""Real time when something goes wrong: motions, tasks, listeners and options that fail."""

import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from helpers.paced import ADAPTIVE, DT, WAYS, done, pendulum, started, ways
from helpers.processes import PATIENCE, wait_until
from linkwork import LinkworkError, Simulation, SimulationError, scene
from linkwork.live.realtime import RealTime

running = pytest.fixture(started)


def physics():
    return [thread for thread in threading.enumerate() if thread.name == "linkwork-physics"]


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
