"""Live sessions: what an operator does, what there is to see, and what is recorded."""

import os
from dataclasses import replace
from math import pi

import numpy as np
import pytest

from linkwork import Body, Box, Hinge, LinkworkError, Marker, Model, PositionServo, Record, Slider, Spring
from linkwork.engine.loads import Force
from linkwork.live.files import inside
from linkwork.live.history import History
from linkwork.live.session import Session
from linkwork.live.sight import TRACE
from linkwork.model.signals import Sine
from linkwork.results.record import RecordBuilder
from linkwork.scenes import find_scene, scene

DT = 1e-3


@pytest.fixture
def begin(tmp_path):
    """Begins sessions that stand still until they are told to step, and ends them."""
    sessions = []

    def start(subject, **options):
        known = isinstance(subject, str)
        model = scene(subject) if known else subject
        options = {"dt": DT, "paused": True, "folder": tmp_path, **options}
        session = Session(model, scene=find_scene(subject) if known else None, **options)
        sessions.append(session)
        session.start()
        return session

    yield start
    for session in sessions:
        session.stop()


def advance(session, seconds, stretch=0.01):
    """Let time pass, in stretches as the clock would give them; returns what there is to see."""
    count = round(stretch / DT)
    for _ in range(round(seconds / stretch)):
        session.loop.step(count).result()
    session.look()
    return session.view


def cart(friction=0.0, **options):
    """A box on a rail."""
    model = Model("cart")
    model.add(Body("box", mass=2.0, shapes=(Box((0.6, 0.4, 0.4)),)))
    model.add(Slider("rail", "ground", "box", axis=(1.0, 0.0, 0.0), friction=friction, **options))
    model.add(Marker("nose", "box", at=(0.3, 0.0, 0.0)))
    return model


def driven():
    """A wheel that a servo turns to and fro."""
    model = Model("wheel", gravity=(0.0, 0.0, 0.0))
    model.add(Body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("axle", "ground", "wheel"))
    signal = Sine(amplitude=1.0, frequency=0.5)
    model.add(PositionServo("servo", "axle", stiffness=400.0, damping=10.0, command=0.7, signal=signal))
    return model


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
    while session.status.time < before + 0.2:
        assert session.status.failure is None
    assert session.look().time >= before + 0.19


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
    assert abs(values["energy.balance"]) < 1e-5 * abs(values["energy.supplied"])
    assert session.report["worst_gap_m"] < 1e-9


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


# --- recordings ---


def test_a_recording_holds_what_happened(begin, tmp_path):
    session = begin("a01_pendulum")
    advance(session, 0.5)
    path = session.start_recording("swing")
    assert path == tmp_path / "swing.h5"
    assert session.recording == path
    advance(session, 1.0)
    record = session.stop_recording()
    assert session.recording is None
    assert os.listdir(tmp_path) == ["swing.h5"]
    loaded = Record.load(path)
    np.testing.assert_array_equal(loaded.time, record.time)
    np.testing.assert_allclose(loaded.time, np.arange(0.51, 1.505, 0.01), rtol=1e-9)
    assert loaded["pivot.angle"][-1] == session.view.values["pivot.angle"]
    assert "pivot.force.x" in loaded
    assert loaded.info["method"] == "tree"
    assert loaded.info["scene"] == "a01_pendulum"
    assert loaded.info["stage"]["name"] == "a01_pendulum"


def test_reactions_are_computed_for_recordings(begin):
    session = begin("crank_rocker")
    assert session.find("knee.force.*") == []
    session.start_recording("forces")
    advance(session, 0.1)
    record = session.stop_recording()
    assert np.isfinite(record["knee.force.x"]).all()
    advance(session, 0.1)
    assert session.find("knee.force.*") == []  # they cost time
    session.reactions = True
    advance(session, 0.1)
    assert len(session.find("knee.force.*")) == 3


def test_a_recording_goes_on_when_the_model_changes(begin, tmp_path):
    session = begin("a01_pendulum")
    session.start_recording("change")
    advance(session, 0.3)
    session.set_parameter("gravity", 0.0).result()
    advance(session, 0.3)
    assert session.recording is not None
    record = session.stop_recording()
    assert np.all(np.diff(record.time) >= 0.0)
    assert record.time[0] <= 0.011
    assert record.time[-1] == pytest.approx(0.6)
    after = record.time > 0.305
    assert np.ptp(record["pivot.angle_rate"][after]) < 1e-9
    assert np.ptp(record["pivot.angle_rate"][~after]) > 1.0


def test_a_recording_ends_with_a_reset(begin, tmp_path):
    session = begin("a01_pendulum")
    session.start_recording("first")
    advance(session, 0.5)
    session.reset().result()
    advance(session, 0.1)
    assert session.recording is None
    assert Record.load(tmp_path / "first.h5").time[-1] == pytest.approx(0.5)
    with pytest.raises(LinkworkError, match="nothing is being recorded"):
        session.stop_recording()
    session.start_recording("second")
    advance(session, 0.1)
    assert session.stop_recording().time[-1] == pytest.approx(0.2)


def test_a_recording_is_finished_when_the_session_ends(begin, tmp_path):
    session = begin("a01_pendulum")
    session.start_recording("last")
    advance(session, 0.2)
    session.loop.step(50).result()  # not looked at
    session.stop()
    assert Record.load(tmp_path / "last.h5").time[-1] == pytest.approx(0.25)


def test_recordings_do_not_overwrite(begin, tmp_path):
    session = begin("a01_pendulum")
    (tmp_path / "mine.h5").write_text("precious")
    with pytest.raises(LinkworkError, match=r"there is already a file 'mine\.h5'"):
        session.start_recording("mine")
    assert (tmp_path / "mine.h5").read_text() == "precious"
    session.start_recording("other")
    with pytest.raises(LinkworkError, match=r"'other\.h5' is being recorded already"):
        session.start_recording("third")
    assert session.recording == tmp_path / "other.h5"


def test_a_recording_that_cannot_begin_leaves_no_trace(begin, tmp_path, monkeypatch):
    session = begin("a01_pendulum")

    def fail(*_):
        raise LinkworkError("the disk is full")

    monkeypatch.setattr(RecordBuilder, "__init__", fail)
    with pytest.raises(LinkworkError, match="full"):
        session.start_recording("no")
    assert session.recording is None
    advance(session, 0.1)


# --- names of files ---


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("run", "run.h5"),
        ("run.h5", "run.h5"),
        (" a b ", "a b.h5"),
        ("v1.2-x_y", "v1.2-x_y.h5"),
        ("7", "7.h5"),
    ],
)
def test_plain_names_are_taken(tmp_path, name, file):
    assert inside(tmp_path, name, ".h5") == tmp_path / file


@pytest.mark.parametrize(
    "name",
    [
        "", " ", ".", "..", "...", "../evil", "..\\evil", "/etc/passwd", "/tmp/x.h5", "a/b", "a\\b", "C:evil",
        "C:\\evil", "a\0b", "a\nb", ".hidden", ".h5", "~", "~/x", "$HOME", "-rf", "a..b", "x" * 300, "ä", "a:b",
        "con|x", "*", "a\u202eb", "%2e%2e",
    ],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(begin, tmp_path, name):
    with pytest.raises(LinkworkError, match="cannot be the name of a file"):
        inside(tmp_path, name, ".h5")


def test_links_are_not_followed(tmp_path):
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "link.h5").symlink_to(outside / "target.h5")
    with pytest.raises(LinkworkError, match="leads out of the folder"):
        inside(folder, "link", ".h5")
    # The folder itself may be reached by a link.
    (tmp_path / "way").symlink_to(folder)
    assert inside(tmp_path / "way", "fine", ".h5").name == "fine.h5"


def test_the_folder_must_be_there(tmp_path):
    with pytest.raises(LinkworkError, match="there is no folder"):
        inside(tmp_path / "nowhere", "run", ".h5")
