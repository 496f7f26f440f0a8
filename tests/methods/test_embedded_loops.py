"""Loops that close inside the tree are eliminated with it: against dense algebra, and as to what it costs."""

import numpy as np
import pytest

from benchmarks.vehicle import vehicle
from helpers.nets import rods
from linkwork import Simulation, scene
from linkwork.engine.solvers import layout
from linkwork.engine.steppers.joint_rows import assemble
from linkwork.engine.steppers.row_forces import solve
from linkwork.engine.tables import HELD, HOLD

SHIFT, RATE = 0.01, 0.3
"""Off the constraints by so much, so that all three right-hand sides are far from zero [rad or m; rad/s or m/s]."""


def evaluated(simulation, seed=0, first=7):
    """The working memory of the solver after an evaluation at a random state, the equations as dense matrices, and the
    accelerations. The first coordinates stay as they are: those of a free joint, say."""
    method, random = simulation.method, np.random.default_rng(seed)
    tables, constraints, work = method._tables, method._constraints, method._work
    q, v = simulation.q.copy(), simulation.v.copy()
    q[first:] += SHIFT * random.normal(size=len(q) - first)
    v += RATE * random.normal(size=len(v))
    a, n = np.zeros(len(v)), len(work.J)
    assemble(tables, constraints, work, q, v, 0.0)
    H = np.zeros((n, n))
    for d in range(1, n + 1):
        link, k = d, tables.dofs["depth"][d]
        while link != 0:
            H[d - 1, link - 1] = H[link - 1, d - 1] = work.H[d - 1, k]
            link, k = tables.dofs["parent"][link], k - 1
    solve(tables, constraints, work, 0.0, 1e-3, a, False, True)
    first, last, rows = (
        work.link["first"][:n, None],
        work.link["last"][:n, None],
        np.arange(work.row.shape[1]),
    )
    J = np.where((first <= rows) & (rows < last), work.J, 0.0).T
    on = work.flag[layout.ON] != 0
    matrix = np.block([[H, J[on].T], [J[on], np.zeros((on.sum(), on.sum()))]])
    return work, constraints.rows[on], matrix, a[work.link["rate"][:n]]


def test_loops_are_embedded_beside_rows_with_bounds():
    work = Simulation(vehicle(1, road=False, driven=True), dt=1e-3).method._work
    assert len(work.link) - len(work.J) == 12
    assert len(work.flag[layout.ON]) > 12  # motors, and springs, which are given


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("axles", [1, 2, 5])
def test_forces_and_corrections_of_a_vehicle_are_those_of_dense_algebra(axles, driven):
    """Its joint equations are embedded, its motors are not."""
    simulation = Simulation(vehicle(axles, road=False, driven=driven), dt=1e-3)
    simulation.method._constraints.rows["mode"] = HELD
    work, rows, matrix, a = evaluated(simulation)
    n, on = len(a), work.flag[layout.ON] != 0
    assert len(work.link) - n == 12 * axles
    assert on.sum() == (14 if driven else 12) * axles
    rate, load, nothing = work.link["rate"][:n], work.dof[layout.LOAD][:n], np.zeros(n)
    joint = rows["role"] == HOLD
    for forces, wanted, moved, pushed in (
        (load, (work.row[layout.WANT] + work.row[layout.TAKEN])[on], a, layout.P),
        (nothing, np.where(joint, -rows["phi"], 0.0), work.dof[layout.DELTA][rate], layout.PLACE),
        (
            nothing,
            np.where(joint, 0.0, rows["goal"]) - rows["rate"],
            work.dof[layout.DELTA_TURN][rate],
            layout.TURN,
        ),
    ):
        x = np.linalg.solve(matrix, np.concatenate([forces, wanted]))
        assert np.abs(x[:n]).max() > 1e-3
        np.testing.assert_allclose(moved, x[:n], rtol=0, atol=1e-11 * np.abs(x[:n]).max())
        np.testing.assert_allclose(work.row[pushed][on], -x[n:], rtol=0, atol=1e-11 * np.abs(x[n:]).max())
    np.testing.assert_allclose(
        work.row[layout.WANT][: 12 * axles], -rows["bias"][: 12 * axles], rtol=0, atol=1e-12
    )


def test_loops_that_share_their_joints():
    """Rows of a net are eliminated between dofs of the ball joints that carry them."""
    work, _, matrix, a = evaluated(Simulation(rods(3), method="simgc", dt=1e-3), first=4)
    n, on = len(a), work.flag[layout.ON] != 0
    assert 0 < len(work.link) - n < on.sum()  # some are embedded, some are not
    wanted = (work.row[layout.WANT] + work.row[layout.TAKEN])[on]
    x = np.linalg.solve(matrix, np.concatenate([work.dof[layout.LOAD][:n], wanted]))
    np.testing.assert_allclose(a, x[:n], rtol=0, atol=1e-11 * np.abs(x[:n]).max())


def test_a_net_of_ball_joints_moves_alike_in_both_formulations():
    one, other = (Simulation(rods(4), method=method, dt=1e-3).run(0.1) for method in ("simgc", "simmc"))
    assert np.ptp(other.array("positions"), axis=0).max() > 0.01
    # Fourth order: (h w)^4 of what moves, w some 30 rad/s.
    np.testing.assert_allclose(one.array("positions"), other.array("positions"), rtol=0, atol=1e-7)
    assert np.abs(one["energy.balance"]).max() < 1e-6


def test_what_an_elimination_touches_grows_with_the_number_of_axles():
    models = [vehicle(axles, road=False, driven=False) for axles in (2, 4, 8)]
    works = [Simulation(model, dt=1e-3).method._work for model in models]
    first, second, third = (int(work.near[1].sum() + work.link["near"].sum()) for work in works)
    assert third - second == 2 * (second - first)


def test_loops_of_a_vehicle_stay_closed_to_rounding():
    simulation = Simulation(vehicle(2, road=False, driven=False), dt=1e-3)
    record = simulation.run(0.3)
    assert record.info["worst_gap_m"] < 1e-14
    assert record.info["redundant_rows"] == []


def test_loops_beside_each_other_on_the_ground_are_not_embedded():
    work = Simulation(scene("n_four_bar", n=5), dt=1e-3).method._work
    assert len(work.link) == len(work.J)
