"""A simulation in step with the clock and a controller of one's own."""

import math

import numpy as np
import pytest

from helpers.operated import driven_cart
from helpers.sessions import cart
from linkwork import Simulation
from linkwork.model.errors import LinkworkError

DT = 1e-3


def test_the_controller_is_called_at_its_instants_and_obeyed_from_there():
    """Rate -(x - 1)/T held over periods h: x - 1 shrinks by (1 - h/T) in each, exactly."""
    sim = Simulation(driven_cart(), dt=DT)
    T, h = 0.1, 0.01
    seen = []

    def controller(sim):
        seen.append((sim.time, sim["rail.travel"]))
        return {"motor": (1.0 - seen[-1][1]) / T}

    pace = sim.run_realtime(0.2, controller, rate=1 / h, speed=20.0)
    assert pace.calls == 20
    assert pace.time == pytest.approx(0.2)
    times, places = np.transpose(seen)
    np.testing.assert_allclose(times, h * np.arange(20), atol=1e-12)
    # A change of the rate takes a step: an error of dt times it at most, of all changes together dt 2/T.
    np.testing.assert_allclose(1.0 - places, (1.0 - h / T) ** np.arange(20), atol=2 * DT / T)


def test_it_keeps_to_the_clock():
    now = [0.0]
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    from linkwork.live.paced import run_realtime

    sim = Simulation(cart(), dt=DT)
    pace = run_realtime(sim, 1.0, lambda sim: None, rate=50.0, speed=2.0, clock=lambda: now[0], sleep=sleep)
    assert pace.calls == 50
    np.testing.assert_allclose(slept, [0.01] * 49, atol=1e-12)  # the first is due at once
    assert (pace.lateness, pace.lost) == (0.0, 0.0)


def test_what_cannot_be_caught_up_with_is_given_up_and_told():
    now = [0.0]

    def slow(sim):
        now[0] += (
            0.3 if sim.time == 0.0 else 0.0
        )  # longer than the period of 0.02 s and what may be caught up with

    from linkwork.live.paced import run_realtime

    def sleep(seconds):
        now[0] += seconds

    pace = run_realtime(Simulation(cart(), dt=DT), 1.0, slow, rate=50.0, clock=lambda: now[0], sleep=sleep)
    assert pace.longest == pytest.approx(0.3)
    assert pace.lost == pytest.approx(0.3 - 0.02 - 0.1)  # all but a backlog of 0.1 s at the second instant
    assert pace.time == pytest.approx(1.0)


def test_the_controller_ends_the_run():
    sim = Simulation(cart(), dt=DT)
    pace = sim.run_realtime(math.inf, lambda sim: sim.time < 0.05 - 1e-9, rate=100.0, speed=10.0)
    assert sim.time == pytest.approx(0.05)
    assert pace.calls == 6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rate": 300.0}, "does not fit steps of 0.001 s: choose 333.333"),
        ({"rate": 1e6}, "choose 1000"),
        ({"rate": math.nan}, "rate must be a positive number"),
        ({"speed": 0.0}, "speed must be a positive number"),
    ],
)
def test_what_cannot_be_is_refused(options, why):
    with pytest.raises(LinkworkError, match=why):
        Simulation(cart(), dt=DT).run_realtime(1.0, lambda sim: None, **options)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [({"motor": math.nan}, "'motor' must be a finite number"), (3.0, "commands of drives by name")],
)
def test_what_a_controller_may_not_say(wanted, why):
    with pytest.raises(LinkworkError, match=why):
        Simulation(driven_cart(), dt=DT).run_realtime(1.0, lambda sim: wanted)
