"""Chain of uniform rods on hinges, released horizontally: as many links as you like."""

from ..model import GROUND, Body, Box, Hinge, Marker, Model

SOURCE = "the five-link chain of Mikhaylyuk, Strashnov and Timokhin (fig. 4), parameters proposed here"
DURATION = 5.0
ENDLESS = True
PLOT = ("joint1.angle", "joint2.angle", "energy.balance")


def build(
    links: int = 20, length: float = 0.5, mass: float = 1.0, damping: float = 0.0, friction: float = 0.0
) -> Model:
    """`length` and `mass` of each link [m, kg]; `damping` [N m s/rad] and dry `friction` [N m] of each joint."""
    model = Model(f"chain{links}", gravity=(0.0, -9.81, 0.0))
    rod = Box((length, 0.1 * length, 0.1 * length), at=(length / 2, 0.0, 0.0))
    side = mass * length**2 / 12
    axial = mass * (0.1 * length) ** 2 / 6  # of the drawn cross-section; no joint of the chain feels it
    previous = GROUND
    for i in range(links):
        name = f"link{i + 1}"
        at = (i * length, 0.0, 0.0)
        model.add(Body(name, at=at, mass=mass, com=rod.at, inertia=(axial, side, side), shapes=(rod,)))
        axis = (0.0, 0.0, 1.0)
        model.add(
            Hinge(f"joint{i + 1}", previous, name, at=at, axis=axis, damping=damping, friction=friction)
        )
        previous = name
    model.add(Marker("tip", previous, at=(links * length, 0.0, 0.0)))
    return model
