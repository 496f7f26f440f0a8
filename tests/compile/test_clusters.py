"""Loops that share no joint, looked at one by one: the same answers as from all equations at once."""

import numpy as np
import pytest

from linkwork import scene
from linkwork.compile.rank import clusters, independent
from linkwork.engine.elements.stiffness import soft_rows
from linkwork.mechanism.closure import Closure, yielding
from linkwork.methods.rows import Start
from linkwork.scenes import car


def test_rows_and_columns_that_have_to_do_with_each_other():
    J = np.array(
        [
            [1.0, 0.0, 0.0, 2.0, 0.0],
            [0.0, 3.0, 0.0, 0.0, 1e-16],  # rounding ties nothing
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
    found = {(tuple(rows), tuple(columns)) for rows, columns in clusters(J)}
    assert found == {((0, 2), (0, 3)), ((1,), (1,)), ((), (2,)), ((), (4,))}


def test_independent_rows_of_clusters_span_all():
    """Blocks of rank 3 with 5 rows, shuffled: three rows of each, as many as singular values say."""
    random = np.random.default_rng(1)
    J = np.zeros((20, 24))
    for k in range(4):
        J[5 * k : 5 * k + 5, 6 * k : 6 * k + 6] = random.normal(size=(5, 3)) @ random.normal(size=(3, 6))
    J /= np.linalg.norm(J, axis=1)[:, None]
    rows, columns = random.permutation(20), random.permutation(24)
    J = J[np.ix_(rows, columns)]
    chosen = independent(J).kept
    assert len(chosen) == np.linalg.matrix_rank(J) == np.linalg.matrix_rank(J[chosen]) == 12
    assert list(chosen) == sorted(chosen)
    assert np.bincount(rows[chosen] // 5).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(
    "model", [car.train(2), scene("excavator"), scene("stewart")], ids=lambda model: model.name
)
def test_springs_yield_as_the_equations_of_all_say(model):
    """K W Kᵀ with W = H⁻¹ - H⁻¹ Jᵀ (J H⁻¹ Jᵀ)⁺ J H⁻¹, dense."""
    start = Start(model, False)
    soft = soft_rows(start.tree.rows.constraints)
    assert len(soft) > 0
    closure = Closure(start.tree, start.tree_q)
    found = yielding(closure, start.tree_q, soft)
    closure.gaps(start.tree_q)
    K, J = closure.kin.jacobian(soft), closure.kin.jacobian(closure.rows)
    inverse = np.linalg.inv(closure.kin.inertia())
    W = inverse - inverse @ J.T @ np.linalg.pinv(J @ inverse @ J.T, rcond=1e-12) @ J @ inverse
    # Ratios of inertias up to 1e4 in lengths of a metre: digits that subtracting in W costs.
    wanted = K @ W @ K.T
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
