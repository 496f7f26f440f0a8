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
        ("depth", "i8"),  # dofs between it and the world
        ("island", "i8"),  # whose reference point the spatial vectors of this dof are taken at
        ("q", "i8"),  # index of its coordinate (the first of four for a ball)
        ("v", "i8"),  # index of its rate
        ("motion", "i8"),  # SCREW, BALL or BALL_NEXT
        ("column", "i8"),  # which axis of the frame a ball column turns about: 0, 1, 2
        ("solid", "i8"),  # 1 if a body with inertia rides on this dof, else 0
        ("aligned", "i8"),  # 1 if X_R is exactly the identity, so that nothing needs to be turned, else 0
        ("limited", "i8"),  # 1 if it has limits, else 0
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
        ("sin", "f8"),  # of the angle by which its motion turns
        ("cos", "f8"),
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
        ("force", "f8", 3),  # what it exerts now [N]: pull along its line (first), or along its three axes
    ]
)

SIGNAL = np.dtype(
    [
        ("kind", "i8"),  # see linkwork.model.signals
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


# --- constraints ---

SLIDE, TURN, BALL_AXIS = 0, 1, 2
"""How a coordinate is read off the two frames of a joint."""

DOT, COORDINATE, DISTANCE, SPIN, CALLED = range(5)
"""What a row measures: a joint equation α·β, joint coordinates, the distance of two points, the angular velocity of B
against A about an axis of B, which has no gap, or what a function that is called by its address says (see `called`)."""

HOLD, LIMIT, FRICTION, SERVO_RATE, LAW = range(5)
"""What a row is for: an equation, a bound of a coordinate, dry friction, a rate to be kept, or the force of an element
that follows a law (see `elements`)."""

NO_LAW, USER_LAW = -2, -1
"""Numbers of laws that are not in the registry: none, and a function of the user's."""

FREE, HELD, LOW, HIGH, GIVEN = range(5)
"""How a row takes part in the motion now: no force, kept (with what force that takes), force at its lower or upper
bound, force by its law."""

PAIR = np.dtype(
    [
        ("a", "i8"),  # the dof that carries the joint frame on body a; 0 is the world
        ("b", "i8"),  # and on body b
        ("X_A", "f8", 12),  # that frame in the dof's frame: rotation (9), position (3) [m]
        ("X_B", "f8", 12),
        # --- written by every evaluation; world axes ---
        ("R_A", "f8", 9),
        ("R_B", "f8", 9),
        ("r_A", "f8", 3),  # position from the reference point of a's island [m]
        ("r_B", "f8", 3),  # and of b's
        ("d", "f8", 3),  # from A to B [m]
        # --- written by `measure_motion`; accelerations are those of joints that do not accelerate ---
        ("w_A", "f8", 3),  # angular velocity [rad/s]
        ("w_B", "f8", 3),
        ("e_A", "f8", 3),  # angular acceleration [rad/s²]
        ("e_B", "f8", 3),
        ("d1", "f8", 3),  # d' [m/s]
        ("d2", "f8", 3),  # d'' [m/s²]
    ]
)

COORD = np.dtype(
    [
        ("pair", "i8"),  # the joint frames it is read from; -1 for a coordinate of the tree
        ("q", "i8"),  # its place in q, or -1 if it is read from the frames
        ("v", "i8"),  # the dof that moves it, or -1
        ("how", "i8"),  # SLIDE, TURN or BALL_AXIS
        ("pick", "i8", 5),  # which vectors: sine (α, β), cosine (α, β); last: the axis of a slide or ball
        ("used", "i8"),  # 1 if a row is about it, 0 if it is only read for records
        ("hand", "f8"),  # -1 for the translations of a mirrored joint
        ("value", "f8"),  # now, angles counted beyond a turn [rad or m]
        ("J_A", "f8", 6),  # its rate is J_A·V_A + J_B·V_B
        ("J_B", "f8", 6),
        ("K_A", "f8", 6),  # scratch: the Jacobian of the cosine of an angle
        ("K_B", "f8", 6),
        ("bias", "f8"),  # its second derivative if no joint accelerated
        ("tracked", "i8"),  # 1 if its turns are counted instead of its value kept
        ("turns", "f8"),
        ("sine", "f8"),  # of the angle when last tracked
    ]
)

ROW = np.dtype(
    [
        ("kind", "i8"),  # DOT, COORDINATE, DISTANCE, SPIN or CALLED
        ("role", "i8"),  # HOLD, LIMIT ...
        ("group", "i8"),  # rows of one joint that are solved together share a number
        ("pair", "i8"),  # of a DOT, DISTANCE or CALLED
        ("alpha", "i8"),  # of a DOT; of a CALLED row where its numbers begin
        ("beta", "i8"),  # of a CALLED row which of its group it is
        ("first", "i8"),  # coordinate of a COORDINATE row, and of a screw's coupling
        ("second", "i8"),  # another coordinate, or -1
        ("sign", "f8"),  # factor of the first coordinate: -1 for an upper limit
        ("ratio", "f8"),  # factor of the second one
        ("offset", "f8"),  # subtracted from what is measured [rad or m]
        ("value", "f8", 6),  # of a limit restitution and least bounce; of a law its numbers
        ("strength", "f8"),  # largest force of friction, servos and laws [N or N m]
        ("inertia", "f8"),  # of a rotor that turns with it [kg or kg m²]
        ("law", "i8"),  # number of its law, USER_LAW or NO_LAW
        (
            "source",
            "i8",
        ),  # 1 if its power comes from outside: a drive; 0 if what is missing of it was dissipated
        (
            "function",
            "i8",
        ),  # address of a user's law, whose numbers begin at value[0] of the table of numbers; or of what measures
        ("input", "i8"),  # where its command stands in `inputs`, or -1
        ("signal", "i8"),  # the time signal that scales the command, or -1
        ("state", "i8"),  # place of its continuous state among all of them, or -1
        ("period", "f8"),  # time between its samples, 0 for none [s]
        # --- written by every evaluation ---
        ("phi", "f8"),  # gap [rad or m]
        ("J_A", "f8", 6),  # against body twists at their islands' reference points
        ("J_B", "f8", 6),
        ("a", "i8"),  # the dofs whose twists they multiply
        ("b", "i8"),
        ("rate", "f8"),  # phi' at the start of the step
        ("active", "i8"),
        ("goal", "f8"),  # wanted velocity at the end of the step
        ("soft", "f8"),  # gamma of a soft row: velocity error forgiven per impulse
        ("lo", "f8"),  # bounds of the impulse [N s or N m s]
        ("hi", "f8"),
        ("push", "f8"),  # wanted pseudo velocity, which removes the gap
        ("p", "f8"),  # impulse of this step, kept to start the next one
        # --- of a law ---
        ("x", "f8"),  # its continuous state
        ("flow", "f8"),  # and how fast that changes
        ("memory", "f8", 4),  # its sampled states
        (
            "column",
            "i8",
        ),  # place of its states among those that are recorded, the continuous one first; or -1
        ("slots", "i8"),  # how many sampled states it has
        ("pieces", "i8"),  # 1 if its law consists of pieces; memory[0]: which one, 0 that at the measure
        ("samples", "f8"),  # how often it has been sampled: the next time is at samples · period
        ("pull", "f8"),  # force by its law at the last evaluation, whatever it then was [N or N m]
        ("supplied", "f8"),  # power at that force [W]
        ("dissipated", "f8"),
        # --- the direct solver's own ---
        ("mode", "i8"),  # FREE, HELD, LOW, HIGH or GIVEN
        ("stiff", "i8"),  # 1 if its spring or motor is too stiff for the step and is taken implicitly
        ("bias", "f8"),  # phi'' if no joint accelerated
        ("accel", "f8"),  # phi''
        ("force", "f8"),  # [N or N m]
    ]
)


OP = np.dtype(
    [
        ("kind", "i8"),  # see engine.control.codes
        ("a", "i8"),  # operations whose values it takes, before or, of states, after it; -1 for none
        ("b", "i8"),
        ("c", "i8"),
        ("skip", "i8"),  # so many records behind it hold numbers of its own
        ("p", "f8", 8),  # its numbers; of a record behind an operation, eight of that one's
        ("function", "i8"),  # address of a user's compiled function
        ("state", "i8"),  # place of its continuous state among all of them, or -1
        ("column", "i8"),  # place of its value among the states that are recorded, or -1
        ("period", "f8"),  # time between its samples, 0 for none [s]
        ("pieces", "i8"),  # 1 if its law consists of pieces, as its numbers are
        # The next operation, 0 for none, of those that have continuous states, have pieces, take inputs late, are
        # evaluated again once flows of states are known, and command drives that keep a rate; the first record has the
        # first of each.
        ("next_state", "i8"),
        ("next_piece", "i8"),
        ("next_late", "i8"),
        ("next_again", "i8"),
        ("next_command", "i8"),
        # --- written as it goes ---
        ("value", "f8"),
        ("rate", "f8"),  # of the value; NaN where that is not known
        ("x", "f8"),  # continuous state
        ("flow", "f8"),  # and how fast that changes
        ("mode", "i8"),  # which piece of its law holds; -1: none yet
        ("memory", "f8", 4),
        ("samples", "f8"),  # how often it has been sampled
        ("due", "f8"),  # when it acts again [s]; infinite for never
        ("margin", "f8"),  # how far the piece that holds is from its end, and the rate of that (0: not known)
        ("margin_rate", "f8"),
        ("began", "f8"),  # both where the step began
        ("began_rate", "f8"),
    ]
)
"""An operation of a control diagram. The first record of a tape stands for the whole: see `engine.kernels.tape`."""


class Constraints(NamedTuple):
    """Joint frames, coordinates and rows of a mechanism, the commands of its drives, and its control diagram."""

    pairs: np.ndarray
    coords: np.ndarray
    rows: np.ndarray
    inputs: np.ndarray
    """Commands of drives, then what an operator has set."""
    tape: np.ndarray
    """Operations of the diagram, each after those that it takes at once; empty without a diagram."""
