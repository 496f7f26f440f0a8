"""Records: signals by name, rows between rows, files that survive, and what other tools get."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.processes import run, start
from linkwork.model import errors
from linkwork.model.rotation import Array, about, matrix
from linkwork.results import hdf5
from linkwork.results.record import Group, Record, RecordBuilder

COORDINATES = Group("coordinates", ("pivot.angle",), ("rad",))
RATES = Group("rates", ("pivot.angle_rate",), ("rad/s",))
POSITIONS = Group("positions", tuple(f"arm.position.{axis}" for axis in "xyz"), ("m",) * 3)
ROTATIONS = Group("rotations", tuple(f"arm.rotation.{part}" for part in "wxyz"), ("1",) * 4)
ENERGY = Group("energy", ("energy.kinetic", "energy.balance"), ("J", "J"))
GROUPS = (COORDINATES, RATES, POSITIONS, ROTATIONS, ENERGY)
INFO = {"model": "swing", "dt": 0.001, "warnings": []}


def rows_of(time: Array) -> dict[str, Array]:
    """A swing by t² about z."""
    angle = time**2
    zero = np.zeros_like(time)
    return {
        "coordinates": angle[:, None],
        "rates": 2 * time[:, None],
        "positions": np.column_stack([np.cos(angle), np.sin(angle), zero]),
        "rotations": np.column_stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)]),
        "energy": np.column_stack([2 * time**2, -1e-6 * time]),
    }


def swing(steps: int = 50, end: float = 0.5) -> Record:
    time = np.linspace(0.0, end, steps + 1)
    return Record(time, GROUPS, rows_of(time), INFO)


@pytest.fixture
def record() -> Record:
    return swing()


def assert_same(a: Record, b: Record) -> None:
    """Equal to the last bit, in the same order."""
    assert list(a.groups.items()) == list(b.groups.items())
    assert a.time.tobytes() == b.time.tobytes()
    for group in a.groups:
        assert a.array(group).shape == b.array(group).shape
        assert a.array(group).tobytes() == b.array(group).tobytes()
    assert a.info == b.info
    assert a.complete == b.complete


# Signals


def test_signals_are_read_by_name(record: Record) -> None:
    np.testing.assert_array_equal(record["pivot.angle"], record.time**2)
    assert record["arm.position.y"].shape == (51,)
    assert record["time"] is record.time
    assert record.unit("pivot.angle_rate") == "rad/s"
    assert record.unit("time") == "s"
    assert len(record) == 51
    assert record.names == tuple(name for group in GROUPS for name in group.columns) == tuple(record)
    assert "pivot.angle" in record
    assert "pivot.angel" not in record
    assert record.array("positions").shape == (51, 3)


def test_arrays_of_a_record_are_read_only_but_not_those_it_was_made_of() -> None:
    time = np.linspace(0.0, 1.0, 3)
    data = rows_of(time)
    record = Record(time, GROUPS, data)
    for array in (record.time, record["pivot.angle"], record.array("energy")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    time[0] = -1.0
    data["energy"][0, 0] = 1.0


def test_unknown_names_are_refused_with_the_nearest_one(record: Record) -> None:
    for read in (record.__getitem__, record.unit, record.plot):
        with pytest.raises(errors.LinkworkError, match=r"'pivot\.angel'.*did you mean 'pivot\.angle'"):
            read("pivot.angel")
    with pytest.raises(errors.LinkworkError, match=r"no group 'position'.*did you mean 'positions'"):
        record.array("position")


def test_find_takes_wildcards_and_leaves_brackets_alone(record: Record) -> None:
    assert record.find("pivot.*") == ["pivot.angle", "pivot.angle_rate"]
    assert record.find("*.position.?") == list(POSITIONS.columns)
    assert record.find("pivot.angle") == ["pivot.angle"]
    assert record.find("pivot") == []
    wheels = Group("coordinates", ("wheel[0].angle", "wheel[1].angle"), ("rad", "rad"))
    assert Record(np.zeros(1), [wheels], {"coordinates": np.zeros((1, 2))}).find("wheel[0].*") == [
        "wheel[0].angle"
    ]


def test_repr_says_what_is_in_it(record: Record) -> None:
    assert repr(record) == (
        "<Record of 'swing': 51 rows from 0 to 0.5 s; "
        "1 coordinates, 1 rates, 3 positions, 4 rotations, 2 energy>"
    )
    assert Record(np.empty(0), [], {}, {"model": "arm", "scene": "swing"}).title == "swing"
    assert repr(Record(np.empty(0), [], {}, complete=False)) == "<Record: 0 rows; unfinished>"


def test_energy_drift_is_the_largest_balance(record: Record) -> None:
    assert record.energy_drift == pytest.approx(0.5e-6)
    assert Record(np.zeros(1), [RATES], {"rates": np.zeros((1, 1))}).energy_drift is None
    blown = Record(np.zeros(1), [ENERGY], {"energy": np.full((1, 2), np.nan)})
    assert blown.energy_drift is not None
    assert np.isnan(blown.energy_drift)


# Building


def test_builder_joins_blocks_and_copies_them() -> None:
    builder = RecordBuilder(GROUPS, INFO)
    expected = swing()
    buffer = {name: np.empty((17, len(group.columns))) for name, group in expected.groups.items()}
    builder.append(np.empty(0), {name: block[:0] for name, block in buffer.items()})
    for first in (0, 17, 34):
        rows = slice(first, first + 17)
        for name, block in buffer.items():
            block[:] = expected.array(name)[rows]
        builder.append(expected.time[rows], buffer)
    made = builder.finish({"steps": np.int64(50)})
    assert made.info == {**INFO, "steps": 50}
    assert_same(made, Record(expected.time, GROUPS, rows_of(expected.time), made.info))


def test_builder_without_rows_gives_an_empty_record(tmp_path: Path) -> None:
    made = RecordBuilder(GROUPS, INFO, tmp_path / "empty.h5").finish()
    assert len(made) == 0
    assert made["arm.position.x"].shape == (0,)
    assert made.energy_drift == 0.0
    assert_same(Record.load(tmp_path / "empty.h5"), made)
    assert len(made.between(0.0, 1.0)) == 0
    with pytest.raises(errors.LinkworkError, match="no rows"):
        made.at(0.0)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([RATES, Group("other", ("pivot.angle_rate",), ("1",))], "'pivot.angle_rate'.*'rates' and 'other'"),
        ([Group("rates", ("a", "a"), ("1", "1"))], "'a' stands twice.*one group"),
        ([RATES, RATES], "group named 'rates'"),
        ([Group("time", (), ())], "group named 'time'"),
        ([Group("a/b", (), ())], "group named 'a/b'"),
        ([Group("rates", ("time",), ("s",))], "'time' is reserved"),
    ],
)
def test_ambiguous_names_are_refused(groups: list[Group], reason: str) -> None:
    with pytest.raises(errors.LinkworkError, match=reason):
        RecordBuilder(groups, {})


def test_group_needs_a_unit_per_column() -> None:
    with pytest.raises(errors.LinkworkError, match="'rates' of a record has 2 columns but 1 units"):
        Group("rates", ("a", "b"), ("1",))


@pytest.mark.parametrize(
    ("time", "data", "reason"),
    [
        ([0.0], {}, r"groups \['rates'\].*data of \[\]"),
        ([0.0], {"rates": np.zeros((2, 1))}, r"shape \(1, 1\), not \(2, 1\)"),
        ([0.0], {"rates": np.zeros(1)}, r"shape \(1, 1\), not \(1,\)"),
        ([1.0, 0.5], {"rates": np.zeros((2, 1))}, "do not decrease"),
        ([np.nan], {"rates": np.zeros((1, 1))}, "finite"),
        ([-1.0], {"rates": np.zeros((1, 1))}, "-1 s follows 0 s"),
    ],
)
def test_rows_that_do_not_fit_are_refused(time: list[float], data: dict[str, Array], reason: str) -> None:
    builder = RecordBuilder([RATES], {})
    builder.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    with pytest.raises(errors.LinkworkError, match=reason):
        builder.append(np.array(time), data)


def test_a_finished_builder_takes_no_more() -> None:
    builder = RecordBuilder([RATES], {})
    builder.finish()
    with pytest.raises(errors.LinkworkError, match="finished"):
        builder.append(np.zeros(1), {"rates": np.zeros((1, 1))})
    with pytest.raises(errors.LinkworkError, match="finished"):
        builder.finish()


def test_info_becomes_plain_json() -> None:
    given: dict[Any, Any] = {
        "dt": np.float64(0.1),
        "order": (1, 2),
        "file": Path("a.yaml"),
        "worst": {"gap": np.nan},
        3: None,
    }
    info = Record(np.empty(0), [], {}, given).info
    assert info == {"dt": 0.1, "order": [1, 2], "file": "a.yaml", "worst": {"gap": None}, "3": None}
    assert json.loads(json.dumps(info, allow_nan=False)) == info
    with pytest.raises(errors.LinkworkError, match=r"info 'a\.b\[1\]' .* set"):
        Record(np.empty(0), [], {}, {"a": {"b": [1, {2}]}})


# Rows between rows


def test_at_interpolates_and_gives_recorded_rows_exactly(record: Record) -> None:
    assert record.at(record.time[7]) == {name: record[name][7] for name in record.names}
    between = record.at(0.105)
    assert between["pivot.angle"] == pytest.approx((0.1**2 + 0.11**2) / 2)
    assert np.hypot(between["arm.rotation.w"], between["arm.rotation.z"]) == pytest.approx(1.0, abs=1e-15)
    assert record.at(0.5 * (1 + 1e-15))["pivot.angle"] == 0.25
    for t in (-0.1, 0.6, np.nan):
        with pytest.raises(errors.LinkworkError, match=r"which runs from 0 to 0\.5 s"):
            record.at(t)


def test_of_two_rows_at_one_time_the_later_counts() -> None:
    time = np.array([0.0, 1.0, 1.0, 2.0, 2.0])
    record = Record(time, [RATES], {"rates": np.array([[0.0], [2.0], [-2.0], [-4.0], [5.0]])})
    rates = record.resample([0.5, 1.0, 1.5, 2.0])["pivot.angle_rate"]
    np.testing.assert_array_equal(rates, [1.0, -2.0, -3.0, 5.0])


def test_recorded_rows_are_given_back_beside_infinities() -> None:
    record = Record(np.arange(3.0), [RATES], {"rates": np.array([[1.0], [np.inf], [2.0]])})
    np.testing.assert_array_equal(record.resample([0.0, 1.0, 2.0])["pivot.angle_rate"], [1.0, np.inf, 2.0])


@given(angle=st.floats(-3.1, 3.1), weight=st.floats(0.0, 1.0), flip=st.booleans(), ball=st.booleans())
@settings(deadline=None)
def test_quaternions_turn_evenly_on_the_shortest_arc(
    angle: float, weight: float, flip: bool, ball: bool
) -> None:
    axis = (0.6, 0.0, 0.8)
    start, turned = np.array(about((1.0, 2.0, 3.0), 0.7)), np.array(about(axis, angle))
    w, v = turned[0], turned[1:]
    left = np.block([[np.array([[w]]), -v[None, :]], [v[:, None], w * np.eye(3) + _cross(v)]])
    end = left @ start
    # The same rotation on the other side of the double cover.
    if flip:
        end = -end
    columns = tuple(f"socket.q{part}" if ball else f"arm.rotation.{part}" for part in "wxyz")
    # Columns in any order, among others.
    group = Group("coordinates" if ball else "rotations", ("other", *columns[::-1]), ("1",) * 5)
    rows = np.array([[0.0, *start[::-1]], [1.0, *end[::-1]]])
    row = Record(np.array([0.0, 2.0]), [group], {group.name: rows}).at(2 * weight)
    got = np.array([row[name] for name in columns])
    assert row["other"] == pytest.approx(weight)
    assert np.linalg.norm(got) == pytest.approx(1.0, abs=1e-14)
    expected = matrix(about(axis, weight * angle)) @ matrix(start)
    np.testing.assert_allclose(matrix(got), expected, atol=2e-14)


def _cross(v: Array) -> Array:
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def test_a_full_turn_crosses_the_double_cover() -> None:
    angles = np.linspace(0.0, 4 * np.pi, 41)
    quaternions = np.array([about((0.0, 0.0, 1.0), angle) for angle in angles])
    # Recorded with w >= 0, the sign jumps at half turns.
    quaternions *= np.where(quaternions[:, :1] < 0.0, -1.0, 1.0)
    assert np.any(np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0)
    record = Record(angles, [ROTATIONS], {"rotations": quaternions}).resample(rate=20.0)
    for angle, q in zip(record.time, record.array("rotations"), strict=True):
        np.testing.assert_allclose(matrix(q), matrix(about((0.0, 0.0, 1.0), angle)), atol=1e-13)


def test_incomplete_quaternions_are_plain_columns() -> None:
    group = Group("coordinates", ("a.qw", "a.qx"), ("1", "1"))
    record = Record(np.array([0.0, 1.0]), [group], {"coordinates": np.array([[1.0, 0.0], [0.0, 1.0]])})
    assert record.at(0.5) == {"a.qw": 0.5, "a.qx": 0.5}


def test_resample_by_rate_keeps_the_last_time(record: Record) -> None:
    even = record.resample(rate=10.0)
    np.testing.assert_allclose(even.time, np.arange(6) / 10)
    np.testing.assert_allclose(even["pivot.angle"], even.time**2, atol=1e-15)
    assert even.info == record.info
    assert len(record.resample(rate=3.0)) == 2
    assert len(record.resample(np.array([0.1, 0.2]))) == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "either times or rate"),
        ({"times": [0.0], "rate": 1.0}, "either times or rate"),
        ({"times": 100.0}, r"resample\(rate=\.\.\.\)"),
        ({"times": [0.2, 0.1]}, "not decrease"),
        ({"rate": 0.0}, "must be positive, not 0"),
    ],
)
def test_resample_refuses_what_it_cannot_mean(record: Record, arguments: Any, reason: str) -> None:
    with pytest.raises(errors.LinkworkError, match=reason):
        record.resample(**arguments)


def test_between_includes_both_ends_despite_rounding(record: Record) -> None:
    part = record.between(0.1, 0.1 + 0.2)
    np.testing.assert_array_equal(part.time, record.time[10:31])
    np.testing.assert_array_equal(part["arm.position.x"], record["arm.position.x"][10:31])
    assert np.shares_memory(part.array("rates"), record.array("rates"))
    assert len(record.between(end=0.1)) == 11
    assert len(record.between(0.101, 0.102)) == 0
    with pytest.raises(errors.LinkworkError, match="start before its end"):
        record.between(0.2, 0.1)


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


# Other tools


def test_csv_has_units_and_reads_back_exactly(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "swing.csv"
    long = swing(3000)
    long.to_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["time [s]", "pivot.angle [rad]", "pivot.angle_rate [rad/s]"]
    assert header[-1] == "energy.balance [J]"
    table = np.array(rows, float)
    np.testing.assert_array_equal(table[:, 0], long.time)
    np.testing.assert_array_equal(table[:, 1:3], np.hstack([long.array("coordinates"), long.array("rates")]))
    Record(np.arange(2.0), [], {}).to_csv(path)
    assert path.read_text() == "time [s]\n0.0\n1.0\n"


def test_pandas_has_units(record: Record) -> None:
    frame = record.to_pandas()
    assert frame.index.name == "time"
    assert list(frame.columns) == list(record.names)
    assert frame.attrs["units"]["pivot.angle"] == "rad"
    assert frame.attrs["units"]["time"] == "s"
    np.testing.assert_array_equal(frame["arm.position.x"], record["arm.position.x"])
    np.testing.assert_array_equal(frame.index, record.time)
    frame.loc[0.0, "pivot.angle"] = 7.0
    assert record["pivot.angle"][0] == 0.0


def test_xarray_has_units(record: Record) -> None:
    dataset = record.to_xarray()
    assert dict(dataset.sizes) == {"time": 51}
    assert dataset["time"].attrs == {"units": "s"}
    assert list(dataset.data_vars) == list(record.names)
    assert dataset["pivot.angle"].attrs == {"units": "rad", "group": "coordinates"}
    np.testing.assert_array_equal(dataset["arm.position.x"], record["arm.position.x"])
    assert json.loads(dataset.attrs["info"])["model"] == "swing"


def test_plot_has_an_axes_per_unit(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "swing.png"
    figure = record.plot("arm.position.*", "pivot.angle", "arm.position.x", "energy.kinetic", path=path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "length [m]",
        "pivot.angle [rad]",
        "energy.kinetic [J]",
    ]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert _legend(figure.axes[0]) == list(POSITIONS.columns)
    line = figure.axes[1].get_lines()[0]
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([record.time, record["pivot.angle"]]))
    assert figure.get_suptitle() == "swing"


def _legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_plot_without_names_shows_coordinates_and_energy(record: Record) -> None:
    shown = [_legend(axes) for axes in record.plot().axes]
    assert shown == [["pivot.angle"], ["energy.kinetic", "energy.balance"]]
    rates = Record(np.zeros(1), [RATES], {"rates": np.zeros((1, 1))})
    assert _legend(rates.plot().axes[0]) == ["pivot.angle_rate"]
    with pytest.raises(errors.LinkworkError, match="no signals to plot"):
        Record(np.zeros(1), [], {}).plot()


def test_plot_keeps_odd_names_and_tells_many_lines_apart(tmp_path: Path) -> None:
    columns = ("_hidden.x", "cost_$a$", *(f"body{i}.x" for i in range(24)))
    group = Group("positions", columns, ("m",) * len(columns))
    record = Record(np.arange(2.0), [group], {"positions": np.ones((2, len(columns)))}, {"scene": "$x"})
    figure = record.plot(path=tmp_path / "many.svg")
    assert (tmp_path / "many.svg").stat().st_size > 0
    assert _legend(figure.axes[0]) == list(columns)
    assert len({(line.get_color(), line.get_linestyle()) for line in figure.axes[0].get_lines()}) == 26


def test_plot_needs_neither_display_nor_pyplot(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    # None makes any import of it fail.
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    record.plot(path=tmp_path / "swing.png")
    assert (tmp_path / "swing.png").stat().st_size > 0


def test_plot_refuses_unknown_endings(record: Record, tmp_path: Path) -> None:
    with pytest.raises(errors.LinkworkError, match=r"swing\.doc: plots are not written as 'doc', but .*png"):
        record.plot(path=tmp_path / "swing.doc")
    record.plot(path=tmp_path / "swing")
    assert os.listdir(tmp_path) == ["swing"]


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [("matplotlib", "plot", "plot"), ("pandas", "data", "to_pandas"), ("xarray", "data", "to_xarray")],
)
def test_missing_extras_are_named(
    record: Record, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, use: str
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(errors.MissingExtraError, match=rf"{use} .*'{package}'.*linkwork\[{extra}\]"):
        getattr(record, use)()


# Documentation


def _blocks() -> Iterator[str]:
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    yield from re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_the_examples_of_the_page_run(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = list(_blocks())
    scope: Mapping[str, Any] = {"record": record, "Record": Record}
    for block in blocks:
        exec(block, dict(scope))
    assert capsys.readouterr().out == f"{record.time[-1]} {record['pivot.angle'][-1]}\n"
    assert {"swing.h5", "swing.csv", "swing.png"} == set(os.listdir(tmp_path))
