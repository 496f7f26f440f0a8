"""What an operator does in a live session: levers, parameters, the hand, buttons."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from helpers.sessions import advance, begun, cart
from linkwork import Body, Hinge, LinkworkError, Model, PositionServo, Spring
from linkwork.live.session import Session
from linkwork.model.signals import Sine
from linkwork.scenes import find_scene, scene

begin = pytest.fixture(begun)


def driven():
    """A wheel that a servo turns to and fro."""
    model = Model("wheel", gravity=(0.0, 0.0, 0.0))
    model.add(Body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("axle", "ground", "wheel"))
    signal = Sine(amplitude=1.0, frequency=0.5)
    model.add(PositionServo("servo", "axle", stiffness=400.0, damping=10.0, command=0.7, signal=signal))
    return model


# --- levers ---


def test_levers_tell_range_and_unit(begin):
    (motor,) = begin("crank_rocker").levers
    assert (motor.drive, motor.low, motor.high, motor.command) == ("motor", -1.0, 1.0, 0.5)
    assert motor.coordinate == "crank.angle"
    (servo,) = begin("jaws").levers
    assert servo.automatic
    assert (servo.low, servo.command) == (0.0, pytest.approx(0.04))
    legs = begin("stewart").levers
    assert len(legs) == 6
    for lever in legs:
        assert lever.low <= lever.command <= lever.high


def test_levers_by_hand_have_the_range_of_the_joint(begin):
    session = begin("stewart")
    session.take_the_levers(True).result()
    for lever in session.levers:
        assert not lever.automatic
        assert (lever.low, lever.high, lever.unit) == (-0.35, 0.35, "m")


def test_a_command_moves_a_drive_and_outlives_a_reset(begin):
    session = begin("crank_rocker")
    forward = advance(session, 1.0).values["crank.angle_rate"]
    session.command("motor", -1.0).result()
    back = advance(session, 1.0).values["crank.angle_rate"]
    assert back < -1.5 * forward < 0.0
    session.reset().result()
    assert session.commands == {"motor": -1.0}
    assert advance(session, 1.0).values["crank.angle_rate"] == pytest.approx(back, rel=0.2)


def test_bad_commands_are_refused_and_forgotten(begin):
    session = begin("crank_rocker")
    for drive, value in (("motor", float("nan")), ("nothing", 1.0)):
        with pytest.raises(LinkworkError):
            session.command(drive, value).result()
    assert session.commands == {}
    session.take_the_levers(True).result()


def test_taking_the_levers_holds_the_pose(begin):
    session = begin(driven())
    before = advance(session, 0.3).values["axle.angle"]
    session.take_the_levers(True).result()
    assert session.manual
    assert session.commands["servo"] == pytest.approx(0.7 * np.sin(0.3 * pi))
    session.take_the_levers(True).result()  # again, which changes nothing
    assert session.commands["servo"] == pytest.approx(0.7 * np.sin(0.3 * pi))
    advance(session, 1.0)
    after = advance(session, 1.0).values["axle.angle"]
    assert after == pytest.approx(session.commands["servo"], abs=1e-3)
    assert abs(after - before) < 0.2
    session.command("servo", -0.5).result()
    assert advance(session, 2.0).values["axle.angle"] == pytest.approx(-0.5, abs=1e-3)
    session.take_the_levers(False).result()
    assert session.commands["servo"] == 0.7
    way = [advance(session, 0.1).values["axle.angle"] for _ in range(20)]
    assert np.ptp(way) > 1.0


# --- parameters ---


def test_parameters_are_told_as_they_are(begin):
    model = cart(friction=1.0)
    model.add(Spring("coil", "ground", "box", at_a=(-1, 0, 0), at_b="nose", stiffness=50.0, length=1.0))
    session = begin(model)
    names = {parameter.name: parameter for parameter in session.parameters}
    assert set(names) == {"gravity", "rail.friction", "coil.stiffness"}
    assert names["gravity"].value == pytest.approx(9.81)
    session.set_parameter("coil.stiffness", 80.0).result()
    assert {p.name: p.value for p in session.parameters}["coil.stiffness"] == 80.0
    for name, value in (("nothing", 1.0), ("gravity", -1.0), ("gravity", float("nan"))):
        with pytest.raises(LinkworkError):
            session.set_parameter(name, value)
    assert {p.name: p.value for p in session.parameters}["gravity"] == pytest.approx(9.81)


def test_a_pendulum_without_gravity_keeps_its_rate(begin):
    session = begin("a01_pendulum")
    rate = advance(session, 0.5).values["pivot.angle_rate"]
    session.set_parameter("gravity", 0.0).result()
    session.look()
    assert session.view.run == 1
    assert session.view.time == pytest.approx(0.5)
    assert session.view.values["energy.gravity"] == 0.0
    values = advance(session, 0.5).values
    assert values["pivot.angle_rate"] == pytest.approx(rate, rel=1e-9)
    assert abs(values["energy.balance"]) < 1e-9


def test_changes_add_up(begin):
    session = begin("a01_pendulum")
    futures = [session.set_parameter("gravity", value) for value in (5.0, 3.0, 0.0)]
    session.take_the_levers(True)
    for future in futures:
        future.result()
    session.loop.do(lambda _: None).result()
    assert np.allclose(session.loop.simulation.model.gravity, 0.0)


# --- the hand ---


@pytest.mark.parametrize("options", [{}, {"method": "simgc"}, {"method": "simmc", "solver": "impulses"}])
def test_a_push_gives_speed_and_energy(begin, options):
    session = begin(cart(), **options)
    session.push("box", (3.0, 0.0, 0.0)).result()
    view = advance(session, 0.5)
    assert view.values["rail.travel_rate"] == pytest.approx(1.0, rel=0.2)
    # Impulses are of first order: of 100 steps with a force, one counts more or less.
    assert view.values["energy.supplied"] == pytest.approx(view.values["energy.kinetic"], rel=0.02)
    assert abs(view.values["energy.balance"]) < 0.02 * view.values["energy.supplied"]
    assert np.all(session.hand.force == 0.0)


def test_a_push_acts_at_the_centre_of_mass(begin):
    session = begin("a01_pendulum")  # whose frame is at the pivot
    session.set_parameter("gravity", 0.0).result()
    session.push("bob", (0.0, 1.0, 0.0)).result()
    assert abs(advance(session, 0.3).values["pivot.angle_rate"]) == pytest.approx(1.0, rel=0.2)


def test_a_push_ends_with_a_reset(begin):
    session = begin(cart())
    advance(session, 1.0)
    session.push("box", (1.0, 0.0, 0.0)).result()
    advance(session, 0.05)
    session.reset().result()
    assert advance(session, 0.5).values["rail.travel_rate"] < 1.5
    assert np.all(session.hand.force == 0.0)


def test_a_hand_pulls_a_body_to_where_it_is(begin):
    session = begin(cart())
    session.grab("box", (0.3, 0.0, 0.0)).result()
    session.drag((0.8, 0.0, 0.0)).result()
    advance(session, 0.02)
    assert session.hand.force[0] > 0.0
    view = advance(session, 3.0)
    assert view.values["rail.travel"] == pytest.approx(0.5, abs=0.01)
    assert view.values["energy.supplied"] != 0.0
    session.let_go().result()
    advance(session, 0.02)
    assert session.hand.grip is None
    assert np.all(session.hand.force == 0.0)


def test_a_hand_does_not_pull_through_changes_of_the_model(begin):
    session = begin(cart(friction=1.0))
    session.grab("box", (0.0, 0.0, 0.0)).result()
    session.drag((0.2, 0.0, 0.0)).result()
    advance(session, 0.1)
    session.set_parameter("gravity", 1.0).result()
    assert advance(session, 2.0).values["rail.travel"] == pytest.approx(0.2, abs=0.05)
    session.let_go().result()
    session.set_parameter("gravity", 9.81).result()
    there = advance(session, 0.5).values["rail.travel"]
    assert advance(session, 0.5).values["rail.travel"] == pytest.approx(there, abs=1e-6)


def test_what_is_not_there_cannot_be_held(begin):
    session = begin(cart())
    with pytest.raises(LinkworkError, match="no body 'nothing'"):
        session.grab("nothing", (0.0, 0.0, 0.0))
    with pytest.raises(LinkworkError, match="no body 'nothing'"):
        session.push("nothing", (1.0, 0.0, 0.0)).result()
    session.drag((1.0, 0.0, 0.0)).result()  # nothing is held
    session.push("box", (0.0, 0.0, 0.0)).result()  # nowhere
    assert advance(session, 0.1).values["rail.travel"] == 0.0


@pytest.mark.parametrize("method", ["tree", "simgc", "simmc"])
def test_pulling_a_chain_stays_calm(begin, method):
    session = begin("chain5", method=method)
    tip = session.view.poses.positions[-1]
    session.grab("link5", tuple(map(float, tip))).result()
    session.drag(tuple(map(float, np.add(tip, (0.0, 0.5, 0.0))))).result()
    view = advance(session, 2.0)
    assert session.status.failure is None
    assert np.isfinite(list(view.values.values())).all()
    assert view.values["energy.kinetic"] < 100.0


# --- buttons ---


def test_buttons_of_a_scene_act(begin):
    session = begin("crank_rocker")
    before = advance(session, 0.5).values["crank.angle_rate"]
    session.press("Reverse").result()
    assert session.loop.do(lambda _: session.commands["motor"]).result() == -1.0
    assert advance(session, 1.0).values["crank.angle_rate"] < 0.0 < before
    with pytest.raises(LinkworkError, match="Fly"):
        session.press("Fly")


def test_a_button_may_do_anything(begin):
    pressed = []
    found = replace(find_scene("a01_pendulum"), buttons={"Note": pressed.append})
    session = Session(scene("a01_pendulum"), scene=found)
    with session:
        session.press("Note").result()
    assert pressed == [session]
    assert begin(cart()).buttons == {}
