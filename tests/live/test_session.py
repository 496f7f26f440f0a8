"""Live sessions: what an operator does, what there is to see, and what is recorded."""

import threading
from math import pi

import numpy as np
import pytest

from helpers.processes import wait_until
from helpers.sessions import DT, advance, begun, cart
from linkwork import Body, Box, Hinge, LinkworkError, Marker, Model
from linkwork.engine.loads import Force
from linkwork.live.history import History
from linkwork.live.session import Session
from linkwork.live.sight import FADED, TRACE

begin = pytest.fixture(begun)


# --- seeing ---


def test_there_is_something_to_see_before_it_moves(begin):
    session = begin("a01_pendulum")
    view = session.view
    assert view.time == 0.0
    assert view.values["pivot.angle"] == pytest.approx(-pi / 2)
    assert view.poses.positions.shape == (1, 3)
    assert session.look() is None
    assert session.size == pytest.approx(1.1, rel=0.1)
    assert session.unit("pivot.angle") == "rad"
    assert session.unit("energy.kinetic") == "J"
    assert session.unit("unheard") == "1"
    assert "pivot.angle" in session.signals
    assert session.find("pivot.*") == [name for name in session.signals if name.startswith("pivot.")]


def test_time_passes_by_steps(begin):
    session = begin("a01_pendulum")
    session.loop.step(7).result()
    view = session.look()
    assert view.time == pytest.approx(7 * DT, rel=1e-12)
    assert session.view is view
    assert session.look() is None
    assert session.status.paused


def test_a_session_follows_the_clock(begin):
    session = begin("a01_pendulum", paused=False)
    session.loop.do(lambda _: None).result()
    before = session.status.time
    wait_until(
        lambda: session.look() is not None and session.view.time >= before + 0.19, "the motion is seen"
    )
    assert session.status.failure is None


def test_a_history_keeps_the_last_seconds(begin):
    session = begin("a01_pendulum")
    session.watch(("pivot.angle", "energy.balance"), 0.5)
    advance(session, 1.0)
    times = session.history.times
    assert times[-1] == pytest.approx(1.0)
    assert times[0] == pytest.approx(0.5)
    np.testing.assert_allclose(np.diff(times), 0.01, rtol=1e-6)
    assert session.history.of("pivot.angle")[-1] == session.view.values["pivot.angle"]
    session.reset().result()
    session.look()
    assert session.history.times[0] == 0.0
    assert len(session.history.times) == 1


def test_a_history_of_an_unknown_signal_is_empty(begin):
    session = begin("a01_pendulum")
    session.watch(("unheard",), 1.0)
    advance(session, 0.1)
    assert np.isnan(session.history.of("unheard")).all()


def test_a_history_is_bounded():
    history = History(("a",), 1e9)
    for k in range(5):
        history.add(np.arange(2000.0) + 2000 * k, np.zeros((2000, 1)))
    assert len(history.times) == 4000
    assert history.times[-1] == 9999.0


def test_traces_follow_markers(begin):
    session = begin(cart(velocity=1.0))
    assert session.markers == ["nose"]
    session.trace(["nose"])
    advance(session, 0.5)
    trace = np.array(session.traces["nose"])
    np.testing.assert_allclose(trace[-1], [0.8, 0.0, 0.0], atol=5e-3)
    assert np.all(np.diff(trace[:, 0]) > 0)
    assert len(trace) < TRACE
    session.reset().result()
    session.look()
    assert len(session.traces["nose"]) <= 1
    session.trace([])
    assert session.traces == {}


def test_traces_are_forgotten(begin):
    """A point that circles: what is older than so many seconds is gone, also when it moves no more."""
    model = Model("wheel", gravity=(0.0, 0.0, 0.0))
    model.add(Body("disc", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=(Box((0.5, 0.5, 0.5)),)))
    model.add(Hinge("shaft", "ground", "disc", velocity=0.2))
    model.add(Marker("rim", "disc", at=(0.2, 0.0, 0.0)))
    session = begin(model)
    session.trace(["rim"])
    view = advance(session, FADED + 2.0, stretch=0.1)
    points = np.array(session.traces["rim"])
    angles = np.arctan2(points[:, 1], points[:, 0])
    # Points lie as far apart as traces are fine.
    assert angles[0] == pytest.approx(0.2 * (view.time - FADED), abs=0.01)
    assert angles[-1] == pytest.approx(0.2 * view.time, abs=0.01)


def test_a_body_at_rest_leaves_no_trace(begin):
    session = begin(cart())
    session.trace(["nose"])
    advance(session, 0.2)
    assert len(session.traces["nose"]) == 1


def test_the_energy_of_a_direct_method_is_kept(begin):
    session = begin("crank_rocker")
    assert session.names == ("simgc", "direct")
    values = advance(session, 1.0).values
    assert abs(values["energy.supplied"]) > 0.1
    # The rotor turns with more than a joule, and is taken implicitly at this step.
    assert abs(values["energy.balance"]) < 1e-4 * values["energy.kinetic"]
    assert session.report["worst_gap_m"] < 1e-9


def test_traces_that_are_drawn_do_not_grow_meanwhile(begin):
    """Whoever looks, in whatever thread, makes them grow: what was handed out stays as it was."""
    session = begin(cart(velocity=1.0))
    session.trace(["nose"])
    advance(session, 0.2)
    drawn = session.traced()["nose"]
    before = drawn.copy()
    advance(session, 0.2)
    assert len(session.traces["nose"]) > len(drawn) > 2
    np.testing.assert_array_equal(drawn, before)


def test_what_a_method_tells_is_asked_in_the_thread_that_steps(begin, monkeypatch):
    """It works on what it tells of: asked by the thread of the pictures while steps were taken, memory was spoilt."""
    session, askers = begin("crank_rocker", paused=False), set()
    method = session.loop.simulation.method
    known = type(method).report

    def report(self):
        askers.add(threading.current_thread().name)
        return known(self)

    monkeypatch.setattr(type(method), "report", report)
    for _ in range(20):
        assert session.report["worst_gap_m"] < 1e-9
    assert askers == {"linkwork-physics"}


@pytest.mark.parametrize("method", range(9))
def test_every_method_that_is_offered_runs(begin, method):
    offered = begin(cart()).methods()
    assert len(offered) == 9
    name, chosen, solver = offered[method]
    assert name == (chosen if solver is None else f"{chosen}, {solver}")
    session = begin(cart(velocity=1.0), method=chosen, solver=solver)
    assert session.names == (chosen, solver)
    assert advance(session, 0.3).values["rail.travel"] == pytest.approx(0.3)


def test_a_model_without_bodies_is_refused():
    with pytest.raises(LinkworkError, match="nothing to see"):
        Session(Model("void"))


def test_a_load_may_not_be_called_like_the_hand():
    model = cart()
    model.add(Force("hand", "box", force=(1.0, 0.0, 0.0)))
    with pytest.raises(LinkworkError, match="give it another name"):
        Session(model)
