"""What a full disk does to records: a named error, and nothing that was there before is lost."""

import os
import subprocess
import sys

import numpy as np
import pytest

from helpers.full import files_of_at_most
from helpers.records import INFO, RATES, assert_same, swing
from linkwork import Record, Simulation, scene
from linkwork.model.errors import StorageError
from linkwork.results.builder import RecordBuilder


def test_a_save_onto_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "swing.h5"
    swing().save(path)
    old = path.read_bytes()
    with (
        files_of_at_most(20_000),
        pytest.raises(StorageError, match=r"swing\.h5: cannot be written: File too large"),
    ):
        swing(5000).save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["swing.h5"]


SAVE = """
import resource, sys
sys.path.insert(0, "tests")
from helpers.records import swing
from linkwork.model.errors import StorageError
record = swing(5000)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    record.save(sys.argv[1])
except StorageError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize("size", [0, 300, 3000, 100_000])
def test_a_process_survives_a_full_disk_to_its_end(tmp_path, size):
    """HDF5 kept what it could not write, and crashed with it when the process ended."""
    done = subprocess.run(
        [sys.executable, "-c", SAVE, tmp_path / "swing.h5", str(size)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("refused: ")
    assert os.listdir(tmp_path) == []


def rows(k):
    return np.arange(10.0 * k, 10.0 * k + 10.0), {"rates": np.full((10, 1), float(k))}


def test_rows_wait_in_memory_while_the_disk_is_full(tmp_path, caplog):
    path = tmp_path / "swing.h5"
    builder = RecordBuilder([RATES], INFO, path)
    builder.append(*rows(0))
    with files_of_at_most(os.path.getsize(f"{path}.part") + 100):
        builder.append(*rows(1))
        builder.append(*rows(2))
        assert "rows cannot be added: File too large" in str(builder.trouble)
        assert caplog.text.count("kept in memory, and it goes on") == 1
        assert len(Record.load(f"{path}.part")) == 10  # whole rows, and nothing of the others
    builder.append(*rows(3))  # room was made
    assert builder.trouble is None
    assert "none is missing" in caplog.text
    left = Record.load(f"{path}.part")
    np.testing.assert_array_equal(left.time, np.arange(40.0))
    np.testing.assert_array_equal(left["pivot.angle_rate"], np.arange(40) // 10)
    assert_same(builder.finish(), Record.load(path))


def test_what_cannot_be_finished_is_in_the_part_file_and_in_the_error(tmp_path):
    path = tmp_path / "swing.h5"
    path.write_text("an older file")
    builder = RecordBuilder([RATES], INFO, path)
    builder.append(*rows(0))
    with files_of_at_most(os.path.getsize(f"{path}.part") + 100):
        builder.append(*rows(1))
        with pytest.raises(
            StorageError, match=r"10 of 20 recorded rows, until 9 s, are in .*part: make room"
        ) as caught:
            builder.finish()
    builder.abandon()
    assert path.read_text() == "an older file"
    assert len(caught.value.record) == 20
    # Room was made before it was abandoned: nothing is missing.
    assert len(Record.load(f"{path}.part")) == 20


def test_a_run_goes_on_when_the_disk_is_full(tmp_path, caplog):
    path = tmp_path / "swing.h5"
    sim = Simulation(scene("a01_pendulum"))
    expected = Simulation(scene("a01_pendulum")).run(1.0, every=1e-3)
    with files_of_at_most(60_000), pytest.raises(StorageError, match="cannot be written") as caught:
        sim.run(1.0, every=1e-3, save=path)
    assert sim.time == pytest.approx(1.0)
    assert "it goes on" in caplog.text
    np.testing.assert_array_equal(caught.value.record["pivot.angle"], expected["pivot.angle"])
    left = Record.load(f"{path}.part")
    assert 0 < len(left) < len(expected)
    np.testing.assert_array_equal(left["pivot.angle"], expected["pivot.angle"][: len(left)])
    # The name is free for the next run, which keeps what was left.
    sim.reset()
    sim.run(0.1, save=path)
    assert sorted(os.listdir(tmp_path)) == ["swing-1.h5.part", "swing.h5"]


def test_a_run_that_is_interrupted_gives_its_name_free(tmp_path):
    path = tmp_path / "swing.h5"

    def interrupt(sim):
        raise KeyboardInterrupt

    sim = Simulation(scene("a01_pendulum"))
    with pytest.raises(KeyboardInterrupt):
        sim.run(1.0, save=path, callbacks=[(0.5, interrupt)])
    assert Record.load(f"{path}.part").time[-1] == pytest.approx(0.5)
    sim.reset()
    sim.run(0.1, save=path)
    assert sorted(os.listdir(tmp_path)) == ["swing-1.h5.part", "swing.h5"]
