"""Records: signals by name, how they are built, rows between rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.records import ENERGY, GROUPS, INFO, POSITIONS, RATES, ROTATIONS, assert_same, rows_of, swing
from linkwork.model import errors
from linkwork.model.rotation import Array, about, matrix
from linkwork.results.builder import RecordBuilder
from linkwork.results.record import Group, Record

record = pytest.fixture(swing)


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
