"""What operators hold: who owns a lever, what its next step gets, and when it springs back."""

import math

import pytest

from linkwork.live.desk import Desk, Input
from linkwork.model.errors import LinkworkError

LEVERS = (
    Input("lift", -1.0, 1.0),
    Input("throttle", 0.0, 5.0, rest=None, start=2.0),
    Input("gear", 0.0, 3.0, None, step=1.0),
)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def applied():
    return []


@pytest.fixture
def desk(clock, applied):
    return Desk(LEVERS, lambda simulation, values: applied.append(dict(values)), clock=clock)


def test_a_value_waits_for_the_next_step_and_is_given_once(desk, applied):
    desk.put("anna", "lift", 0.5)
    desk.put("anna", "lift", 0.6)
    assert applied == []
    desk.act(None)
    desk.act(None)
    assert applied == [{"lift": 0.6}]
    assert desk.values == {"lift": 0.6, "throttle": 2.0, "gear": 0.0}


def test_values_stay_within_range_and_at_steps(desk):
    for name, value, meant in (
        ("lift", 9.0, 1.0),
        ("throttle", -1.0, 0.0),
        ("gear", 1.6, 2.0),
        ("gear", 9.0, 3.0),
    ):
        desk.put("anna", name, value)
        assert desk.values[name] == meant


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(desk, applied, value):
    with pytest.raises(LinkworkError, match="'lift' must be a finite number"):
        desk.put("anna", "lift", value)
    desk.act(None)
    assert applied == []
    assert desk.owners == {}


def test_an_unknown_input_is_refused_with_the_nearest_name(desk):
    with pytest.raises(LinkworkError, match=r"no input 'lifd' \(did you mean 'lift'"):
        desk.put("anna", "lifd", 0.0)


def test_who_holds_a_lever_owns_it_until_release(desk, applied):
    desk.put("anna", "lift", 1.0)
    with pytest.raises(LinkworkError, match="'lift' is held by anna"):
        desk.put("bert", "lift", -1.0)
    with pytest.raises(LinkworkError, match="'lift' is held by anna"):
        desk.told("lift", 0.3)  # nor may a button of the scene
    desk.release("bert", "lift")  # which is not his
    assert desk.owner("lift") == "anna"
    desk.put("bert", "throttle", 3.0)  # another lever is free
    desk.release("anna", "lift")
    desk.put("bert", "lift", -1.0)
    desk.act(None)
    assert applied == [{"lift": -1.0, "throttle": 3.0}]


def test_what_springs_goes_back_and_what_stays_stays(desk, applied):
    for name in ("lift", "throttle"):
        desk.put("anna", name, 1.0)
        desk.release("anna", name)
    desk.act(None)
    assert applied == [{"lift": 0.0, "throttle": 1.0}]
    assert desk.owners == {}


def test_silence_lets_go_of_everything_before_the_next_step(desk, clock, applied):
    desk.put("anna", "lift", 1.0)
    desk.put("bert", "throttle", 5.0)
    desk.act(None)
    clock.now += 0.4
    desk.hear("bert", 7)
    desk.act(None)
    assert desk.owners == {"lift": "anna", "throttle": "bert"}
    clock.now += 0.2  # 0.6 s without anna, 0.2 s without bert
    desk.act(None)
    assert applied == [{"lift": 1.0, "throttle": 5.0}, {"lift": 0.0}]
    assert desk.owners == {"throttle": "bert"}


def test_a_lever_of_somebody_silent_can_be_taken_before_a_step(desk, clock):
    desk.put("anna", "lift", 1.0)
    clock.now += 1.0
    desk.put("bert", "lift", -1.0)
    assert desk.owner("lift") == "bert"


def test_who_leaves_holds_nothing(desk, applied):
    desk.put("anna", "lift", 1.0)
    desk.leave("anna")
    desk.act(None)
    assert applied == [{"lift": 0.0}]


def test_messages_out_of_order_are_not_obeyed(desk):
    assert [desk.hear("anna", number) for number in (0, 2, 1, 2, 3)] == [True, True, False, False, True]
    assert desk.hear("bert", 1)
    assert desk.stale == 2
    desk.leave("anna")
    assert desk.hear("anna", 0)  # a new connection counts anew


def test_latency_is_from_every_event_to_the_step_that_answers_it(desk, clock):
    assert desk.latency.events == 0
    for k in range(3):  # of several events before one step, each waits for it
        desk.put("anna", "lift", 0.1 * k, at=clock.now - 0.001 * k)
    clock.now += 0.010
    desk.act(None)
    assert desk.latency.events == 3
    assert desk.latency.median == pytest.approx(0.011)
    assert desk.latency.most == pytest.approx(0.0119)  # 95 % of 10, 11 and 12 ms, by interpolation


def test_other_inputs_keep_what_is_held_and_where_it_stands(desk, applied):
    desk.put("anna", "lift", 1.0)
    desk.put("anna", "gear", 2.0)
    version = desk.version
    desk.offer([LEVERS[0]])
    assert desk.version == version + 1
    assert desk.owners == {"lift": "anna"}
    assert desk.values == {"lift": 1.0}
    desk.act(None)
    assert applied == [{"lift": 1.0}]
