"""PUMA 560 arm: six hinges, published masses, inertias, rotors and friction."""

from math import pi

import numpy as np

from ..model import GROUND, Body, Box, Cylinder, Hinge, Marker, Model
from ..model.rotation import Vector, quaternion, vector

SOURCE = "Corke and Armstrong-Hélouvry (1994), the consensus data of the Robotics Toolbox, standard DH"
DURATION = 5.0
PLOT = ("joint?.angle", "energy.balance")

# d, a, alpha of the standard Denavit-Hartenberg frames [m, m, rad].
_FRAMES = (
    (0.0, 0.0, pi / 2),
    (0.0, 0.4318, 0.0),
    (0.15005, 0.0203, -pi / 2),
    (0.4318, 0.0, pi / 2),
    (0.0, 0.0, -pi / 2),
    (0.0, 0.0, 0.0),
)
# mass [kg], centre of mass in the link's frame [m], principal inertia about it [kg m²].
_LINKS = (
    # Only the moment about its own axis of rotation was ever measured for link 1; the others do not
    # matter, since it turns about that axis alone, and are set to the least a real body can have.
    (0.0, (0.0, 0.0, 0.0), (0.175, 0.35, 0.175)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018)),
    (0.34, (0.0, 0.0, 0.0), (0.0003, 0.0004, 0.0003)),
    (0.09, (0.0, 0.0, 0.032), (0.00015, 0.00015, 0.00004)),
)
# rotor inertia [kg m²], gear ratio, viscous friction at the motor [N m s/rad].
_MOTORS = (
    (200e-6, -62.6111, 1.48e-3),
    (200e-6, 107.815, 0.817e-3),
    (200e-6, -53.7063, 1.38e-3),
    (33e-6, 76.0364, 71.2e-6),
    (33e-6, 71.923, 82.6e-6),
    (33e-6, 76.686, 36.7e-6),
)
NOMINAL = (0.0, pi / 4, -pi, 0.0, pi / 4, 0.0)
"""The pose `qn` of the Robotics Toolbox [rad]."""
ZERO = (0.0,) * 6


def build(
    rotors: bool = True,
    friction: bool = True,
    start: tuple[float, ...] = NOMINAL,
    drawn: tuple[float, ...] = ZERO,
) -> Model:
    """`rotors` adds the motors' inertia, `friction` their viscous friction, both felt through the gears.

    The arm is written in the pose `drawn`, from which its angles count, and moves from `start`; both are angles of the
    standard frames [rad].
    """
    model = Model("puma560")
    frame = np.eye(4)
    previous = GROUND
    for i, ((d, a, alpha), (mass, com, inertia), (rotor, gear, viscous)) in enumerate(
        zip(_FRAMES, _LINKS, _MOTORS, strict=True)
    ):
        base, axis = vector(frame[:3, 3]), vector(frame[:3, 2])
        frame = frame @ _turned(drawn[i]) @ _link_frame(d, a, alpha)
        name = f"link{i + 1}"
        at, turned, shapes = vector(frame[:3, 3]), quaternion(frame[:3, :3]), _look(frame, base)
        # Link 3 was published with 0.0125 + 0.066 < 0.086: it is to be trusted.
        link = Body(
            name,
            at=at,
            rotation=turned,
            mass=mass,
            com=com,
            inertia=inertia,
            trust_inertia=True,
            shapes=shapes,
        )
        model.add(link)
        hinge = Hinge(
            f"joint{i + 1}", previous, name, at=base, axis=axis, reference=(1.0, 0.0, 0.0),
            position=start[i] - drawn[i], armature=rotor * gear**2 if rotors else 0.0,
            damping=viscous * gear**2 if friction else 0.0,
        )  # fmt: skip
        model.add(hinge)
        previous = name
    model.add(Marker("tool", previous, at=vector(frame[:3, 3] + 0.1 * frame[:3, 2])))
    return model


def _turned(angle: float) -> np.ndarray:
    """Rz(angle): how a joint turns the frames beyond it."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def _link_frame(d: float, a: float, alpha: float) -> np.ndarray:
    """Tz(d) Tx(a) Rx(alpha): a link's frame in the one before, at angle zero."""
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, d], [0, 0, 0, 1]])


def _look(frame: np.ndarray, base: Vector) -> tuple[Box | Cylinder, ...]:
    """A bar from the joint to the link's frame, or a knob where they coincide, in the link's frame."""
    back = frame[:3, :3].T @ (base - frame[:3, 3])
    length = float(np.linalg.norm(back))
    if length < 0.05:
        return (Cylinder(0.05, 0.12),)
    size = np.where(np.abs(back) > 1e-9, np.abs(back), 0.0) + 0.08
    return (Box(vector(size), at=vector(back / 2)),)
