"""Cases of studies: grids, draws, and what texts say of them."""

import numpy as np
import pytest
from scipy import stats

from linkwork.model.errors import LinkworkError
from linkwork.studies.design import Distribution, design_of, grid, listed, samples, variation

DISTRIBUTIONS = {
    "normal(2, 0.5)": stats.norm(2, 0.5),
    "uniform(-1, 3)": stats.uniform(-1, 4),
    "triangular(1, 2, 5)": stats.triang(0.25, 1, 4),
    "triangular(0, 0, 1)": stats.triang(0.0, 0, 1),
    "lognormal(3, 0.2)": stats.lognorm(0.2, scale=3),
}


@pytest.mark.parametrize("text", DISTRIBUTIONS)
def test_quantiles_are_those_of_scipy(text):
    shares = np.array([1e-9, 0.01, 0.2, 0.25, 0.5, 0.9, 1 - 1e-9])
    found = variation("x", text).at(shares)
    np.testing.assert_allclose(found, DISTRIBUTIONS[text].ppf(shares), rtol=1e-9, atol=1e-9)


def test_draws_are_spread_as_asked_and_the_same_for_the_same_seed():
    spread = {"a": Distribution("normal", (2, 0.5)), "b": Distribution("uniform", (0, 1))}
    made = samples(spread, 4000, seed=3)
    assert stats.kstest(made.axis("a"), DISTRIBUTIONS["normal(2, 0.5)"].cdf).pvalue > 1e-3
    assert abs(np.corrcoef(made.values.T)[0, 1]) < 5 / np.sqrt(4000)
    assert np.array_equal(made.values, samples(spread, 4000, seed=3).values)
    assert not np.array_equal(made.values, samples(spread, 4000, seed=4).values)


def test_a_grid_has_all_combinations():
    made = grid({"a": [1, 2, 3], "b": [10, 20]})
    assert made.dims == {"a": 3, "b": 2}
    assert [tuple(made.case(k).values()) for k in range(6)] == [
        (1, 10), (1, 20), (2, 10), (2, 20), (3, 10), (3, 20)
    ]  # fmt: skip
    assert made.axis("a").tolist() == [1, 2, 3]
    assert made.axis("b").tolist() == [10, 20]


def test_ranges():
    assert variation("x", "0.2:0.4:3") == pytest.approx([0.2, 0.3, 0.4])
    assert variation("x", "10:1e4:4:log") == pytest.approx([10, 100, 1000, 10000])
    assert variation("x", "1, 2.5,-3").tolist() == [1, 2.5, -3]


@pytest.mark.parametrize(
    ("vary", "what"),
    [
        ({"x": "0.2:0.4"}, "'x': '0.2:0.4' is no variation"),
        ({"x": "1:2:1"}, "takes at least 2"),
        ({"x": "-1:2:3:log"}, "ends above 0"),
        ({"x": "norml(1, 2)"}, "did you mean 'normal'"),
        ({"x": "normal(1, -2)"}, "a deviation above 0"),
        ({"x": "uniform(2, 1)"}, "low < high"),
        ({"x": "uniform(1, b)"}, "numbers in its brackets"),
        ({"x": "normal(1, 2)"}, "how many cases"),
        ({"x": "normal(1, 2)", "y": [1]}, "'y' must have a distribution too"),
        ({"x": [1, float("nan")]}, "finite"),
        ({"x": [1, 2, 1]}, "a value twice"),
        ({}, "nothing varies"),
    ],
)
def test_what_makes_no_sense_is_refused(vary, what):
    with pytest.raises(LinkworkError, match=None) as caught:
        design_of(vary)
    assert what in str(caught.value)


def test_a_list_of_cases_of_different_lengths_is_refused():
    with pytest.raises(LinkworkError, match="'a' 2, 'b' 3"):
        listed({"a": [1, 2], "b": [1, 2, 3]})
