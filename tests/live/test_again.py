"""Live scenes begin again when they are over, unless somebody is busy with them; and some stir by themselves."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork import Simulation
from linkwork.live.realtime import REST, RealTime
from linkwork.live.session import Session
from linkwork.scenes import find_scene, live_settings, scene, scene_names

DURATION, DT = 0.5, 1e-3


class Clock:
    """Set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Live:
    """A session without a thread, whose clock is set by hand."""

    def __init__(self, name="chain5", folder=".", **changes):
        found = replace(find_scene(name), duration=DURATION, **{"endless": False, **changes})
        self.session = Session(found.build(), scene=found, folder=folder, dt=DT)
        self.clock = Clock()
        old = self.session.loop
        self.loop = RealTime(old.simulation, clock=self.clock)
        for part in ("listeners", "before_steps", "ends", "begin_again"):
            setattr(self.loop, part, getattr(old, part))
        self.session.loop = self.loop

    def wait(self, seconds):
        for _ in range(round(seconds / 0.01)):
            self.clock.now += 0.01
            self.do()

    def do(self):
        while self.loop.attend():
            pass
        self.session.look()

    @property
    def time(self):
        return self.loop.simulation.time


def test_a_motion_without_end_goes_on():
    clock = Clock()
    loop = RealTime(Simulation(scene("chain5"), dt=DT), clock=clock)
    for _ in range(300):
        clock.now += 0.01
        while loop.attend():
            pass
    assert loop.simulation.time == pytest.approx(3.0)
    assert loop.run == 0
    assert loop.status.again is None


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_a_scene_stands_at_its_end_and_begins_again(speed):
    live = Live()
    live.loop.set_speed(speed)
    live.do()
    live.wait(DURATION / speed - 0.05)
    assert live.loop.status.again is None
    live.wait(0.1)
    assert live.time == pytest.approx(DURATION)  # not a step further
    end = live.session.view.poses.positions.copy()
    assert live.loop.status.again == pytest.approx(REST, abs=0.1)
    assert live.loop.status.keeps_up
    live.wait(REST - 0.1)
    np.testing.assert_array_equal(live.session.view.poses.positions, end)
    assert live.loop.run == 0
    live.wait(0.1)
    assert live.loop.run == 1
    assert live.loop.status.again is None
    live.wait(0.1)
    assert 0.0 < live.time < 0.2 * speed + 0.01
    live.wait((DURATION / speed + REST) * 3)
    assert live.loop.run == 4
    assert live.loop.status.lost == 0.0


def test_it_can_be_switched_off_and_on():
    live = Live()
    live.session.loops = False
    live.wait(2 * DURATION)
    assert live.time == pytest.approx(2 * DURATION)
    live.session.loops = True
    live.do()
    assert live.loop.status.again == pytest.approx(REST)
    live.session.loops = False  # while it stands: it goes on, and nothing is lost
    live.wait(0.2)
    assert live.time == pytest.approx(2 * DURATION + 0.2, abs=0.011)
    assert live.loop.status.lost == 0.0


def test_what_the_operator_does_puts_the_end_off():
    live = Live()
    live.wait(0.3)
    live.session.push("link5", (0.0, 0.0, 1.0))
    live.wait(0.4)
    assert live.loop.status.again is None
    live.wait(0.2)
    assert live.time == pytest.approx(0.3 + DURATION, abs=0.02)
    assert live.loop.status.again is not None
    # Also while it stands.
    live.session.push("link5", (0.0, 0.0, 1.0))
    live.wait(0.1)
    assert live.time == pytest.approx(0.3 + DURATION + 0.1, abs=0.02)
    live.session.reset()
    live.wait(DURATION + 0.01)
    assert live.time == pytest.approx(DURATION)


def test_what_is_held_recorded_or_driven_by_hand_is_left_alone(tmp_path):
    live = Live(folder=tmp_path)
    session = live.session
    session.grab("link5", tuple(session.view.poses.positions[4]))
    live.wait(2 * DURATION)
    assert live.time == pytest.approx(2 * DURATION)
    session.let_go()
    session.start_recording("all")
    live.wait(2 * DURATION)
    assert live.time == pytest.approx(4 * DURATION)
    record = session.stop_recording()
    assert record.time[-1] > 3.5 * DURATION
    live.wait(REST + 0.1)
    assert live.loop.run == 1
    session.manual = True
    live.wait(2 * DURATION)
    assert live.time == pytest.approx(2 * DURATION, abs=0.11)


def test_a_pause_lasts_though_the_end_is_near():
    live = Live()
    live.wait(DURATION + 0.1)
    live.loop.pause()
    live.wait(2 * REST)
    assert live.loop.run == 0
    assert live.loop.status.again is None
    live.loop.step(10)  # by hand it goes on
    live.do()
    assert live.time == pytest.approx(DURATION + 10 * DT)
    live.loop.resume()
    live.wait(REST + 0.05)
    assert live.loop.run == 1


def test_commands_outlive_a_new_beginning():
    live = Live("crank_rocker")
    live.session.command("motor", 1.0)
    live.wait(2 * DURATION + REST)
    assert live.loop.run == 1
    assert live.session.view.values["crank.angle_rate"] > 0.1


def test_buttons_are_pressed_by_themselves_in_every_run():
    pressed = []
    buttons = {"Poke": lambda session: pressed.append(round(session.loop.simulation.time, 2))}
    live = Live(buttons=buttons, presses=((0.2, "Poke"), (0.4, "Poke")))
    live.wait(DURATION + 0.1)
    assert pressed == [0.2, 0.4]
    live.wait(REST + DURATION)
    assert pressed == [0.2, 0.4] * 2  # and the end was not put off by them
    live.session.push("link5", (0.0, 0.0, 1.0))
    live.wait(REST + DURATION)
    assert pressed == [0.2, 0.4] * 2  # somebody is there


@pytest.mark.parametrize("name", ["stack10", "mass_ratio", "chain_over_cylinder"])
def test_scenes_that_would_just_stand_are_stirred(name):
    live = Live(name)
    live.session.scene = found = replace(live.session.scene, duration=find_scene(name).duration)
    ((when, _),) = found.presses
    live.wait(when)
    before = live.session.view.poses.positions.copy()
    live.wait(found.duration - when)
    # Bodies are tenths of a metre large.
    assert np.abs(live.session.view.poses.positions - before).max() > 0.05


def test_a_button_that_cannot_be_pressed_does_no_harm():
    found = find_scene("stack10")
    session = Session(found.build(count=3), scene=found, dt=DT)  # there is no tenth box
    session.loop.step(round(1.6 / DT))
    while session.loop.attend():
        pass
    session.loop.step(10)
    while session.loop.attend():
        pass
    assert session.status.failure is None


def test_what_scenes_state_for_live_runs_is_possible():
    for name in scene_names():
        found = find_scene(name)
        assert {label for _, label in found.presses} <= set(found.buttons)
        assert all(0.0 < when < found.duration for when, _ in found.presses)
        assert set(found.live) <= set(found.parameters)
        assert live_settings(name, {}) == found.live
    assert live_settings("pile200", {"count": 200})["count"] == 200
    assert live_settings("model.yaml", {"length": 1.0}) == {"length": 1.0}


def test_options_for_live_runs_give_way_to_another_method():
    found = replace(find_scene("crank_rocker"), live_options={"solver": "impulses", "dt": 2e-3})
    assert Session(found.build(), scene=found).names == ("simgc", "impulses")
    other = Session(found.build(), scene=found, method="simmc", solver="direct")
    assert other.names == ("simmc", "direct")
    assert other.loop.simulation.dt == found.dt
