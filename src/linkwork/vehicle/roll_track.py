"""Linear theory of steering with roll: the single-track model on its suspensions, which steer and shift wheels.

Freedoms are those of `rolled.FREEDOMS`, with rates y = (v, r, φ', c_f', c_r'), and of both axles the part g of the
lateral force that the carcass' spring has (single_track.py):

    M y' + M_v V r + (C + G) y + K (φ, c_f, c_r) = Σ l F,      F = g + τ g',      (σ/V + τ) g' + g = -C_α α

M is the inertia of all bodies by the kinematics of the suspensions, M_v its column of v; K are second derivatives of
the energies of weights, springs and tyres, all preloaded as at rest; C are dampers, G gyroscopic terms of the wheels.
Slip and force of an axle follow the points where its wheels stand, and the angle by which suspensions steer them as
they move: α = (v + a r + e c')/V - δ - s c; the force acts a trail behind. Camber pushes, too, where tyres know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.rotation import Array
from .car import AXLES, Car
from .linear_tyres import LinearTyre, linear_tyres, wheel_loads
from .rolled import STEP, Rolled
from .single_track import Lateral


@dataclass(frozen=True)
class RollTrack(Lateral):
    """A car as linear theory with roll sees it."""

    inertia: Array
    """Of all freedoms, 5 × 5."""
    stiffness: Array
    """Of roll and of both suspensions, 3 × 3."""
    damping: Array
    """Of the same, 3 × 3."""
    gyroscopic: Array
    """Per speed, 5 × 5."""
    slips: Array
    """How fast the points where wheels stand go aside with the freedoms' rates, 2 × 5."""
    forces: Array
    """How fast the points where forces act, a trail behind, go aside with the freedoms' rates, 2 × 5."""
    steers: Array
    """By how much suspensions steer the wheels to the left, per roll and coordinate, 2 × 3."""
    leans: Array
    """By how much the wheels lean to the right, likewise."""
    tyres: tuple[LinearTyre, LinearTyre]
    """Both tyres of the front, and of the rear axle."""
    height: float
    """Of the chassis' origin over the road, where lateral acceleration is measured [m]."""

    def matrices(self, speed: float) -> tuple[Array, Array]:
        """A and b of (y, φ, c_f, c_r, g_front, g_rear)' = A x + b δ."""
        n = 10
        A, b = np.zeros((n, n)), np.zeros(n)
        push, told = np.zeros((5, n)), np.zeros(5)  # generalized forces of x and δ
        push[:, 1] -= speed * self.inertia[:, 0]
        push[:, :5] -= speed * self.gyroscopic
        push[2:, 2:5] -= self.damping
        push[2:, 5:8] -= self.stiffness
        A[5:8, 2:5] = np.eye(3)
        for k, tyre in enumerate(self.tyres):
            lag = max(tyre.relaxation / speed + tyre.settling, 1e-6)
            slip = np.zeros(n)
            slip[:5] = self.slips[k] / speed
            slip[5:8] = -self.steers[k] - tyre.camber / tyre.stiffness * self.leans[k]
            grows = -tyre.stiffness * slip / lag
            grows[8 + k] -= 1.0 / lag
            given = (1.0 - k) * tyre.stiffness / lag
            A[8 + k], b[8 + k] = grows, given
            force = tyre.settling * grows
            force[8 + k] += 1.0
            push += np.outer(self.forces[k], force)
            told += self.forces[k] * tyre.settling * given
        A[:5], b[:5] = np.linalg.solve(self.inertia, push), np.linalg.solve(self.inertia, told)
        return A, b

    def aside(self, speed: float, rates: Array, x: Array) -> Any:
        return rates[0] + speed * x[1] - self.height * rates[2]

    def roll(self, speed: float) -> float:
        """Steady roll per lateral acceleration, positive to the right [rad s²/m]."""
        A, b = self.matrices(speed)
        x = -np.linalg.solve(A, b)
        return float(x[5] / (speed * x[1]))


def roll_track(car: Car, lateral: float = 0.0) -> RollTrack:
    """What linear theory with roll makes of a car with handling tyres; `lateral` as for `single_track` [m/s²]."""
    tyres, body = linear_tyres(car, lateral), Rolled(car)
    slips, forces, gyroscopic = np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((5, 5))
    steers, leans = np.zeros((2, 3)), np.zeros((2, 3))
    for k, axle in enumerate(AXLES):
        name, centre = f"{axle}.left.wheel", body.centre(k, 0)
        turning, slips[k] = _standing(body, name, centre)
        steers[k, 1 + k] = turning[2, 3 + k]
        leans[k] = turning[0, 2:]
        forces[k] = slips[k] - tyres[k].trail * turning[2]
        momentum = body.spins(k) / body.rolling_radius(k)  # per speed
        gyroscopic += momentum * (np.outer(turning[2], turning[0]) - np.outer(turning[0], turning[2]))
    stiffness, damping = _stiffness(body), np.zeros((3, 3))
    damping[1:, 1:] = body.damping((0.0, 0.0))
    damping += _tyre_damping(body)
    return RollTrack(
        body.inertia(), stiffness, damping, gyroscopic, slips, forces, steers, leans, tyres, car.height
    )


def _standing(body: Rolled, name: str, centre: Array) -> tuple[Array, Array]:
    """How a wheel turns, 3 × 5, and its lowest point goes aside."""
    foot = np.array([centre[0], centre[1], 0.0])
    turning, shift = body.jacobian(name, foot)
    return turning, shift[1]


def _stiffness(body: Rolled) -> Array:
    """Second derivatives of the potential energy at rest."""
    K, steps = np.zeros((3, 3)), STEP * np.eye(3)

    def energy(x: Array) -> float:
        return body.potential(float(x[0]), (float(x[1]), float(x[2])))

    for i in range(3):
        for j in range(i + 1):
            u, v = steps[i], steps[j]
            K[i, j] = K[j, i] = (energy(u + v) - energy(u - v) - energy(v - u) + energy(-u - v)) / (
                4.0 * STEP**2
            )
    return K


def _tyre_damping(body: Rolled) -> Array:
    """Of the tyres, upwards, against roll and both suspensions."""
    from ..engine.tyres.patch import DAMPING, FULL_DAMPING
    from .car import deflection
    from .tyre_rig import numbers

    C = np.zeros((3, 3))
    for k, (load, tyre) in enumerate(zip(wheel_loads(body.car), body.car.tyres, strict=True)):
        assert tyre is not None
        own = numbers(tyre)
        rated = own[DAMPING] * min(1.0, deflection(tyre, load) / own[FULL_DAMPING])
        _, shift = body.jacobian(f"{AXLES[k]}.left.wheel", body.centre(k, 0))
        rises = shift[2, 2:]
        C += 2.0 * rated * np.outer(rises, rises)
    return C


def understeer(model: Lateral, wheelbase: float, speed: float = 20.0) -> float:
    """Steer angle over that of Ackermann, per lateral acceleration, at a speed [rad s²/m]."""
    yaw, aside = model.steady(speed)
    return (1.0 - wheelbase / speed * yaw) / aside


__all__ = ["RollTrack", "roll_track", "understeer"]
