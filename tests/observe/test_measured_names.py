"""Signals by name: all that shows them knows the same ones, each is declared once, and what is missing says why."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.measuring import LENGTH, every, pendulum
from linkwork import Body, LinkworkError, Simulation, Slider, scene
from linkwork.cli import app
from linkwork.live.session import Session
from linkwork.results import measured
from linkwork.results.record import Record
from linkwork.scenes import find_scene

# --- names ---

CHEAP = [
    "a01_pendulum",
    "bouncing_ball",
    "chain5",
    "crank_rocker",
    "slidercrank3d",
    "hitch",
    "torsion_bar",
    "jaws",
]


@pytest.mark.parametrize("name", CHEAP)
@every
def test_simulations_and_records_know_the_same(name, way):
    found = find_scene(name)
    try:
        sim = Simulation(scene(name), dt=found.dt, **way)
    except LinkworkError:
        return  # a method that does not do the model
    sim.add_point("chosen", sim.system.bodies[-1], (0.1, 0.2, 0.3))
    record = sim.run(4 * found.dt, every=2 * found.dt)
    assert set(sim.signals) == set(record.names)
    for signal in record.names:
        np.testing.assert_allclose(sim[signal], record[signal][-1], rtol=1e-9, atol=1e-9, err_msg=signal)
        assert sim.signals[signal] == record.unit(signal)


def test_reading_leaves_a_record_as_it_is():
    sim = Simulation(pendulum(), method="tree")
    before = sim.run(0.1, every=0.02)
    other = Simulation(pendulum(), method="tree")
    asked = other.run(0.1, every=0.02, callbacks=[(0.02, lambda now: [now[name] for name in before.names])])
    for name in before.names:
        np.testing.assert_array_equal(asked[name], before[name])


def test_unknown_names_get_the_nearest():
    sim = Simulation(pendulum(), method="tree")
    record = sim.run(0.01)
    for known in (sim, record):
        with pytest.raises(LinkworkError, match=r"'rod\.velocty\.x' \(did you mean 'rod\.velocity\.x'\?\)"):
            known["rod.velocty.x"]
    with pytest.raises(LinkworkError, match=r"no body 'rood' \(did you mean 'rod'\?\)"):
        sim.add_point("tip", "rood")
    with pytest.raises(LinkworkError, match="'end' is taken"):
        sim.add_point("end", "rod")
    with pytest.raises(LinkworkError, match="three finite numbers"):
        sim.add_point("tip", "rod", (0.0, math.nan, 0.0))
    with pytest.raises(LinkworkError, match="follows from the state"):
        sim["rod.velocity.x"] = 1.0


def test_points_are_chosen_before_or_after(tmp_path):
    sim = Simulation(pendulum(), method="simgc")
    sim.add_point("tip", "rod", (0.0, 0.0, -LENGTH))
    record = sim.run(0.1, every=0.02)
    np.testing.assert_allclose(record["tip.position"], 2.0 * record["rod.position"], atol=1e-12)
    later = record.with_point("late", "rod", (0.0, 0.0, -LENGTH))
    record.save(tmp_path / "run.h5")
    loaded = Record.load(tmp_path / "run.h5")
    assert loaded.names == record.names
    for quantity in ("position", "velocity", "acceleration", "rotation", "angular_velocity"):
        np.testing.assert_array_equal(later[f"late.{quantity}"], record[f"tip.{quantity}"])
        np.testing.assert_array_equal(loaded[f"tip.{quantity}"], record[f"tip.{quantity}"])
    np.testing.assert_array_equal(loaded["com.velocity"], record["com.velocity"])
    np.testing.assert_array_equal(record.between(0.03, 0.07)["tip.velocity.x"], record["tip.velocity.x"][2:4])
    assert record.find("tip.velocity") == [f"tip.velocity.{axis}" for axis in "xyz"]


def test_a_body_named_com_stays_itself():
    model = pendulum()
    model.add(Body("com", mass=1.0))
    model.add(Slider("rail", "ground", "com", axis=(1.0, 0.0, 0.0), position=0.7))
    sim = Simulation(model)
    assert sim["com.position.x"] == pytest.approx(0.7)
    assert not [name for name in sim.run(0.01).groups if name.startswith("com_")]


# --- one declaration ---


def test_a_quantity_is_one_entry(monkeypatch, tmp_path):
    """Declared in one place, it is in records, files, tables, simulations, the live page and the command line."""
    speed = measured.Stored(
        "speeds", "`<body>.speed`", "m/s", "how fast its origin is",
        lambda observer: [(f"{body}.speed", "m/s") for body in observer.bodies],
        lambda sampled: np.linalg.norm(sampled.bodies.velocities.reshape(len(sampled.t), -1, 3), axis=2),
    )  # fmt: skip
    monkeypatch.setattr(measured, "STORED", [*measured.STORED, speed])
    sim = Simulation(pendulum(), method="tree")
    record = sim.run(0.1, every=0.05, save=tmp_path / "run.h5")
    np.testing.assert_allclose(record["rod.speed"], LENGTH * np.abs(record["pivot.angle_rate"]), atol=1e-12)
    assert sim["rod.speed"] == record["rod.speed"][-1]
    assert Record.load(tmp_path / "run.h5").unit("rod.speed") == "m/s"
    assert "rod.speed" in record.to_pandas()
    session = Session(pendulum(), paused=True)
    assert "rod.speed" in session.view.values
    assert session.unit("rod.speed") == "m/s"
    listed = CliRunner().invoke(app, ["run", "a01_pendulum", "--list-signals"]).output
    assert re.search(r"^bob\.speed +m/s$", listed, re.MULTILINE)


def test_the_live_page_knows_what_is_derived():
    session = Session(pendulum(), paused=True)
    assert "end.velocity.x" in session.signals
    assert session.unit("end.velocity.x") == "m/s"
    session.watch(("com.velocity.x", "end.velocity.x"), 10.0)
    session.loop.simulation.step(3)
    session.loop.announce()
    session.look()


def test_the_command_line_lists_signals():
    result = CliRunner().invoke(app, ["run", "a01_pendulum", "--list-signals"])
    assert result.exit_code == 0
    assert re.search(r"^com\.acceleration\.z +m/s²$", result.output, re.MULTILINE)


def test_the_docs_list_every_quantity():
    """docs/results.md has the table that follows from the declarations."""
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    for quantity in (*measured.STORED, *measured.DERIVED):
        line = f"| `{quantity.group}` | {quantity.pattern} | {quantity.unit} | {quantity.about} |"
        assert line in text, f"docs/results.md lacks the line\n{line}"


# --- what is missing ---


def test_a_group_that_the_model_has_no_member_of_is_missing_by_name_and_one_that_the_method_lacks_by_reason():
    sim = Simulation(pendulum(), dt=1e-3, method="simgc", solver="impulses")
    record = sim.run(0.002, every=0.001)
    for read in (sim.__getitem__, record.__getitem__):
        for name in ("pivot.force", "pivot.force.x", "pivot.torque.z"):
            with pytest.raises(LinkworkError, match=r"does not solve for forces in joints.*solver 'direct'"):
                read(name)
        with pytest.raises(LinkworkError, match="has no accelerations"):
            read("pivot.angle_acceleration")
        with pytest.raises(LinkworkError, match=r"no signal 'pivott\.force\.x'(?!: )"):  # no such joint
            read("pivott.force.x")
        with pytest.raises(LinkworkError, match=r"no signal 'spring\.force'(?!: )"):  # no such spring
            read("spring.force")
    with pytest.raises(LinkworkError, match="does not solve for forces in joints"):
        record.array("forces")
    with pytest.raises(LinkworkError, match="nothing in this model has such signals"):
        record.array("element_forces")
    with pytest.raises(LinkworkError, match=r"no group 'ratess'.*did you mean 'rates'"):
        record.array("ratess")


@pytest.mark.parametrize("method", ["simmc", "global", "components"])
def test_methods_whose_bodies_float_say_so_where_joint_accelerations_are_asked_for(method):
    sim = Simulation(pendulum(), dt=1e-3, method=method)
    with pytest.raises(LinkworkError, match="no joint coordinates, for its bodies float"):
        sim["pivot.angle_acceleration"]


def test_reactions_that_were_not_recorded_say_how_to_record_them():
    record = Simulation(pendulum(), dt=1e-3, method="simgc").run(0.002, every=0.001, reactions=False)
    with pytest.raises(LinkworkError, match="left out: record with reactions=True"):
        record["pivot.force.x"]


def test_records_say_why_signals_are_missing_after_they_were_saved(tmp_path):
    Simulation(pendulum(), dt=1e-3, method="global").run(0.002, every=0.001, save=tmp_path / "swing.h5")
    with pytest.raises(LinkworkError, match="does not solve for forces in joints"):
        Record.load(tmp_path / "swing.h5")["pivot.force"]
