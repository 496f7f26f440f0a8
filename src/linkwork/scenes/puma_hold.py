"""PUMA 560 arm that swings over, takes hold of a point, turns its hand about it and swings back, by torques alone.

From 0 to 2 s it moves freely; from 2 to 6 s a spherical joint holds the tool, and only the wrist pushes; from 6 to 8 s
it moves freely back to where it began. Torques are those of the exact motion, and nothing corrects errors: how far the
tool is from its start after 8 s tells how good a method is.
"""

from functools import lru_cache

import numpy as np

from ..engine.elements import TorqueSource
from ..model import GROUND, Model, Spherical, Table
from ..model.rotation import Array, matrix
from . import puma560

SOURCE = "phases of Cuadrado and Dopico's third example, motion proposed here; arm: Corke and Armstrong-Hélouvry (1994)"
DURATION = 8.0
METHOD = "simgc"
PLOT = ("joint?.angle", "tool.position.?", "energy.balance")
WATCHED = 8.0

HOLD = (2.0, 6.0)
"""When the tool is held [s]."""
FROM = (0.0, np.pi / 2, -np.pi / 2, 0.0, 0.3, 0.0)
"""Angles at the start and at the end [rad]."""
TO = (0.8, 0.9, -2.6, 0.3, 1.7, -0.5)
"""Angles where the tool takes hold [rad]."""
TURN = (0.3, -0.25, 0.8)
"""Rotation vector of the hand while it is held, in its own axes at the beginning [rad]."""
SWING, HELD = 1001, 641
"""Points of the torques' tables in a free phase and in the held one: cubics between them are good to 1e-8 N m."""


def build(motors: bool = True, grip: bool = True) -> Model:
    """`motors`: with the rotors and the viscous friction of the real arm; `grip`: the tool is held.

    Without motors the arm that stands on its hand falls like exp(4 t): errors grow by 1e6 in the held phase alone, and
    no arithmetic of 16 digits brings the tool back. With them they grow by some thousand in all.
    """
    model = puma560.build(rotors=motors, friction=motors, start=FROM)
    model.name = "puma_hold"
    if grip:
        tool = model.markers["tool"]
        model.add(Spherical("grip", tool.body, GROUND, at=tool.at, attached=(HOLD,)))
    times, torques = manoeuvre(motors)
    for k, values in enumerate(torques.T, 1):
        signal = Table(tuple(times), tuple(values), smooth=True)
        model.add(TorqueSource(f"motor{k}", f"joint{k}", command=1.0, signal=signal))
    return model


@lru_cache(maxsize=2)
def manoeuvre(motors: bool) -> tuple[Array, Array]:
    """Times [s] and the torques of all six joints there [N m]; times at which these jump come twice."""
    start, end = HOLD
    held_times = np.linspace(start, end, HELD)
    held, last = _held_torques(held_times - start, motors)
    there, back = np.linspace(0.0, start, SWING), np.linspace(end, DURATION, SWING)
    torques = _swing(FROM, TO, there, motors), held, _swing(tuple(last), FROM, back - end, motors)
    return np.concatenate([there, held_times, back]), np.concatenate(torques)


def quintic(share: float) -> tuple[float, float, float]:
    """A way from 0 to 1 with rest at both ends, its first and second derivative, at a share of its time."""
    u = share
    return u**3 * (10 - 15 * u + 6 * u * u), 30 * (u * (1 - u)) ** 2, 60 * u * (1 - u) * (1 - 2 * u)


def _swing(start: tuple[float, ...], end: tuple[float, ...], times: Array, motors: bool) -> Array:
    """Torques of a free motion between two poses over `times`, which begin at zero."""
    from ..compile.compiler import compile_model
    from ..engine.coordinates.dynamics import inverse_dynamics

    tables = compile_model(puma560.build(rotors=motors, friction=motors)).fresh_tables()
    begin, way, span = np.array(start), np.subtract(end, start), float(times[-1])
    torques = np.zeros((len(times), len(start)))
    for t, tau in zip(times, torques, strict=True):
        s, rate, bend = quintic(t / span)
        inverse_dynamics(tables, begin + s * way, rate / span * way, 0.0, bend / span**2 * way, tau)
    return torques


def _held_torques(times: Array, motors: bool) -> tuple[Array, Array]:
    """Torques while the tool is held, the arm's own being none, and the angles at the end [rad]."""
    from ..analysis.inverse import inverse

    model = puma560.build(rotors=motors, friction=motors, start=TO, drawn=TO)
    tool = model.markers["tool"]
    model.add(Spherical("grip", GROUND, tool.body, at=tool.at))
    turn = matrix(model.bodies[tool.body].rotation) @ np.array(TURN)
    span = float(times[-1])
    s, rate, bend = np.array([quintic(t / span) for t in times]).T
    way = np.array([s, rate / span, bend / span**2])
    wrist = [f"joint{k}.angle" for k in (4, 5, 6)]
    motion = {f"grip.w{axis}": way * turn[i] for i, axis in enumerate("xyz")}
    found = inverse(model, motion, times, at=wrist)
    torques = np.column_stack([np.zeros((len(times), 3)), *(found.torques[name] for name in wrist)])
    return torques, found.q[-1] + np.array(TO)
