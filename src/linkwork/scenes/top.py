"""Spinning top on a floor: it precesses, and leans further as it loses its spin."""

from math import cos, radians, sin

from ..model import GROUND, Body, Cylinder, Free, Marker, Material, Model, Plane, Scenery, Sphere, about

DURATION = 10.0
DT = 2e-4  # first order at 150 rad/s: steps of 1 ms would make it fall within seconds
PLOT = ("crown.position.*", "top_way.wz", "energy.balance")
BUTTONS = {"Nudge": lambda session: session.push("top", (0.0, 0.02, 0.0))}
TIP = 0.005
"""Radius of the tip [m]."""


def build(spin: float = 150.0, lean: float = 20.0, friction: float = 0.3, torsion: float = 1e-4) -> Model:
    """`spin` about its own axis [rad/s], `lean` of it at the start [°]; `torsion` is the arm of the friction that
    slows the spin [m].
    """
    model = Model("top")
    a = radians(lean)
    turn = about((0.0, 1.0, 0.0), a)
    axis = (sin(a), 0.0, cos(a))
    at = (0.0, 0.0, TIP)
    model.add(Material("steel", friction=friction, torsion=torsion))
    model.add(Scenery("floor", shapes=(Plane(),), material="steel"))
    pin, disc = Cylinder(TIP, 0.09, at=(0.0, 0.0, 0.045)), Cylinder(0.04, 0.015, at=(0.0, 0.0, 0.04))
    shapes = (Sphere(TIP), pin, disc)
    top = model.add(Body("top", at=at, rotation=turn, density=1000.0, shapes=shapes, material="steel"))
    # Rates of a ball are those of the body's axes: the last is about its own axis, on which its centre of mass lies.
    arm = float(top.mass_properties.com[2])
    centre = (arm * axis[0], 0.0, TIP + arm * axis[2])
    model.add(Free("top_way", GROUND, "top", at=centre, axis=axis, velocity=(0.0, 0.0, 0.0, 0.0, 0.0, spin)))
    model.add(Marker("crown", "top", at=(0.09 * axis[0], 0.0, TIP + 0.09 * axis[2])))
    return model
