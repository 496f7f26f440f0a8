"""The tables of Cuadrado and Dopico: the first one's figures against an independent solution, and what rows say."""

import dataclasses
import math

import numpy as np
import pytest

from linkwork.model.errors import SimulationError, UnsupportedError
from linkwork.reproduce import hybrid, reproduce

FOUR_BAR, ILTIS, PUMA = hybrid.TABLES
KEYS = {
    "scene",
    "method",
    "h",
    "error",
    "why",
    "cpu_s",
    "paper_error",
    "paper_cpu_s",
    "unit",
    "measure",
    "balance_J",
    "halved",
}


def scalar_trapezoid(h, duration=10.0):
    """Largest energy deviation of the trapezoidal rule on 3 φ'' = 34.335 sin φ, the double four-bar's one freedom."""
    phi, rate = 0.0, 1.0
    bend, worst = 34.335 / 3.0 * math.sin(phi), 0.0
    start = 1.5 * rate**2 + 34.335 * math.cos(phi)
    for _ in range(int(duration / h + 1e-9)):
        end = phi + h * rate
        for _ in range(50):
            at_end = 34.335 / 3.0 * math.sin(end)
            miss = end - phi - h * rate - h * h / 4 * (bend + at_end)
            step = miss / (1.0 - h * h / 4 * 34.335 / 3.0 * math.cos(end))
            end -= step
            if abs(step) < 1e-14:
                break
        at_end = 34.335 / 3.0 * math.sin(end)
        phi, rate, bend = end, rate + h / 2 * (bend + at_end), at_end
        change = 1.5 * rate**2 + 34.335 * math.cos(phi) - start
        worst = change if abs(change) > abs(worst) else worst
    return worst


def test_the_first_table_is_reproduced_to_every_digit():
    rows = list(hybrid.run_table(FOUR_BAR, ("hybrid",)))
    assert [row["h"] for row in rows] == [0.01, 0.03, 0.05, 0.1]
    known = [-0.0137, -0.1228, -0.3403, -1.3428]
    for row, value in zip(rows, known, strict=True):
        assert set(row) == KEYS
        assert row["error"] == pytest.approx(value, abs=5e-5)
        # All coordinates are the one angle times a constant: the rule on them is the rule on it.
        assert row["error"] == pytest.approx(scalar_trapezoid(row["h"]), abs=1e-6)
        assert round(row["error"], 2) == row["paper_error"]
        assert row["balance_J"] == pytest.approx(row["error"], abs=1e-9)  # nothing is supplied or dissipated
        assert 0.0 <= row["cpu_s"] < row["paper_cpu_s"]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (
            SimulationError("Newton's method does not converge, not even in halves; look for a jump", 0.7),
            "no convergence",
        ),
        (UnsupportedError("the method does not do this; take another"), "refused"),
    ],
)
def test_a_run_that_ends_early_says_so_in_words(monkeypatch, failure, words):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(hybrid.Simulation, "run", fail)
    first = next(hybrid.run_table(FOUR_BAR, ("topological",)))
    assert first["error"] == words
    assert first["why"] == str(failure)
    assert first["cpu_s"] is None
    assert first["paper_error"] == "no convergence"


def test_measures_of_the_other_tables():
    record = {"energy.gravity": np.array([10.0, 12.0, 4.0]), "energy.dissipated": np.array([0.0, 1.0, 2.0])}
    assert ILTIS.error(record) == pytest.approx(4.0)
    record = {
        f"tool.position.{axis}": np.array([1.0, 9.0, 1.0 + way])
        for axis, way in zip("xyz", (3, 0, -4), strict=True)
    }
    assert PUMA.error(record) == pytest.approx(5.0)
    rows = [{"scene": "puma_hold", "method": "hybrid", "h": h, "error": 7.0 * h * h} for h in PUMA.steps[:2]]
    rows.append({"scene": "puma_hold", "method": "hybrid", "h": 0.1, "error": "no convergence"})
    assert list(hybrid.convergence(rows)) == [
        "puma_hold, hybrid: order of convergence 2.00 from 0.05 to 0.01 s"
    ]
    for table in hybrid.TABLES:
        assert set(table.published) == set(hybrid.METHODS)
        assert {len(values) for values in table.published.values()} == {len(table.steps)}


def test_all_of_it_has_rows_notes_and_a_plot(monkeypatch, tmp_path):
    shorter = dataclasses.replace(
        FOUR_BAR,
        steps=(0.05, 0.1),
        published={name: values[2:] for name, values in FOUR_BAR.published.items()},
    )
    monkeypatch.setattr(hybrid, "TABLES", (shorter,))
    shares = []
    result = reproduce("hybrid", shares.append)
    assert [(row["method"], row["h"]) for row in result.rows] == [
        (m, h) for m in hybrid.METHODS for h in (0.05, 0.1)
    ]
    assert shares[-1] == 1.0
    assert any("a singular position lies ahead" in note for note in result.notes)
    assert set(result.to_dict()["rows"][0]) == KEYS
    result.plot(tmp_path / "errors.png")
    assert (tmp_path / "errors.png").stat().st_size > 1000
