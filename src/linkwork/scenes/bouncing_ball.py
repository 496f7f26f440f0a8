"""Four balls that give back nothing, half, four fifths and all of their speed."""

from ..model import GROUND, Body, Free, Material, Model, Plane, Scenery, Sphere

DURATION = 4.0
PLOT = ("ball*_way.z", "energy.balance")
BUTTONS = {"Push the liveliest up": lambda session: session.push("ball4", (0.0, 0.0, 1.0))}
RESTITUTION = (0.0, 0.5, 0.8, 1.0)


def build(height: float = 1.0, radius: float = 0.1, mass: float = 1.0) -> Model:
    """`height` of the drop, from the lowest point of each ball [m]."""
    model = Model("bouncing_ball")
    model.add(Material("floor"))
    model.add(Scenery("ground_plate", shapes=(Plane(),), material="floor"))
    for k, restitution in enumerate(RESTITUTION):
        name, at = f"ball{k + 1}", (3.0 * radius * (k - 1.5), 0.0, height + radius)
        model.add(Material(f"rubber{k + 1}", restitution=restitution))
        model.add(Body(name, at=at, mass=mass, shapes=(Sphere(radius),), material=f"rubber{k + 1}"))
        model.add(Free(f"{name}_way", GROUND, name, at=at))
    return model
