"""Linear theory of steering: the single-track model with tyres that take a way to build up their force.

Both wheels of an axle as one, no roll, small angles, a constant speed: lateral velocity v, yaw rate r, and of both
axles the part g of the lateral force that the carcass' spring has, (σ/V + τ) g' + g = -C α, with F = g + τ g': σ is the
relaxation length, τ the damping of the carcass over its stiffness (engine/tyres/patch.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.rotation import Array


class Lateral:
    """A linear model of steering at a constant speed: x' = A x + b δ, of which the first two are lateral velocity and
    yaw rate."""

    def matrices(self, speed: float) -> tuple[Array, Array]:
        """A and b at a speed [m/s]."""
        raise NotImplementedError

    def aside(self, speed: float, rates: Array, x: Array) -> Any:
        """Lateral acceleration from x' and x [m/s²]."""
        return rates[0] + speed * x[1]

    def steady(self, speed: float) -> tuple[float, float]:
        """Yaw rate [1/s] and lateral acceleration [m/s²/rad] per steer angle."""
        A, b = self.matrices(speed)
        yaw = float(-np.linalg.solve(A, b)[1])
        return yaw, yaw * speed

    def response(self, speed: float, frequency: Array) -> tuple[Array, Array]:
        """Of yaw rate [1/s] and lateral acceleration [m/s²] to the steer angle at frequencies [Hz]."""
        A, b = self.matrices(speed)
        found = []
        for f in np.atleast_1d(frequency):
            s = 2j * math.pi * f
            x = np.linalg.solve(s * np.eye(len(b)) - A, b)
            found.append((x[1], self.aside(speed, s * x, x)))
        yaw, aside = np.array(found).T
        return yaw, aside

    def resonance(self, speed: float) -> tuple[float, float]:
        """Frequency at which the yaw rate's gain is largest [Hz], and that gain over the steady one [1]."""
        f = np.linspace(0.0, 5.0, 2001)
        gain = np.abs(self.response(speed, f)[0])
        k = int(np.argmax(gain))
        return float(f[k]), float(gain[k] / gain[0])


@dataclass(frozen=True)
class SingleTrack(Lateral):
    """A car as linear theory sees it: no roll."""

    mass: float
    """[kg]"""
    yaw_inertia: float
    """[kg m²]"""
    front: float
    """From the centre of mass to where the front tyres' forces act [m]."""
    rear: float
    """And to where those of the rear tyres do [m]."""
    stiffness_front: float
    """Cornering stiffness of both front tyres [N/rad]."""
    stiffness_rear: float
    """[N/rad]"""
    relaxation: float = 0.0
    """Of the tyres' lateral force [m]."""
    settling: float = 0.0
    """Damping of their carcass over its stiffness [s]."""
    trail_front: float = 0.0
    """How far behind the wheels' centres the forces act: these are included in `front` and `rear` [m]."""
    trail_rear: float = 0.0

    @property
    def wheelbase(self) -> float:
        """[m]"""
        return self.front + self.trail_front + self.rear - self.trail_rear

    @property
    def understeer(self) -> float:
        """Understeer gradient [rad s²/m]: steer angle over that of Ackermann, per lateral acceleration."""
        load = self.mass / (self.front + self.rear)
        return load * (self.rear / self.stiffness_front - self.front / self.stiffness_rear)

    def matrices(self, speed: float) -> tuple[Array, Array]:
        """A and b of (v, r, g_front, g_rear)' = A x + b δ."""
        m, J, a, b = self.mass, self.yaw_inertia, self.front, self.rear
        V, T = speed, max(self.relaxation / speed + self.settling, 1e-6)
        share = self.settling / T
        # The wheels' centres slip; trails shift where the force acts, not where the slip is measured.
        at = (a + self.trail_front, -(b - self.trail_rear))
        stiff, arms, steered = (self.stiffness_front, self.stiffness_rear), (a, -b), (1.0, 0.0)
        A, B = np.zeros((4, 4)), np.zeros(4)
        A[0, 1] = -V
        for k in range(2):
            slip, told = np.array([1.0, at[k], 0.0, 0.0]) / V, -steered[k]
            grows = -stiff[k] * slip / T
            grows[2 + k] -= 1.0 / T
            force, given = self.settling * grows, share * -stiff[k] * told
            force[2 + k] += 1.0
            A[0] += force / m
            A[1] += arms[k] * force / J
            A[2 + k] = grows
            B += np.array([given / m, arms[k] * given / J, 0.0, 0.0])
            B[2 + k] = -stiff[k] * told / T
        return A, B


__all__ = ["Lateral", "SingleTrack"]
