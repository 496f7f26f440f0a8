"""What is measured of a motion, against mechanics: known motions, differences of what is recorded, other methods."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.models import spring_law
from helpers.runs import orders
from linkwork import (
    Body,
    Box,
    Bushing,
    Component,
    Free,
    Hinge,
    LineFunction,
    LinkworkError,
    Marker,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Slider,
    Spring,
    scene,
)
from linkwork.cli import app
from linkwork.engine.elements import DCMotor, PositionServo, TorqueSource, VelocityServo
from linkwork.live.session import Session
from linkwork.model import Instance
from linkwork.model.rotation import about, matrix
from linkwork.results import measured
from linkwork.results.record import Record
from linkwork.scenes import find_scene

G = 9.81
SMOOTH = [
    {"method": name} for name in ("tree", "simgc", "simmc", "hybrid", "global", "topological", "components")
]
IMPULSES = [{"method": name, "solver": "impulses", "epsilon": 1e-13} for name in ("simgc", "simmc")]


def label(way):
    return "-".join(str(way[key]) for key in ("method", "solver") if key in way)


smooth = pytest.mark.parametrize("way", SMOOTH, ids=label)
every = pytest.mark.parametrize("way", SMOOTH + IMPULSES, ids=label)
with_rows = pytest.mark.parametrize("way", SMOOTH[1:] + IMPULSES, ids=label)
impulses = pytest.mark.parametrize("way", IMPULSES, ids=label)


# --- known motions ---

LENGTH, MASS, INERTIA = 0.4, 2.0, (0.05, 0.03, 0.04)


def pendulum():
    """A rod in the xz plane that turns about y at the origin; its frame is at its centre of mass."""
    model = Model("pendulum", gravity=(0.0, 0.0, -G))
    model.add(Body("rod", at=(0.0, 0.0, -LENGTH), mass=MASS, inertia=INERTIA))
    model.add(Marker("end", "rod", at=(0.1, 0.2, -0.7), rotation=about((0.0, 1.0, 0.0), 0.3)))
    model.add(Hinge("pivot", "ground", "rod", axis=(0.0, -1.0, 0.0), position=0.9, velocity=-1.7))
    return model


@smooth
def test_a_pendulum_moves_as_its_angle_says(way):
    sim = Simulation(pendulum(), dt=1e-3, **way)
    sim.step(20)
    angle, rate = sim["pivot.angle"], sim["pivot.angle_rate"]
    # d²angle/dt² by Newton's law about the pivot.
    turning = -MASS * G * LENGTH * math.sin(angle) / (INERTIA[1] + MASS * LENGTH**2)
    out, along = (
        np.array([math.sin(angle), 0.0, -math.cos(angle)]),
        np.array([math.cos(angle), 0.0, math.sin(angle)]),
    )
    np.testing.assert_allclose(sim["rod.position"], LENGTH * out, atol=1e-12)
    np.testing.assert_allclose(sim["rod.velocity"], LENGTH * rate * along, atol=1e-12)
    np.testing.assert_allclose(sim["rod.angular_velocity"], (0.0, -rate, 0.0), atol=1e-12)
    expected = LENGTH * (turning * along - rate**2 * out)
    np.testing.assert_allclose(sim["rod.acceleration"], expected, atol=1e-9)
    np.testing.assert_allclose(sim["rod.angular_acceleration"], (0.0, -turning, 0.0), atol=1e-9)
    # A marker beside it, 0.1 forward, 0.2 aside and 0.7 down from the pivot at angle 0.
    arm = 0.7 * out + 0.1 * along
    np.testing.assert_allclose(sim["end.position"], arm + np.array([0.0, 0.2, 0.0]), atol=1e-12)
    np.testing.assert_allclose(sim["end.velocity"], rate * (0.7 * along - 0.1 * out), atol=1e-12)
    expected = turning * (0.7 * along - 0.1 * out) - rate**2 * arm
    np.testing.assert_allclose(sim["end.acceleration"], expected, atol=1e-9)
    turned = matrix(about((0.0, 1.0, 0.0), 0.3 - angle))
    np.testing.assert_allclose(matrix(sim["end.rotation"]), turned, atol=1e-12)


def thrown():
    """Two bodies on a hinge, thrown and spinning."""
    model = Model("thrown", gravity=(0.0, 0.0, -G))
    pair = Component("pair")
    pair.add(Body("one", at=(0.0, 0.0, 0.0), mass=2.0, inertia=(0.02, 0.03, 0.04)))
    pair.add(Body("two", at=(0.5, 0.0, 0.2), mass=1.0, inertia=(0.01, 0.02, 0.015), com=(0.05, 0.0, 0.0)))
    pair.add(Hinge("elbow", "one", "two", at=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 1.0), velocity=2.0))
    model.add(Instance("pair", pair))
    model.add(Free("flight", "ground", "pair.one", velocity=(0.3, 0.4, 2.0, 1.0, -2.0, 0.5)))
    return model


@every
def test_the_centre_of_mass_falls_freely(way):
    record = Simulation(thrown(), dt=1e-3, **way).run(0.05, every=0.01)
    for name in ("com", "pair.com"):
        start, speed = record[f"{name}.position"][0], record[f"{name}.velocity"][0]
        fallen = np.outer(record.time, (0.0, 0.0, -G))
        # Impulses move each body by its own first-order step: their centre of mass is off by the square of it.
        step = 1e-3 * 0.05 * 20.0 if "solver" in way else 1e-8
        np.testing.assert_allclose(record[f"{name}.velocity"], speed + fallen, atol=step)
        way_fallen = start + np.outer(record.time, speed) + 0.5 * record.time[:, None] * fallen
        np.testing.assert_allclose(record[f"{name}.position"], way_fallen, atol=step)
        if "solver" not in way:
            expected = np.broadcast_to((0.0, 0.0, -G), (len(record), 3))
            np.testing.assert_allclose(record[f"{name}.acceleration"], expected, atol=1e-8)


@impulses
def test_accelerations_of_impulses_are_means_of_a_step(way):
    model = Model("fall", gravity=(0.0, 0.0, -G))
    model.add(Body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    sim = Simulation(model, dt=1e-3, **way)
    assert np.isnan(sim["stone.acceleration"]).all()
    record = sim.run(0.01, every=0.005)
    assert np.isnan(record["stone.acceleration.z"][0])
    np.testing.assert_allclose(record["stone.acceleration.z"][1:], -G, rtol=1e-10)


# --- forces of elements ---

STIFFNESS, DAMPING, REST = 300.0, 4.0, 0.35


def sprung():
    """A block that slides along x, on all kinds of springs."""
    model = Model("sprung")
    model.add(Body("block", at=(0.5, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1)))
    model.add(
        Slider(
            "rail", "ground", "block", axis=(1.0, 0.0, 0.0), velocity=0.8, spring=70.0, damping=3.0, rest=-0.2
        )
    )
    ends = {"at_a": (0.0, 0.0, 0.0), "at_b": (0.5, 0.0, 0.0)}
    model.add(Spring("coil", "ground", "block", stiffness=STIFFNESS, damping=DAMPING, length=REST, **ends))
    model.add(LineFunction("law", "ground", "block", spring_law, parameters=(50.0, 2.0, 0.6), **ends))
    model.add(
        Bushing(
            "mount",
            "ground",
            "block",
            stiffness=(90.0, 80.0, 70.0),
            damping=(1.0, 2.0, 3.0),
            rest=(0.3, 0.01, -0.02),
            **ends,
        )
    )
    return model


@every
def test_springs_exert_what_they_are_stretched(way):
    h = 1e-4
    sim = Simulation(sprung(), dt=h, **way)
    sim.step(100)
    x, rate = sim["block.position.x"], sim["block.velocity.x"]
    expected = {
        "coil.force": STIFFNESS * (x - REST) + DAMPING * rate,
        "law.force": 50.0 * (x - 0.6) + 2.0 * rate,
        "mount.force.x": 90.0 * (x - 0.3) + rate,
        "mount.force.y": -0.8,
        "mount.force.z": 1.4,
        "rail.travel_spring_force": -70.0 * (x - 0.5 + 0.2) - 3.0 * rate,
    }
    # Rows of impulses are means over the step.
    slack = 2.0 * h * STIFFNESS if "solver" in way else 1e-9
    for name, value in expected.items():
        assert sim[name] == pytest.approx(value, abs=slack), name
        assert sim.signals[name] == "N"
    # They and the inertia balance.
    total = sim["rail.travel_spring_force"] - sim["coil.force"] - sim["law.force"] - sim["mount.force.x"]
    assert 2.0 * sim["block.acceleration.x"] == pytest.approx(total, abs=3.0 * slack)


def driven(*drives, **joint):
    """An arm that hangs out horizontally, 0.5 m from its hinge."""
    model = Model("driven", gravity=(0.0, 0.0, -G))
    model.add(Body("arm", at=(0.5, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("shoulder", "ground", "arm", axis=(0.0, -1.0, 0.0), **joint))
    for drive in drives:
        model.add(drive)
    return model


@with_rows
def test_a_servo_holds_the_weight(way):
    sim = Simulation(driven(VelocityServo("hold", "shoulder")), dt=1e-3, **way)
    record = sim.run(0.02, every=0.01)
    np.testing.assert_allclose(record["hold.force"][1:], 2.0 * G * 0.5, rtol=1e-6)
    assert record.unit("hold.force") == "N m"


@with_rows
def test_drives_tell_what_they_exert(way):
    motor = DCMotor("motor", "shoulder", stall_torque=2.0, idle_speed=50.0, time_constant=0.0, command=0.5)
    drives = (
        TorqueSource("push", "shoulder", command=3.0),
        PositionServo("pull", "shoulder", stiffness=40.0, damping=2.0, command=0.1),
        motor,
    )
    h = 1e-4
    sim = Simulation(driven(*drives), dt=h, **way)
    sim.step(50)
    angle, rate = sim["shoulder.angle"], sim["shoulder.angle_rate"]
    slack = 100.0 * h if "solver" in way else 1e-8
    assert sim["push.force"] == pytest.approx(3.0, abs=1e-9)
    assert sim["pull.force"] == pytest.approx(-40.0 * (angle - 0.1) - 2.0 * rate, abs=slack)
    assert sim["motor.force"] == pytest.approx(2.0 * (0.5 - rate / 50.0), abs=slack)


@pytest.mark.parametrize("way", [{"method": "simgc"}, {"method": "simmc"}, *IMPULSES], ids=label)
def test_limits_and_friction_tell_what_they_exert(way):
    # Against a limit at its start: it carries what friction does not.
    limited = Simulation(driven(limits=(0.0, 1.0)), dt=1e-3, **way)
    limited.step(20)
    assert limited["shoulder.angle_limit_force"] == pytest.approx(2.0 * G * 0.5, rel=1e-6)
    stuck = Simulation(driven(friction=20.0), dt=1e-3, **way)
    stuck.step(20)
    assert stuck["shoulder.angle_friction_force"] == pytest.approx(2.0 * G * 0.5, rel=1e-6)


@pytest.mark.parametrize("solver", ["direct", "impulses"])
@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_contacts_carry_the_weight(method, solver):
    model = Model("rest", gravity=(0.0, 0.0, -G))
    model.add(Material("rough", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    model.add(Body("box", at=(0.0, 0.0, 0.05), mass=3.0, shapes=(Box((0.1, 0.1, 0.1)),), material="rough"))
    sim = Simulation(model, method=method, solver=solver, dt=1e-3)
    record = sim.run(0.5, every=0.1)
    assert np.isnan(record["box.contact_force.z"][0])
    np.testing.assert_allclose(sim["box.contact_force"], (0.0, 0.0, 3.0 * G), atol=1e-3)
    np.testing.assert_array_equal(sim["floor.contact_force"], -sim["box.contact_force"])
    np.testing.assert_allclose(
        sim["box.contact_force"], sum(np.array(t.friction) + t.force * np.array(t.normal) * (1 if t.b == "box" else -1)
        for t in sim.touches()), atol=1e-9,
    )  # fmt: skip


# --- against differences of what is recorded ---


@smooth
def test_rates_are_derivatives_of_what_they_are_rates_of(way):
    """Central differences differ from the derivative by the square of their spacing."""
    errors = []
    for spacing in (8e-3, 4e-3, 2e-3):
        sim = Simulation(
            thrown(), dt=1e-3 if way["method"] in ("hybrid", "global", "topological") else 2e-3, **way
        )
        sim.add_point("corner", "pair.two", (0.1, -0.2, 0.3))
        record = sim.run(0.032 + spacing, every=spacing)
        middle = round(0.032 / spacing)
        worst = []
        for body in ("pair.one", "pair.two", "corner", "com"):
            for of, by in (("position", "velocity"), ("velocity", "acceleration"),
                           ("angular_velocity", "angular_acceleration")):  # fmt: skip
                if f"{body}.{of}.x" not in record:
                    continue
                x = record[f"{body}.{of}"]
                difference = (x[middle + 1] - x[middle - 1]) / (2.0 * spacing)
                worst.append(np.abs(difference - record[f"{body}.{by}"][middle]).max())
        errors.append(max(worst))
    assert errors[0] < 0.1
    assert min(orders(errors)) > 1.8


@pytest.mark.parametrize("name", ["slidercrank3d", "crank_rocker", "chain5"])
def test_methods_agree(name):
    """What is measured at the start: the same state, so the same to rounding, if nothing is too stiff for the step."""
    model = scene(name)
    records = []
    for way in SMOOTH:
        try:
            records.append(Simulation(model, dt=1e-4, **way).run(1e-4))
        except LinkworkError:
            continue
    assert len(records) >= 3
    names = set.intersection(*(set(record.names) for record in records))
    moving = re.compile(r"\.(position|velocity|acceleration|angular_\w+)\.[xyz]$")
    chosen = [n for n in names if moving.search(n) or n.endswith(".force")]
    assert any("acceleration" in n for n in chosen)
    for n in chosen:
        for other in records[1:]:
            np.testing.assert_allclose(other[n][0], records[0][n][0], rtol=1e-7, atol=1e-7, err_msg=n)


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


def test_a_drive_and_a_load_of_one_name():
    model = driven(TorqueSource("same", "shoulder", command=3.0))
    at = (0.5, 0.0, 0.0)
    model.add(
        LineFunction(
            "same", "ground", "arm", spring_law, at_a=(0.0, 0.0, 1.0), at_b=at, parameters=(1.0, 0.0, 0.0)
        )
    )
    assert Simulation(model, method="simgc").run(0.01)["same.force"][-1] == pytest.approx(3.0)


@impulses
def test_a_resumed_run_goes_on_with_its_means(way, tmp_path):
    sim = Simulation(sprung(), dt=1e-3, **way)
    sim.step(5)
    sim.save_state(tmp_path / "state.npz")
    other = Simulation(sprung(), dt=1e-3, **way)
    other.load_state(tmp_path / "state.npz")
    for name in ("block.acceleration.x", "coil.force"):
        assert other[name] == sim[name]


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
