"""The car of Vlasenko and Kasper: drift and height against bounds, other methods, and what rows and figures say."""

import json

import numpy as np
import pytest

from helpers.references import reference
from linkwork import LinkworkError
from linkwork.model.rotation import matrix
from linkwork.reproduce import components, reproduce
from linkwork.scenes import car

variants = pytest.mark.parametrize("joints", car.JOINTS)


@pytest.fixture(scope="module")
def rides():
    return {joints: components.ride(joints) for joints in car.JOINTS}


@pytest.fixture(scope="module")
def result(rides):
    """All of it, the large models left out; times are of no interest here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "ride", rides.__getitem__)
        patch.setattr(components, "QUICK", {"trains": (1, 10, 11), "chains": (1, 10, 12)})
        patch.setattr(components, "ROUNDS", 1)
        patch.setattr(components, "QUICK_PATIENCE", 0.0)
        shares = []
        found = reproduce("components", shares.append, quick=True)
    assert shares[-1] == 1.0
    return found


# --- the car ---


@variants
def test_gaps_and_their_rates_are_rounding(rides, joints):
    """The paper's are 1e-10. Ours at every step, in lengths of a metre; rates are of millimetres a second."""
    found = components.accuracy(rides)[joints]
    assert found["drift_m"] <= 1e-10
    assert found["drift_rate_m_s"] <= 1e-10
    assert len(rides[joints].record.time) == 6001
    assert len(rides[joints].rates) == 600


@variants
def test_points_that_joints_hold_together_stay_together(rides, joints):
    """Drift measured from recorded poses alone, without rows."""
    record, flat = rides[joints].record, car.build(joints).flatten()

    def path(name, at):
        body = flat.bodies[name]
        local = matrix(body.rotation).T @ (np.array(at) - np.array(body.at))
        p, (w, x, y, z) = (
            np.array([record[f"{name}.{what}.{axis}"][::10] for axis in axes])
            for what, axes in (("position", "xyz"), ("rotation", "wxyz"))
        )
        u = np.array([x, y, z])
        cross = np.cross(u.T, local).T
        return p + local[:, None] + 2.0 * (w * cross + np.cross(u.T, cross.T).T)

    pinned = [joint for joint in flat.joints.values() if joint.kind != "slider"]
    assert len(pinned) == 16
    for joint in pinned:
        apart = path(joint.a, joint.at) - path(joint.b, joint.at)
        assert np.abs(apart).max() <= 1e-10, joint.name


@variants
def test_it_follows_the_reference(rides, joints):
    """RK4 makes errors of (ω h)⁵/120 a step: 1e-7 of some millimetres at the wheels' 100 rad/s, damped."""
    assert components.accuracy(rides)[joints]["z_error_m"] <= 1e-7


def test_the_reference_is_that_of_the_tests():
    t, z = components.reference()
    table = reference("car_ref.csv")
    np.testing.assert_array_equal(t, table["t"])
    np.testing.assert_array_equal(z, table["z"])


def test_redundant_joints_make_no_difference(rides):
    one, other = (rides[joints].record for joints in car.JOINTS)
    # The same equations but for those that repeat others: rounding of some thousand steps.
    assert components.apart(one, other)["positions_m"] <= 1e-10


def test_other_methods_drive_the_same_car(result):
    agreement = result.figures["agreement"]
    assert list(agreement) == ["simgc", "simmc", "hybrid"]
    for method in ("simgc", "simmc"):  # each is within 1e-7 of the reference
        assert agreement[method]["z_m"] <= 2e-7
        assert agreement[method]["positions_m"] <= 2e-7
    # The trapezoidal rule: (ω h)²/12 is 1e-3 at the wheels, of some millimetres that are soon damped.
    assert agreement["hybrid"]["z_m"] <= agreement["hybrid"]["positions_m"] <= 1e-5


# --- what it says ---


def test_differences_are_of_all_bodies():
    class Fake(dict):
        time = np.arange(3.0)
        names = ("chassis.position.z", "wheel.position.x", "wheel.rotation.w")

    one = Fake({name: np.zeros(3) for name in Fake.names})
    other = Fake({name: np.zeros(3) for name in Fake.names})
    other["chassis.position.z"] = np.array([0.0, -2.0, 1.0])
    other["wheel.position.x"] = np.array([0.0, 0.0, 3.0])
    other["wheel.rotation.w"] = np.full(3, 9.0)
    assert components.apart(one, other) == {"z_m": 2.0, "positions_m": 3.0}


def test_exponents_with_and_without_small_models():
    sizes = (1, 5, 10, 40, 200)
    lines = [{"cars": n, "us_per_step": 7.0 * n**1.25 if n >= components.LARGE else 1e6} for n in sizes]
    assert components.exponent(lines, components.LARGE) == pytest.approx(1.25, abs=1e-12)
    assert components.exponent(lines) < 0.5
    lines = [{"cars": n, "us_per_step": 3.0 * n**1.1} for n in sizes]
    assert components.exponent(lines) == pytest.approx(1.1, abs=1e-12)


def test_figures_for_programs(result):
    told = json.loads(json.dumps(result.to_dict()))
    assert {"paper", "rows", "notes", "drift_m", "z_error_m", "speedup", "exponent"} <= set(told)
    assert told["drift_m"] == max(one["drift_m"] for one in told["variants"].values())
    speed = told["speed"]["redundant"]
    assert told["speedup"] == speed["monolithic_us"] / speed["refined_us"] > 0.0
    assert told["speedup_written"] == speed["monolithic_us"] / speed["written_us"] > 0.0
    assert [line["bodies"] for line in told["trains"]] == [17, 170, 187]
    assert [line["bodies"] for line in told["chains"]] == [3, 21, 25]
    assert [line["monolithic_us"] is not None for line in told["trains"]] == [True, False, False]
    assert np.isfinite(list(told["exponents"].values())).all()


def test_rows_have_what_the_paper_reports(result):
    assert {tuple(row) for row in result.rows} == {("quantity", "linkwork", "monolithic", "paper", "unit")}
    papers = {row["quantity"]: row["paper"] for row in result.rows if row["paper"]}
    assert papers["redundant joints: largest gap"] == "order 1e-10"
    assert papers["isostatic joints: height, from the reference"] == "order 1e-5"
    assert papers["redundant joints: times faster"] == "about 4"
    assert papers["trains: exponent of the bodies"] == papers["chains: exponent of the bodies"] == "O(N)"


def test_a_picture(result, tmp_path):
    result.plot(tmp_path / "components.png")
    assert (tmp_path / "components.png").stat().st_size > 10_000


def test_papers_without_a_quick_form_say_so():
    with pytest.raises(LinkworkError, match="'hybrid' has no quick form"):
        reproduce("hybrid", quick=True)
