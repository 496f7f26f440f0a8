"""The benchmark of contact compares the same models, and its results are complete. Nothing here measures time."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import contact
from benchmarks.contact_peer import read_world
from benchmarks.page import main as page
from benchmarks.page import render_contact
from benchmarks.targets import judge_contact
from linkwork import Body, Box, Force, Free, Hinge, Material, Model, Simulation, Spherical, scene
from linkwork.engine.kernels.jit import COMPILED
from linkwork.model.errors import UnsupportedError
from linkwork.scenes import gripper

PACKAGES = {"mujoco": "mujoco", "mujoco_tight": "mujoco", "bullet": "pybullet"}
compiled_only = pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")


def peer(name, model):
    pytest.importorskip(PACKAGES[name])
    return contact.PEERS[name](model)


# --- the comparison is fair ---


@pytest.mark.peers
@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("model", ["gripper", "stack10", "pile200"])
def test_other_engines_begin_with_the_same_poses(name, model):
    made = scene(model)
    engine = peer(name, made)
    for body in list(made.bodies)[:20]:
        p, R = engine.pose(body)
        # PyBullet hands out some of its poses in single precision.
        np.testing.assert_allclose(p, made.bodies[body].at, atol=2e-7)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-6)


@pytest.mark.peers
@compiled_only
@pytest.mark.parametrize("name", PACKAGES)
def test_other_engines_move_the_arm_alike(name):
    """Before anything touches but the box the table: servos, gravity and joints are the same."""
    model = scene("gripper")
    engine, simulation = peer(name, model), Simulation(model, method="simgc", dt=contact.DT)
    engine.run(900)
    simulation.step(900)
    # First order in the step, which is 1 ms at 0.3 m/s; PyBullet's servos have no stiffness and rotors no inertia, so
    # that its arm lags by other parts of the lag of 20 ms and sags less.
    near = 5e-3 if name == "bullet" else 5e-4
    for body in ("forearm", "hand", "left_jaw"):
        np.testing.assert_allclose(engine.pose(body)[0], simulation.point(body)[0], atol=near)


@pytest.mark.peers
@compiled_only
@pytest.mark.parametrize("name", PACKAGES)
def test_other_engines_hold_the_box(name):
    """Motor, repeater and friction do what they should: the box goes up with the hand, both jaws moved alike."""
    engine = peer(name, scene("gripper"))
    engine.run(2400)
    (box, _), (left, _), (right, _) = (engine.pose(body) for body in ("box", "left_jaw", "right_jaw"))
    assert box[2] > 0.2
    np.testing.assert_allclose((left + right)[1] / 2, box[1], atol=2e-3)
    assert np.linalg.norm(left - right) == pytest.approx(gripper.BOX + gripper.PAD[1], abs=2e-3)


@pytest.mark.peers
@compiled_only
@pytest.mark.parametrize("name", PACKAGES)
def test_a_state_that_was_kept_comes_back(name):
    engine = peer(name, scene("gripper"))
    engine.run(1500)
    engine.keep()
    engine.run(50)
    there = engine.pose("box")[0]
    engine.run(50)
    engine.reset()
    engine.run(50)
    np.testing.assert_allclose(engine.pose("box")[0], there, atol=1e-6)


@pytest.mark.peers
@pytest.mark.parametrize("name", PACKAGES)
def test_friction_is_that_of_the_model(name):
    """A box that slides on a table comes to rest after v²/(2 µ g), to first order in the step and MuJoCo's softness."""
    model = Model("slide")
    model.add(Material("wood", friction=0.4))
    from linkwork import Plane, Scenery

    model.add(Scenery("floor", shapes=(Plane(),), material="wood"))
    model.add(Body("box", at=(0.0, 0.0, 0.05), mass=2.0, shapes=(Box((0.1, 0.1, 0.1)),), material="wood"))
    model.add(Free("way", "ground", "box", at=(0.0, 0.0, 0.05)))
    tilted = Model("tilted", gravity=(9.81 * np.sin(0.3), 0.0, -9.81 * np.cos(0.3)))
    for shelf in (model.materials, model.scenery, model.bodies, model.joints):
        for thing in shelf.values():
            tilted.add(thing)
    # tan 0.3 = 0.31 < 0.4 < tan 0.5 = 0.55: it stays on the first slope and goes on the second.
    still = peer(name, tilted)
    still.run(500)
    assert abs(still.pose("box")[0][0]) < 5e-3
    tilted.gravity = (9.81 * np.sin(0.5), 0.0, -9.81 * np.cos(0.5))
    moving = peer(name, tilted)
    moving.run(500)
    expected = 0.5 * 9.81 * (np.sin(0.5) - 0.4 * np.cos(0.5)) * 0.5**2
    assert moving.pose("box")[0][0] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("what", ["load", "ball", "loop"])
def test_what_would_not_compare_like_with_like_is_refused(what):
    model = Model("odd")
    model.add(Body("a", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("one", "ground", "a"))
    model.add(Spherical("two", "a", "b") if what == "ball" else Hinge("two", "a", "b"))
    if what == "load":
        model.add(Force("push", "a", force=(1.0, 0.0, 0.0)))
    if what == "loop":
        model.add(Hinge("three", "ground", "b"))
    with pytest.raises(UnsupportedError, match="cannot be compared"):
        read_world(model)


# --- results ---


def made_up_result(**changes):
    rows = []
    contenders = dict.fromkeys(("gripper", "two fingers", "stack of 10", "humanoid"), contact.FEW)
    contenders |= {"vehicle": contact.WHEELED}
    contenders |= dict.fromkeys(("pile of 50", "pile of 100", "pile of 200"), contact.MANY)
    for case, keys in contenders.items():
        for k, key in enumerate(keys):  # residual 1: second of MANY
            rows.append({
                "case": case, "engine": key, "us": 5.0 * (k + 1) * (2.0 if case.endswith("100") else 1.0),
                "spread": 0.1, "ratio": k + 1.0, "depth_m": 1e-5, "slip_m": 2e-6, "creep_m": 0.0, "height_m": 0.1,
            })  # fmt: skip
    data = {
        "suite": "contact", "quick": True, "how": contact.HOW, "contenders": contact.LABELS, "notes": [],
        "made_with": {"repetitions": 1, "machine": "any", "linkwork": "0", "mujoco": "1", "bullet": None},
        "rows": rows,
        "growth": contact.growth(rows, (50, 100), ["pile of 50", "pile of 100"], contact.MANY),
        "floors": contact.growth(rows, (50, 100), ["pile of 50", "pile of 100"], ("simgc", contact.COARSE)),
        "falling": {"memory_exponent": 1.0, "rows": [
            {"bodies": 20, "step_ms": 1.0, "memory_MB": 2.0, "contacts": 30, "sweeps": 4.0, "cut_short": 0, "steps": 20,
             "deepest_m": 1e-4},
        ]},
        "grasps": [
            {"method": method, "starts": 2, "least_m": 2e-6, "most_m": 2.5e-6, "spread_m": 5e-7, "cut_short": 0}
            for method in ("simgc", "simmc")
        ],
    }  # fmt: skip
    data |= changes
    return data | {"targets": [target._asdict() for target in judge_contact(data)]}


def test_the_exponent_of_a_pile_is_found():
    assert made_up_result()["growth"]["exponents"]["simgc"] == pytest.approx(1.0)


def test_targets_are_judged_and_left_open_without_peers():
    data = made_up_result()
    assert {target["met"] for target in data["targets"]} == {True}
    ours = [row for row in data["rows"] if row["engine"] in contact.OURS]
    alone = made_up_result(rows=ours)
    assert [target["met"] for target in alone["targets"]].count(None) == 4


def test_the_page_shows_the_tables(tmp_path, capsys):
    data = made_up_result()
    text = render_contact(data)
    assert "quick run" in text
    assert "| gripper | SIMGC direct |" in text
    assert "### Piles of many shapes whose height grows" in text
    assert "### Many bodies that fall into a box" in text
    assert "### Grasps from starts a nanometre apart" in text
    assert "noslip_iterations" in text
    (tmp_path / "contact.json").write_text(json.dumps(data))
    (tmp_path / "tree.json").write_text(
        (Path(__file__).parents[2] / "benchmarks" / "results" / "tree.json").read_text()
    )
    assert page([str(tmp_path)]) == 0
    assert "## Contact" in capsys.readouterr().out


@pytest.mark.slow
@compiled_only
def test_a_quick_run_has_all_figures(monkeypatch):
    monkeypatch.setattr(contact, "REPETITIONS_QUICK", 1)
    shares = []
    result = contact.run(quick=True, progress=shares.append)
    assert shares[-1] == 1.0
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    few = {"gripper", "two fingers", "stack of 10", "vehicle"}
    piles = {"pile of 10", "pile of 20", "floor of 2 across", "floor of 3 across"}
    assert {row["case"] for row in data["rows"]} == few | piles
    for row in data["rows"]:
        assert row["us"] > 0.0
        assert row["depth_m"] < 2e-3
        assert ("gap_m" in row) == (row["case"] == "vehicle")
    assert data["falling"]["memory_exponent"] < 1.1
    assert [row["method"] for row in data["grasps"]] == ["simgc", "simmc"]
    for row in data["grasps"]:
        assert 0.0 <= row["least_m"] <= row["most_m"]
    assert len(list(result.tables())) >= 6


@pytest.mark.slow
@compiled_only
def test_without_peers_it_says_so(monkeypatch):
    def missing(model):
        raise ImportError

    monkeypatch.setattr(contact, "PEERS", dict.fromkeys(contact.PEERS, missing))
    notes = set()
    rows = contact.measure(contact.pile(10, quick=True), 1, notes, lambda: None)
    assert {row["engine"] for row in rows} == {"simgc", contact.COARSE, "simgc_impulses"}
    assert any("PyBullet is not installed" in note for note in notes)
