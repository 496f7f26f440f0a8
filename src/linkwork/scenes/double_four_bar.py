"""Two four-bars in a row: one degree of freedom, and a singular position every second."""

from ..model import Model
from .n_four_bar import build as build_row

SOURCE = "Bayo and Avello (1994); Cuadrado and Dopico, example 1; IFToMM benchmark A02 with N = 2"
DURATION = 10.0
ENDLESS = True
PLOT = ("A0.angle", "A0.angle_rate", "energy.balance")
BUTTONS = {"Push": lambda session: session.push("coupler0", (1.0, 0.0, 0.0))}


def build(rate: float = 1.0) -> Model:
    """`rate` at which the upright links start to tip over clockwise [rad/s]."""
    model = build_row(2, rate)
    model.name = "double_four_bar"
    return model
