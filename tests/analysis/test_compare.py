"""All methods of a model side by side."""

import dataclasses
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from linkwork import (
    Body,
    Free,
    Hinge,
    LinkworkError,
    Material,
    Model,
    Plane,
    Scenery,
    Slider,
    Sphere,
    scene,
)
from linkwork.analysis import compare as study
from linkwork.analysis.compare import compare
from linkwork.analysis.compare_plot import plot_comparison
from linkwork.analysis.comparison import AGREES, APART, COARSE, FAILED, UNSEEN, Comparison, Entry
from linkwork.cli import app


def run(*words):
    return CliRunner().invoke(app, ["compare", *words])


def linear(slide=1.0, turn=1.0):
    """A body that slides [m/s] without forces, and one that turns [rad/s]: every method is exact."""
    model = Model("linear", gravity=(0.0, 0.0, 0.0))
    model.add(Body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Body("wheel", mass=2.0, inertia=(0.25, 0.25, 0.25), at=(0.0, 1.0, 0.0)))
    model.add(Slider("rail", "ground", "cart", axis=(1.0, 0.0, 0.0), velocity=slide))
    model.add(Hinge("axle", "ground", "wheel", at=(0.0, 1.0, 0.0), velocity=turn))
    return model


def test_every_method_is_listed_and_agrees():
    # At this step methods of first order are off by the step times speeds of some m/s.
    found = compare(scene("peaucellier"), duration=0.5, tolerance=2e-2)
    assert [entry.name for entry in found.entries] == [
        "components", "global", "hybrid", "simgc, direct", "simgc, impulses", "simmc, direct", "simmc, impulses",
        "topological",
    ]  # fmt: skip
    assert list(found.refused) == ["tree"]
    assert "closes a loop" in found.refused["tree"]
    assert found.agree
    assert "adaptive" in found.reference
    for entry in found.entries:
        assert entry.verdict == AGREES
        assert entry.steps == 500
        assert entry.us_per_step > 0.0
        assert len(entry.distances) == len(found.times)
        assert entry.distance == entry.distances.max()
        assert entry.distances[np.argmin(np.abs(found.times - entry.time))] == entry.distance
    by_name = {entry.name: entry for entry in found.entries}
    assert by_name["simgc, impulses"].order == pytest.approx(1.0, abs=0.1)
    for name in ("global", "hybrid", "topological"):
        assert by_name[name].order == pytest.approx(2.0, abs=0.1)
    assert by_name["simgc, direct"].distance < 1e-9
    assert found.uncertainty < 1e-11


def test_open_mechanisms_have_the_tree_too():
    found = compare(scene("chain5"), duration=0.3, dt=2e-3, tolerance=2e-2)
    names = [entry.name for entry in found.entries]
    assert "tree" in names
    assert not found.refused
    assert found.agree
    tree = found.entries[names.index("tree")]
    assert tree.order == pytest.approx(4.0, abs=0.4)
    assert tree.worst_gap is None


def test_distances_are_those_of_points_and_tell_of_turning(monkeypatch):
    """Motions of known difference: one method is given a body that does not slide at 1 m/s, or turn at 1 rad/s."""
    real = study.Simulation
    radius = np.sqrt(0.5 * 0.75 / 2.0)  # of gyration: half the trace of the inertia over the mass
    for still, body, apart in (
        (linear(slide=0.0), "cart", lambda t: t),
        (linear(turn=0.0), "wheel", lambda t: 2.0 * radius * np.sin(t / 2.0)),
    ):
        monkeypatch.setattr(
            study,
            "Simulation",
            lambda model, still=still, **options: real(
                still if options.get("method") == "tree" else model, **options
            ),
        )
        found = compare(linear(), duration=0.5, dt=0.01)
        tree = next(entry for entry in found.entries if entry.name == "tree")
        assert (tree.verdict, tree.body) == (APART, body)
        assert len(found.times) == 51
        np.testing.assert_allclose(tree.distances, apart(found.times), atol=1e-9)


def test_contact_is_compared_with_adaptive_steps_that_locate_its_events():
    found = compare(scene("slope"), duration=0.4, tolerance=2e-2)
    assert "adaptive" in found.reference
    assert found.agree
    # Impulses every step, or between located events steps of the order of smooth motion.
    assert {entry.integrator for entry in found.entries} == {"euler", "rk4"}
    assert {entry.name for entry in found.entries if entry.integrator == "rk4"} == {"components"}


def test_contact_whose_events_are_not_located_is_compared_with_the_finest_run():
    model = Model("ball")
    model.add(Material("felt", friction=0.5, rolling=1e-3))
    model.add(Scenery("floor", shapes=[Plane()], material="felt"))
    model.add(Body("ball", at=(0.0, 0.0, 0.1), mass=1.0, shapes=[Sphere(0.1)], material="felt"))
    model.add(Free("way", "ground", "ball", at=(0.0, 0.0, 0.1), velocity=(1.0, 0.0, 0.0, 0.0, 10.0, 0.0)))
    found = compare(model, duration=0.2, tolerance=2e-2)
    assert "finest" in found.reference
    assert found.agree


def test_a_method_that_tells_another_motion_is_named(monkeypatch):
    """One of the methods is given another gravity."""
    real = study.Simulation

    def wrong(model, **options):
        if options.get("method") == "simmc":
            model = scene("peaucellier")
            model.gravity = (0.0, -9.8, 0.0)
        return real(model, **options)

    monkeypatch.setattr(study, "Simulation", wrong)
    found = compare(scene("peaucellier"), duration=0.3, tolerance=2e-2)
    assert {entry.name: entry.verdict for entry in found.entries} == {
        "components": AGREES, "global": AGREES, "hybrid": AGREES, "simgc, direct": AGREES, "simgc, impulses": AGREES,
        "simmc, direct": APART, "simmc, impulses": APART, "topological": AGREES,
    }  # fmt: skip
    assert not found.agree
    off = r"\(off by [0-9.]+ m\)"
    assert re.search(rf"'simmc, direct' {off}, 'simmc, impulses' {off}: stays apart", found.verdict())


def test_a_reference_that_stands_alone_is_not_believed(monkeypatch):
    real = study.Simulation

    def wrong(model, **options):
        if "tolerance" in options:
            model = scene("peaucellier")
            model.gravity = (0.0, -9.8, 0.0)
        return real(model, **options)

    monkeypatch.setattr(study, "Simulation", wrong)
    found = compare(scene("peaucellier"), duration=0.3, tolerance=2e-2)
    assert "stands alone" in found.reference
    assert found.agree


def test_methods_that_are_added_appear_by_themselves(monkeypatch):
    other = dataclasses.replace(study.WAYS[0], method="spectral")
    monkeypatch.setattr(study, "WAYS", (*study.WAYS, other))
    found = compare(linear(), duration=0.1)
    assert found.tolerance == pytest.approx(1e-4, rel=0.1)  # a thousandth of the way of the cart
    assert list(found.refused) == ["spectral"]
    assert "there is no method 'spectral'" in found.refused["spectral"]
    assert len(found.entries) == 9
    assert all(entry.verdict in (AGREES, UNSEEN) for entry in found.entries)


def test_a_method_that_fails_is_told(monkeypatch):
    from linkwork import SimulationError

    real = study.Simulation.run

    def fail(self, *args, **options):
        if self.method.name == "simmc":
            raise SimulationError("it flew apart", 0.1)
        return real(self, *args, **options)

    monkeypatch.setattr(study.Simulation, "run", fail)
    found = compare(scene("peaucellier"), duration=0.1)
    failed = [entry for entry in found.entries if entry.verdict == FAILED]
    assert [entry.name for entry in failed] == ["simmc, direct", "simmc, impulses"]
    assert "flew apart" in failed[0].why
    assert not found.agree
    assert "failed" in found.verdict()


# --- tolerances ---


def judged(errors, order=1.0, covered=1.0, tolerance=None):
    """Verdicts on motions off by so much at the step, and by 2 to the order less at half of it."""
    truth = np.zeros((3, 1, 4, 3))
    truth[:, 0, :, 0] = np.array([0.0, 0.5 * covered, covered])[:, None]
    entries = [Entry(f"m{k}", "simgc", None, expected_order=order) for k in range(len(errors))]
    motions = {
        entry.name: [truth + e * share * np.eye(3)[1] for share in (1.0, 0.5**order)]
        for entry, e in zip(entries, errors, strict=True)
    }
    reference = study._Reference("exact", truth, 0.0, np.arange(3.0), True)
    within = study._judge(entries, motions, reference, SimpleNamespace(bodies=["one"]), tolerance)
    return within, entries


def test_what_is_off_by_more_than_the_tolerance_does_not_agree():
    """Though it comes nearer with smaller steps: a jaw that is 3.7 mm off on a way of 1 m is not the same grasp."""
    within, entries = judged([1e-5, 3.7e-3])
    assert within == 1e-3
    assert [entry.verdict for entry in entries] == [AGREES, COARSE]
    found = Comparison("m", 1.0, 1e-3, "exact", 0.0, within, np.arange(3.0), entries, {})
    assert not found.agree
    told = "1 of 2 methods tell one motion within 0.001 m; 'm1' (off by 0.0037 m): too coarse for this step"
    assert found.verdict().startswith(told)
    assert found.to_dict()["tolerance_m"] == 1e-3


def test_the_tolerance_can_be_stated():
    for tolerance, verdict in ((1e-2, AGREES), (1e-3, COARSE)):
        within, entries = judged([3.7e-3], tolerance=tolerance)
        assert within == tolerance
        assert entries[0].verdict == verdict
    with pytest.raises(LinkworkError, match="tolerance must be a positive number of metres, not -1"):
        compare(linear(), tolerance=-1.0)


# --- the command ---


def test_the_command_prints_and_draws(tmp_path):
    picture = tmp_path / "apart.png"
    result = run("peaucellier", "--duration", "0.2", "--tolerance", "0.02", "--plot", str(picture))
    assert result.exit_code == 0, result.output
    for text in (
        "simgc, direct",
        "simmc, impulses",
        "adaptive",
        "tree cannot run it",
        "tolerance 0.02 m",
        "all 8 methods tell one motion within 0.02 m",
    ):
        assert text in result.output
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_the_command_for_programs():
    result = run("a01_pendulum", "--duration", "0.2", "--dt", "0.002", "--tolerance", "0.02", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["agree"] is True
    assert data["dt_s"] == 0.002
    assert {method["name"] for method in data["methods"]} == {
        "global", "hybrid", "simgc, direct", "simgc, impulses", "topological", "tree",
    }  # fmt: skip
    assert set(data["refused"]) == {"simmc", "components"}  # they need bodies with inertia of their own
    assert len(data["times_s"]) == len(data["methods"][0]["distances_m"])


def test_a_plot_without_anything_to_show(tmp_path):
    model = linear()
    found = compare(model, duration=0.05)
    plot_comparison(found, tmp_path / "exact.svg")
    assert (tmp_path / "exact.svg").stat().st_size > 1000
