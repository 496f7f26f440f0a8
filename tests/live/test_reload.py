"""Working on a model file while it runs: what is saved goes on from where it is, what is wrong is told."""

import os

import pytest

from helpers.processes import wait_until
from linkwork import LinkworkError, Record
from linkwork.io import load_model
from linkwork.live.reload import follow_files
from linkwork.live.session import Session

PENDULUM = """linkwork: 1
units: SI
name: pendulum
parameters: {L: 1.0, m: 2.0}
bodies:
  rod: {at: [0, 0, 0], mass: =m, com: [0, 0, =-L], inertia: [0.1, 0.1, 0.1]}
joints:
  pivot: {type: hinge, a: ground, b: rod, axis: [0, 1, 0], position: 1.0, damping: 0.1}
drives:
  motor: {type: torque_source, joint: pivot, command: 0.5}
"""


class Follower:
    """A session that follows a file, and all that it was told."""

    def __init__(self, path, **options):
        self.path, self.troubles, self.news = path, [], []
        self.session = Session(load_model(path), folder=path.parent, **options)
        follow_files(self.session, str(path), {}, trouble=self.troubles.append, news=self.news.append)
        self.session.start()

    def save(self, text, path=None):
        """Save a text and wait until something is told of it."""
        told = len(self.troubles)
        (path or self.path).write_text(text)
        wait_until(lambda: len(self.troubles) > told, "the change is noticed")
        self.session.look()
        return self.troubles[-1]


@pytest.fixture
def follow(tmp_path):
    """Begins sessions that follow a file, and ends them."""
    followers = []

    def begin(text=PENDULUM, **options):
        path = tmp_path / "model.yaml"
        path.write_text(text)
        followers.append(Follower(path, **options))
        return followers[-1]

    yield begin
    for follower in followers:
        follower.session.stop()


def moved(session, seconds=0.2):
    wait_until(lambda: session.status.time > seconds, "it moves")


def test_other_numbers_go_on_from_where_it_is(follow):
    follower = follow()
    session = follower.session
    moved(session)
    session.loop.pause().result()
    time, angle = session.status.time, session.loop.simulation["pivot.angle"]
    assert follower.save(PENDULUM.replace("m: 2.0", "m: 5.0")) is None
    assert follower.news == ["model.yaml was saved: it goes on"]
    assert session.loop.simulation.time == time
    assert session.loop.simulation["pivot.angle"] == angle
    assert session.written.bodies["rod"].mass == 5.0
    assert session.stage.bodies[0].mass == 5.0
    session.loop.resume().result()
    moved(session, time)


def test_another_joint_begins_anew_and_says_so(follow):
    follower = follow()
    session = follower.session
    moved(session)
    session.loop.pause().result()
    more = PENDULUM.replace(
        "joints:", "  tip: {at: [0, 0, -1], mass: 1.0}\njoints:\n  end: {type: weld, a: rod, b: tip}"
    )
    assert follower.save(more) is None
    assert follower.news[-1] == "model.yaml was saved: it begins anew, for it has other joints (end)"
    assert session.loop.simulation.time == 0.0
    assert [body.name for body in session.stage.bodies] == ["rod", "tip"]
    assert session.view.poses.positions.shape == (2, 3)


def test_another_start_begins_anew(follow):
    follower = follow()
    moved(follower.session)
    follower.session.loop.pause().result()
    assert follower.save(PENDULUM.replace("position: 1.0", "position: 0.3")) is None
    assert "the start of joint 'pivot'" in follower.news[-1]
    assert follower.session.view.values["pivot.angle"] == pytest.approx(0.3)


def test_what_is_wrong_is_told_with_its_line_while_the_last_good_model_runs(follow):
    follower = follow()
    session = follower.session
    told = follower.save(PENDULUM.replace("damping: 0.1", "dampnig: 0.1"))
    assert f"{follower.path}:8:" in told
    assert "dampnig" in told
    assert "did you mean 'damping'?" in told
    time = session.status.time
    moved(session, time + 0.1)
    assert follower.save(PENDULUM[:100]) is not None  # cut short in the midst of a line
    assert follower.save("") is not None
    assert follower.save(PENDULUM.replace("m: 2.0", "m: 3.0")) is None
    assert session.written.bodies["rod"].mass == 3.0
    assert session.status.time > time  # never began anew


def test_what_only_running_it_shows_is_told_too(follow):
    """The text is right, but the viewer has a load of that name itself."""
    follower = follow()
    told = follower.save(PENDULUM + "loads:\n  hand: {type: force, body: rod, force: [0, 0, 1]}\n")
    assert told.startswith(f"{follower.path}: the load 'hand' has the name")
    assert follower.session.status.failure is None
    assert not follower.session.written.loads


def test_the_operator_keeps_what_the_file_does_not_change(follow):
    follower = follow()
    session = follower.session
    session.command("motor", 0.7).result()
    session.set_parameter("pivot.damping", 0.2).result()
    assert follower.save(PENDULUM.replace("m: 2.0", "m: 3.0")) is None
    assert session.commands == {"motor": 0.7}
    assert {p.name: p.value for p in session.parameters}["pivot.damping"] == 0.2
    assert session.loop.simulation.model.joints["pivot"].damping == 0.2
    changed = PENDULUM.replace("damping: 0.1", "damping: 0.4").replace("command: 0.5", "command: 0.1")
    assert follower.save(changed) is None
    assert session.commands == {}
    assert session.loop.simulation.model.joints["pivot"].damping == 0.4


ARM = """linkwork: 1
units: SI
bodies:
  arm: {mass: 1.0, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1], shapes: [{shape: box, size: [0.1, 0.1, 1.0]}]}
joints:
  pivot: {type: hinge, a: ground, b: arm, axis: [0, 1, 0]}
"""
PAIR = """linkwork: 1
units: SI
components: {arm: {include: parts/arm.yaml}}
instances:
  left: {component: arm}
  right: {component: arm, at: [0, 1, 0]}
"""


def test_included_files_are_watched_and_so_are_missing_ones(tmp_path, follow):
    parts = tmp_path / "parts"
    parts.mkdir()
    arm = parts / "arm.yaml"
    arm.write_text(ARM)
    follower = follow(PAIR)
    assert follower.save(ARM.replace("mass: 1.0", "mass: 3.0"), arm) is None
    assert follower.session.loop.simulation.compiled.flat.bodies["right.arm"].mass == 3.0
    told = follower.save(ARM.replace("hinge", "hinje"), arm)
    assert f"{arm}:6:" in told
    told = follower.save(PAIR.replace("arm.yaml", "leg.yaml"))
    assert "there is no file 'parts/leg.yaml'" in told
    assert follower.save(ARM.replace("mass: 1.0", "mass: 4.0"), parts / "leg.yaml") is None
    assert follower.session.loop.simulation.compiled.flat.bodies["left.arm"].mass == 4.0


def test_heights_and_meshes_are_watched(tmp_path, follow):
    import trimesh

    ground, ball = tmp_path / "ground.csv", tmp_path / "ball.stl"
    ground.write_text("0 0\n0 0\n")
    trimesh.creation.box((1.0, 1.0, 1.0)).export(ball)
    text = """linkwork: 1
units: SI
materials: {wood: {friction: 0.5}}
scenery: {terrain: {shapes: [{shape: heights, size: [4, 4], file: ground.csv}], material: wood}}
bodies: {ball: {at: [0, 0, 2], density: 100, shapes: [{shape: mesh, file: ball.stl}], material: wood}}
"""
    follower = follow(text, paused=True)

    def mass():
        return follower.session.loop.simulation.compiled.flat.bodies["ball"].mass_properties.mass

    assert mass() == pytest.approx(100.0)
    told = follower.save("0 0\n0 high\n", ground)
    assert "line 2: 'high' is not a number" in told
    assert follower.save("0 0\n0 0.5\n", ground) is None
    count = len(follower.troubles)
    trimesh.creation.box((2.0, 1.0, 1.0)).export(tmp_path / "new.stl")
    os.replace(tmp_path / "new.stl", ball)
    wait_until(lambda: len(follower.troubles) > count, "the mesh is noticed")
    assert follower.troubles[-1] is None
    assert mass() == pytest.approx(200.0)


def test_a_recording_of_another_model_is_finished(tmp_path, follow):
    follower = follow()
    session = follower.session
    moved(session)
    path = session.start_recording("before")
    moved(session, session.status.time + 0.1)
    assert follower.save(PENDULUM.replace("L: 1.0", "L: 1.5")) is None
    assert session.recording is None
    assert len(Record.load(path).time) > 1


def test_nobody_watches_after_the_end(follow):
    follower = follow()
    follower.session.stop()
    follower.path.write_text("broken")
    with pytest.raises(LinkworkError, match="has ended"):
        follower.session.loop.reset()
    assert follower.troubles == []
