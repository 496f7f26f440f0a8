"""Pairs of shapes, their contacts, and distances found by other means."""

from types import SimpleNamespace

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from linkwork.engine.contact.collide import collide_pairs
from linkwork.engine.contact.geometry import (
    MOST,
    contact_rows,
    gather_hulls,
    make_scratch,
    make_shape,
    shape_rows,
)
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, PLANE, SPHERE, TORUS

KINDS = (SPHERE, CAPSULE, BOX, CYLINDER, HULL, ELLIPSOID, TORUS)

NAMES = {
    PLANE: "plane", SPHERE: "sphere", CAPSULE: "capsule", BOX: "box", CYLINDER: "cylinder", HULL: "hull",
    ELLIPSOID: "ellipsoid", TORUS: "torus",
}  # fmt: skip

PAIRS = [(a, b) for a in KINDS for b in KINDS if a <= b]

NUMBERS = {PLANE: 0, SPHERE: 1, CAPSULE: 2, BOX: 3, CYLINDER: 2, ELLIPSOID: 3, TORUS: 2}


def hull_of(points):
    """Convex hull with flat faces as polygons, by Qhull."""
    hull = ConvexHull(points)
    vertices = points[hull.vertices]
    number = {int(v): i for i, v in enumerate(hull.vertices)}
    planes: list = []
    for equation, triangle in zip(hull.equations, hull.simplices, strict=True):
        for plane, members in planes:
            if np.allclose(plane, equation, atol=1e-9):
                members.update(triangle.tolist())
                break
        else:
            planes.append((equation, set(triangle.tolist())))
    faces, corners = [], []
    for plane, members in planes:
        ring = np.array([number[v] for v in sorted(members)])
        spokes = vertices[ring] - vertices[ring].mean(axis=0)
        u = spokes[0] / np.linalg.norm(spokes[0])
        order = np.argsort(np.arctan2(spokes @ np.cross(plane[:3], u), spokes @ u))
        faces.append((len(corners), len(ring)))
        corners += ring[order].tolist()
    normals = np.array([[*plane[:3], -plane[3]] for plane, _ in planes])
    triangles = [[number[int(v)] for v in triangle] for triangle in hull.simplices]
    return SimpleNamespace(
        vertices=vertices,
        normals=normals,
        faces=np.array(faces),
        corners=np.array(corners),
        triangles=triangles,
    )


def _solids():
    rng = np.random.default_rng(5)
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    ring = np.array([(np.cos(t), np.sin(t)) for t in np.arange(6) * np.pi / 3])
    prism = np.array([(0.5 * x, 0.5 * y, z) for x, y in ring for z in (-0.3, 0.3)])
    clouds = [0.4 * rng.normal(size=(12, 3)) for _ in range(12)]
    return [hull_of(points) for points in [corners, prism, *clouds]]


SOLIDS = _solids()

HULLS, RECORDS = gather_hulls(SOLIDS)

SOLID_OF = {int(record["vertex"]): solid for record, solid in zip(RECORDS, SOLIDS, strict=True)}


class Scene:
    """Pairs of shapes, n of kind a and n of kind b, and their contacts."""

    def __init__(self, kinds, n, seed, apart=0.5, aligned=0.15):
        rng = np.random.default_rng(seed)
        self.n = n
        self.shapes = shape_rows(2 * n)
        for i in range(2 * n):
            self.shapes[i] = self.pick(kinds[i // n], rng)
        self.positions = apart * rng.normal(size=(2 * n, 3))
        self.rotations = Rotation.random(2 * n, random_state=rng).as_matrix()
        self.rotations[rng.random(2 * n) < aligned] = np.eye(3)

    @staticmethod
    def pick(kind, rng):
        if kind == HULL:
            return RECORDS[rng.integers(len(RECORDS))]
        typical = {
            PLANE: (), SPHERE: (0.5,), CAPSULE: (0.3, 1.0), BOX: (1.0, 1.0, 1.0), CYLINDER: (0.5, 1.0),
            ELLIPSOID: (0.3, 0.5, 0.6), TORUS: (0.5, 0.15),
        }  # fmt: skip
        return make_shape(kind, *(np.array(typical[kind]) * rng.uniform(0.5, 1.5, NUMBERS[kind])))

    def run(self, margin=1e3, swapped=False):
        n = self.n
        pairs = np.stack([np.arange(n), np.arange(n) + n], axis=1)
        if swapped:
            pairs = np.ascontiguousarray(pairs[:, ::-1])
        self.counts, self.out = np.zeros(n, dtype=np.int64), contact_rows(n)
        turned = np.ascontiguousarray(self.rotations.reshape(-1, 9))
        scratch = make_scratch(HULLS, self.shapes)
        collide_pairs(
            self.shapes, self.positions, turned, pairs, HULLS, margin, scratch, self.counts, self.out
        )
        rows = np.arange(MOST)[None, :] < self.counts[:, None]
        self.valid = rows
        distances = np.where(rows, self.out["distance"], np.inf)
        self.best = np.argmin(distances, axis=1)
        self.distance = distances[np.arange(n), self.best]
        self.normal = self.out["normal"][np.arange(n), self.best]
        return self

    def support(self, i, directions):
        """How far shape i reaches along directions."""
        shape, R, p = self.shapes[i], self.rotations[i], self.positions[i]
        m, dims = directions @ R, shape["dims"]
        if shape["kind"] == SPHERE:
            reach = dims[0] * np.linalg.norm(m, axis=-1)
        elif shape["kind"] == CAPSULE:
            reach = dims[0] * np.linalg.norm(m, axis=-1) + 0.5 * dims[1] * abs(m[..., 2])
        elif shape["kind"] == BOX:
            reach = 0.5 * abs(m) @ dims
        elif shape["kind"] == CYLINDER:
            reach = dims[0] * np.hypot(m[..., 0], m[..., 1]) + 0.5 * dims[1] * abs(m[..., 2])
        elif shape["kind"] == ELLIPSOID:
            reach = np.linalg.norm(m * dims, axis=-1)
        elif shape["kind"] == TORUS:
            reach = dims[0] * np.hypot(m[..., 0], m[..., 1]) + dims[1] * np.linalg.norm(m, axis=-1)
        else:
            reach = np.max(m @ SOLID_OF[int(shape["vertex"])].vertices.T, axis=-1)
        return reach + directions @ p

    def gap(self, i, directions):
        """Lower bounds of the distance of pair i."""
        return -self.support(i + self.n, -directions) - self.support(i, directions)

    def outside(self, i, x):
        """How far points stick out of shape i."""
        shape = self.shapes[i]
        y, dims = (x - self.positions[i]) @ self.rotations[i], shape["dims"]
        if shape["kind"] == SPHERE:
            return np.linalg.norm(y, axis=-1) - dims[0]
        if shape["kind"] == CAPSULE:
            half = 0.5 * dims[1]
            return (
                np.hypot(np.hypot(y[..., 0], y[..., 1]), y[..., 2] - np.clip(y[..., 2], -half, half))
                - dims[0]
            )
        if shape["kind"] == BOX:
            return np.max(abs(y) - 0.5 * dims, axis=-1)
        if shape["kind"] == CYLINDER:
            return np.maximum(np.hypot(y[..., 0], y[..., 1]) - dims[0], abs(y[..., 2]) - 0.5 * dims[1])
        if shape["kind"] == ELLIPSOID:
            size = np.linalg.norm(y / dims, axis=-1)
            return (size - 1.0) * size / np.linalg.norm(y / dims**2, axis=-1)  # to first order
        if shape["kind"] == TORUS:  # its hull, which has no hole
            beyond = np.maximum(np.hypot(y[..., 0], y[..., 1]) - dims[0], 0.0)
            return np.hypot(beyond, y[..., 2]) - dims[1]
        planes = SOLID_OF[int(shape["vertex"])].normals
        return np.max(y @ planes[:, :3].T - planes[:, 3], axis=-1)

    def axes(self, i):
        """Normals of faces and directions of edges of shape i, in the world."""
        shape, R = self.shapes[i], self.rotations[i]
        if shape["kind"] == BOX:
            return np.concatenate([R.T, -R.T]), R.T
        if shape["kind"] in (CYLINDER, TORUS):
            return np.array([R[:, 2], -R[:, 2]]), R.T[2:]
        if shape["kind"] == HULL:
            solid = SOLID_OF[int(shape["vertex"])]
            edges = []
            for first, count in solid.faces:
                ring = solid.vertices[solid.corners[first : first + count]]
                edges.append(np.roll(ring, -1, axis=0) - ring)
            return solid.normals[:, :3] @ R.T, np.concatenate(edges) @ R.T
        return np.zeros((0, 3)), R.T[2:]

    def candidates(self, i):
        """All normals of the faces of A - B for polyhedra, and thousands of others."""
        faces_a, edges_a = self.axes(i)
        faces_b, edges_b = self.axes(i + self.n)
        products = np.cross(edges_a[:, None, :], edges_b[None, :, :]).reshape(-1, 3)
        every = np.concatenate([faces_a, faces_b, products, -products])
        size = np.linalg.norm(every, axis=1)
        return np.concatenate([every[size > 1e-9] / size[size > 1e-9, None], DIRECTIONS])


def _directions(count):
    k = np.arange(count)
    z = 1.0 - (2 * k + 1) / count
    q, t = np.sqrt(1.0 - z * z), 2.399963229728653 * k
    return np.stack([q * np.cos(t), q * np.sin(t), z], axis=1)


DIRECTIONS = _directions(4000)
