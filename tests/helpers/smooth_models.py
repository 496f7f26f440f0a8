"""Bodies in contact whose motion follows from equations of their own: what smooth contact is held against."""

from __future__ import annotations

from math import asin, atan2, cos, hypot, pi, sin, sqrt

import numpy as np
from scipy.integrate import solve_ivp

from linkwork import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Free,
    HeightField,
    Hinge,
    Material,
    Model,
    Plane,
    Scenery,
    Slider,
    Sphere,
    Torus,
)
from linkwork.model.rotation import about

G = 9.81
UP = np.array([0.0, 0.0, 1.0])
EXACT = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}


def floored(name: str, slope: float = 0.0, **material: float) -> Model:
    """A floor, gravity turned so that +x leads down."""
    model = Model(name, gravity=(G * sin(slope), 0.0, -G * cos(slope)))
    model.add(Material("rough", **material))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    return model


def thrown(model: Model, name: str, at, shapes, velocity=(0.0,) * 6, **body) -> Model:
    """A free body with a start velocity."""
    at = tuple(float(x) for x in at)
    model.add(Body(name, at=at, shapes=tuple(shapes), material="rough", **body))
    model.add(Free(f"{name}_way", "ground", name, at=at, velocity=tuple(float(x) for x in velocity)))
    return model


def ball(slope: float = 0.0, speed: float = 0.0, height: float = 0.0, **material: float) -> Model:
    """A homogeneous ball of radius 0.1 m and 1 kg."""
    inertia = (0.4 * 0.1**2,) * 3
    model = floored("ball", slope, **material)
    return thrown(
        model, "ball", (0, 0, 0.1 + height), [Sphere(0.1)], (speed, 0, 0, 0, 0, 0), mass=1.0, inertia=inertia
    )


def block(slope: float = 0.0, speed: float = 0.0, depth: float = 0.0, friction: float = 0.3) -> Model:
    """A cube that rests on four corners."""
    box = Box((0.1, 0.1, 0.1))
    model = floored("block", slope, friction=friction)
    return thrown(model, "block", (0, 0, 0.05 - depth), [box], (speed, 0, 0, 0, 0, 0), density=1000.0)


def rolling_disc():
    """A tyre that rolls in a narrow circle and tilts while it does, and where its centre gets in a time [m]."""
    ring, tube, tilt, mass = 0.08, 0.02, pi / 2 - 0.5, 0.5
    axis = np.array([0.0, -sin(tilt), cos(tilt)])
    across, along = mass * 0.1**2 / 4, mass * 0.1**2 / 2

    def arm(a):
        """From the centre to the contact, and the length of the part of -UP in the plane of the ring."""
        down = a[2] * a - UP
        size = np.linalg.norm(down)
        return ring * down / size - tube * UP, down, size

    def slopes(_, y):
        a, w = y[3:6], y[6:9]
        r, down, size = arm(a)
        turning = np.cross(w, a)
        sinking = turning[2] * a + a[2] * turning
        r_rate = ring * (sinking / size - down * (down @ sinking) / size**3)
        inertia = across * np.eye(3) + (along - across) * np.outer(a, a)
        r_cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        # The contact pushes with m (a + g), and the centre has -w × r: moments about the centre.
        moment = np.cross(r, mass * (G * UP - np.cross(w, r_rate))) - np.cross(w, inertia @ w)
        spin = np.linalg.solve(inertia - mass * r_cross @ r_cross, moment)
        return np.concatenate([-np.cross(w, r), turning, spin])

    w = 12.0 * axis + 1.5 * UP
    r = arm(axis)[0]
    model = thrown(
        floored("disc", friction=5.0), "disc", -r, [Torus(ring, tube)], (*(-np.cross(w, r)), *w),
        rotation=about((1.0, 0.0, 0.0), tilt), mass=mass, inertia=(across, across, along),
    )  # fmt: skip

    def moved(time: float):
        y = np.concatenate([np.zeros(3), axis, w])
        return solve_ivp(slopes, (0.0, time), y, **EXACT).y[:3, -1]

    return model, moved


def tripod():
    """A thing on three round feet that slides and spins, and where it gets in a time [m]."""
    mass, height, friction, turning = 2.0, 0.12, 0.3, 0.03
    feet = np.array([[0.15, 0.0], [-0.08, 0.12], [-0.08, -0.12]])
    velocity = (1.0, 0.3, 0.0, 0.0, 0.0, 6.0)
    model = thrown(
        floored("tripod", friction=friction), "tripod", (0, 0, height),
        [Sphere(0.02, at=(x, y, 0.02 - height)) for x, y in feet], velocity, mass=mass, inertia=(0.02, 0.025, turning),
    )  # fmt: skip

    def slopes(_, y):
        c, s = cos(y[2]), sin(y[2])
        at = feet @ np.array([[c, s], [-s, c]])
        slip = y[3:5] + y[5] * np.stack([-at[:, 1], at[:, 0]], axis=1)
        push = -friction * slip / np.linalg.norm(slip, axis=1)[:, None]  # per normal force
        moments = np.cross(np.column_stack([at, np.full(3, -height)]), np.column_stack([push, np.ones(3)]))
        normal = np.linalg.solve(np.vstack([np.ones(3), moments[:, :2].T]), [mass * G, 0.0, 0.0])
        return np.array([*y[3:], *(normal @ push / mass), normal @ moments[:, 2] / turning])

    def moved(time: float):
        y = np.array([0.0, 0.0, 0.0, *velocity[:2], velocity[5]])
        return np.array([*solve_ivp(slopes, (0.0, time), y, **EXACT).y[:2, -1], 0.0])

    return model, moved


def _bounced(slope, y, time, after):
    """A coordinate that falls to zero again and again and is thrown back by `after`; it, and when it was there."""

    def gone(_, y):
        return y[0]

    gone.terminal, gone.direction = True, -1
    t, times = 0.0, []
    while True:
        run = solve_ivp(slope, (t, time), y, events=gone, **EXACT)
        if run.t_events[0].size == 0:
            return run.y[0, -1], times
        t = float(run.t[-1])
        times.append(t)
        y = [1e-15, -after * run.y[1, -1]]


def rocking_block():
    """A slender block that falls back from a tilt of 0.2 rad about its edge, to rock on the other (Housner 1963)."""
    a, b, tilt = 0.05, 0.2, 0.2
    reach, lean = hypot(a, b), atan2(a, b)
    model = floored("rocking", friction=2.0)
    at = (-reach * sin(lean - tilt), 0.0, reach * cos(lean - tilt))
    thrown(
        model, "block", at, [Box((2 * a, 0.1, 2 * b))], rotation=about((0.0, 1.0, 0.0), tilt), density=1000.0
    )

    def tilted(time: float):
        pull, kept = 3.0 * G / (4.0 * reach), 1.0 - 1.5 * sin(lean) ** 2
        y, times = _bounced(lambda _, y: [y[1], -pull * sin(lean - y[0])], [tilt, 0.0], time, kept)
        return (-1) ** len(times) * y

    return model, tilted


def pendulum_at_wall(restitution: float = 0.5):
    """A pendulum that swings against a wall; its angle."""
    model = Model("wall")
    model.add(Material("rough", friction=0.0, restitution=restitution))
    model.add(Scenery("wall", shapes=(Box((0.1, 1.0, 4.0), at=(-0.15, 0.0, 0.0)),), material="rough"))
    model.add(
        Body("bob", at=(0.5, 0, 0), mass=1.0, inertia=(0.01,) * 3, shapes=(Sphere(0.1),), material="rough")
    )
    model.add(Hinge("pivot", "ground", "bob", at=(0.0, 0.0, 1.0), axis=(0.0, 1.0, 0.0)))
    length, start = sqrt(1.25), asin(0.5 / sqrt(1.25))

    def swung(time: float):
        pull = G * length / (0.01 + length**2)
        y, _ = _bounced(lambda _, y: [y[1], -pull * sin(y[0])], [start, 0.0], time, restitution)
        return start - y  # the hinge turns that way, from where it was

    return model, swung


def sliding_linkage() -> Model:
    """A four-bar linkage whose coupler draws a foot, on a slide, over the floor."""
    model = floored("linkage", friction=0.2)
    corners = [(0.0, 0.0, 0.3), (0.0, 0.0, 0.6), (0.8, 0.0, 0.7), (0.8, 0.0, 0.2)]
    names = ("crank", "coupler", "rocker")
    for name, p, q in zip(names, corners[:-1], corners[1:], strict=True):
        at = tuple((np.array(p) + np.array(q)) / 2)
        model.add(Body(name, at=at, mass=1.0, inertia=(0.05,) * 3))
    ends = [("ground", "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("ground", "rocker")]
    for name, (a, b), at in zip("ABCD", ends, corners, strict=True):
        model.add(Hinge(name, a, b, at=at, axis=(0.0, 1.0, 0.0)))
    model.add(Body("sleeve", at=(0.4, 0, 0.4), mass=0.5, inertia=(0.01,) * 3))
    model.add(
        Body(
            "foot", at=(0.4, 0, 0.05), mass=1.0, inertia=(0.01,) * 3, shapes=(Sphere(0.05),), material="rough"
        )
    )
    model.add(Hinge("E", "coupler", "sleeve", at=(0.4, 0.0, 0.65), axis=(0.0, 1.0, 0.0)))
    model.add(Slider("S", "sleeve", "foot", at=(0.4, 0.0, 0.4), axis=(0.0, 0.0, 1.0)))
    return model


def chain_over_cylinder() -> Model:
    """Six links that fall over a drum."""
    model = Model("chain")
    model.add(Material("rough", friction=0.2))
    drum = Cylinder(0.3, 1.0, rotation=about((1.0, 0.0, 0.0), pi / 2))
    model.add(Scenery("drum", shapes=(drum,), material="rough"))
    link = Capsule(0.02, 0.12, rotation=about((0.0, 1.0, 0.0), pi / 2))
    for i in range(6):
        x = 0.12 * i - 0.31
        at = (x + 0.06, 0.0, 0.32)
        model.add(Body(f"link{i}", at=at, mass=0.2, inertia=(3e-4,) * 3, shapes=(link,), material="rough"))
        if i == 0:
            model.add(Free("way", "ground", "link0", at=at))
        else:
            model.add(Hinge(f"pin{i}", f"link{i - 1}", f"link{i}", at=(x, 0.0, 0.32), axis=(0.0, 1.0, 0.0)))
    return model


def wheel_on_waves(height: float = 2e-3, radius: float = 0.3):
    """A wheel at rest in the trough of a smooth road."""
    x = np.linspace(-3.0, 3.0, 61)
    row = tuple(-height * np.cos(2 * pi * x))
    model = Model("waves")
    model.add(Material("rough", friction=1.0))
    field = HeightField((6.0, 2.0), heights=(row,) * 4, smooth=True)
    model.add(Scenery("road", shapes=(field,), material="rough"))
    at = (0.0, 0.0, radius - height)
    model.add(Body("wheel", at=at, mass=1.0, inertia=(0.04,) * 3, shapes=(Sphere(radius),), material="rough"))
    model.add(Free("wheel_way", "ground", "wheel", at=at, velocity=(2.0, 0, 0, 0, 2.0 / radius, 0)))
    return model
