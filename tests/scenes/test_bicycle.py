"""The bicycle rolls in contact as its linear equations say, and falls where they say so."""

import numpy as np
import pytest

from helpers import bicycle as bike
from linkwork import Simulation, scene


def linear(speed, push, times):
    """Steering angle by the published coefficients after a rate of lean."""
    inverse = np.linalg.inv(bike.M)
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, :2] = -inverse @ (9.81 * bike.K0 + speed**2 * bike.K2)
    A[2:, 2:] = -inverse @ (speed * bike.C1)
    values, vectors = np.linalg.eig(A)
    parts = np.linalg.solve(vectors, [0.0, 0.0, push, 0.0])
    return np.real(vectors[1] @ (parts[:, None] * np.exp(np.outer(values, times))))


@pytest.mark.slow
@pytest.mark.parametrize("speed", [5.0, 3.5])
def test_it_swings_as_the_linear_equations_say(speed):
    """At 5 m/s it rights itself, at 3.5 it weaves more and more. Steps are of first order: 1 ms of a second's decay."""
    push = 0.01
    record = Simulation(scene("bicycle", speed=speed, push=push), dt=1e-3).run(2.0, every=0.02)
    wanted = linear(speed, push, record.time)
    found = -record["steer.angle"]  # theirs is positive to the right
    assert abs(found - wanted).max() < 0.02 * abs(wanted).max()  # 1.5 and 1 %, half with half the step
