"""A row of twenty dominoes; the first is pushed."""

from ..model import GROUND, Body, Box, Free, Material, Model, Plane, Scenery

SOURCE = "size of common dominoes (48 mm x 24 mm x 7.5 mm); spacing proposed here"
DURATION = 2.0
LIVE_OPTIONS = {"solver": "impulses", "dt": 2e-3}  # the direct solver needs four seconds for one
PLOT = ("domino1_way.qy", "domino10_way.qy", "domino20_way.qy", "contact.patches")
BUTTONS = {"Push the last one back": lambda session: session.push("domino20", (-0.01, 0.0, 0.0))}
THICK, WIDE, HIGH = 0.0075, 0.024, 0.048
"""[m]"""


def build(count: int = 20, pitch: float = 0.024, push: float = 6.0, friction: float = 0.3) -> Model:
    """`pitch` from one domino to the next [m]; the first starts to tip at `push` [rad/s]."""
    model = Model("dominoes")
    model.add(Material("ivory", friction=friction))
    model.add(Scenery("floor", shapes=(Plane(),), material="ivory"))
    for k in range(count):
        name, at = f"domino{k + 1}", (k * pitch, 0.0, HIGH / 2)
        model.add(Body(name, at=at, density=1200.0, shapes=(Box((THICK, WIDE, HIGH)),), material="ivory"))
        # A turn about the edge over which it tips, seen from its centre.
        tips = (push * HIGH / 2, 0.0, push * THICK / 2, 0.0, push, 0.0) if k == 0 else None
        model.add(Free(f"{name}_way", GROUND, name, at=at, velocity=tips))
    return model
