"""Recordings on the live page in a real browser: written, replayed, and nowhere else."""

import numpy as np
import pytest

from helpers.browser import launched
from helpers.page import MOVED, difference
from helpers.processes import wait_until
from helpers.visits import live_pages, moves, visits
from linkwork import Record

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)


@pytest.mark.slow
def test_a_recording_is_written_and_replayed(visit, tmp_path):
    visitor = visit("a01_pendulum")
    visitor.tab("Record")
    visitor.write("Name", "swing")
    wait_until(lambda: visitor.live.tabs[-1].name.value == "swing", "the name is heard")
    visitor.press("Record")
    wait_until(lambda: visitor.session.recording is not None, "it is recorded")
    began = visitor.session.view.time
    wait_until(lambda: visitor.session.view.time > began + 1.0, "a second passes")
    visitor.press("Stop recording")
    path = tmp_path / "recordings" / "swing.h5"
    wait_until(path.exists, "the file is complete")
    assert visitor.session.recording is None
    record = Record.load(path)
    assert record.time[-1] - record.time[0] > 0.9
    assert np.allclose(np.diff(record.time), 0.01)
    assert np.abs(record["energy.balance"]).max() < 1e-6
    wait_until(lambda: visitor.control("File").input_value() == "swing.h5", "the file is offered")
    visitor.keep("a01_pendulum_recorded")

    visitor.press("Replay")
    wait_until(lambda: visitor.live.player is not None, "it is replayed")
    player = visitor.live.player
    visitor.pause(player)
    # A key moves the slider from where the page shows it, which may be behind.
    here = pytest.approx(player.time, abs=2e-3)
    wait_until(lambda: float(visitor.control("Time").input_value()) == here, "the slider is where it stopped")
    visitor.slide("Time", "Home")
    wait_until(lambda: player.time == pytest.approx(record.time[0]), "it is at its start")
    start = visitor.still_picture()
    visitor.slide("Time", "End")
    wait_until(lambda: player.time == pytest.approx(record.time[-1], abs=2e-3), "it is at its end")
    wait_until(lambda: difference(start, visitor.picture()) > MOVED, "the picture changes")
    visitor.keep("a01_pendulum_replayed")
    visitor.choose("Speed", "0.1")  # a second would be over before anybody looks, on a busy machine
    wait_until(lambda: player.speed == 0.1, "it is slowed down")
    visitor.press("Play")
    wait_until(lambda: player.playing or player.time < record.time[-1], "it plays from the start")

    wait_until(visitor.sees_all, "the camera sees the whole model")
    visitor.press("Back to the simulation")
    wait_until(lambda: visitor.session is not None, "the simulation is back")
    assert moves(visitor)


@pytest.mark.slow
def test_a_recording_cannot_be_put_elsewhere(visit, tmp_path):
    visitor = visit("a01_pendulum")
    visitor.tab("Record")
    visitor.write("Name", "../evil")
    wait_until(lambda: visitor.live.tabs[-1].name.value == "../evil", "the name is heard")
    visitor.press("Record")
    wait_until(lambda: "cannot be the name of a file" in visitor.told(), "it is refused")
    visitor.keep("recording_refused")
    assert visitor.session.recording is None
    assert list(tmp_path.rglob("*.h5")) == []
