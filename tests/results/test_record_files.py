"""Files of records: exact, readable while they grow, and what is left of them when a run is killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.processes import run, start
from helpers.records import ENERGY, GROUPS, INFO, RATES, assert_same, rows_of, swing
from linkwork.model import errors
from linkwork.results import hdf5
from linkwork.results.record import Group, Record, RecordBuilder

record = pytest.fixture(swing)


# Files

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    columns = iter(draw(st.lists(names.filter(lambda name: name != "time"), max_size=6, unique=True)))
    groups = []
    for name in draw(st.lists(names, max_size=3, unique=True)):
        if name not in (".", "time") and "/" not in name:
            chosen = tuple(column for column, _ in zip(columns, range(draw(st.integers(0, 3))), strict=False))
            groups.append(Group(name, chosen, tuple(draw(names) for _ in chosen)))
    time = np.sort(draw(hnp.arrays(float, st.integers(0, 5), elements=st.floats(0.0, 1e3))))
    data = {
        group.name: draw(hnp.arrays(float, (len(time), len(group.columns)), elements=st.floats()))
        for group in groups
    }
    return Record(time, groups, data, draw(st.dictionaries(names, json_values, max_size=3)))


@given(record=records())
@settings(deadline=None, max_examples=60)
def test_saved_records_load_exactly(record: Record, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.h5"
    record.save(path)
    assert_same(Record.load(path), record)


def test_thousands_of_columns_and_long_info_fit(tmp_path: Path) -> None:
    columns = tuple(f"body{i}.position.x" for i in range(9000))
    group = Group("positions", columns, ("m",) * len(columns))
    builder = RecordBuilder([group], {"notes": "ä" * 200_000}, tmp_path / "wide.h5")
    builder.append(np.arange(2.0), {"positions": np.arange(18000.0).reshape(2, -1)})
    made = builder.finish()
    assert_same(Record.load(tmp_path / "wide.h5"), made)


def test_builder_writes_the_file_it_returns(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    path.write_text("an older file")
    builder = RecordBuilder(GROUPS, INFO, path)
    expected = swing(5000)
    for first in range(0, 5001, 700):
        part = expected.between(expected.time[first], expected.time[min(first + 699, 5000)])
        builder.append(part.time, {name: part.array(name) for name in part.groups})
    assert path.read_text() == "an older file"
    made = builder.finish({"wall_s": 1.5})
    assert made.info["wall_s"] == 1.5
    assert_same(Record.load(path), made)
    assert os.listdir(tmp_path) == ["swing.h5"]
    # Cleanly closed, for readers that know nothing of SWMR.
    with h5py.File(path, "r") as file:
        assert file.attrs["complete"] == 1
        assert file["time"].attrs["unit"] == "s"
        assert list(file["energy"].attrs["columns"]) == list(ENERGY.columns)


READER = """
import sys
from linkwork.results.record import Record
for line in sys.stdin:
    record = Record.load(line.strip())
    print(len(record), record["pivot.angle"][-1], record.complete, flush=True)
assert "numba" not in sys.modules
"""


def test_a_growing_file_is_read_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    part = tmp_path / "swing.h5.part"
    builder = RecordBuilder(GROUPS, INFO, path)
    with start([sys.executable, "-c", READER], stdin=subprocess.PIPE) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for k in (1, 2, 3):
            time = np.array([k - 0.5, k])
            builder.append(time, rows_of(time))
            print(part, file=reader.stdin, flush=True)
            assert reader.stdout.readline().split() == [str(2 * k), str(float(k * k)), "False"]
            # A second handle in the same process reads it too.
            assert len(Record.load(part)) == 2 * k
        builder.finish()
        print(path, file=reader.stdin, flush=True)
        assert reader.stdout.readline().split() == ["6", "9.0", "True"]
        reader.stdin.close()
    assert reader.returncode == 0


HOLDER = """
import sys, h5py
with h5py.File(sys.argv[1], swmr=True) as file:
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_reader_that_holds_the_file_does_not_stop_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    builder = RecordBuilder([RATES], {}, path)
    command = [sys.executable, "-c", HOLDER, f"{path}.part"]
    with start(command, stdin=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        builder.append(np.zeros(1), {"rates": np.zeros((1, 1))})
        made = builder.finish({"steps": 1})
        assert_same(Record.load(path), made)
        reader.communicate("")
    assert reader.returncode == 0


KILLED = """
import os, sys
import numpy as np
from linkwork.results.record import Group, RecordBuilder
builder = RecordBuilder([Group("rates", ("pivot.angle_rate",), ("rad/s",))], {"scene": "swing"}, sys.argv[1])
for k in range(2):
    builder.append(np.array([k + 0.0, k + 0.5]), {"rates": np.array([[k + 0.0], [k + 0.5]])})
os._exit(9)
"""


def test_a_killed_writer_leaves_its_rows_and_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    swing().save(path)
    old = path.read_bytes()
    assert run([sys.executable, "-c", KILLED, path]).returncode == 9
    assert path.read_bytes() == old
    left = Record.load(f"{path}.part")
    np.testing.assert_array_equal(left.time, [0.0, 0.5, 1.0, 1.5])
    np.testing.assert_array_equal(left["pivot.angle_rate"], left.time)
    assert left.info == {"scene": "swing"}
    assert not left.complete
    assert "unfinished" in repr(left)
    # It can be kept as a record of its own, and stays marked.
    left.save(tmp_path / "left.h5")
    assert_same(Record.load(tmp_path / "left.h5"), left)


def test_an_abandoned_part_file_gives_way_to_a_new_run(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    # Still referenced, as by a traceback in a notebook.
    abandoned = RecordBuilder([RATES], {}, path)
    abandoned.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    assert len(Record.load(f"{path}.part")) == 1
    again = RecordBuilder([RATES], {}, path)
    again.append(np.arange(3.0), {"rates": np.ones((3, 1))})
    made = again.finish()
    assert_same(Record.load(path), made)
    abandoned.append(np.ones(1), {"rates": np.zeros((1, 1))})


def test_rows_written_halfway_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RecordBuilder([RATES, ENERGY], {}, tmp_path / "swing.h5")
    data = {"rates": np.ones((1, 1)), "energy": np.ones((1, 2))}
    builder.append(np.zeros(1), data)
    flush = h5py.Dataset.flush

    def full(self: h5py.Dataset) -> None:
        if self.name == "/energy":
            raise OSError("No space left on device")
        flush(self)

    with monkeypatch.context() as patch:
        patch.setattr(h5py.Dataset, "flush", full)
        with pytest.raises(
            errors.LinkworkError, match=r"swing\.h5\.part: rows cannot be added: No space left"
        ):
            builder.append(np.ones(1), data)
    assert len(Record.load(tmp_path / "swing.h5.part")) == 1
    # Space was made: rows that follow stand at their own times.
    builder.append(np.full(1, 2.0), {name: 2 * block for name, block in data.items()})
    left = Record.load(tmp_path / "swing.h5.part")
    np.testing.assert_array_equal(left.time, [0.0, 2.0])
    np.testing.assert_array_equal(left["pivot.angle_rate"], [1.0, 2.0])


def test_a_finish_that_fails_says_where_the_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RecordBuilder([RATES], {}, tmp_path / "swing.h5")
    builder.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _fail)
        with pytest.raises(errors.LinkworkError, match=r"disk on fire; the recorded rows are in .*\.part"):
            builder.finish()
    assert len(Record.load(tmp_path / "swing.h5.part")) == 1
    assert_same(builder.finish(), Record.load(tmp_path / "swing.h5"))


def _fail(*_: object) -> None:
    raise OSError("disk on fire")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("write", ["save", "to_csv"])
@pytest.mark.parametrize(
    ("failure", "raised"), [(_fail, errors.LinkworkError), (_interrupt, KeyboardInterrupt)]
)
def test_an_interrupted_save_leaves_the_old_file(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str, failure: Any, raised: Any
) -> None:
    path = tmp_path / "swing.h5"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", failure)
    with pytest.raises(raised):
        getattr(record, write)(path)
    assert os.listdir(tmp_path) == ["swing.h5"]
    assert path.read_text() == "old"


def test_a_link_is_followed(record: Record, tmp_path: Path) -> None:
    link = tmp_path / "latest.h5"
    try:
        link.symlink_to(tmp_path / "swing.h5")
    except OSError:
        pytest.skip("this system has no symbolic links")
    record.save(link)
    assert link.is_symlink()
    assert_same(Record.load(tmp_path / "swing.h5"), record)


def test_paths_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(errors.LinkworkError, match=r"there is no folder .*missing"):
        RecordBuilder([RATES], {}, tmp_path / "missing" / "swing.h5")
    with pytest.raises(errors.LinkworkError, match="it is a folder"):
        RecordBuilder([RATES], {}, tmp_path)


def _load_error(path: Path) -> str:
    with pytest.raises(errors.LinkworkError) as caught:
        Record.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message


def test_files_that_are_no_records_are_refused(tmp_path: Path) -> None:
    assert "No such file" in _load_error(tmp_path / "missing.h5")
    text = tmp_path / "text.h5"
    text.write_text("time,angle\n")
    assert "no HDF5 file" in _load_error(text)
    foreign = tmp_path / "foreign.h5"
    with h5py.File(foreign, "w") as file:
        file["time"] = np.zeros(3)
    assert "attribute 'format' is not 'linkwork-record'" in _load_error(foreign)


def test_a_newer_format_is_refused(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    record.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = hdf5.VERSION + 1
    assert "newer Linkwork: record format 2, and this one reads up to 1; upgrade" in _load_error(path)


def test_truncated_files_are_refused(record: Record, tmp_path: Path) -> None:
    path, cut = tmp_path / "swing.h5", tmp_path / "cut.h5"
    record.save(path)
    whole = path.read_bytes()
    for size in (0, 4, 8, 40, *range(100, len(whole), len(whole) // 40), len(whole) - 1):
        cut.write_bytes(whole[:size])
        assert re.search("truncated|damaged", _load_error(cut))


def test_truncated_part_files_are_refused(tmp_path: Path) -> None:
    path, cut = tmp_path / "swing.h5", tmp_path / "cut.h5.part"
    run([sys.executable, "-c", KILLED, path])
    whole = Path(f"{path}.part").read_bytes()
    for size in range(0, len(whole), len(whole) // 60):
        cut.write_bytes(whole[:size])
        assert re.search("truncated|damaged", _load_error(cut))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda file: file["rates"].resize(3, axis=0), "group 'rates'"),
        (lambda file: file["rates"].attrs.create("columns", ["time"]), "reserved"),
        (lambda file: file["rates"].attrs.__delitem__("units"), "units"),
        (lambda file: file.attrs.__delitem__("info"), "info"),
        (lambda file: file.attrs.__setitem__("info", "{"), "Expecting"),
        (lambda file: file.__delitem__("time"), "time"),
    ],
)
def test_damaged_files_are_refused(record: Record, tmp_path: Path, damage: Any, reason: str) -> None:
    path = tmp_path / "swing.h5"
    record.save(path)
    with h5py.File(path, "r+") as file:
        damage(file)
    message = _load_error(path)
    assert "damaged" in message
    assert reason in message


def test_files_of_other_writers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": np.bytes_("linkwork-record"), "version": 1, "info": np.bytes_("{}")})
        file["time"] = np.zeros(2)
        file["rates"] = np.ones((2, 1), np.float32)
        file["rates"].attrs["columns"] = np.array([b"pivot.angle_rate"])
        file["rates"].attrs["units"] = np.array([b"rad/s"])
        file["notes"] = "not ours"
        file.create_group("more")
    record = Record.load(path)
    assert record.names == ("pivot.angle_rate",)
    assert record.unit("pivot.angle_rate") == "rad/s"
    assert record["pivot.angle_rate"].dtype == np.float64
    assert record.complete
