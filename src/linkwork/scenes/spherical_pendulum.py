"""Heavy rod on a ball joint, swung through its highest point: no orientation is special."""

from ..model import Body, Capsule, Model, Spherical

DURATION = 10.0
ENDLESS = True
PLOT = ("rod.rotation.*", "ball.w?", "energy.balance")


def build(length: float = 1.0, mass: float = 1.0, spin: float = 6.8, precession: float = 0.5) -> Model:
    """Hangs at the start; `spin` about x and `precession` about the rod's own axis [rad/s]."""
    model = Model("spherical_pendulum")
    rod = Capsule(0.03, length, at=(0.0, 0.0, -length / 2))
    model.add(Body("rod", mass=mass, shapes=(rod,)))
    model.add(Spherical("ball", "ground", "rod", velocity=(spin, 0.1, precession)))
    return model
