"""The compiled model: a few tables of records, with the meaning and unit of every field.

A table's dtype never depends on the model's size, so no kernel is ever compiled twice. Kernels take a
record by reference (`dofs[d].S[k]`); Python sees named columns (`tables.dofs["mass"]`).
"""

from typing import NamedTuple

import numpy as np

SCREW, BALL, BALL_NEXT = 0, 1, 2
"""How a dof moves: along and about its own z axis, or as one of the three columns of a ball."""

DOF = np.dtype(
    [
        # --- what the model says; fixed after compile ---
        ("parent", "i8"),  # the dof that carries this one; 0 is the world
        ("before", "i8"),  # the dof whose frame carries this axis: the parent of the whole ball, or `parent`
        ("first", "i8"),  # first dof of the ball this one belongs to, else itself
        ("island", "i8"),  # whose reference point the spatial vectors of this dof are taken at
        ("q", "i8"),  # index of its coordinate (the first of four for a ball)
        ("v", "i8"),  # index of its rate
        ("motion", "i8"),  # SCREW, BALL or BALL_NEXT
        ("column", "i8"),  # which axis of the frame a ball column turns about: 0, 1, 2
        ("solid", "i8"),  # 1 if a body with inertia rides on this dof, else 0
        ("rot", "f8"),  # rotation per unit of q: 1, -1 or 0 [rad/rad]
        ("trans", "f8"),  # translation per unit of q: 1, -1, 0 [m/m] or a screw's pitch [m/rad]
        ("shift", "f8"),  # the part of `trans` that moves r; 0 where it moves the island's origin
        ("X_R", "f8", 9),  # this dof's frame in its parent's frame at q = 0, rotation
        ("X_p", "f8", 3),  # and position [m]
        ("mass", "f8"),  # of everything rigidly riding on this dof [kg]
        ("com", "f8", 3),  # its centre of mass in this dof's frame [m]
        ("inertia", "f8", 6),  # about the centre of mass, this dof's axes: xx xy xz yy yz zz [kg m²]
        ("armature", "f8"),  # rotor inertia felt by this dof alone [kg m² or kg]
        ("stiffness", "f8"),  # of the spring in the joint [N m/rad or N/m]
        ("rest", "f8"),  # coordinate at which that spring is slack [rad or m]
        ("damping", "f8"),  # viscous [N m s/rad or N s/m]
        # --- written by every evaluation; at the island's reference point, world axes ---
        ("R", "f8", 9),  # orientation of this dof's frame after its motion
        ("r", "f8", 3),  # its origin seen from the reference point [m]
        ("S", "f8", 6),  # motion axis
        ("V", "f8", 6),  # twist
        ("A0", "f8", 6),  # acceleration if no joint accelerated, gravity as a base acceleration of -g
        ("I", "f8", 21),  # rigid, then articulated or composite inertia
        ("p", "f8", 6),  # bias force: I A0 + V ×* I V - external forces
        ("tau", "f8"),  # generalised force along this dof [N m or N]
        ("U", "f8", 6),  # I S
        ("d", "f8"),  # 1/(Sᵀ U)
        ("u", "f8"),  # tau - Sᵀ p
        ("A", "f8", 6),  # acceleration caused by the joints' accelerations
    ]
)

BODY = np.dtype(
    [
        ("link", "i8"),  # the dof it rides on; 0 is the world
        ("X_R", "f8", 9),  # body frame in that dof's frame, rotation
        ("X_p", "f8", 3),  # and position [m]
    ]
)

ISLAND = np.dtype(
    [
        ("p0", "f8", 3),  # world position of its root's base frame [m]
        ("o", "f8", 3),  # its reference point in the world now [m]
    ]
)

LOAD = np.dtype(
    [
        ("kind", "i8"),  # position in the registry of load kinds
        ("a", "i8"),  # the dof that carries end A; 0 is the world
        ("b", "i8"),  # the dof that carries end B
        ("X_A", "f8", 12),  # frame of the load on A in that dof's frame: rotation (9), position (3) [m]
        ("X_B", "f8", 12),  # and on B
        ("value", "f8", 8),  # what the kind makes of it: vectors, stiffness, damping, length ...
        ("signal", "i8"),  # index of the time signal that scales it, -1 for constant
        ("function", "i8"),  # address of a user's compiled function, 0 for none
        ("first", "i8"),  # first of its own numbers in `numbers`
        ("count", "i8"),  # how many
        ("potential", "f8"),  # energy stored in it now [J]
    ]
)

SIGNAL = np.dtype(
    [
        ("kind", "i8"),  # see linkwork.signals
        ("first", "i8"),  # first of its numbers in `numbers`
        ("count", "i8"),  # how many numbers
        ("function", "i8"),  # address of a user's compiled function, 0 for none
    ]
)


class Tables(NamedTuple):
    """Everything that a kernel reads of a model, and the scratch it writes."""

    dofs: np.ndarray
    bodies: np.ndarray
    islands: np.ndarray
    loads: np.ndarray
    signals: np.ndarray
    numbers: np.ndarray
