"""Pieces follow their bodies."""

import numpy as np

from linkwork.model.rotation import matrix
from linkwork.view.place import place_instances


def test_pieces_ride_on_their_bodies_and_on_the_ground():
    random = np.random.default_rng(0)
    positions, at = random.normal(size=(5, 3)), random.normal(size=(6, 3))
    rotations, turns = random.normal(size=(5, 4)), random.normal(size=(6, 4))
    for quaternions in (rotations, turns):
        quaternions /= np.linalg.norm(quaternions, axis=1)[:, None]
    bodies = np.array([0, 1, 2, -1, 4, 3])
    p, q = place_instances(positions, rotations, bodies, at, turns)
    for i, body in enumerate(bodies):
        R, origin = (np.eye(3), np.zeros(3)) if body < 0 else (matrix(rotations[body]), positions[body])
        np.testing.assert_allclose(p[i], origin + R @ at[i], atol=1e-14)
        np.testing.assert_allclose(matrix(q[i]), R @ matrix(turns[i]), atol=1e-14)
