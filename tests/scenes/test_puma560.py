"""PUMA 560 against the check values of the Robotics Toolbox and an exact manoeuvre."""

import numpy as np
import pytest

from helpers.references import reference
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.dynamics import derive, inverse_dynamics
from linkwork.engine.coordinates.tree import mass_matrix, place
from linkwork.scenes import scene
from linkwork.scenes.puma560 import NOMINAL

# The published check values are rounded to four decimals.
ROUNDING = 6e-5
# Coulomb friction at the joints for positive rates: gear ratio times the motors' published values [N m].
COULOMB = np.abs([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686]) * [
    0.395, 0.126, 0.132, 0.0112, 0.00926, 0.00396,
]  # fmt: skip


def inverse(system, q, v, qdd):
    tau = np.zeros(6)
    inverse_dynamics(
        system.fresh_tables(), np.array(q, float), np.array(v, float), 0.0, np.array(qdd, float), tau
    )
    return tau


def test_gravity_load_at_the_nominal_pose():
    system = compile_model(scene("puma560"))
    expected = [0, 31.6399, 6.0351, 0, 0.0283, 0]
    np.testing.assert_allclose(inverse(system, NOMINAL, np.zeros(6), np.zeros(6)), expected, atol=ROUNDING)


def test_mass_matrix_at_the_nominal_pose():
    system = compile_model(scene("puma560"))
    tables = system.fresh_tables()
    place(tables.dofs, tables.islands, np.array(NOMINAL), np.zeros(6))
    H = np.zeros((6, 6))
    mass_matrix(tables.dofs, H)
    np.testing.assert_allclose(np.diag(H), [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941], atol=ROUNDING)
    off = {(0, 1): -0.4044, (0, 2): 0.1006, (0, 3): -0.0025, (1, 2): 0.3509, (1, 4): 0.0024, (2, 4): 0.0015}
    for (i, j), value in off.items():
        assert H[i, j] == pytest.approx(value, abs=ROUNDING)


@pytest.mark.parametrize(
    ("qdd", "expected"),
    [
        (0.0, [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]),
        (1.0, [32.4952, 60.867, 17.7436, 1.4545, 1.2991, 0.7138]),
    ],
)
def test_inverse_dynamics_with_friction(qdd, expected):
    system = compile_model(scene("puma560"))
    tau = inverse(system, NOMINAL, np.ones(6), np.full(6, qdd)) + COULOMB
    np.testing.assert_allclose(tau, expected, atol=2 * ROUNDING)


def test_forward_dynamics():
    # Viscous friction is in the model; the Toolbox adds Coulomb friction, so we take it off the drive.
    system = compile_model(scene("puma560"))
    qd = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0])
    drive = np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6]) - COULOMB
    tables = system.fresh_tables()
    free = np.zeros(6)
    derive(tables, np.array(NOMINAL), qd, 0.0, free)
    place(tables.dofs, tables.islands, np.array(NOMINAL), qd)
    H = np.zeros((6, 6))
    mass_matrix(tables.dofs, H)
    qdd = free + np.linalg.solve(H, drive)
    np.testing.assert_allclose(
        qdd, [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228], atol=2 * ROUNDING
    )


def test_torques_of_the_free_phases_of_the_manoeuvre():
    table = reference("puma560_manoeuvre_ref.csv")
    system = compile_model(scene("puma560", rotors=False, friction=False))
    free = np.flatnonzero(table["phase"] != 2)
    assert len(free) > 300
    for row in free:
        q, v, qdd, tau = (
            np.array([table[f"{name}{k}"][row] for k in range(1, 7)]) for name in ("q", "qd", "qdd", "tau")
        )
        # Printed with twelve digits; inertias of some 10 kg m² and accelerations of some 10 rad/s².
        np.testing.assert_allclose(inverse(system, q, v, qdd), tau, atol=1e-8)
