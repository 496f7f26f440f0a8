"""Redundant joints that the doctor names, and its cures, which keep the mobility."""

import numpy as np
import pytest

from helpers.checkups import PARALLELOGRAM, bennett, chain, said
from helpers.loops import looped
from helpers.models import solid
from helpers.trees import triple
from linkwork import Hinge, Model, Simulation, Spherical, scene
from linkwork.analysis.check import check
from linkwork.analysis.loosen import LOOSER, Replacement, with_changes
from linkwork.analysis.redundancy import diagnose
from linkwork.analysis.stresses import rings
from linkwork.compile.compiler import Compiled, compile_model
from linkwork.engine.coordinates.dynamics import body_pose, body_twist
from linkwork.engine.coordinates.tree import place
from linkwork.mechanism.mobility import analyse
from linkwork.model.item import GROUND
from linkwork.model.joints import JOINTS


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
