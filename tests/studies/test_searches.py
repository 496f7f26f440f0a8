"""Searches: identification, optimisation, sensitivity, against formulas of a damped oscillator."""

import numpy as np
import pytest

from linkwork import Body, LinkworkError, Model, Simulation, Slider, fit, optimise, sensitivity, sweep

MASS, STIFFNESS, DAMPING, START = 2.0, 80.0, 3.0, 0.1
DELTA, OMEGA = DAMPING / (2 * MASS), np.sqrt(STIFFNESS / MASS - (DAMPING / (2 * MASS)) ** 2)


def oscillator(stiffness=STIFFNESS, damping=DAMPING):
    """A body on a spring and damper along x."""
    model = Model("oscillator")
    model.add(Body("block", mass=MASS, inertia=(1, 1, 1)))
    model.add(
        Slider("rail", "ground", "block", axis=(1, 0, 0), spring=stiffness, damping=damping, position=START, rest=0.0)
    )  # fmt: skip
    return model


def travel(t, stiffness=STIFFNESS, damping=DAMPING):
    """Its motion, by formula."""
    delta = damping / (2 * MASS)
    omega = np.sqrt(stiffness / MASS - delta**2)
    return START * np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))


def test_parameters_are_found_from_a_motion_that_is_known():
    t = np.linspace(0.013, 1.5, 61)  # off the grid of samples
    found = fit(oscillator, {"stiffness": 60.0, "damping": (1.0, 0.0, 20.0)}, {"time": t, "rail.travel": travel(t)},
                on="here", every=0.005)  # fmt: skip
    # RK4 at 1 ms and cubic splines of 5 ms: both below 1e-8 of the motion.
    assert found.parameters["stiffness"] == pytest.approx(STIFFNESS, rel=1e-6)
    assert found.parameters["damping"] == pytest.approx(DAMPING, rel=1e-6)
    assert found.residual < 1e-6
    assert found.at_bounds == ()
    assert "stiffness = 80" in str(found)


def test_deviations_are_those_of_linear_least_squares():
    """Noise of a known size: the covariance is s² (JᵀJ)⁻¹ with derivatives of the formula."""
    t, noise = np.linspace(0.0, 1.5, 151), 1e-3
    data = travel(t) + noise * np.random.default_rng(0).normal(size=len(t))
    found = fit(oscillator, {"stiffness": 75.0, "damping": 2.5}, {"time": t, "rail.travel": data},
                scale={"rail.travel": noise}, on="here")  # fmt: skip
    h = 1e-4
    J = np.stack([
        (travel(t, STIFFNESS + h) - travel(t, STIFFNESS - h)) / (2 * h),
        (travel(t, damping=DAMPING + h) - travel(t, damping=DAMPING - h)) / (2 * h),
    ], axis=1) / noise  # fmt: skip
    expected = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    got = np.array(list(found.deviations.values()))
    # Of 149 degrees of freedom the spread is known to some 6 %: three times that.
    np.testing.assert_allclose(got, found.residual * expected * np.sqrt(151 / 149), rtol=0.02)
    assert found.residual == pytest.approx(1.0, abs=0.2)
    error = np.array([found.parameters["stiffness"] - STIFFNESS, found.parameters["damping"] - DAMPING])
    assert (np.abs(error) < 4 * got).all()


def test_a_parameter_that_nothing_tells_of_has_no_bound():
    t = np.linspace(0.0, 0.5, 26)
    found = fit(
        oscillator(),
        {"rail.damping": 2.0, "gravity.z": -9.0},
        {"time": t, "rail.travel": travel(t)},
        on="here",
    )
    assert found.parameters["rail.damping"] == pytest.approx(DAMPING, rel=1e-5)
    assert found.deviations["gravity.z"] == np.inf
    assert found.deviations["rail.damping"] < 1e-3


def test_a_bound_that_is_reached_is_told():
    t = np.linspace(0.0, 0.5, 26)
    found = fit(
        oscillator(), {"rail.damping": (4.0, 3.5, 5.0)}, {"time": t, "rail.travel": travel(t)}, on="here"
    )
    assert found.parameters["rail.damping"] == pytest.approx(3.5, abs=1e-6)


@pytest.mark.parametrize(
    ("start", "measured", "told"),
    [
        ({}, {"time": [0, 1], "rail.travel": [0, 1]}, "nothing to find"),
        ({"rail.damping": 1.0}, {"rail.travel": [0, 1]}, "no column 'time'"),
        ({"rail.damping": 1.0}, {"time": [0, 1, 0.5], "rail.travel": [0, 1, 2]}, "must rise"),
        ({"rail.damping": 1.0}, {"time": [0, 1], "rail.travel": [0, np.nan]}, "a finite number for each of the 2"),
        ({"rail.damping": 1.0}, {"time": [0, 1]}, "no signal beside"),
        ({"rail.damping": 1.0}, {"time": [0, 1], "rail.travle": [0, 1]}, "no signal 'rail.travle'.*rail.travel"),
        ({"rail.damping": 1.0}, {"time": [0, 1], "rail.travel": [1, 1]}, "never changes"),
        ({"rail.damping": (1.0, 2.0, 3.0)}, {"time": [0, 1], "rail.travel": [0, 1]}, "lowest, highest"),
        ({"rail.dampnig": 1.0}, {"time": [0, 1], "rail.travel": [0, 1]}, "rail.damping"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(start, measured, told):
    with pytest.raises(LinkworkError, match=told):
        fit(oscillator(), start, measured, on="here")


def test_a_record_can_be_what_was_measured():
    record = Simulation(oscillator(70.0)).run(0.5)
    found = fit(oscillator(), {"rail.spring": 60.0}, record, ["rail.travel"], on="here")
    assert found.parameters["rail.spring"] == pytest.approx(70.0, rel=1e-7)
    with pytest.raises(LinkworkError, match="name the signals"):
        fit(oscillator(), {"rail.spring": 60.0}, record, on="here")


def test_slopes_are_those_of_the_formula():
    found = sensitivity(oscillator(), {"rail.spring": STIFFNESS, "rail.damping": DAMPING},
                        measure=["final(rail.travel)", "rail.travel"], duration=0.7, on="here")  # fmt: skip
    h, t = 1e-4, 0.7
    by = {
        "rail.spring": (travel(t, STIFFNESS + h) - travel(t, STIFFNESS - h)) / (2 * h),
        "rail.damping": (travel(t, damping=DAMPING + h) - travel(t, damping=DAMPING - h)) / (2 * h),
    }
    for name, slope in by.items():
        one = found.sel(parameter=name)
        # Differences of fourth order at 1e-3 err by 1e-12; the run itself by 1e-9 of the motion, over 1e-3.
        assert float(one["final(rail.travel):slope"]) == pytest.approx(slope, rel=1e-5)
        assert float(one["rail.travel:slope"][-1]) == pytest.approx(slope, rel=1e-5)
        share = slope * float(one["at"]) / travel(t)
        assert float(one["final(rail.travel):share"]) == pytest.approx(share, rel=1e-5)


def test_the_least_of_a_run_is_found_and_the_same_seed_finds_the_same():
    """The fastest way to rest: critical damping overshoots by nothing, what is below it by exp(-π δ/ω)."""
    ask = {"bounds": {"damping": (1.0, 60.0)}, "objective": "rms(rail.travel)", "duration": 1.0, "on": "here"}
    found = optimise(oscillator, rounds=15, **ask)
    grid = np.linspace(8.0, 30.0, 400)
    t = np.linspace(0.0, 1.0, 4001)
    roots = np.sqrt(STIFFNESS / MASS - (grid / (2 * MASS)) ** 2 + 0j)
    x = np.array([
        (np.exp(-d / (2 * MASS) * t) * (np.cos(w * t) + d / (2 * MASS) / w * np.sin(w * t))).real
        for d, w in zip(grid, roots, strict=True)
    ])  # fmt: skip
    best = grid[np.argmin(np.trapezoid(x**2, t, axis=1))]
    assert found.parameters["damping"] == pytest.approx(best, abs=0.3)
    assert optimise(oscillator, rounds=15, **ask).parameters == found.parameters


def _valley(case):
    x, y = case["x"], case["y"]
    if x > 1.9:
        raise ValueError("out of reach")
    return 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2


def test_a_function_of_a_case_can_be_optimised_and_failures_are_worst():
    """Rosenbrock's valley, whose lowest point is at (1, 1)."""
    found = optimise(_valley, {"x": (-2.0, 2.0), "y": (-1.0, 3.0)}, on="here", rounds=200)
    assert found.parameters == pytest.approx({"x": 1.0, "y": 1.0}, abs=1e-4)
    assert found.failures > 0
    assert found.value < 1e-8
    highest = optimise(
        lambda case: -_valley(case), {"x": (0.0, 1.5), "y": (0.0, 2.0)}, largest=True, on="here"
    )
    assert highest.value == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(LinkworkError, match="finite, not"):
        optimise(_valley, {"x": (1.0, 0.0)}, on="here")
    with pytest.raises(LinkworkError, match="say what shall be smallest"):
        optimise("chain5", {"links": (1.0, 2.0)})


def test_processes_find_what_this_process_finds():
    t = np.linspace(0.0, 0.5, 26)
    ask = {"start": {"rail.damping": 2.0}, "measured": {"time": t, "rail.travel": travel(t)}}
    assert (
        fit(oscillator(), on="processes:2", **ask).parameters
        == fit(oscillator(), on="here", **ask).parameters
    )


def test_monte_carlo_takes_distributions_and_a_count():
    found = sweep(oscillator(), {"rail.spring": "normal(80, 4)"}, count=6, seed=3, duration=0.05, on="here",
                  measure=["final(rail.travel)"])  # fmt: skip
    assert found.sizes == {"case": 6}
    assert float(found["rail.spring"].std()) > 0.5
