"""Records whose files were damaged: noticed always, and what is still good is had."""

import io
import os
import random
import sys
import time

import h5py
import numpy as np
import pytest

from helpers.processes import command_line
from helpers.records import GROUPS, INFO, assert_same, rows_of, swing
from linkwork import LinkworkError, Record
from linkwork.model.errors import StorageError
from linkwork.results import hdf5, load
from linkwork.results.builder import RecordBuilder
from linkwork.results.record import Group


def mutations(whole, count, seed):
    """A file changed in one place after the other: bits, bytes, stretches of zeros, pieces cut out and doubled."""
    rng = random.Random(seed)
    for k in range(count):
        data, place = bytearray(whole), rng.randrange(len(whole))
        match k % 5:
            case 0:
                data[place] ^= 1 << rng.randrange(8)
            case 1:
                data[place] = (data[place] + 1 + rng.randrange(255)) % 256
            case 2:
                stretch = slice(place, place + rng.randrange(1, 200))
                data[stretch] = bytes(b ^ 0xFF for b in data[stretch])
            case 3:
                del data[place : place + rng.randrange(1, 64)]
            case 4:
                data[place:place] = data[place : place + rng.randrange(1, 64)]
        yield bytes(data)


def test_every_change_of_a_record_is_noticed(tmp_path):
    path = tmp_path / "swing.h5"
    swing().save(path)
    for k, changed in enumerate(mutations(path.read_bytes(), 300, 1)):
        path.write_bytes(changed)
        with pytest.raises(StorageError, match=r"swing\.h5: .*(damaged|newer Linkwork|not a record)"):
            Record.load(path)
        assert changed, k


def part_file(path):
    builder = RecordBuilder(GROUPS, INFO, path)
    for first in range(5):
        time = first + np.arange(10) / 10
        builder.append(time, rows_of(time))
    builder.abandon()
    return path.with_name(path.name + ".part")


def test_no_change_of_a_part_file_tells_rows_that_were_not_written(tmp_path):
    """What was cut off at the end cannot be missed; all else is noticed."""
    path = part_file(tmp_path / "swing.h5")
    sound, refused = Record.load(path), []
    assert len(sound) == 50
    for changed in mutations(path.read_bytes(), 300, 2):
        path.write_bytes(changed)
        try:
            left = Record.load(path)
        except StorageError as error:
            refused.append(str(error))
            continue
        assert len(changed) < len(path.read_bytes()) or len(left) < 50
        for name in sound.names:
            np.testing.assert_array_equal(left[name], sound[name][: len(left)])
    assert len(refused) > 280
    assert all(text.startswith(f"{path}: ") for text in refused)


def test_salvage_of_a_part_file_takes_what_stands_before_the_damage(tmp_path):
    path = part_file(tmp_path / "swing.h5")
    sound, data = Record.load(path), bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        StorageError, match=r"damaged: all that follows row 30; `linkwork recover swing\.h5\.part`"
    ):
        Record.load(path)
    left, lost = Record.recover(path)
    assert lost == ["all that follows row 30"]
    assert not left.complete
    np.testing.assert_array_equal(left["pivot.angle"], sound["pivot.angle"][:30])


def test_salvage_tells_good_chunks_from_bad_ones(tmp_path):
    path, sound = tmp_path / "swing.h5", swing(20_000)
    sound.save(path)
    data = bytearray(path.read_bytes())
    number = sound["pivot.angle_rate"][9_000].tobytes()
    place = data.index(number)
    data[place] ^= 1  # the last bit of a number
    path.write_bytes(data)
    left, lost = Record.recover(path)
    assert len(lost) == 1
    assert lost[0].startswith("'rates': 4096 of 20001 rows")
    bad = np.isnan(left["pivot.angle_rate"])
    assert bad[9_000]
    assert bad.sum() == 4096
    for name in sound.names:
        good = ~bad if name == "pivot.angle_rate" else slice(None)
        np.testing.assert_array_equal(left[name][good], sound[name][good])
    assert left.info == sound.info


def test_salvage_never_tells_numbers_that_were_not_written(tmp_path):
    path, sound = tmp_path / "swing.h5", swing(3000)
    sound.save(path)
    found, refused = 0, []
    for changed in mutations(path.read_bytes(), 20, 3):
        path.write_bytes(changed)
        try:
            left, lost = Record.recover(path)
        except StorageError as error:
            refused.append(str(error))
            continue
        found += 1
        rows = np.searchsorted(sound.time, left.time)
        np.testing.assert_array_equal(sound.time[rows], left.time)
        for name in set(left.names) & set(sound.names):
            good = ~np.isnan(left[name])
            np.testing.assert_array_equal(left[name][good], sound[name][rows][good])
        assert set(left.names) <= set(sound.names) or lost
    assert found > 5
    assert all(text.startswith(f"{path}: ") for text in refused)


def test_a_file_that_hdf5_hangs_on_is_given_up(tmp_path, monkeypatch):
    """Without a digest nobody knows beforehand: another process reads it, for so long."""
    path = tmp_path / "old.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
    hang = f"{tmp_path}/hang"
    os.mkdir(hang)
    (tmp_path / "hang" / "h5py.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([hang, *sys.path]))
    monkeypatch.setattr(load, "PATIENCE", 1.0)
    began = time.monotonic()
    with pytest.raises(
        StorageError, match=r"old\.h5: the record cannot be read, it is damaged: reading it took more"
    ):
        Record.load(path)
    with pytest.raises(StorageError, match="damaged"):
        Record.recover(path)
    assert time.monotonic() - began < 60.0


def test_the_command_recovers_what_a_killed_run_left(tmp_path):
    part = part_file(tmp_path / "swing.h5")
    done = command_line("recover", part)
    assert done.returncode == 0, done.stderr
    assert "50 rows of 11 signals, until 4.9 s" in done.stdout
    made = Record.load(tmp_path / "swing.h5")
    assert_same(made, Record.load(part))
    assert not made.complete
    again = command_line("recover", part)  # never in the place of a file
    assert "swing-recovered.h5" in again.stdout
    third = command_line("recover", part)
    assert third.returncode == 1
    assert "there is a file already" in third.stderr


def test_version_1_still_opens(tmp_path):
    """As the first releases wrote it: no digest, and HDF5 from the first byte on."""
    path, sound = tmp_path / "swing.h5", swing()
    sound.save(path)
    with (
        h5py.File(io.BytesIO(path.read_bytes()[hdf5._HEAD :])) as new,
        h5py.File(path, "w", track_order=True) as old,
    ):
        old.attrs.update({**new.attrs, "version": 1})
        for name in new:
            if name != ".text":
                new.copy(name, old)
    assert_same(Record.load(path), sound)


def test_the_name_of_a_group_cannot_be_that_of_the_texts():
    with pytest.raises(LinkworkError, match=r"cannot have a group named '\.text'"):
        RecordBuilder([Group(".text", (), ())], {})
