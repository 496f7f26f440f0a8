"""`sim["joint.angle"] = x`: loops follow along their branch, in every method, or the error says what stays open."""

import re
from math import acos, atan2, cos, pi, radians, sin

import numpy as np
import pytest

from linkwork import Body, Hinge, LinkworkError, Model, Repeater, Simulation, Spherical, scene
from linkwork.model.item import GROUND
from linkwork.scenes.crank_rocker import BASE, COUPLER, CRANK, ROCKER, points
from linkwork.scenes.n_four_bar import rod

WAYS = [
    ("simgc", "direct"),
    ("simmc", "direct"),
    ("simgc", "impulses"),
    ("simmc", "impulses"),
    ("hybrid", None),
    ("topological", None),
    ("global", None),
    ("components", None),
]
ways = pytest.mark.parametrize(("method", "solver"), WAYS)
START = 60.0


def crank_rocker(method, solver, start=START):
    """Hinges are called crank, knee, wrist and rocker; the loop is cut at the last."""
    return Simulation(scene("crank_rocker", start=start, voltage=0.0), method=method, solver=solver)


def wrist(simulation):
    """Where coupler and lever meet and how fast, as each of them has it."""
    return [
        np.concatenate([part[:2] for part in simulation.point(*end)])
        for end in (("coupler", (COUPLER, 0.0, 0.0)), ("lever", (ROCKER, 0.0, 0.0)))
    ]


def trigonometry(angle, rate):
    """The same by the triangles of the four-bar; rates by central differences, exact to some 1e-9."""
    C = np.array(points(angle)["C"])
    d = 1e-5
    slope = (np.array(points(angle + d)["C"]) - np.array(points(angle - d)["C"])) / (2 * d)
    return np.concatenate([C, rate * slope])


def lever(angle):
    """Direction of the lever for one of the crank [rad]."""
    pin = points(angle)
    return atan2(pin["C"][1] - pin["D"][1], pin["C"][0] - pin["D"][0])


@ways
@pytest.mark.parametrize("goals", [[0.3], [-2.0, 1.0], [9.0]])
def test_a_loop_closes_where_its_crank_is_set(method, solver, goals):
    simulation = crank_rocker(method, solver)
    simulation["crank.angle_rate"] = 2.0
    for goal in goals:
        simulation["crank.angle"] = goal
        assert simulation["crank.angle"] == pytest.approx(goal, abs=1e-12)
        assert simulation["crank.angle_rate"] == pytest.approx(2.0, rel=1e-9)
        for seen in wrist(simulation):
            assert seen == pytest.approx(trigonometry(radians(START) + goal, 2.0), abs=1e-8)
        assert simulation["rocker.angle"] == pytest.approx(
            lever(radians(START) + goal) - lever(radians(START)), abs=1e-11
        )


@ways
def test_a_joint_that_closes_the_loop_can_be_set(method, solver):
    simulation = crank_rocker(method, solver)
    goal = lever(radians(START) + 0.4) - lever(radians(START))
    simulation.set({"rocker.angle": goal, "rocker.angle_rate": -0.5})
    assert simulation["crank.angle"] == pytest.approx(0.4, abs=1e-9)
    assert simulation["rocker.angle"] == pytest.approx(goal, abs=1e-12)
    assert simulation["rocker.angle_rate"] == pytest.approx(-0.5, rel=1e-9)
    rate = simulation["crank.angle_rate"]
    for seen in wrist(simulation):
        assert seen == pytest.approx(trigonometry(radians(START) + 0.4, rate), abs=1e-8)


@ways
def test_a_value_out_of_reach_names_the_joint_and_the_range(method, solver):
    """The lever turns back where crank and coupler are in line."""
    simulation = crank_rocker(method, solver)
    q, v = simulation.q.copy(), simulation.v.copy()
    with pytest.raises(
        LinkworkError, match=r"'rocker.angle' cannot be set to 3 rad: joint '\w+' would stay open"
    ) as info:
        simulation["rocker.angle"] = 3.0
    assert np.array_equal(simulation.q, q)
    assert np.array_equal(simulation.v, v)
    numbers = re.findall(r"(-?[\d.]+(?:e-?\d+)?) rad", str(info.value))
    assert float(numbers[1]) == 0.0
    ends = [
        pi - acos((BASE**2 + ROCKER**2 - far**2) / (2 * BASE * ROCKER)) - lever(radians(START))
        for far in (COUPLER + CRANK, COUPLER - CRANK)
    ]
    assert sorted(map(float, numbers[2:])) == pytest.approx(sorted(ends), abs=2e-6)


@ways
def test_the_branch_is_kept_whatever_the_start(method, solver):
    """A start that is off by 1e-9, a crank already turned: the same pose."""
    one, two = crank_rocker(method, solver), crank_rocker(method, solver, start=START + 40.0)
    one["crank.angle"] = 1e-9
    one["crank.angle"] = 2.5
    two["crank.angle"] = 2.5 - radians(40.0)
    for a, b in zip(wrist(one), wrist(two), strict=True):
        assert a == pytest.approx(b, abs=1e-10)


def five_bar(left=None, right=None):
    """Two cranks, which may start turned, and two rods: two freedoms. Gravity pulls along -y."""
    model = Model("five_bar", gravity=(0.0, -9.81, 0.0))
    pins = {"A": (0.0, 0.0), "B": (0.0, 1.0), "C": (1.0, 1.8), "D": (2.0, 1.0), "E": (2.0, 0.0)}
    for name, ends in (("left", "AB"), ("up", "BC"), ("down", "DC"), ("right", "ED")):
        model.add(rod(name, pins[ends[0]], pins[ends[1]], 1.0))
    for name, a, b in (
        ("A", GROUND, "left"), ("B", "left", "up"), ("C", "up", "down"), ("D", "right", "down"),
        ("E", GROUND, "right"),
    ):  # fmt: skip
        start = {"A": left, "E": right}.get(name)
        model.add(Hinge(name, a, b, at=(*pins[name], 0.0), position=start))
    return model


@ways
def test_it_runs_on_as_if_it_had_started_there(method, solver):
    """Rates, too: nothing is left of where it came from.

    But impulses are held to what they leave in a step, and independent coordinates are those that were chosen on the
    way: trapezoids over other coordinates differ by h².
    """
    simulation = Simulation(five_bar(), method=method, solver=solver)
    simulation.run(0.02)
    simulation.set({"A.angle": 0.3, "E.angle": 0.1, "A.angle_rate": 1.0, "E.angle_rate": -1.0})
    other = Simulation(five_bar(0.3, 0.1), method=method, solver=solver)
    other.set({"A.angle_rate": 1.0, "E.angle_rate": -1.0})
    for each in (simulation, other):
        record = each.run(0.05)
    assert record["solver.gap"].max() < (1e-9 if solver != "impulses" else 1e-4)
    for name in "ABCDE":
        near = 1e-5 if solver == "impulses" else 1e-6 if method == "topological" else 1e-9
        assert simulation[f"{name}.angle"] == pytest.approx(other[f"{name}.angle"], abs=near)
        assert simulation[f"{name}.angle_rate"] == pytest.approx(other[f"{name}.angle_rate"], abs=100 * near)


@ways
def test_several_coordinates_are_set_together(method, solver):
    simulation = Simulation(five_bar(), method=method, solver=solver)
    simulation.set({"A.angle": 0.2, "E.angle": -0.1, "A.angle_rate": 1.0, "E.angle_rate": 0.5})
    assert simulation["A.angle"] == pytest.approx(0.2, abs=1e-12)
    assert simulation["E.angle"] == pytest.approx(-0.1, abs=1e-12)
    assert simulation["A.angle_rate"] == pytest.approx(1.0, rel=1e-9)
    assert simulation["E.angle_rate"] == pytest.approx(0.5, rel=1e-9)
    B, D = np.array([-sin(0.2), cos(0.2)]), np.array([2.0 + sin(0.1), cos(0.1)])
    C = simulation.point("up", (np.hypot(1.0, 0.8), 0.0, 0.0))[0][:2]
    assert np.linalg.norm(C - B) == pytest.approx(np.hypot(1.0, 0.8), abs=1e-11)
    assert np.linalg.norm(C - D) == pytest.approx(np.hypot(1.0, 0.8), abs=1e-11)
    assert C[1] > max(B[1], D[1])  # the branch it was on


@ways
def test_what_cannot_be_set_together_is_told(method, solver):
    simulation = Simulation(five_bar(), method=method, solver=solver)
    with pytest.raises(
        LinkworkError, match=r"'A.angle', 'E.angle' cannot be set so together: joint '\w+' would stay"
    ):
        simulation.set({"A.angle": 1.2, "E.angle": -1.2})


@ways
def test_freedoms_that_are_not_set_hardly_move(method, solver):
    """Turning the left crank by 0.01, the smallest motion of all joints together moves the right one by less."""
    simulation = Simulation(five_bar(), method=method, solver=solver)
    simulation["A.angle"] = 0.01
    others = [simulation[f"{name}.angle"] for name in "BCDE"]
    assert np.linalg.norm(others) < 0.03


@ways
def test_couplings_follow(method, solver):
    model = Model("gears", gravity=(0.0, 0.0, -9.81))
    for k, name in enumerate(("one", "two")):
        model.add(Body(name, at=(k, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.2, 0.3)))
        model.add(Hinge(f"{name}_axle", GROUND, name, at=(k, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    model.add(Repeater("mesh", "two_axle", "one_axle", ratio=-2.0))
    simulation = Simulation(model, method=method, solver=solver)
    simulation.set({"one_axle.angle": 0.7, "one_axle.angle_rate": 3.0})
    assert simulation["two_axle.angle"] == pytest.approx(-1.4, abs=1e-12)
    assert simulation["two_axle.angle_rate"] == pytest.approx(-6.0, rel=1e-12)


def test_beside_the_loop_a_coordinate_is_set_as_in_a_tree():
    model = five_bar()
    model.add(rod("tail", (0.0, 1.0), (-1.0, 1.0), 1.0))
    model.add(Hinge("T", "left", "tail", at=(0.0, 1.0, 0.0)))
    simulation = Simulation(model)
    before = simulation.q.copy()
    simulation["T.angle"] = 0.123
    assert simulation["T.angle"] == 0.123
    assert np.count_nonzero(simulation.q != before) == 1


def test_a_rate_that_the_pose_does_not_allow_is_refused():
    """Where crank and coupler are in line, the lever stands still whatever the crank does."""
    simulation = crank_rocker("simgc", "direct")
    far = COUPLER + CRANK
    dead = acos((BASE**2 + far**2 - ROCKER**2) / (2 * BASE * far))
    simulation["crank.angle"] = dead - radians(START)
    with pytest.raises(
        LinkworkError, match=r"'rocker.angle_rate' cannot be set: in this pose the loops through 'rocker'"
    ):
        simulation["rocker.angle_rate"] = 1.0
    simulation["crank.angle_rate"] = 1.0
    assert simulation["rocker.angle_rate"] == pytest.approx(0.0, abs=1e-7)


def test_part_of_a_ball_in_a_loop_is_refused():
    model = Model("balls")
    for name, x in (("one", 0.0), ("two", 1.0)):
        model.add(Body(name, at=(x, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.1, 0.1)))
        model.add(Spherical(f"{name}_ball", GROUND, name, at=(x, 0.0, 1.0)))
    model.add(Spherical("middle", "one", "two", at=(0.5, 0.0, 0.0)))
    simulation = Simulation(model)
    with pytest.raises(LinkworkError, match=r"'one_ball\.\w+' is part of the orientation of a ball"):
        simulation[simulation.system.coordinates[0].name] = 0.5
    simulation["one_ball.wx"] = 0.3
    assert simulation["one_ball.wx"] == pytest.approx(0.3, rel=1e-12)


@ways
def test_unknown_names_and_numbers_are_refused(method, solver):
    simulation = crank_rocker(method, solver)
    with pytest.raises(LinkworkError, match=r"there is no coordinate or rate 'crank.angel'.*'crank.angle'"):
        simulation["crank.angel"] = 1.0
    with pytest.raises(LinkworkError, match=r"'crank.angle' must be a finite number"):
        simulation["crank.angle"] = float("nan")
