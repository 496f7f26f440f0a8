"""The broad phase against all pairs one by one: every arrangement, motion, every filter, its growth."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from helpers.models import random_rotation
from linkwork.engine.contact import broad
from linkwork.engine.contact.geometry import gather_hulls, make_shape
from linkwork.engine.contact.hull import hull_of_points
from linkwork.engine.contact.kinds import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HEIGHTS,
    PLANE,
    SPHERE,
    TORUS,
    enclose,
)

EVERYTHING = np.int64(-1)
UNKNOWN = HEIGHTS + 1  # the last kind that there is, and one more


def all_pairs(boxes, planes=None, groups=None, masks=None, fixed=None, excluded=()):
    """What `find_pairs` must find, in NumPy, n x n."""
    n = len(boxes)
    low, high = boxes[:, :3], boxes[:, 3:]
    meet = np.all((low[:, None] <= high[None]) & (low[None] <= high[:, None]), axis=2)
    if planes is not None:
        flat = np.any(planes[:, :3] != 0.0, axis=1)
        for i in np.flatnonzero(flat):
            for j in range(n):
                if j == i or not meet[i, j]:
                    continue
                if flat[j]:
                    meet[i, j] = meet[j, i] = False
                    continue
                corners = np.where(planes[i, :3] > 0, low[j], high[j])
                used = planes[i, :3] != 0
                meet[i, j] = meet[j, i] = corners[used] @ planes[i, :3][used] <= planes[i, 3]
    if groups is not None:
        meet &= (groups[:, None] & masks[None]) != 0
        meet &= (masks[:, None] & groups[None]) != 0
    if fixed is not None:
        meet &= ~((fixed[:, None] != 0) & (fixed[None] != 0))
    for i, j in excluded:
        meet[i, j] = meet[j, i] = False
    return np.argwhere(np.triu(meet, 1))


class Finder:
    """`find_pairs` with memory of its own, kept from call to call."""

    def __init__(self, n, capacity=0, groups=None, masks=None, fixed=None, excluded=()):
        self.memory = broad.make_broad(n, capacity or n * n)
        self.groups = np.full(n, EVERYTHING) if groups is None else groups
        self.masks = np.full(n, EVERYTHING) if masks is None else masks
        self.fixed = np.zeros(n, dtype=np.int64) if fixed is None else fixed
        self.excluded = broad.exclusions(excluded, n)

    def count(self, boxes):
        memory = self.memory._replace(boxes=boxes)
        return broad.find_pairs(memory, self.groups, self.masks, self.fixed, self.excluded)

    def __call__(self, boxes):
        return self.memory.out[: self.count(boxes)].copy()


def cubes(centres, half):
    centres = np.asarray(centres, dtype=float)
    return np.hstack([centres - half, centres + half])


def arrangement(kind, n, rng):
    if kind == "random":
        return cubes(rng.uniform(0, n ** (1 / 3), (n, 3)), rng.uniform(0.05, 0.6, (n, 3)))
    if kind == "clustered":
        return cubes(rng.normal(size=(n, 3)) * 0.3 + rng.integers(0, 3, (n, 1)) * 10.0, 0.2)
    if kind == "touching":  # whole numbers: sides meet exactly
        return cubes(rng.integers(0, math.ceil(n ** (1 / 3)), (n, 3)), 0.5)
    if kind == "identical":
        return cubes(np.zeros((n, 3)), 1.0)
    if kind == "points":  # of no size, some of them the same
        return cubes(rng.integers(0, 4, (n, 3)), 0.0)
    if kind == "flat":
        return cubes(rng.integers(0, 5, (n, 3)), rng.uniform(0, 2, (n, 3)) * [1, 1, 0])
    if kind == "huge and tiny":
        half = 10.0 ** rng.uniform(-12, 12, (n, 3))
        return cubes(rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-12, 12, (n, 1)), half)
    if kind == "far away":
        return cubes(rng.uniform(0, n ** (1 / 3), (n, 3)) + 1e9, rng.uniform(0.05, 0.6, (n, 3)))
    if kind == "enormous":
        return cubes(rng.uniform(-1, 1, (n, 3)), 0.1) * 1.5e308
    if kind == "row":
        return cubes(np.arange(n)[:, None] * [1.0, 0, 0] + rng.normal(size=(n, 3)) * 0.05, 0.5)
    if kind == "on a floor":
        boxes = cubes(rng.uniform(0, n ** (1 / 3), (n, 3)), 0.4)
        boxes[n // 2] = [-1e6, -1e6, -1, 1e6, 1e6, 0.5]
        return boxes
    raise KeyError(kind)


ARRANGEMENTS = (
    "random", "clustered", "touching", "identical", "points", "flat", "huge and tiny", "far away", "enormous", "row",
    "on a floor",
)  # fmt: skip


@pytest.mark.parametrize("kind", ARRANGEMENTS)
def test_finds_what_all_pairs_find(kind):
    rng = np.random.default_rng(1)
    for n in (2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 60, 150):
        boxes = arrangement(kind, n, rng)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(Finder(n)(boxes), all_pairs(boxes), err_msg=f"{kind} {n}")


@pytest.mark.parametrize("n", [0, 1])
def test_there_may_be_nothing(n):
    assert len(Finder(n, capacity=4)(np.zeros((n, 6)))) == 0


def test_stays_right_while_things_move():
    """Persistent order: drift, jumps, explosion and collapse, with what was left behind by the frame before."""
    rng = np.random.default_rng(2)
    n = 120
    finder = Finder(n)
    centres, half = rng.uniform(0, 5, (n, 3)), rng.uniform(0.1, 0.6, (n, 3))
    speeds = rng.normal(size=(n, 3)) * 0.1
    for frame in range(150):
        centres = centres + speeds
        if frame == 50:
            centres = rng.permutation(centres)
        if frame == 80:
            centres *= 100.0
        if frame == 100:
            centres *= 0.001
        boxes = cubes(centres, half)
        np.testing.assert_array_equal(finder(boxes), all_pairs(boxes), err_msg=f"frame {frame}")
    assert 1 < finder.memory.state[0]["rebuilt"] < 60  # put in order anew, but not every time


def test_pairs_do_not_depend_on_the_past():
    rng = np.random.default_rng(3)
    boxes = arrangement("random", 100, rng)
    travelled = Finder(100)
    for _ in range(5):
        travelled(arrangement("clustered", 100, rng))
    np.testing.assert_array_equal(travelled(boxes), Finder(100)(boxes))


def test_filters():
    rng = np.random.default_rng(4)
    n = 90
    boxes = arrangement("random", n, rng)
    boxes[:, :3] -= 0.4
    boxes[:, 3:] += 0.4
    groups = np.left_shift(1, rng.integers(0, 63, n) % 4).astype(np.int64)
    groups[::7] = np.int64(-(2**63))  # the highest bit is as good as any
    masks = rng.integers(0, 16, n).astype(np.int64) | np.where(rng.random(n) < 0.3, np.int64(-(2**63)), 0)
    fixed = (rng.random(n) < 0.4).astype(np.int64)
    excluded = [tuple(pair) for pair in rng.integers(0, n, (400, 2)) if pair[0] != pair[1]]
    some = Finder(n, groups=groups, masks=masks)(boxes)
    np.testing.assert_array_equal(some, all_pairs(boxes, groups=groups, masks=masks))
    np.testing.assert_array_equal(Finder(n, fixed=fixed)(boxes), all_pairs(boxes, fixed=fixed))
    np.testing.assert_array_equal(Finder(n, excluded=excluded)(boxes), all_pairs(boxes, excluded=excluded))
    together = {"groups": groups, "masks": masks, "fixed": fixed, "excluded": excluded}
    few = Finder(n, **together)(boxes)
    np.testing.assert_array_equal(few, all_pairs(boxes, **together))
    assert 0 < len(few) < len(some) < len(Finder(n)(boxes))


def test_exclusions_are_sorted_keys():
    np.testing.assert_array_equal(broad.exclusions([(5, 2), (0, 1), (1, 0), (3, 3)], 10), [1, 25])
    assert len(broad.exclusions([], 10)) == 0
    with pytest.raises(ValueError, match="0 to 9"):
        broad.exclusions([(0, 10)], 10)


@pytest.mark.parametrize("kind", ["identical", "random", "on a floor"])
def test_too_many_pairs_are_counted_not_dropped(kind):
    boxes = arrangement(kind, 60, np.random.default_rng(5))
    expected = all_pairs(boxes)
    for capacity in (1, 2, 5, len(expected) - 1):
        finder = Finder(60, capacity=capacity)
        assert finder.count(boxes) == -len(expected)
        finder.memory = broad.enlarge(finder.memory, len(expected))
        np.testing.assert_array_equal(finder(boxes), expected)


def test_what_has_no_numbers_does_not_hide_others():
    rng = np.random.default_rng(6)
    boxes = arrangement("random", 50, rng)
    finder = Finder(50)
    finder(boxes)
    boxes[11] = math.nan
    boxes[12, 4] = math.nan
    np.testing.assert_array_equal(finder(boxes), all_pairs(boxes))
    boxes[11], boxes[12] = boxes[13], boxes[14]
    np.testing.assert_array_equal(finder(boxes), all_pairs(boxes))


def test_planes_and_boxes_without_bounds():
    rng = np.random.default_rng(7)
    n = 60
    finder = Finder(n)
    boxes = arrangement("random", n, rng)
    planes = finder.memory.planes
    for i, normal in ((3, (0, 0, 1.0)), (20, (0.6, 0, -0.8)), (59, (0, 0, 1.0))):
        boxes[i] = [-math.inf] * 3 + [math.inf] * 3
        planes[i] = (*normal, 1.0)
    boxes[30] = [-math.inf, -math.inf, -math.inf, math.inf, math.inf, 2.0]  # below, but no plane
    pairs = finder(boxes)
    np.testing.assert_array_equal(pairs, all_pairs(boxes, planes))
    assert [3, 30] in pairs.tolist()
    assert [3, 59] not in pairs.tolist()
    assert 0 < np.count_nonzero(pairs == 3) < n - 2


@pytest.mark.parametrize("kind", [SPHERE, CAPSULE, CYLINDER, ELLIPSOID, TORUS, BOX])
def test_boxes_around_shapes_are_exact(kind):
    rng = np.random.default_rng(kind)
    boxes, planes = np.zeros((1, 6)), np.zeros((1, 4))
    vertices = np.zeros((1, 3))
    angle = np.linspace(0, 2 * np.pi, 2000)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    ball = rng.normal(size=(200_000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    for trial in range(5):
        R = random_rotation(rng) if trial else np.eye(3)
        p, size = rng.normal(size=3), rng.uniform(0.5, 2.0, 3)
        up = np.array([0, 0, size[1] / 2])
        if kind == SPHERE:
            points = size[0] * ball
        elif kind == CAPSULE:
            points = np.vstack([size[0] * ball + up, size[0] * ball - up])
        elif kind == ELLIPSOID:
            points = size * ball
        elif kind == TORUS:
            ball /= np.linalg.norm(ball, axis=1)[:, None]
            level = ball * (1.0, 1.0, 0.0)
            points = size[0] * level / np.linalg.norm(level, axis=1)[:, None] + size[1] * ball
        elif kind == CYLINDER:
            points = np.vstack([size[0] * ring + up, size[0] * ring - up])
        else:
            points = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T * size
        points = points @ R.T + p
        shape = make_shape(kind, *size)
        enclose(shape, tuple(p), tuple(R.ravel()), vertices, 0.25, boxes, planes, 0)
        exact = np.concatenate([points.min(axis=0) - 0.25, points.max(axis=0) + 0.25])
        np.testing.assert_allclose(boxes[0], exact, atol=2e-4)
        assert np.all(boxes[0, :3] <= exact[:3] + 1e-12)
        assert np.all(boxes[0, 3:] >= exact[3:] - 1e-12)


def test_box_around_a_hull_is_exact():
    rng = np.random.default_rng(8)
    hull = hull_of_points(rng.normal(size=(50, 3)))
    hulls, records = gather_hulls([hull])
    boxes, planes, R, p = np.zeros((1, 6)), np.zeros((1, 4)), random_rotation(rng), rng.normal(size=3)
    enclose(records[0], tuple(p), tuple(R.ravel()), hulls.vertices, 0.1, boxes, planes, 0)
    points = hull.vertices @ R.T + p
    exact = np.concatenate([points.min(axis=0) - 0.1, points.max(axis=0) + 0.1])
    np.testing.assert_allclose(boxes[0], exact, rtol=1e-14, atol=1e-14)


def test_planes_and_unknown_kinds_have_no_bounds():
    rng = np.random.default_rng(9)
    boxes, planes, R, p = np.zeros((2, 6)), np.ones((2, 4)), random_rotation(rng), rng.normal(size=3)
    for i, kind in enumerate((PLANE, UNKNOWN)):
        enclose(make_shape(kind), tuple(p), tuple(R.ravel()), np.zeros((1, 3)), 0.1, boxes, planes, i)
    assert np.all(np.isinf(boxes))
    np.testing.assert_allclose(planes[0], [*R[:, 2], R[:, 2] @ p + 0.1])
    np.testing.assert_array_equal(planes[1], 0.0)


def pile(n, rng):
    """Cubes in a heap, each overlapping a little with those next to it, in no order."""
    m = math.ceil(n ** (1 / 3))
    grid = np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:n]
    return cubes(rng.permutation(grid + rng.normal(size=(n, 3)) * 0.05), 0.51)


@pytest.mark.parametrize("kind", ["pile", "row"])
def test_growth(kind):
    """Times are printed, not asserted: machines are busy. What is asserted is how many nodes are visited."""
    from linkwork.engine.kernels.jit import COMPILED

    counts = (50, 100, 200, 500, 1000) if COMPILED else (50, 100)
    times, costs = [], []
    for n in counts:
        rng = np.random.default_rng(10)
        boxes = pile(n, rng) if kind == "pile" else rng.permutation(arrangement("row", n, rng))
        finder = Finder(n, capacity=40 * n)
        frames = [
            boxes + 0.05 * math.sin(0.1 * k) * rng.normal(size=(n, 1)) for k in range(60 if COMPILED else 2)
        ]
        finder.count(boxes)
        taken = []
        for frame in frames:
            start = time.perf_counter()
            pairs = finder.count(frame)
            taken.append(time.perf_counter() - start)
        times.append(1e6 * float(np.quantile(taken, 0.1)))
        costs.append(int(finder.memory.state[0]["cost"]))
        print(f"{kind}: {n} boxes, {pairs} pairs, {times[-1]:.1f} µs, {costs[-1]} nodes visited")
    exponents = [np.polyfit(np.log(counts), np.log(values), 1)[0] for values in (times, costs)]
    print(f"{kind}: time grows as n^{exponents[0]:.2f}, visits as n^{exponents[1]:.2f}")
    assert exponents[1] < (1.35 if COMPILED else 1.6)  # few boxes have few neighbours yet
