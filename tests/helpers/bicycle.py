"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab, "Linearized dynamics equations for the balance
and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007): what follows
from the parameters of the scene `bicycle`.
"""

import numpy as np

from linkwork import scene

REAR = 0.3

# Coefficients of M q'' + v C1 q' + (g K0 + v² K2) q = f, lean and steer, as published.
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
AT_5 = (-14.07838969279822, -0.77534188219585 + 4.46486771378823j, -0.32286642900409)
"""Eigenvalues at 5 m/s, as published: castering, weave, capsize [1/s]."""


def published(speed, gravity=9.81):
    """Eigenvalues by the published coefficients."""
    inverse = np.linalg.inv(M)
    A = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-inverse @ (gravity * K0 + speed**2 * K2), -inverse @ (speed * C1)]]
    )
    return np.linalg.eigvals(A)


def bicycle(speed, heading=0.0, place=(0.0, 0.0)):
    """Running straight, upright and rolling, in a direction [rad]."""
    return scene("bicycle", speed=speed, push=0.0, heading=heading, x=place[0], y=place[1])
