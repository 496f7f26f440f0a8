"""The distance joint: a rod without mass, one equation."""

import math

import numpy as np
import pytest

from linkwork import (
    Body,
    Component,
    Distance,
    Hinge,
    LinkworkError,
    Marker,
    Model,
    ModelError,
    Simulation,
    Slider,
    Spherical,
    Spring,
    TorqueSource,
    UnsupportedError,
)
from linkwork.analysis.check import check
from linkwork.interchange.export_file import export_model
from linkwork.interchange.open_file import open_model
from linkwork.io import load_model, save_model
from linkwork.methods.registry import WAYS
from linkwork.stage.stage import stage_of

CRANK, COUPLER, ROCKER, GROUND = 1.0, 3.0, 2.5, 3.5
PIN = (GROUND, 0.0, 0.0)
START = math.radians(70)
LOOPED = [way for way in WAYS if way.name != "tree"]
looped = pytest.mark.parametrize("way", LOOPED, ids=lambda way: way.name)


def rocker_angle(crank):
    """Of the rocker of a four-bar linkage with the coupler above, by the circles about both pins."""
    d = PIN[0] - CRANK * np.cos(crank), -CRANK * np.sin(crank)
    r = np.hypot(*d)
    inner = np.arccos((ROCKER**2 + r**2 - COUPLER**2) / (2 * ROCKER * r))
    return np.arctan2(-d[1], -d[0]) - inner


def four_bar(rod="distance"):
    """Crank and rocker, joined by a distance joint, or by a body of next to no mass on two balls."""
    angle, start = rocker_angle(START), START
    A = (CRANK * math.cos(start), 0.0, CRANK * math.sin(start))
    B = (GROUND + ROCKER * math.cos(angle), 0.0, ROCKER * math.sin(angle))
    model = Model("four_bar")
    model.add(Body("crank", at=A, mass=1.0, inertia=(0.1, 0.1, 0.1), com=(-0.2, 0.0, 0.1)))
    model.add(Body("rocker", at=B, mass=2.0, inertia=(0.2, 0.2, 0.2), com=(0.1, 0.0, -0.5)))
    model.add(Hinge("A0", "ground", "crank", axis=(0, -1, 0), velocity=4.0))
    model.add(Hinge("B0", "ground", "rocker", at=PIN, axis=(0, -1, 0)))
    if rod == "distance":
        model.add(Distance("rod", "crank", "rocker", at=A, to=B))
        return model
    mass = 1e-9
    middle = tuple(np.add(A, B) / 2)
    model.add(Body("coupler", at=middle, mass=mass, inertia=(mass, mass, mass)))
    model.add(Spherical("left", "crank", "coupler", at=A))
    model.add(Spherical("rod", "coupler", "rocker", at=B))
    return model


def hung(length=None):
    """A weight on a vertical guide that hangs on a rod to one side: 3 across, 4 up."""
    model = Model("hung")
    model.add(Body("weight", at=(3.0, 0.0, -4.0), mass=2.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("guide", "ground", "weight", at=(3.0, 0.0, -4.0)))
    model.add(Distance("rod", "ground", "weight", at=(0.0, 0.0, 0.0), to=(3.0, 0.0, -4.0), length=length))
    return model


# --- motion ---


@looped
def test_a_four_bar_linkage_follows_its_closed_form(way):
    # The crank goes round: the rod's length is kept at every angle, by impulses to h² a / 2 erp, by others to rounding.
    record = Simulation(four_bar(), method=way.method, solver=way.solver, dt=1e-3).run(0.5)
    start = START
    crank = start + record["A0.angle"]
    assert np.ptp(crank) > 1.0
    tolerance = 2e-4 if way.solver == "impulses" else 1e-12
    apart = record["B0.angle"] - (rocker_angle(crank) - rocker_angle(start))
    assert np.abs(np.sin(0.5 * apart)).max() < tolerance
    assert record.info["worst_gap_m"] < (2e-4 if way.solver == "impulses" else 1e-13)


def test_it_moves_and_pulls_as_a_rod_of_next_to_no_mass_on_two_balls():
    # The rod's mass is 1e-9 of the others': so much of motion and forces may differ, and rounding by 1e9 times 2e-16.
    one, other = (Simulation(four_bar(rod), method="simgc", dt=1e-3).run(0.5) for rod in ("distance", "body"))
    for name in ("A0.angle", "B0.angle", "A0.angle_rate", "rod.force.x", "rod.force.z", "A0.force.x"):
        assert np.abs(one[name]).max() > 0.05
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-6 * np.abs(other[name]).max())
    # Adams' method of fourth order at 1 ms, rates of 10/s: (h 10)⁴ = 1e-8 of the energy.
    assert one.energy_drift < 1e-7 * one["energy.kinetic"].max()


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_a_body_that_hangs_on_rods_alone_floats(solver):
    # A swing: two parallel rods and a third one against turning; every point moves on a circle of the rods' length.
    model = Model("swing")
    model.add(Body("seat", at=(0, 0, -1.0), mass=1.0, inertia=(0.1, 0.2, 0.3)))
    for name, x, y in (("left", -0.3, 0.2), ("right", 0.3, 0.2), ("back", 0.3, -0.2), ("last", -0.3, -0.2)):
        model.add(Distance(name, "ground", "seat", at=(x + 0.6, y, -0.2), to=(x, y, -1.0)))
    model.add(Spring("hand", "ground", "seat", at_a=(0, 0, -1.0), at_b=(0, 0, -1.0), damping=1e-3))
    report = check(model)
    assert "it got the free joint" in report.findings[0].what
    simulation = Simulation(model, method="simgc", solver=solver, dt=1e-3)
    record = simulation.run(0.8)
    x, z = record["seat.position.x"] - 0.6, record["seat.position.z"] + 0.2
    assert np.ptp(x) > 0.5
    np.testing.assert_allclose(np.hypot(x, z), 1.0, atol=1e-12 if solver == "direct" else 2e-4)


def test_reaction_is_the_force_along_the_rod():
    # Vertically 0.8 of it carry 2 kg; the guide takes the rest.
    record = Simulation(hung(), method="simgc", dt=1e-3).run(0.01)
    force = 2.0 * 9.81 / 0.8
    np.testing.assert_allclose(record["rod.force.z"], 2.0 * 9.81, rtol=1e-12)
    np.testing.assert_allclose(record["rod.force.x"], -0.6 * force, rtol=1e-12)
    np.testing.assert_allclose(record["rod.torque.y"], 0.0, atol=1e-10)


def test_a_rod_of_another_length_is_closed_at_the_start():
    simulation = Simulation(hung(math.hypot(3.0, 5.0)), method="simgc")
    assert simulation["weight.position.z"] == pytest.approx(-5.0, abs=1e-12)


def test_doctor_names_a_rod_too_many_and_counts_one_equation():
    model = four_bar()
    assert check(model).mobility == 1 == check(model).dof
    A, B = model.joints["rod"].at, model.joints["rod"].to
    model.add(Distance("again", "crank", "rocker", at=A, to=B))
    found = check(model)
    assert found.redundant_equations == 1
    assert {found.redundant[0].joint, found.redundant[1].joint} == {"rod", "again"}


# --- files, components, pictures ---


def test_it_comes_back_from_files(tmp_path):
    model = four_bar()
    save_model(model, tmp_path / "bar.yaml")
    assert load_model(tmp_path / "bar.yaml").joints["rod"] == model.joints["rod"]
    export_model(model, tmp_path / "bar.urdf")
    back = open_model(tmp_path / "bar.urdf").joints["rod"]
    np.testing.assert_allclose(
        [back.at, back.to], [model.joints["rod"].at, model.joints["rod"].to], atol=1e-12
    )


def test_in_a_component_it_is_placed_and_mirrored_with_it():
    part = Component("part", ports=("arm",))
    part.add(Body("arm", at=(0, 1, 0), mass=1.0, inertia=(1, 1, 1)))
    part.add(Marker("end", "arm", at=(0, 2, 0)))
    part.add(Distance("rod", "ground", "arm", at=(0.5, 1.0, 3.0), to="end"))
    model = Model("whole")
    model.add(part.instance("one", at=(10, 0, 0)))
    model.add(part.instance("two", mirror=(0, 1, 0)))
    flat = model.flatten()
    assert flat.joints["one.rod"].at == (10.5, 1.0, 3.0)
    assert flat.joints["two.rod"].at == (0.5, -1.0, 3.0)
    assert flat.markers[flat.joints["two.rod"].to].at == (0.0, -2.0, 0.0)
    lengths = [
        np.linalg.norm(np.subtract(flat.markers[flat.joints[f"{n}.rod"].to].at, flat.joints[f"{n}.rod"].at))
        for n in ("one", "two")
    ]
    assert lengths[0] == lengths[1]


def test_pictures_have_a_line_between_its_points():
    stage = stage_of(four_bar())
    (rod,) = stage.springs
    assert (rod.name, rod.rod) == ("rod", True)
    assert stage.from_dict(stage.to_dict()).springs == stage.springs
    seen = next(joint for joint in stage.joints if joint.name == "rod")
    assert seen.at_a == rod.at_a == (0.0, 0.0, 0.0) == seen.at_b  # where the bodies have their frames


# --- bad input ---


def test_points_that_coincide_are_refused():
    with pytest.raises(LinkworkError, match=r"'rod'.*rod of zero length.*move one"):
        Distance("rod", "a", "b", at=(1, 2, 3), to=(1, 2, 3))
    model = four_bar()
    model.add(Marker("end", "rocker", at=model.joints["rod"].at))
    model.joints["rod"] = Distance("rod", "crank", "rocker", at=model.joints["rod"].at, to="end")
    with pytest.raises(ModelError, match=r"joint 'rod'.*rod of zero length"):
        Simulation(model)


@pytest.mark.parametrize(
    "field",
    [{"damping": 1.0}, {"axis": (0, 0, 1)}, {"limits": (0.0, 1.0)}, {"attached": ()}, {"position": 1.0}],
)
def test_fields_of_other_joints_are_refused(field):
    with pytest.raises(LinkworkError, match=f"'rod'.*{next(iter(field))}: a distance joint is a rod"):
        Distance("rod", "a", "b", at=(0, 0, 0), to=(1, 0, 0), **field)


def test_a_length_that_cannot_be_reached_is_told():
    with pytest.raises(LinkworkError, match="rod"):
        Simulation(hung(1.0), method="simgc")


def test_a_tree_refuses_it_by_name():
    with pytest.raises(UnsupportedError, match="'tree' has no constraints, but joint 'rod' is a rod"):
        Simulation(four_bar(), method="tree")


def test_a_drive_on_it_is_refused():
    model = four_bar()
    model.add(TorqueSource("motor", "rod", command=1.0))
    with pytest.raises(ModelError, match=r"'rod'.*no coordinate"):
        Simulation(model)
