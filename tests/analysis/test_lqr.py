"""Gains of regulators against the Riccati solver of SciPy."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

from linkwork import Body, Hinge, LinkworkError, Model, Slider, TorqueSource, linearise
from linkwork.analysis.lqr import lqr


def poles(count=1, inputs=("rail",)):
    """A cart with pendulums that stand on it, one on the other."""
    model = Model("poles")
    model.add(Body("cart", mass=1.5, inertia=(1, 1, 1)))
    model.add(Slider("rail", "ground", "cart", axis=(1, 0, 0), damping=0.1))
    below = "cart"
    for k in range(count):
        model.add(
            Body(f"pole{k}", at=(0, 0, 0.5 * k), mass=0.3, com=(0, 0, 0.25), inertia=(0.01, 0.01, 0.01))
        )
        model.add(Hinge(f"pin{k}", below, f"pole{k}", at=(0, 0, 0.5 * k), axis=(0, 1, 0)))
        below = f"pole{k}"
    for name in inputs:
        model.add(TorqueSource(f"push_{name}", name))
    return model


@pytest.mark.parametrize(("count", "inputs"), [(1, ("rail",)), (2, ("rail",)), (2, ("rail", "pin1"))])
def test_gains_are_those_of_the_riccati_equation(count, inputs):
    system = linearise(poles(count, inputs))
    n, m = system.B.shape
    Q = np.diag(np.arange(1.0, n + 1)) + 0.1
    R = 0.5 * np.eye(m) + 0.1
    P = solve_continuous_are(system.A, system.B, Q, R)
    want = np.linalg.solve(R, system.B.T @ P)
    np.testing.assert_allclose(lqr(system, Q, R), want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
    assert np.linalg.eigvals(system.A - system.B @ want).real.max() < 0.0


def test_diagonals_do():
    system = linearise(poles())
    np.testing.assert_array_equal(
        lqr(system, [1, 2, 3, 4], [0.1]), lqr(system, np.diag([1, 2, 3, 4]), [[0.1]])
    )


@pytest.mark.parametrize(
    ("Q", "R", "told"),
    [
        ([1, 1, 1], [1], "Q must be a symmetric 4 × 4"),
        ([1, 1, 1, 1], [[1, 0], [0, 1]], "R must be a symmetric 1 × 1"),
        ([1, 1, 1, 1], [0], "R must be positive definite"),
        ([-1, 1, 1, 1], [1], "Q must not be negative"),
        ([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [1], "Q must be a symmetric"),
        ([0, 0, 0, 0], [1], "no gains bring every state to rest"),
    ],
)
def test_what_cannot_be_is_refused(Q, R, told):
    with pytest.raises(LinkworkError, match=told):
        lqr(linearise(poles()), Q, R)


def test_what_no_input_reaches_is_refused():
    model = poles()
    model.add(Body("apart", at=(0, 1, 0), mass=1, com=(0, 0, 0.2), inertia=(1, 1, 1)))
    model.add(Hinge("alone", "ground", "apart", at=(0, 1, 0), axis=(0, 1, 0)))
    with pytest.raises(LinkworkError, match="beyond the reach of the inputs"):
        lqr(linearise(model), np.ones(6), [1.0])
