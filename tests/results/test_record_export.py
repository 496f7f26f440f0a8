"""What other tools get of records: CSV, pandas, xarray, plots, and the examples of the page."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.records import POSITIONS, RATES, swing
from linkwork.model import errors
from linkwork.results.record import Group, Record

record = pytest.fixture(swing)


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
