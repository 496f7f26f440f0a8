"""The doctor against facts of mechanism theory: mobility, redundancy, singular positions, stiffness, broken models."""

import dataclasses
import json
from math import cos, pi, sin, sqrt, tau

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.loops import looped
from helpers.models import changed, solid
from helpers.trees import triple
from linkwork import Body, Force, Hinge, Model, Simulation, Slider, Spherical, scene
from linkwork.analysis.check import check
from linkwork.analysis.loosen import LOOSER, Replacement, with_changes
from linkwork.analysis.redundancy import diagnose
from linkwork.analysis.stresses import rings
from linkwork.cli import app
from linkwork.compile.compiler import Compiled, compile_model
from linkwork.engine.coordinates.dynamics import body_pose, body_twist
from linkwork.engine.coordinates.tree import place
from linkwork.engine.elements import PositionServo, Repeater
from linkwork.mechanism.mobility import analyse
from linkwork.model.item import GROUND
from linkwork.model.joints import JOINTS, Weld
from linkwork.scenes import scene_names
from linkwork.scenes.n_four_bar import rod


def chain(*points, gravity=(0.0, -9.81, 0.0), width=0.05):
    """Rods from pin to pin in the plane z = 0, the first and the last pin on the ground."""
    model = Model("chain", gravity=gravity)
    for k in range(len(points) - 1):
        model.add(rod(f"rod{k}", points[k], points[k + 1], 1.0, width))
    bodies = [GROUND, *model.bodies, GROUND]
    for k, (x, y) in enumerate(points):
        model.add(Hinge(f"pin{k}", bodies[k], bodies[k + 1], at=(x, y, 0.0)))
    return model


def said(checkup, *words, level=None):
    """Whether some finding has all these words."""
    return any(
        all(word in f"{f.where}: {f.what}" for word in words) and level in (None, f.level)
        for f in checkup.findings
    )


PARALLELOGRAM = ((0, 0), (0, 1), (2, 1), (2, 0))
FLAT = ((0, 0), (1, 0), (3, 0), (2, 0))


# --- mobility ---

# A planar loop of spatial hinges has three equations too many: the loop lies in its plane already. Peaucellier's seven
# rods make three loops; a row of N parallelograms N, of which all but one rod more share one freedom.
FACTS = {
    "four-bar": (lambda: chain((0, 0), (0, 1), (2, 1.5), (2.5, 0)), 1, 3),
    "parallelogram": (lambda: chain(*PARALLELOGRAM), 1, 3),
    "five-bar": (lambda: chain((0, 0), (0, 1), (1, 2), (2, 1.5), (2.5, 0)), 2, 3),
    "triangle": (lambda: chain((0, 0), (1, 1), (2, 0)), 0, 3),
    "peaucellier": (lambda: scene("peaucellier"), 1, 9),
    "double four-bar": (lambda: scene("double_four_bar"), 1, 6),
    "twelve four-bars": (lambda: scene("n_four_bar", n=12), 1, 36),
    "slider-crank in space": (lambda: scene("slidercrank3d"), 1, 0),
    "serial arm": (lambda: scene("puma560"), 6, 0),
    "gripper": (lambda: scene("jaws"), 1, 0),
}


@pytest.mark.parametrize("name", FACTS)
def test_mobility_and_redundancy_are_those_of_the_books(name):
    build, mobility, redundant = FACTS[name]
    found = analyse(compile_model(build(), rows=True))
    assert (found.mobility, found.redundant) == (mobility, redundant)
    assert found.instantaneous == mobility
    assert not found.singular


def bennett(twist_a=0.9, twist_b=0.4, length_a=1.0, opening=1.1):
    """Four hinges in space that move although Grübler counts -2: a/sin α = b/sin β (Bennett 1903)."""
    length_b = length_a * sin(twist_b) / sin(twist_a)
    # tan(θ/2) tan(φ/2) = sin((β + α)/2) / sin((β - α)/2) couples the angles of neighbouring hinges.
    other = 2 * np.arctan(sin((twist_b + twist_a) / 2) / sin((twist_b - twist_a) / 2) / np.tan(opening / 2))

    def link(angle, length, twist):
        c, s, ca, sa = cos(angle), sin(angle), cos(twist), sin(twist)
        return np.array(
            [[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s], [0, sa, ca, 0], [0, 0, 0, 1]]
        )

    frames = [np.eye(4)]
    for angle, length, twist in (
        (opening, length_a, twist_a), (other, length_b, twist_b),
        (tau - opening, length_a, twist_a), (tau - other, length_b, twist_b),
    ):  # fmt: skip
        frames.append(frames[-1] @ link(angle, length, twist))
    np.testing.assert_allclose(frames[4], np.eye(4), atol=1e-12)
    model = Model("bennett")
    for k in range(3):
        model.add(solid(f"bar{k}", at=tuple(frames[k][:3, 3].tolist())))
    bodies = [GROUND, *model.bodies, GROUND]
    for k in range(4):
        p, axis = frames[k][:3, 3], frames[k][:3, 2]
        model.add(Hinge(f"pin{k}", bodies[k], bodies[k + 1], at=tuple(p.tolist()), axis=tuple(axis.tolist())))
    return model


def displaced_bennett(by):
    model = bennett()
    model.joints["pin2"] = dataclasses.replace(
        model.joints["pin2"], at=tuple(np.add(model.joints["pin2"].at, (by, 0.0, 0.0)).tolist())
    )
    return model


def test_bennetts_linkage_moves_and_displaced_it_does_not():
    found = diagnose(bennett())
    assert (found.mobility.mobility, found.mobility.redundant) == (1, 3)
    assert check(bennett(), test_run=False).dof == -2
    # The lengths fit no more: what moved is locked, by very little.
    checkup = check(displaced_bennett(1e-4), test_run=False)
    assert checkup.mobility == 0
    assert said(checkup, "is locked", "very nearly free", level="warning")


@pytest.mark.parametrize("by", [1e-6, 1e-8, 1e-10])
def test_bennetts_linkage_written_with_few_digits_moves_and_is_told_of(by):
    checkup = check(displaced_bennett(by), test_run=False)
    assert (checkup.mobility, checkup.redundant_equations) == (1, 3)
    told = [finding.what for finding in checkup.findings if "taken as rounding" in finding.what]
    assert len(told) == 1
    off = float(told[0].split("is off by ")[1].split()[0])
    assert 0.02 * by < off < 5.0 * by  # per radian of a linkage of about a metre


def test_scaling_a_mechanism_changes_nothing():
    for size in (1e-3, 1e3):
        model = chain(*(np.array(PARALLELOGRAM) * size).tolist(), width=0.05 * size)
        found = analyse(compile_model(model, rows=True))
        reference = analyse(compile_model(chain(*PARALLELOGRAM), rows=True))
        assert (found.mobility, found.redundant) == (1, 3)
        assert found.distance == pytest.approx(reference.distance, rel=1e-6)


def test_repeaters_count():
    model = Model("gears")
    for k in range(3):
        model.add(solid(f"wheel{k}"))
        model.add(Hinge(f"axle{k}", GROUND, f"wheel{k}", at=(float(k), 0.0, 0.0)))
    for k in range(3):
        model.add(Repeater(f"mesh{k}", f"axle{k}", f"axle{(k + 1) % 3}", ratio=-1.0))
    # Three wheels that all mesh with each other cannot turn; as belts they can, one of which is too many.
    assert check(model).mobility == 0
    for k in range(3):
        model.couplings[f"mesh{k}"] = dataclasses.replace(model.couplings[f"mesh{k}"], ratio=1.0)
    checkup = check(model)
    assert (checkup.mobility, checkup.redundant_equations, checkup.dof) == (1, 1, 0)


# --- singular positions ---


def test_a_flat_parallelogram_is_singular_but_has_one_freedom():
    found = analyse(compile_model(chain(*FLAT), rows=True))
    assert (found.mobility, found.instantaneous, found.redundant) == (1, 2, 3)
    assert found.singular
    assert found.distance == 0.0
    checkup = check(chain(*FLAT))
    assert checkup.singular
    assert said(checkup, "mobility", "starts in a singular position", "beside it", level="warning")


def test_two_rods_on_one_line_are_locked():
    found = analyse(compile_model(chain((0, 0), (1, 0), (2, 0)), rows=True))
    assert (found.mobility, found.instantaneous) == (0, 1)
    assert found.singular
    assert said(
        check(chain((0, 0), (1, 0), (2, 0)), test_run=False), "locked, but only just", level="warning"
    )


def test_the_distance_shrinks_towards_the_singular_position():
    # Tipped by t from flat, the determinant of a parallelogram's loop is proportional to sin t.
    distances = []
    for tip in (0.1, 0.01, 0.001):
        x, y = cos(tip), sin(tip)
        distances.append(
            analyse(compile_model(chain((0, 0), (x, y), (2 + x, y), (2, 0)), rows=True)).distance
        )
    assert np.divide(distances[:-1], distances[1:]) == pytest.approx([10.0, 10.0], rel=0.01)


def test_a_run_finds_the_singular_position_that_it_passes():
    checkup = check(scene("double_four_bar"))
    nearest = checkup.nearest_singular
    assert nearest.distance < 1e-6 < 1e-2 < nearest.usual
    record = Simulation(scene("double_four_bar")).run(1.0, every=1e-3)
    # All links lie on the ground line then: a quarter turn from upright. Between samples 10 ms apart the time is taken
    # as linear in the way: off by a h²/8 at most, a some 10 rad/s².
    angle = np.interp(nearest.time, record.time, record["A0.angle"])
    assert abs(angle) == pytest.approx(pi / 2, abs=2e-4)
    assert {name[:2] for name in nearest.joints} <= {"A0", "A1", "A2", "B0", "B1", "B2"}
    assert said(checkup, "test run", f"t = {nearest.time:.3g} s", "limits", level="warning")
    away = check(scene("crank_rocker")).nearest_singular
    assert away.distance > 0.1
    assert not away.near
    assert check(scene("double_four_bar"), test_run=False).nearest_singular is None


# --- redundant joints and their cures ---


def cured(model):
    """The diagnosis of a model, and the mobility of the model changed as it says."""
    found = diagnose(model)
    assert found.cures
    return found, analyse(compile_model(with_changes(model, found.replacements), rows=True))


@pytest.mark.parametrize(
    "build",
    [
        lambda: chain((0, 0), (0, 1), (2, 1.5), (2.5, 0)),
        lambda: chain(*PARALLELOGRAM),
        lambda: chain((0, 0), (1, 1), (2, 0)),
        lambda: scene("peaucellier"),
        lambda: scene("double_four_bar"),
        lambda: scene("n_four_bar", n=6),
        lambda: scene("crank_rocker"),
        bennett,
    ],
)
def test_the_cure_leaves_no_redundancy_and_the_mobility_as_it_is(build):
    model = build()
    found, after = cured(model)
    assert after.redundant == found.remaining == 0
    assert after.mobility == after.instantaneous == found.mobility.mobility
    # One joint less two equations and one less one, for each planar loop: no cure changes fewer joints.
    assert len(found.replacements) == 2 * len(found.loops)
    assert sum(loop.excess for loop in found.loops) == found.mobility.redundant
    # The changed model moves as before.
    record = Simulation(with_changes(model, found.replacements)).run(0.05)
    assert record.info["worst_gap_m"] < 1e-3


def test_redundant_joints_are_named_with_their_equations():
    found = diagnose(scene("crank_rocker"))
    # Each hinge holds the motion out of the plane, and the two turns out of it, which the three others hold too.
    assert [(r.joint, r.equations, r.dependent) for r in found.redundant] == [
        (name, 5, 3) for name in ("crank", "knee", "wrist", "rocker")
    ]
    (loop,) = found.loops
    assert set(loop.joints) == {"crank", "knee", "wrist", "rocker"}
    assert loop.excess == 3
    # The crank is driven: its coordinate must stay. The joints of the coupler are changed, not those of the ground.
    assert {change.joint for change in found.replacements} == {"knee", "wrist"}
    assert {change.new for change in found.replacements} == {"cylindrical", "spherical"}


@pytest.mark.parametrize("seed", range(24))
def test_cures_of_random_mechanisms_hold_what_they_promise(seed):
    model = looped(np.random.default_rng([seed, 21]), seed)
    found = diagnose(model)
    if not found.cures:
        assert found.mobility.redundant == 0 or found.skipped
        return
    after = analyse(compile_model(with_changes(model, found.replacements), rows=True))
    assert after.mobility == found.mobility.mobility
    assert after.redundant == found.remaining < found.mobility.redundant


def test_a_joint_that_holds_nothing_new_is_left_out():
    door = Model("door")
    door.add(solid("leaf"))
    door.add(Hinge("low", GROUND, "leaf"))
    door.add(Hinge("high", GROUND, "leaf", at=(0.0, 0.0, 1.0)))
    found, after = cured(door)
    assert [str(change) for change in found.replacements] == ["leave 'high' out"]
    assert (after.mobility, after.redundant) == (1, 0)


def test_rods_between_balls_spin_idly():
    model = scene("slidercrank3d")
    model.joints["cross"] = Spherical("cross", "block", "rod", at=model.joints["cross"].at)
    checkup = check(model, test_run=False)
    assert checkup.mobility == checkup.dof == 2
    assert said(checkup, "bodies.rod", "can spin about itself", "universal", level="note")


@pytest.mark.parametrize("kind", LOOSER)
def test_looser_joints_hold_a_part_of_what_the_joint_holds(kind):
    # In a chain without loops, a looser joint adds as many freedoms as it gives up equations, and no more.
    fields = {"pitch": 0.1} if kind == "screw" else {}
    model = Model("arm")
    model.add(solid())
    start = {} if kind in ("weld", "universal") else {"position": 0.3, "velocity": 0.7, "damping": 0.2}
    joint = JOINTS[kind]("joint", GROUND, "body", at=(0.1, 0.2, 0.3), axis=(1.0, 2.0, 0.5), **fields, **start)
    model.add(joint)
    before = compile_model(model)
    for new, turned, motions in LOOSER[kind]:
        axes = Compiled(model).joint_frame(joint).R
        axis, reference = (None, None) if turned is None else (triple(axes[:, k]) for k in turned)
        looser = with_changes(model, [Replacement("joint", kind, new, axis, reference)])
        after = compile_model(looser)
        assert after.nv == len(motions) > before.nv
        np.testing.assert_allclose(_pose(after), _pose(before), atol=1e-14)


def _pose(system):
    tables = system.fresh_tables()
    place(tables.dofs, tables.islands, system.q0, system.v0)
    return np.concatenate([*map(np.ravel, body_pose(tables, 0)), *map(np.ravel, body_twist(tables, 0))])


def test_rings_are_the_loops():
    flat = scene("n_four_bar", n=3).flatten()
    assert sorted(sorted(ring) for ring in rings(flat)) == [
        sorted((f"A{k}", f"B{k}_out", f"B{k + 1}_in", f"A{k + 1}")) for k in range(3)
    ]


def test_large_mechanisms_are_counted_but_not_searched():
    checkup = check(scene("n_four_bar", n=60), test_run=False)
    assert (checkup.mobility, checkup.redundant_equations) == (1, 180)
    assert said(checkup, "905 joint equations", "not looked for one by one")


# --- the start ---


def test_a_start_that_is_off_is_told():
    model = scene("crank_rocker")
    for name, angle in (("crank", 0.3), ("knee", -0.35), ("wrist", 0.11)):
        changed(model, name, position=angle)
    checkup = check(model, test_run=False)
    assert checkup.ok
    assert said(checkup, "start", "'wrist.angle' moved by", "in joint 'rocker'", level="warning")
    assert said(checkup, "start", "write these numbers into the model")
    # What was left open and follows what was written is no reason to worry.
    checkup = check(changed(scene("crank_rocker"), "crank", position=0.3), test_run=False)
    assert said(checkup, "'knee.angle' moved by", level="note")
    assert not said(checkup, "start", level="warning")


def test_rates_that_contradict_loops_are_told():
    model = changed(changed(scene("crank_rocker"), "rocker", velocity=2.0), "crank", velocity=2.0)
    assert said(
        check(model, test_run=False), "'rocker.angle_rate' starts at 0.294602", "not at 2", level="warning"
    )


def test_a_limit_that_the_start_violates_is_told():
    model = changed(scene("crank_rocker"), "crank", limits=(0.1, 0.5))
    assert said(
        check(model, test_run=False), "crank.angle", "beyond its lower limit by 0.1 rad", level="warning"
    )


def test_a_mechanism_that_cannot_be_assembled_is_an_error_with_everything_else_told():
    model = Model("tied")
    model.add(Body("arm", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Body("dust", mass=1e-6, inertia=(1e-12, 1e-12, 1e-12)))
    model.add(Hinge("shoulder", GROUND, "arm", position=pi))
    model.add(Spherical("tie", GROUND, "arm", at=(1.0, 0.0, 0.0)))
    model.add(Slider("rail", GROUND, "dust"))
    checkup = check(model)
    assert not checkup.ok
    assert said(checkup, "joint 'tie'", "stays open by 2 m", "correct the start positions", level="error")
    assert checkup.mobility == 1  # as drawn: the arm is tied, the dust slides
    assert said(checkup, "bodies.dust", "lighter than 'arm'", level="warning")


# --- stiffness ---


def pendulum(**fields):
    model = Model("pendulum")
    model.add(Body("bob", mass=2.0, com=(0.0, 0.0, -0.5), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("pivot", GROUND, "bob", axis=(0.0, 1.0, 0.0), **fields))
    return model


INERTIA = 2.0 * 0.5**2 + 0.1


@pytest.mark.parametrize(("fields", "step"), [
    ({"spring": 1e8}, 2.0 / sqrt(1e8 / INERTIA)), ({"damping": 1e4}, 2.0 * INERTIA / 1e4),
])  # fmt: skip
def test_elements_too_stiff_for_explicit_steps_are_taken_implicitly(fields, step):
    """By the same figure as the error of explicit steps names: below it they stay, at twice of it they run away."""
    model, usual = pendulum(position=0.1, **fields), Simulation(pendulum(position=0.1, **fields))
    assert usual.method.name == "simgc"
    (implicit,) = usual.run(0.5).info["implicit_elements"]
    assert implicit.startswith("pivot.angle: ")
    told = rf"(running away|not a number); .*take dt below {step:.2g} s"
    with pytest.raises(Exception, match=told):
        Simulation(model, method="tree", dt=2 * step).run(2000 * step)
    Simulation(model, method="tree", dt=0.9 * step).run(900 * step)
    assert Simulation(model, dt=0.9 * step).method.name == "tree"
    assert (
        Simulation(model, dt=2 * step, tolerance=1e-6).method.name == "tree"
    )  # adaptive steps follow anything


def test_a_soft_spring_is_nothing_to_tell():
    assert Simulation(pendulum(spring=1e6)).method.name == "tree"
    assert not check(pendulum(spring=1e6), test_run=False).findings
    assert not check(pendulum(damping=1.0), test_run=False).findings


def test_vibrations_that_implicit_steps_lose_are_told():
    checkup = check(pendulum(spring=1e6, friction=0.1), test_run=False)
    frequency = sqrt(1e6 / INERTIA) / tau
    assert said(checkup, f"vibrates at {frequency:.3g} Hz", "damped out", level="note")
    model = pendulum()
    model.add(PositionServo("servo", "pivot", stiffness=1e6, damping=1.0))
    assert said(check(model, test_run=False), "servo", f"{frequency:.3g} Hz", level="note")
    # One that creeps to its place does not vibrate.
    model.drives["servo"] = dataclasses.replace(model.drives["servo"], damping=1e5)
    assert not check(model, test_run=False).findings


def test_loops_add_to_the_inertia_that_a_spring_feels():
    # Both uprights and the coupler of the parallelogram move: J = 2 m/3 + m for unit links, not m/3.
    model = chain(*PARALLELOGRAM, gravity=(0.0, 0.0, 0.0))
    inertia = 2 * 1.0 / 3 + 1.0
    stiffness = inertia * (tau * 100.0) ** 2
    checkup = check(changed(model, "pin0", spring=stiffness), test_run=False)
    assert said(checkup, "pin0.angle", "vibrates at 100 Hz", level="note")


# --- all at once, whatever is wrong ---


@pytest.mark.parametrize("name", scene_names())
def test_scenes_are_healthy(name):
    assert check(scene(name), test_run=False).ok


def test_broken_models_become_findings():
    empty = check(Model("empty"))
    assert said(empty, "the model has none", level="error")
    model = pendulum()
    model.add(Hinge("lost", "bob", "bib"))
    assert said(check(model), "hinge 'lost'.b", "did you mean 'bob'?", level="error")
    model = Model("massless")
    model.add(Body("ghost", mass=0.0))
    model.add(Hinge("pivot", GROUND, "ghost"))
    checkup = check(model)
    assert said(checkup, "has no inertia to accelerate", level="error")
    assert said(checkup, "bodies.ghost", "neither mass nor inertia")
    assert checkup.mobility == 1
    model = Model("fixed")
    model.add(solid())
    model.add(Weld("weld", GROUND, "body"))
    assert said(check(model), "nothing can move", level="warning")


def test_a_run_that_fails_is_a_finding():
    model = pendulum()
    model.add(Force("storm", "bob", force=(1e12, 0.0, 0.0), at=(0.0, 0.0, -1.0)))
    checkup = check(model)
    assert said(checkup, "test run", "running away", level="warning")
    assert checkup.ok


def test_the_command_prints_and_tells_programs():
    runner = CliRunner()
    text = runner.invoke(app, ["check", "peaucellier"]).output
    assert "7 bodies, 10 joints, 1 degree of freedom (Grübler's count: -8)" in text
    assert "overconstrained by 3: make '" in text
    report = json.loads(runner.invoke(app, ["check", "peaucellier", "--json"]).output)
    assert (report["mobility"], report["dof"], report["redundant_equations"]) == (1, -8, 9)
    assert len(report["redundant"]) == 10
    assert len(report["suggestions"]) == 6
    assert 0.0 < report["nearest_singular"]["distance"] <= report["singular_distance"]
    assert 0.0 <= report["nearest_singular"]["time"] <= 1.0
    report = json.loads(runner.invoke(app, ["check", "peaucellier", "--json", "--no-run"]).output)
    assert report["nearest_singular"] is None
