"""Files of records: exact, readable while they grow, and what is left of them when a run is killed."""

from __future__ import annotations

import io
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
from linkwork.results.builder import RecordBuilder
from linkwork.results.record import Group, Record

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
import sys
with open(sys.argv[1], "rb") as file:
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
from linkwork.results.builder import RecordBuilder
from linkwork.results.record import Group
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


def test_a_part_file_is_never_overwritten(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "swing.h5"
    for k in (1.0, 2.0):  # two runs to the same name that do not end
        builder = RecordBuilder([RATES], {}, path)
        builder.append(np.array([k]), {"rates": np.array([[k]])})
        builder.abandon()
    assert "swing-1.h5.part" in caplog.text
    assert "linkwork recover" in caplog.text
    again = RecordBuilder([RATES], {}, path)
    again.append(np.arange(3.0), {"rates": np.ones((3, 1))})
    made = again.finish()
    assert_same(Record.load(path), made)
    assert sorted(os.listdir(tmp_path)) == ["swing-1.h5.part", "swing-2.h5.part", "swing.h5"]
    for k in (1, 2):
        assert Record.load(tmp_path / f"swing-{k}.h5.part")["pivot.angle_rate"].tolist() == [k]


SECOND = """
import sys
from linkwork.model.errors import StorageError
from linkwork.results.builder import RecordBuilder
try:
    RecordBuilder([], {}, sys.argv[1])
except StorageError as error:
    print(error)
"""


def test_one_writer_for_each_name(tmp_path: Path) -> None:
    path = tmp_path / "swing.h5"
    first = RecordBuilder([RATES], {}, path)
    first.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    with pytest.raises(errors.StorageError, match=r"swing\.h5: another run writes it"):
        RecordBuilder([RATES], {}, path)
    told = subprocess.run([sys.executable, "-c", SECOND, path], capture_output=True, text=True, check=True)
    assert "another run writes it" in told.stdout
    assert_same(first.finish(), Record.load(path))
    assert os.listdir(tmp_path) == ["swing.h5"]
    RecordBuilder([RATES], {}, path).finish()


def test_old_part_files_still_open(tmp_path: Path) -> None:
    """Version 1 of the format wrote part files in HDF5's SWMR mode."""
    path = tmp_path / "swing.h5.part"
    with start([sys.executable, "-c", WRITER_OF_VERSION_1, path]) as writer:
        writer.communicate()
    left = Record.load(path)
    np.testing.assert_array_equal(left["pivot.angle_rate"], [0.0, 0.5, 1.0])
    assert not left.complete
    whole, cut = path.read_bytes(), tmp_path / "cut.h5.part"
    for size in range(0, len(whole), len(whole) // 5):
        cut.write_bytes(whole[:size])
        assert re.search("truncated|damaged", _load_error(cut))


WRITER_OF_VERSION_1 = """
import os, sys
import h5py, numpy as np
text = h5py.string_dtype()
with h5py.File(sys.argv[1], "w", libver=("v110", "v110"), track_order=True) as file:
    file.attrs.update({"format": "linkwork-record", "version": 1, "info": "{}", "complete": 0})
    rates = file.create_dataset("rates", shape=(0, 1), maxshape=(None, 1), chunks=(4096, 1), dtype=np.float64)
    rates.attrs.create("columns", ["pivot.angle_rate"], shape=(1,), dtype=text)
    rates.attrs.create("units", ["rad/s"], shape=(1,), dtype=text)
    time = file.create_dataset("time", shape=(0,), maxshape=(None,), chunks=(4096,), dtype=np.float64)
    time.attrs["unit"] = "s"
file = h5py.File(sys.argv[1], "r+", libver=("v110", "v110"), locking=False)
file.swmr_mode = True
for name in ("rates", "time"):
    dataset = file[name]
    dataset.resize(3, axis=0)
    dataset[:] = np.array([0.0, 0.5, 1.0]).reshape(dataset.shape)
    dataset.flush()
os._exit(9)
"""


def test_a_finish_that_fails_says_where_the_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RecordBuilder([RATES], {}, tmp_path / "swing.h5")
    builder.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _fail)
        with pytest.raises(
            errors.StorageError, match=r"disk on fire; 1 of 1 recorded rows.*\.part"
        ) as caught:
            builder.finish()
    assert len(Record.load(tmp_path / "swing.h5.part")) == 1
    made = builder.finish()
    assert_same(made, Record.load(tmp_path / "swing.h5"))
    assert isinstance(caught.value.record, Record)
    assert_same(made, caught.value.record)


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
    path, part = tmp_path / "swing.h5", tmp_path / "swing.h5.part"
    record.save(path)
    path.write_bytes(path.read_bytes().replace(b"linkwork-record 2", b"linkwork-record 3", 1))
    assert "newer Linkwork: record format 3, and this one reads up to 2; upgrade" in _load_error(path)
    part.write_bytes(b"linkwork-part 2\nwhatever")
    assert "newer Linkwork: part format 2, and this one reads up to 1; upgrade" in _load_error(part)
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "linkwork-record", "version": hdf5.VERSION + 1})
    assert "newer Linkwork: record format 3" in _load_error(path)
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "linkwork-record", "version": hdf5.VERSION})
    assert "lost its digest" in _load_error(path)


def test_truncated_files_are_refused(record: Record, tmp_path: Path) -> None:
    path, cut = tmp_path / "swing.h5", tmp_path / "cut.h5"
    record.save(path)
    whole = path.read_bytes()
    for size in (0, 4, 8, 40, *range(100, len(whole), len(whole) // 40), len(whole) - 1):
        cut.write_bytes(whole[:size])
        assert re.search("truncated|damaged", _load_error(cut))


def test_a_part_file_that_was_cut_keeps_its_whole_rows(tmp_path: Path) -> None:
    path, cut = tmp_path / "swing.h5", tmp_path / "cut.h5.part"
    run([sys.executable, "-c", KILLED, path])
    whole = Path(f"{path}.part").read_bytes()
    found, refused = set(), []
    for size in range(len(whole) + 1):
        cut.write_bytes(whole[:size])
        try:
            left = Record.load(cut)
        except errors.StorageError as error:
            refused.append(str(error))
            continue
        found.add(len(left))
        np.testing.assert_array_equal(left.time, [0.0, 0.5, 1.0, 1.5][: len(left)])
        np.testing.assert_array_equal(left["pivot.angle_rate"], left.time)
    assert found == {0, 2, 4}
    assert all(re.search("truncated|damaged|no HDF5 file", text) for text in refused)


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
    assert "damaged or was edited" in _load_error(path)
    # Without the digest, as files of version 1 and of other writers are.
    bare = path.read_bytes()[512:]
    with h5py.File(path, "w") as file, h5py.File(io.BytesIO(bare)) as old:
        file.attrs.update({**old.attrs, "version": 1})
        for name in old:
            old.copy(name, file)
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
