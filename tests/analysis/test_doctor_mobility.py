"""The doctor against facts of mechanism theory: mobility, redundancy, singular positions."""

import dataclasses
from math import cos, pi, sin

import numpy as np
import pytest

from helpers.checkups import PARALLELOGRAM, bennett, chain, said
from helpers.models import solid
from linkwork import Hinge, Model, Simulation, scene
from linkwork.analysis.check import check
from linkwork.analysis.redundancy import diagnose
from linkwork.compile.compiler import compile_model
from linkwork.engine.elements import Repeater
from linkwork.mechanism.mobility import analyse
from linkwork.model.item import GROUND

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
