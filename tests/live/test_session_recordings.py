"""Recordings of a live session, and the names of their files."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.full import files_of_at_most
from helpers.sessions import advance, begun
from linkwork import LinkworkError, Record
from linkwork.live.files import inside
from linkwork.results.builder import RecordBuilder
from linkwork.view.status import _warnings

begin = pytest.fixture(begun)


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


def test_a_full_disk_stops_nothing_and_is_told(begin, tmp_path):
    session = begin("a01_pendulum")
    path = session.start_recording("swing")
    advance(session, 0.2)
    session._write(session._builder)
    assert session.trouble is None
    with files_of_at_most(os.path.getsize(f"{path}.part") + 100):
        advance(session, 0.6)
        session._write(session._builder)
        assert "rows cannot be added" in session.trouble
        assert session.recording == path
        advance(session, 0.1)
        session.reset().result()  # which ends a recording
        advance(session, 0.1)
        assert session.recording is None
        assert "make room, then `linkwork recover" in session.trouble
        assert session.view.time == pytest.approx(0.1)
    assert not path.exists()
    left = Record.load(f"{path}.part")
    assert left.time[-1] == pytest.approx(0.2)
    assert session.start_recording("swing") == path  # what is left is kept, and that is told
    assert "swing-1.h5.part" in session.trouble
    advance(session, 0.1)
    session.stop_recording()
    assert session.trouble is None
    np.testing.assert_array_equal(Record.load(tmp_path / "swing-1.h5.part").time, left.time)


def test_visitors_are_told_what_is_wrong_with_a_recording(begin):
    session = begin("a01_pendulum")
    session.trouble = "no room"
    assert "recording: no room" in _warnings(SimpleNamespace(session=session))


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
