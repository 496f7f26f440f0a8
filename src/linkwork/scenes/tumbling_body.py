"""Free box spun about its middle axis: it flips over and over (the Dzhanibekov effect)."""

from ..model import Body, Box, Free, Model

DURATION = 20.0
ENDLESS = True
PLOT = ("float.w?", "box.rotation.*", "energy.balance")
BUTTONS = {"Push": lambda session: session.push("box", (1.0, 0.0, 0.0))}


def build(spin: float = 6.0, disturbance: float = 0.01) -> Model:
    """Spins [rad/s] about the middle axis, slightly disturbed about the others; no gravity."""
    model = Model("tumbling_body", gravity=(0.0, 0.0, 0.0))
    model.add(Body("box", density=500.0, shapes=(Box((0.3, 0.2, 0.1)),)))
    model.add(Free("float", "ground", "box", velocity=(0.0, 0.0, 0.1, disturbance, spin, disturbance)))
    return model
