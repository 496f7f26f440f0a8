"""`linkwork plot` as a user meets it."""

from functools import partial

import numpy as np
import pytest

from helpers import command
from linkwork.model.errors import LinkworkError
from linkwork.results.builder import RecordBuilder
from linkwork.results.record import Group, Record

pytest.importorskip("matplotlib", reason="needs the extra `plot`")

call, document = partial(command.call, "plot"), partial(command.document, "plot")
GROUPS = (
    Group("coordinates", ("pivot.angle", "rail.position"), ("rad", "m")),
    Group("energy", ("energy.kinetic", "energy.balance"), ("J", "J")),
    Group("forces", ("pivot.force.x",), ("N",)),
)


def data(time):
    return {
        "coordinates": np.column_stack([np.sin(time), time]),
        "energy": np.column_stack([time**2, 0.0 * time]),
        "forces": np.cos(time)[:, None],
    }


@pytest.fixture
def file(tmp_path):
    time = np.linspace(0.0, 2.0, 201)
    path = tmp_path / "swing.h5"
    Record(time, GROUPS, data(time), {"model": "swing"}).save(path)
    return path


def error(*arguments):
    result = call(*arguments)
    assert isinstance(result.exception, LinkworkError), result.output
    return str(result.exception)


def test_a_plot_stands_beside_its_record_by_default(file):
    result = call(file)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(file.with_suffix(".png"))]
    assert file.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    # A second one takes its place.
    before = file.with_suffix(".png").read_bytes()
    assert call(file, "pivot.angle").exit_code == 0
    assert file.with_suffix(".png").read_bytes() != before


def test_coordinates_and_energy_are_what_is_plotted_without_names(file):
    told = document(file)
    assert told["signals"] == ["pivot.angle", "rail.position", "energy.kinetic", "energy.balance"]
    assert told["title"] == "swing"
    assert told["complete"]
    assert told["plot"] == str(file.with_suffix(".png"))


def test_names_patterns_times_and_the_file_can_be_chosen(file, tmp_path):
    out = tmp_path / "some.svg"
    told = document(file, "pivot.*", "energy.kinetic", "--from", 0.5, "--to", 1.0, "--out", out)
    assert sorted(told["signals"]) == ["energy.kinetic", "pivot.angle", "pivot.force.x"]
    assert (told["rows"], told["from"], told["to"]) == (51, 0.5, 1.0)
    assert "<svg" in out.read_text()
    assert not file.with_suffix(".png").exists()


def test_signals_are_listed_with_units(file):
    lines = call(file, "--list").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["pivot.angle", "rad"],
        ["rail.position", "m"],
        ["energy.kinetic", "J"],
        ["energy.balance", "J"],
        ["pivot.force.x", "N"],
    ]
    assert not file.with_suffix(".png").exists()


def test_lists_can_be_narrowed_and_read_by_programs(file):
    told = document(file, "pivot.*", "--list")
    assert told["signals"] == [
        {"signal": "pivot.angle", "unit": "rad"},
        {"signal": "pivot.force.x", "unit": "N"},
    ]
    assert (told["rows"], told["to"]) == (201, 2.0)


def test_a_run_that_goes_on_can_be_plotted(tmp_path):
    file = tmp_path / "run.h5"
    builder = RecordBuilder(GROUPS, {"model": "swing"}, file)
    time = np.linspace(0.0, 1.0, 11)
    builder.append(time, data(time))
    for name in (file, f"{file}.part"):
        result = call(name)
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines() == [str(tmp_path / "run.png")]
        assert "unfinished" in result.stderr
    assert document(file)["complete"] is False
    builder.finish()
    assert "unfinished" not in call(file).stderr


def test_a_misspelt_signal_gets_the_nearest_name(file):
    assert "'energy.kinetic'" in error(file, "energy.kinetik")
    assert "'energy.kinetic'" in error(file, "energy.kinetik", "--list")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", 3], "no rows to plot: it runs from 0 to 2 s"),
        (["--from", 1, "--to", 0.5], "a start before its end"),
        (["--out", "nowhere/a.png"], "there is no folder"),
        (["--out", "a.h5"], "plots are not written as 'h5'"),
    ],
)
def test_what_cannot_be_plotted_is_told(file, arguments, message, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert message in error(file, *arguments)
    assert [path.name for path in file.parent.iterdir()] == ["swing.h5"]


def test_files_that_are_no_records_are_told(tmp_path):
    assert "cannot be read" in error(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("hello")
    assert "not a record" in error(tmp_path / "text.h5")


def test_a_record_without_rows_has_nothing_to_plot(tmp_path):
    Record(np.empty(0), GROUPS, {group.name: np.empty((0, len(group.columns))) for group in GROUPS}).save(
        tmp_path / "empty.h5"
    )
    assert "no rows to plot" in error(tmp_path / "empty.h5")
    assert document(tmp_path / "empty.h5", "--list")["from"] is None
