"""A run against itself at half the step."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from linkwork import LinkworkError, Record
from linkwork.analysis.verify import verify
from linkwork.cli import app
from linkwork.results.record import Group

GROUPS = (
    Group("coordinates", ("pivot.angle", "rail.x"), ("rad", "m")),
    Group("energy", ("energy.kinetic", "energy.balance"), ("J", "J")),
)


def motion(off=0.0, rows=101, force=0.0):
    """A swing of 2 rad; from 0.5 s on it is off by so much."""
    time = np.linspace(0.0, 1.0, rows)
    angle = 2.0 * time + np.where(time > 0.5, off, 0.0)
    data = {
        "coordinates": np.column_stack([angle, 0.0 * time]),
        "energy": np.column_stack([time + force, 7.0 * force + 0.0 * time]),
    }
    return Record(time, GROUPS, data)


def test_what_differs_is_told_by_kind_and_unit():
    found = verify(motion(), motion(off=0.01, rows=201, force=0.2), "steps of 1 ms")
    by_unit = {(one.group, one.unit): one for one in found.differences}
    assert set(by_unit) == {("coordinates", "rad"), ("coordinates", "m"), ("energy", "J")}
    angle = by_unit["coordinates", "rad"]
    assert (angle.signal, angle.largest, angle.range) == (
        "pivot.angle",
        pytest.approx(0.01),
        pytest.approx(2.0),
    )
    assert angle.time == pytest.approx(0.51)
    energy = by_unit["energy", "J"]
    assert (energy.signal, energy.largest) == (
        "energy.kinetic",
        pytest.approx(0.2),
    )  # the balance is no motion
    assert found.converged  # 0.5 % of the range; energies are told, not judged


@pytest.mark.parametrize(("off", "converged"), [(0.019, True), (0.03, False)])
def test_the_verdict_follows_from_the_stated_tolerance(off, converged):
    found = verify(motion(), motion(off), "steps of 1 ms")
    assert found.converged is converged
    assert found.tolerance == 0.01
    expected = (
        "same motion within 1%"
        if converged
        else r"not converged: with steps of 1 ms 'pivot.angle' differs by 0.03"
    )
    assert expected in found.text()
    assert verify(motion(), motion(off), "steps of 1 ms", tolerance=0.1).converged


def test_what_stands_still_may_tremble_by_rounding():
    still = Record(np.arange(3.0), [GROUPS[0]], {"coordinates": np.zeros((3, 2))})
    moved = Record(np.arange(3.0), [GROUPS[0]], {"coordinates": np.full((3, 2), 1e-13)})
    assert verify(still, moved, "x").converged
    with pytest.raises(LinkworkError, match="no rows"):
        verify(still, still.between(10.0, 11.0), "x")


def run(*words):
    return CliRunner().invoke(app, ["run", *words])


def test_the_command_warns_where_the_step_decides():
    coarse = (
        "chain5",
        "--method",
        "tree",
        "--integrator",
        "euler",
        "--time",
        "0.8",
        "--dt",
        "0.02",
        "--verify",
    )
    result = run(*coarse)
    assert result.exit_code == 1
    assert "warning: not converged: with steps of 0.01 s" in result.output
    data = json.loads(run(*coarse, "--json").stdout)
    assert data["verify"]["converged"] is False
    assert {"coordinates", "rates", "positions", "energy"} <= {
        one["group"] for one in data["verify"]["differences"]
    }


def test_the_command_tells_that_a_run_has_converged():
    result = run("a01_pendulum", "--method", "tree", "--integrator", "rk4", "--time", "0.2", "--verify")
    assert result.exit_code == 0, result.output
    assert "steps of 0.0005 s tells the same motion within 1% of its range" in result.output
