"""Peaucellier-Lipkin linkage: seven rods turn a circle into an exact straight line."""

from math import acos, atan2, cos, dist, hypot, pi, sin, tau

from ..engine.elements import VelocityServo
from ..model import Hinge, Marker, Model, Sine
from .n_four_bar import rod

SOURCE = "the linkage of Mikhaylyuk, Strashnov and Timokhin (fig. 5); lengths and masses proposed here"
DURATION = 10.0
ENDLESS = True
PLOT = ("crank.angle", "tip.position.*", "energy.balance")
LONG, SIDE, RADIUS = 1.0, 0.6, 0.35
LINE = (LONG**2 - SIDE**2) / (2 * RADIUS)
"""x of the straight line that D draws [m]."""


def points(phi: float) -> dict[str, tuple[float, float]]:
    """Positions of the pins for a crank angle [rad]."""
    C = (RADIUS + RADIUS * cos(phi), RADIUS * sin(phi))
    reach, bearing = hypot(*C), atan2(C[1], C[0])
    spread = acos((LONG**2 + reach**2 - SIDE**2) / (2 * LONG * reach))
    A = (LONG * cos(bearing + spread), LONG * sin(bearing + spread))
    B = (LONG * cos(bearing - spread), LONG * sin(bearing - spread))
    D = (A[0] + B[0] - C[0], A[1] + B[1] - C[1])
    return {"O": (0.0, 0.0), "Q": (RADIUS, 0.0), "A": A, "B": B, "C": C, "D": D}


def build(start: float = 60.0, swing: float = 0.0) -> Model:
    """`start` is the crank angle [°]; with `swing` [Hz] a motor swings the crank between plus and minus it.

    Without, the linkage moves freely under gravity along x.
    """
    model = Model("peaucellier", gravity=(9.81, 0.0, 0.0))
    pin = points(start * pi / 180)
    for name in ("QC", "OA", "OB", "AC", "BC", "AD", "BD"):
        ends = pin[name[0]], pin[name[1]]
        model.add(rod(name, *ends, dist(*ends), 0.04))
    for name, a, b, at in (
        ("crank", "ground", "QC", "Q"), ("OA_pin", "ground", "OA", "O"), ("OB_pin", "ground", "OB", "O"),
        ("A_in", "OA", "AC", "A"), ("A_out", "OA", "AD", "A"), ("B_in", "OB", "BC", "B"),
        ("B_out", "OB", "BD", "B"), ("C_a", "QC", "AC", "C"), ("C_b", "QC", "BC", "C"), ("D", "AD", "BD", "D"),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=(*pin[at], 0.0)))
    model.add(Marker("tip", "AD", at=(*pin["D"], 0.0)))
    if swing:
        rate = -start * pi / 180 * tau * swing
        model.add(VelocityServo("motor", "crank", command=rate, signal=Sine(swing)))
    return model
