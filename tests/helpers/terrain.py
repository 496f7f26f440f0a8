"""Height fields that shapes touch, and the nearest point of every triangle found in NumPy."""

import numpy as np
from scipy.spatial import ConvexHull

from linkwork.engine.contact.collide import collide
from linkwork.engine.contact.geometry import contact_rows, gather_hulls, make_scratch, make_shape
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, SPHERE, TORUS

NAMES = {
    SPHERE: "sphere", CAPSULE: "capsule", BOX: "box", CYLINDER: "cylinder", HULL: "hull", ELLIPSOID: "ellipsoid",
    TORUS: "torus",
}  # fmt: skip
SIZES = {
    SPHERE: (0.3,), CAPSULE: (0.2, 0.7), BOX: (0.5, 0.7, 0.4), CYLINDER: (0.3, 0.6), ELLIPSOID: (0.25, 0.4, 0.2),
    TORUS: (0.3, 0.1),
}  # fmt: skip
EYE = np.eye(3)


class _Tetrahedra:
    """Hull of a few points; its triangles are its faces."""

    def __init__(self, points):
        hull = ConvexHull(points)
        number = {int(v): i for i, v in enumerate(hull.vertices)}
        self.vertices, self.corners = points[hull.vertices], []
        self.normals = np.column_stack([hull.equations[:, :3], -hull.equations[:, 3]])
        self.faces = [(3 * k, 3) for k in range(len(hull.simplices))]
        for normal, triangle in zip(self.normals, hull.simplices, strict=True):
            a, b, c = (points[v] for v in triangle)
            ring = triangle if np.cross(b - a, c - a) @ normal[:3] > 0 else triangle[::-1]
            self.corners += [number[int(v)] for v in ring]


class Ground:
    """A height field, somewhere."""

    def __init__(self, grid, size, at=(0.0, 0.0, 0.0), R=EYE):
        self.grid, self.size = np.asarray(grid, float), size
        cloud = 0.3 * np.random.default_rng(3).normal(size=(12, 3))
        self.hulls, records = gather_hulls([_Tetrahedra(cloud)], [(self.grid, size)])
        self.hull, self.record = records[0], records[1]
        self.at, self.R = np.asarray(at, float), np.asarray(R)
        rows, columns = self.grid.shape
        x = np.linspace(-size[0] / 2, size[0] / 2, columns)
        y = np.linspace(-size[1] / 2, size[1] / 2, rows)
        self.nodes = np.stack([*np.meshgrid(x, y), self.grid], axis=-1)
        a, b = self.nodes[:-1, :-1].reshape(-1, 3), self.nodes[:-1, 1:].reshape(-1, 3)
        c, d = self.nodes[1:, 1:].reshape(-1, 3), self.nodes[1:, :-1].reshape(-1, 3)
        self.triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])

    def shape(self, kind):
        return self.hull if kind == HULL else make_shape(kind, *SIZES[kind])

    def touch(self, shape, at, R=EYE, margin=0.05, other=None, first=False):
        """Contacts from a field (or another shape in its place) to a shape that stands in the field's frame."""
        pose = (tuple(self.at + self.R @ at), tuple((self.R @ R).ravel()))
        mine = (tuple(self.at), tuple(self.R.ravel()))
        out, scratch = contact_rows(), make_scratch(self.hulls)
        ground = self.record if other is None else other
        if first:
            count = collide(shape, pose, ground, mine, self.hulls, margin, scratch, out)
        else:
            count = collide(ground, mine, shape, pose, self.hulls, margin, scratch, out)
        return out[:count].copy()

    def local(self, contacts):
        """Points on the field and normals, in its frame."""
        return (contacts["a"] - self.at) @ self.R, contacts["normal"] @ self.R

    def height(self, x, y):
        """Of the surface."""
        rows, columns = self.grid.shape
        u = (np.asarray(x) / self.size[0] + 0.5) * (columns - 1)
        v = (np.asarray(y) / self.size[1] + 0.5) * (rows - 1)
        i, j = np.clip(u.astype(int), 0, columns - 2), np.clip(v.astype(int), 0, rows - 2)
        u, v = u - i, v - j
        g = self.grid
        lower = g[j, i] + u * (g[j, i + 1] - g[j, i]) + v * (g[j + 1, i + 1] - g[j, i + 1])
        upper = g[j, i] + v * (g[j + 1, i] - g[j, i]) + u * (g[j + 1, i + 1] - g[j + 1, i])
        return np.where(u >= v, lower, upper)

    def nearest(self, x):
        """Distance of a point from the surface, and the nearest point: over all triangles and their borders."""
        a, b, c = (self.triangles[:, k] for k in range(3))
        m = np.cross(b - a, c - a)
        m /= np.linalg.norm(m, axis=1, keepdims=True)
        foot = x - np.sum(m * (x - a), axis=1, keepdims=True) * m
        inside = np.ones(len(a), bool)
        points = []
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= np.sum(np.cross(q - p, foot - p) * m, axis=1) >= 0
            t = np.clip(np.sum((x - p) * (q - p), axis=1) / np.sum((q - p) ** 2, axis=1), 0, 1)
            points.append(p + t[:, None] * (q - p))
        points.append(foot[inside])
        points = np.concatenate(points)
        distances = np.linalg.norm(points - x, axis=1)
        k = np.argmin(distances)
        return distances[k], points[k]


def rough(seed=1, rows=17, columns=21, size=(4.0, 3.2), height=0.25):
    return Ground(height * np.random.default_rng(seed).uniform(-1, 1, (rows, columns)), size)
