"""Tangents of implicit steps: sparse factors, and exact derivatives against differences."""

import dataclasses

import numpy as np
import pytest

from helpers.loops import looped
from helpers.residuals import Residual, dense
from helpers.trees import Link, Plan, build, random_state, triple, unit
from linkwork import (
    Body,
    BodyFunction,
    Bushing,
    DCMotor,
    Force,
    Hinge,
    JointFunction,
    LineFunction,
    Model,
    PositionServo,
    Sine,
    Spring,
    Torque,
    TorqueSource,
    about,
)
from linkwork.compile.compiler import compile_model
from linkwork.compile.constrain import MEASURED
from linkwork.compile.order import elimination_order
from linkwork.engine.elements import LAWS
from linkwork.engine.kernels.skyline import (
    LOWER,
    START,
    add,
    factor,
    factor_rows,
    new_skyline,
    solve,
    solve_rows,
)
from linkwork.engine.loads import JOINT_FUNCTION, KIND_CODES
from linkwork.engine.solvers.equations import SOFT
from linkwork.engine.tables import COORDINATE, DISTANCE, DOT, SPIN, USER_LAW
from linkwork.fuzz.random_mechanisms import random_mechanism
from linkwork.model.joints import JOINTS

# Differences are good to 1e-10 of the third derivatives, which are some 100 times what is differentiated: coordinates
# are of size 1, springs of points have lengths down to 0.3 m. Loads are differentiated by differences themselves.
EXACT = 1e-8


# --- sparse factors ---


@pytest.mark.parametrize("seed", range(20))
def test_sparse_factors_solve_like_dense_ones(seed):
    rng = np.random.default_rng([seed, 40])
    n = int(rng.integers(1, 25))
    cliques = [
        {int(i) for i in rng.choice(n, min(n, rng.integers(1, 5)), replace=False)}
        for _ in range(rng.integers(n + 1))
    ]
    touching = [{k for k, clique in enumerate(cliques) if i in clique} for i in range(n)]
    order = elimination_order(touching, both_ends=True) if seed % 2 else [int(i) for i in rng.permutation(n)]
    matrix = new_skyline(order, cliques)
    A = np.zeros((n, n))
    for clique in [*cliques, *({i} for i in range(n))]:
        for i in clique:
            for j in clique:
                x = float(rng.normal()) + (
                    3.0 * n if i == j else 0.0
                )  # diagonally dominant: no pivoting needed
                A[i, j] += x
                add(matrix.shape, matrix.values, i, j, x)
    np.testing.assert_array_equal(dense(matrix), A)
    b = rng.normal(size=n)
    smallest, x = factor(matrix), b.copy()
    pivots = [1.0 / matrix.values[LOWER, matrix.shape[START, i] + i] for i in range(n)]
    solve(matrix, x)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0.0, atol=1e-13)
    assert smallest == pytest.approx(min(pivots), rel=1e-14)
    assert np.prod(pivots) == pytest.approx(np.linalg.det(A), rel=1e-11)


def test_rows_that_follow_from_others_are_left_out():
    """Of a singular matrix B Bᵀ with a solution: unknowns of dependent rows are zero, and all rows are met."""
    rng = np.random.default_rng(41)
    n, rank = 12, 7
    B = rng.normal(size=(n, rank))
    A, b = B @ B.T, B @ rng.normal(size=rank)
    matrix = new_skyline(list(range(n)), [set(range(n))])
    for i in range(n):
        for j in range(n):
            add(matrix.shape, matrix.values, i, j, A[i, j])
    x = b.copy()
    factor_rows(matrix.shape, matrix.values, n, 1e-11)
    solve_rows(matrix.shape, matrix.values, n, x)
    assert np.count_nonzero(x) == rank
    # Rounding times the condition of the leading block, some 1e4 for random numbers.
    np.testing.assert_allclose(A @ x, b, rtol=0.0, atol=1e-10)


def test_elements_outside_the_shape_take_no_room():
    matrix = new_skyline([2, 0, 1], [{0, 1}])
    assert matrix.values.shape == (2, 4)  # three pivots and one pair


# --- motion of trees ---


def random_motion(residual, seed):
    """A state of a tree far from its start, and accelerations."""
    rng = np.random.default_rng([seed, 41])
    q, v = random_state(residual.method.system, seed)
    return q, v, rng.normal(size=residual.n)


def check(residual, q, v, a):
    assert max(residual.misses(q, v, a)) < EXACT


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", JOINTS)
def test_motion_of_every_joint(kind, backwards):
    """Every joint on a body that moves, with another behind it."""
    links = (Link("universal"), Link(kind, 0, backwards), Link("spherical", 1, not backwards), Link(kind, 2))
    for seed in range(3):
        residual = Residual(build(Plan(links, seed=seed, passive=False, decades=1.0)))
        check(residual, *random_motion(residual, seed))


@pytest.mark.parametrize("backwards", [False, True])
def test_chains_of_balls(backwards):
    links = tuple(Link("spherical", i - 1, backwards ^ (i == 2)) for i in range(4))
    residual = Residual(build(Plan(links, seed=5, passive=False, decades=1.0)))
    check(residual, *random_motion(residual, 5))


@pytest.mark.parametrize("seed", range(20))
def test_motion_of_random_trees(seed):
    residual = Residual(random_mechanism(seed, loops=(0, 0), redundant=0.0, decades=2.0, extras=False))
    check(residual, *random_motion(residual, seed))


# --- everything that pushes ---


def stiffening(t, x, v, parameters, out):
    stretch = x[0] - parameters[0]
    out[0] = parameters[1] * stretch**3 + parameters[2] * v[0] * x[0] * np.cos(t)


def wind(t, x, v, parameters, out):
    """Drag that depends on place, attitude and speed."""
    speed = v[3] - np.sin(x[1] + t)
    out[0] = parameters[0] * x[3] * v[1]
    out[2] = x[7] * v[2] * v[2]
    out[3] = -parameters[0] * speed * (1.0 + x[3] * x[3])
    out[5] = parameters[0] * x[11] * x[0]


def muscle(t, x, v, parameters, out):
    """A force on every rate of a joint that depends on all its coordinates and rates."""
    for i in range(out.shape[0]):
        for k in range(x.shape[0]):
            out[i] += parameters[0] * np.sin((i + 1.0) * x[k] + t)
        for k in range(v.shape[0]):
            out[i] -= parameters[1] * (1.0 + i) * v[k] * x[0]


def one(rng, things):
    return things[int(rng.integers(len(things)))]


def pushed(seed, natural, loops=2):
    """A random mechanism with every load, spring, damper and drive that implicit methods take."""
    rng = np.random.default_rng([seed, 42])
    model = looped(rng, seed, tuple(JOINTS), links=4, loops=loops, passive=True, decades=1.0)
    system = compile_model(model, rows=True)
    for name, joint in model.joints.items():
        if natural or not system.joints[name].in_tree:
            # A rotor there feels third derivatives of the coordinate, which the tangent leaves out on purpose.
            model.joints[name] = dataclasses.replace(joint, armature=0.0)
    bodies, spots = [*model.bodies], {name: np.array(body.at) for name, body in model.bodies.items()}

    def near(body):
        return triple(spots[body] + rng.uniform(-0.3, 0.3, 3))

    wave = Sine(0.7, phase=0.4, offset=0.5)
    for k, follows in enumerate((False, True)):
        body = one(rng, bodies)
        force, torque = triple(3.0 * unit(rng)), triple(unit(rng))
        model.add(Force(f"force{k}", body, force=force, at=near(body), follows=follows, signal=wave))
        model.add(Torque(f"torque{k}", one(rng, bodies), torque=torque, follows=follows))
    far = triple(spots["body3"] + 0.8 * unit(rng))
    model.add(Spring("spring", "body0", "body3", at_a=near("body0"), at_b=far, stiffness=20.0, damping=2.0))
    line = LineFunction(
        "line", "ground", "body2", stiffening, at_a=near("body1"), at_b=far, parameters=(0.4, 9.0, 0.6)
    )
    model.add(line)
    model.add(dataclasses.replace(line, name="along", axis=triple(unit(rng))))
    per_axis = {"stiffness": (20.0, 5.0, 9.0), "damping": (0.5, 1.0, 2.0), "rest": (0.2, -0.1, 0.3)}
    turned = {"rotation": about((1.0, 2.0, -1.0), 1.0), "at_a": near("body1"), "at_b": far}
    model.add(Bushing("bushing", "body1", "body3", **turned, **per_axis))
    model.add(BodyFunction("wind", one(rng, bodies), wind, parameters=(0.7,)))
    for name, joint in list(model.joints.items()):
        placed = system.joints[name]
        if not joint.rates:
            continue
        rate = one(rng, joint.rates).removesuffix("_rate")
        common = {"coordinate": rate}
        if not natural and placed.in_tree:
            model.add(JointFunction(f"muscle_{name}", name, muscle, parameters=(0.8, 0.2)))
        rotor = 0.05 if placed.in_tree and not natural else 0.0
        drives = (
            TorqueSource(f"drive_{name}", name, command=2.0, signal=wave, **common),
            PositionServo(f"drive_{name}", name, command=0.3, stiffness=15.0, damping=1.0, **common),
            PositionServo(
                f"drive_{name}", name, command=9.0, stiffness=15.0, damping=0.1, strength=3.0, **common
            ),
            DCMotor(
                f"drive_{name}", name, command=0.4, stall_torque=0.3, idle_speed=20.0, time_constant=rotor, gear=4.0,
                **common,
            ),
        )  # fmt: skip
        model.add(one(rng, drives))
    return model


def near_start(residual, seed, far):
    """A state some way from the start, rates and accelerations that leave bodies rigid."""
    rng = np.random.default_rng([seed, 43])
    q = residual.moved(residual.start, far * rng.normal(size=residual.n))
    N = residual.rigid(q)
    return q, N @ rng.normal(size=N.shape[1]), N @ rng.normal(size=N.shape[1])


@pytest.mark.parametrize("seed", range(20))
def test_everything_that_pushes_a_tree(seed):
    """Loops need not be closed: springs of the joints that close them measure what there is."""
    residual = Residual(pushed(seed, natural=False))
    check(residual, *near_start(residual, seed, 0.2))


@pytest.mark.parametrize("seed", range(20))
def test_everything_that_pushes_in_natural_coordinates(seed):
    residual = Residual(pushed(seed, natural=True), "global")
    check(residual, *near_start(residual, seed, 0.0))


@pytest.mark.parametrize("method", ["hybrid", "global"])
def test_every_kind_of_row_and_load_is_among_them(method):
    """What the random mechanisms above push with."""
    natural = method == "global"
    kinds, loads = set(), set()
    for seed in range(20):
        residual = Residual(pushed(seed, natural), method)
        soft = residual.constraints.rows[residual.work.kept[: len(residual.constraints.rows)] == SOFT]
        loads |= set(residual.tables.loads["kind"].tolist())
        kinds |= {(int(row["kind"]), int(row["law"])) for row in soft}
    along_one_measure = {code for load, code in KIND_CODES.items() if load in MEASURED}  # tyres have no kind
    assert loads == set(KIND_CODES.values()) - along_one_measure - ({JOINT_FUNCTION} if natural else set())
    number = {law.name: i for i, law in enumerate(LAWS)}
    wanted = {(COORDINATE, number[law]) for law in ("spring", "torque", "position_servo", "dc_motor")}
    wanted |= {(kind, number["spring"]) for kind in (DISTANCE, SPIN, DOT)}
    assert kinds >= wanted | {(DISTANCE, USER_LAW), (DOT, USER_LAW)}


def rotor(armature):
    """A four-bar whose last hinge, which closes it, has a rotor."""
    model = Model("four_bar")
    places = ((0.0, 0.0), (0.1, 0.4), (0.8, 0.6), (0.9, 0.0))
    names = ("crank", "coupler", "rocker")
    for name, one, other in zip(names, places[:-1], places[1:], strict=True):
        at = (0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1]), 0.0)
        model.add(Body(name, mass=1.0, inertia=(0.02, 0.03, 0.04), at=at))
    chain = ("ground", *names, "ground")
    for k, (x, y) in enumerate(places):
        field = {"armature": armature} if k == 3 else {}
        model.add(Hinge(f"pin{k}", chain[k], chain[k + 1], at=(x, y, 0.0), **field))
    return model


def test_a_rotor_on_a_joint_that_closes_a_loop_is_in_the_inertia():
    """Its own curvature is left out; in a plane, where angles add up, there is none."""
    residual = Residual(rotor(0.7))
    method = residual.method
    assert "pin3.angle: armature" in set(method.system.rows.names) - set(method.outcome()["degenerate_rows"])
    state = near_start(residual, 3, 0.3)
    check(residual, *state)
    more = residual.tangents(*state)[0] - Residual(rotor(0.0)).tangents(*state)[0]
    assert np.linalg.matrix_rank(more, tol=1e-9) == 1
