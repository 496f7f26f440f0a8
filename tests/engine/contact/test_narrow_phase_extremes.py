"""The narrow phase under whatever is thrown at it."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.colliding import (
    HULLS,
    KINDS,
    NAMES,
    PAIRS,
    RECORDS,
    SOLID_OF,
    Scene,
)
from helpers.processes import python
from linkwork.engine.contact.collide import collide_pairs
from linkwork.engine.contact.geometry import (
    MOST,
    contact_rows,
    make_scratch,
    shape_rows,
)
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, PLANE, SPHERE, TORUS

# --- whatever is thrown at it ---


def awkward(count, seed):
    """Shapes of all kinds and sizes, often coincident, parallel or touching."""
    rng = np.random.default_rng(seed)
    shapes = shape_rows(2 * count)
    kind = rng.choice([PLANE, *KINDS], size=2 * count)
    scale = np.repeat(10.0 ** rng.choice([-9.0, -3.0, 0.0, 0.0, 0.0, 4.0], size=count), 2)
    mixed = rng.random(2 * count) < 0.05
    scale[mixed] = 10.0 ** rng.uniform(-9, 4, size=np.count_nonzero(mixed))
    dims = rng.choice([0.5, 1.0, 1.0, 2.0], size=(2 * count, 3))
    needle = rng.random(2 * count) < 0.1
    dims[needle, 0] *= 1e-6
    hull = kind == HULL
    shapes["kind"], shapes["dims"] = kind, dims * scale[:, None]
    for name in ("vertex", "vertices", "face", "faces", "edge", "edges"):
        shapes[name][kind == BOX] = {"vertices": 8, "faces": 6, "edges": 12}.get(name, 0)
    chosen = RECORDS[rng.integers(len(RECORDS), size=np.count_nonzero(hull))]
    for name in ("vertex", "vertices", "face", "faces", "edge", "edges"):
        shapes[name][hull] = chosen[name]
    shapes["dims"][hull] = scale[hull, None]
    grid = rng.choice([-1.0, -0.5, 0.0, 0.0, 0.5, 1.0], size=(2 * count, 3))
    positions = (
        np.where(rng.random((2 * count, 1)) < 0.6, grid, rng.normal(size=(2 * count, 3))) * scale[:, None]
    )
    rotations = Rotation.random(2 * count, random_state=rng).as_matrix()
    quarter = Rotation.from_euler(
        "xyz", 45.0 * rng.integers(0, 8, size=(2 * count, 3)), degrees=True
    ).as_matrix()
    nearly = Rotation.from_rotvec(
        10.0 ** rng.uniform(-17, -4, (2 * count, 1)) * rng.normal(size=(2 * count, 3))
    )
    which = rng.random(2 * count)
    rotations = np.where((which < 0.4)[:, None, None], quarter, rotations)
    rotations = np.where((which > 0.8)[:, None, None], nearly.as_matrix() @ quarter, rotations)
    pairs = np.stack([2 * np.arange(count), 2 * np.arange(count) + 1], axis=1)
    return shapes, positions, np.ascontiguousarray(rotations.reshape(-1, 9)), pairs, scale


def survive(count, seed):
    shapes, positions, rotations, pairs, scale = awkward(count, seed)
    counts, out = np.zeros(count, dtype=np.int64), contact_rows(count)
    collide_pairs(shapes, positions, rotations, pairs, HULLS, 1e5, make_scratch(HULLS, shapes), counts, out)
    planes = np.all(shapes["kind"][pairs] == PLANE, axis=1)
    assert np.all(counts[planes] == 0)
    assert np.all((counts[~planes] >= 1) & (counts[~planes] <= MOST))
    valid = np.arange(MOST)[None, :] < counts[:, None]
    for name in ("a", "b", "normal", "distance"):
        assert np.all(np.isfinite(out[name][valid]))
    np.testing.assert_allclose(np.linalg.norm(out["normal"][valid], axis=1), 1.0, atol=1e-12)
    # Every normal is worth its distance: supports of both shapes along the nearest contact's.
    best = np.argmin(np.where(valid, out["distance"], np.inf), axis=1)
    rows = np.arange(count)
    n, distance = out["normal"][rows, best], out["distance"][rows, best]
    bound = np.zeros(count)
    for side, sign in ((0, 1.0), (1, -1.0)):
        k = pairs[:, side]
        m = np.einsum("ij,ijk->ik", sign * n, rotations[k].reshape(-1, 3, 3))
        dims, kind = shapes["dims"][k], shapes["kind"][k]
        reach = np.select(
            [
                kind == SPHERE,
                kind == CAPSULE,
                kind == BOX,
                kind == CYLINDER,
                kind == ELLIPSOID,
                kind == TORUS,
            ],
            [
                dims[:, 0],
                dims[:, 0] + 0.5 * dims[:, 1] * abs(m[:, 2]),
                0.5 * np.sum(abs(m) * dims, axis=1),
                dims[:, 0] * np.hypot(m[:, 0], m[:, 1]) + 0.5 * dims[:, 1] * abs(m[:, 2]),
                np.linalg.norm(m * dims, axis=1),
                dims[:, 0] * np.hypot(m[:, 0], m[:, 1]) + dims[:, 1],
            ],
        )
        for vertex, solid in SOLID_OF.items():
            this = (kind == HULL) & (shapes["vertex"][k] == vertex)
            reach[this] = np.max(m[this] @ solid.vertices.T, axis=1) * dims[this, 0]
        bound -= reach + sign * np.einsum("ij,ij->i", n, positions[k])
    size = np.max(scale[pairs], axis=1) * 10.0
    error = abs(bound - distance)[~planes] / size[~planes]
    worst = int(np.argmax(error))
    k = pairs[~planes][worst]
    said = (
        shapes[k],
        positions[k].tolist(),
        rotations[k].tolist(),
        counts[~planes][worst],
        out[~planes][worst],
    )
    assert error[worst] < 1e-8, said


def test_anything_goes():
    survive(100_000, seed=1)


@pytest.mark.slow
def test_anything_goes_a_million_times():
    for seed in range(10):
        survive(100_000, seed=100 + seed)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda k: NAMES[k])
def test_coincident_shapes(a, b):
    """The same place and the same axes: a sensible depth, and the same if the second shape is turned a little."""
    scene = Scene((a, b), 100, seed=3, apart=0.0, aligned=1.0).run()
    assert np.all(scene.distance < 0.0)
    for i in range(scene.n):
        assert np.max(scene.gap(i, scene.candidates(i))) < scene.distance[i] + 1e-9
        assert abs(scene.gap(i, scene.normal[i]) - scene.distance[i]) < 1e-9


def test_plain_python_gives_the_same():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_narrow_phase import *\n"
        "for a, b in [(PLANE, HULL)] + PAIRS:\n"
        "    print(np.round(Scene((a, b), 4, seed=6).run().distance, 9).tolist())\n"
    )
    here = Path(__file__).parent
    printed = [
        python("-c", code, here, here.parents[1], environment=extra)
        for extra in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert len(printed[0]) > 100
    assert printed[0] == printed[1]
