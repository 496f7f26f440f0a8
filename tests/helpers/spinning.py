"""Equations of motion of one convex body that rolls or slides on a plane with one point: what spinning contacts are
held against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from linkwork.model.rotation import matrix

G = 9.81
UP = np.array([0.0, 0.0, 1.0])
EXACT = {"rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}
Support = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(direction in the body's axes, its rate) => the farthest point that way from the centre of mass, and its rate."""


def ellipsoid(semi_axes, com) -> Support:
    squares = np.diag(np.square(semi_axes))

    def support(d, d_rate):
        s = np.sqrt(d @ squares @ d)
        return squares @ d / s - com, squares @ d_rate / s - squares @ d * (d @ squares @ d_rate) / s**3

    return support


def ball(radius, com) -> Support:
    return lambda d, d_rate: (radius * d - com, radius * d_rate)


def disc(radius, thick) -> Support:
    def support(d, d_rate):
        flat, flat_rate = d * (1, 1, 0), d_rate * (1, 1, 0)
        s = np.linalg.norm(flat)
        rim = radius * flat / s
        return (
            rim + np.array([0.0, 0.0, 0.5 * thick * np.sign(d[2])]),
            radius * (flat_rate / s - flat * (flat @ flat_rate) / s**3),
        )

    return support


def motion(body, support: Support, v, w, friction: float | None):
    """Of a body from its start with velocities of the centre of mass and turning (world): a function of time that gives
    place and rotation matrix of the body's centre of mass, v, w and the slip. Without `friction` it rolls."""
    mass, com, inertia = body.mass_properties

    def slopes(_, y):
        R, v, w = y[3:12].reshape(3, 3), y[12:15], y[15:18]
        r, r_rate, slip = _arm(R, v, w)
        I = R @ inertia @ R.T
        gyro = np.cross(w, I @ w)
        bends = np.cross(w, r_rate)
        if friction is None:
            # m a = F - m g up, a = -(w' × r + w × r'), I w' = r × F - gyro
            C = _cross(r)
            turn = np.linalg.solve(I - mass * C @ C, np.cross(r, mass * (G * UP - bends)) - gyro)
            a = -np.cross(turn, r) - bends
        else:
            # F = N (up - friction slip/|slip|), and the contact stays on the floor: up·(a + w' × r + w × r') = 0
            way = UP - friction * slip / np.linalg.norm(slip)
            free, per = -G * UP, way / mass
            turn_free, turn_per = np.linalg.solve(I, -gyro), np.linalg.solve(I, np.cross(r, way))
            push = -(UP @ (free + np.cross(turn_free, r) + bends)) / (UP @ (per + np.cross(turn_per, r)))
            a, turn = free + push * per, turn_free + push * turn_per
        return np.concatenate([v, (_cross(w) @ R).ravel(), a, turn])

    def _arm(R, v, w):
        d = -R.T @ UP
        rho, rho_rate = support(d, np.cross(d, R.T @ w))
        r = R @ rho
        return r, np.cross(w, r) + R @ rho_rate, v + np.cross(w, r)

    R = matrix(body.rotation)
    start = np.concatenate([np.array(body.at) + R @ com, R.ravel(), v, w])
    kept: dict[float, np.ndarray] = {}

    def at(time: float):
        if time not in kept:
            kept[time] = solve_ivp(slopes, (0.0, time), start, **EXACT).y[:, -1]
        y = kept[time]
        x, R, v, w = y[:3], y[3:12].reshape(3, 3), y[12:15], y[15:18]
        return x, R, v, w, _arm(R, v, w)[2]

    return at


def _cross(r):
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
