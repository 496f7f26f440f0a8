"""Five-link chain released horizontally: chaotic without friction, a hard test of energy."""

from ..model import Model
from .chain import SOURCE as SOURCE
from .chain import build as build_chain

DURATION = 10.0
ENDLESS = True
PLOT = ("joint*.angle", "energy.kinetic", "energy.gravity", "energy.balance")
BUTTONS = {
    "Push the tip": lambda session: session.push("link5", (1.0, 0.0, 0.0)),
    "Lift the tip": lambda session: session.push("link5", (0.0, 1.0, 0.0)),
}


def build(damping: float = 0.0, friction: float = 0.0) -> Model:
    """Viscous `damping` [N m s/rad] or dry `friction` [N m] in every joint; the references have 1.0."""
    return build_chain(links=5, damping=damping, friction=friction)
