"""The robot of the scene as components: finger, hand, arm and leg, the last two drawn for the left side.

It stands upright with hanging arms: x ahead, y to the left, z up. Masses and lengths are those of a small adult.
"""

from itertools import combinations_with_replacement
from math import cos, radians, sin

from ...model import GROUND, Body, Component, Free, Hinge, Material, Model, NoContact, Universal, about
from ...model.shapes import Box, Capsule, Cylinder, Shape, Sphere

ANKLE, SHANK, THIGH = 0.07, 0.39, 0.40
"""Height of the ankle and lengths of the leg [m]."""
PELVIS, TORSO = 0.10, 0.36
"""From the hips up to the waist, from there to the shoulders [m]."""
UPPER_ARM, FOREARM = 0.28, 0.25
"""Lengths [m]."""
HIP = ANKLE + SHANK + THIGH
WAIST = HIP + PELVIS
SHOULDER = WAIST + TORSO
HALF_HIPS, HALF_SHOULDERS = 0.09, 0.20
"""From the middle to a hip and to a shoulder [m]."""
HEEL, TOE, FOOT_WIDTH = -0.08, 0.16, 0.10
"""Ends of the foot along x from the ankle, and its width [m]."""

PALM = (0.085, 0.024, 0.10)
"""Width, thickness and length [m]."""
PHALANGES = (0.050, 0.042)
"""Lengths of the two links of a finger [m]."""
FINGER = 0.010
"""Radius of a finger [m]."""
FINGERS = {"index": 0.03, "middle": 0.0, "ring": -0.03}
"""Where fingers stand across the palm [m]; the index is on the side of the thumb."""
THUMB_AT, THUMB_TURN = (0.016, -0.006, -0.012), 25.0
"""Base of the thumb from the wrist [m]; how far its plane is turned from that of the fingers to the front [°]."""
THUMB_START = 0.9
"""Drawn along the forearm, it starts standing off the palm [rad]."""
CURL = 0.55
"""Angle of the outer joint of a finger, as a share of its base joint."""
DIGITS = (*FINGERS, "thumb")

SHELL, DARK, BLUE, GREY, SKIN = "#e8eaee", "#2e3440", "#4f7cac", "#8a94a3", "#3f4a5a"

LEG_ROTOR, ARM_ROTOR, WRIST_ROTOR, FINGER_ROTOR = 0.2, 0.05, 0.01, 5e-4
"""Inertia of the geared rotors that drive the joints; waist and neck have those of legs and wrists [kg m²]."""

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
DOWN, RIGHT, BACK = (0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0)


def rubber() -> Material:
    """Of fingers, palms and soles; every component brings it along."""
    return Material("rubber", friction=0.9)


def shell() -> Material:
    """Of all the rest of the robot."""
    return Material("shell", friction=0.4)


def finger(base: float) -> Component:
    """Two links that hang down from the origin and close towards -y; the outer one is bent as suits its base [rad]."""
    part = Component("finger")
    part.add(rubber())
    first, second = PHALANGES
    for name, at, length, mass, color in (
        ("proximal", 0.0, first, 0.035, GREY), ("distal", -first, second, 0.025, SKIN),
    ):  # fmt: skip
        part.add(
            _body(
                name, at, mass, Capsule(FINGER, length, at=_up(-length / 2)), made="rubber links", color=color
            )
        )
    knuckle, start = _up(-first), CURL * base
    part.add(
        Hinge("bend", "proximal", "distal", at=knuckle, axis=BACK, position=start, armature=FINGER_ROTOR)
    )
    return part


def hand() -> Component:
    """A palm that looks to -y, three fingers below it, and a thumb against them. Origin: the wrist."""
    part = Component("hand")
    part.add(rubber())
    length = PALM[2]
    part.add(_body("palm", 0.0, 0.32, Box(PALM, at=_up(-length / 2)), made="rubber plate", color=SHELL))
    straight = finger(0.0)
    for name, x in FINGERS.items():
        at = (x, 0.0, -length - 0.004)
        part.add(straight.instance(name, at=at))
        part.add(Hinge(f"{name}_base", "palm", f"{name}.proximal", at=at, axis=BACK, armature=FINGER_ROTOR))
    # The thumb is a finger turned about the normal of the palm, so that it closes against the others.
    turn = radians(180.0 - THUMB_TURN)
    off = about(RIGHT, turn)
    axis = (-cos(turn), 0.0, -sin(turn))
    part.add(finger(THUMB_START).instance("thumb", at=THUMB_AT, rotation=off))
    at, start, rotor = THUMB_AT, THUMB_START, FINGER_ROTOR
    part.add(Hinge("thumb_base", "palm", "thumb.proximal", at=at, axis=axis, position=start, armature=rotor))
    return part


def arm() -> Component:
    """Shoulder, upper arm, forearm and hand, hanging. Origin: the shoulder."""
    part = Component("arm")
    part.add(shell())
    elbow, wrist = -UPPER_ARM, -UPPER_ARM - FOREARM
    bone, axle = _bone(0.042, UPPER_ARM, 0.05), _axle(0.038, 0.085, -UPPER_ARM)
    fore, end = _bone(0.034, FOREARM, 0.04), Sphere(0.024, at=_up(-FOREARM))
    part.add(_body("shoulder", 0.0, 0.5, Sphere(0.055), color=DARK))
    part.add(_body("upper_arm", 0.0, 1.5, bone, axle, color=SHELL))
    part.add(_body("forearm", elbow, 1.1, fore, end, color=BLUE))
    part.add(hand().instance("hand", at=_up(wrist)))
    part.add(Hinge("twist", "shoulder", "upper_arm", axis=Z, armature=ARM_ROTOR))
    part.add(Hinge("elbow", "upper_arm", "forearm", at=_up(elbow), axis=Y, armature=ARM_ROTOR))
    # Turns the palm to the back about the forearm, then bends it towards where it looks.
    at, rotor = _up(wrist), WRIST_ROTOR
    part.add(Universal("wrist", "forearm", "hand.palm", at=at, axis=Y, reference=DOWN, armature=rotor))
    return part


def leg() -> Component:
    """Hip, thigh, shank and foot, stretched. Origin: the hip."""
    part = Component("leg")
    part.add(rubber())
    part.add(shell())
    knee, ankle = -THIGH, -THIGH - SHANK
    length, height = TOE - HEEL, 0.045
    sole = Box((length, FOOT_WIDTH, height), at=((TOE + HEEL) / 2, 0.0, height / 2 - ANKLE))
    part.add(_body("hip", 0.0, 1.0, Sphere(0.065), color=DARK))
    part.add(_body("thigh", 0.0, 6.0, _bone(0.062, THIGH, 0.05), _axle(0.05, 0.12, knee), color=SHELL))
    part.add(_body("shank", knee, 3.0, _bone(0.046, SHANK, 0.05), color=BLUE))
    part.add(_body("foot", ankle, 1.1, sole, Sphere(0.042), made="rubber limb", color=DARK))
    part.add(Universal("hip", "hip", "thigh", axis=Z, reference=X, armature=LEG_ROTOR))
    part.add(Hinge("knee", "thigh", "shank", at=_up(knee), axis=Y, armature=LEG_ROTOR))
    part.add(Universal("ankle", "shank", "foot", at=_up(ankle), axis=Z, reference=X, armature=LEG_ROTOR))
    return part


def add_robot(model: Model) -> None:
    """The whole robot, free on its feet at the origin."""
    model.add(shell())
    pelvis = (_across(0.085, 0.12, 0.05),)
    chest = (
        _across(0.095, 0.16, 0.27),
        _across(0.085, 0.10, 0.15),
        _across(0.055, 2 * HALF_SHOULDERS - 0.14, TORSO - 0.01),
        Cylinder(0.075, 0.16, at=_up(0.06)),
    )
    head = (
        Capsule(0.085, 0.05, at=(0.01, 0.0, 0.135)),
        Cylinder(0.045, 0.08, at=_up(0.02)),
        Box((0.05, 0.125, 0.045), at=(0.075, 0.0, 0.15)),
    )
    for name, z, mass, shapes, color in (
        ("pelvis", HIP, 8.0, pelvis, DARK), ("torso", WAIST, 20.0, chest, SHELL),
        ("head", SHOULDER + 0.08, 4.5, head, SHELL),
    ):  # fmt: skip
        model.add(_body(name, z, mass, *shapes, made="shell trunk", color=color))
    model.add(Free("standing", GROUND, "pelvis", at=_up(HIP)))
    for name, a, b, z, rotor in (
        ("waist", "pelvis", "torso", WAIST, LEG_ROTOR), ("neck", "torso", "head", SHOULDER + 0.08, WRIST_ROTOR),
    ):  # fmt: skip
        model.add(Universal(name, a, b, at=_up(z), axis=BACK, reference=Z, armature=rotor))
    limbs = arm(), leg()
    groups = ["trunk"]
    for side, mirror in (("left", None), ("right", Y)):
        out = 1.0 if mirror is None else -1.0
        shoulder, hip = (0.0, out * HALF_SHOULDERS, SHOULDER), (0.0, out * HALF_HIPS, HIP)
        model.add(limbs[0].instance(f"{side}_arm", at=shoulder, mirror=mirror))
        model.add(limbs[1].instance(f"{side}_leg", at=hip, mirror=mirror))
        # As a mirrored component has it: a positive angle lifts either arm to its own side.
        ends, axis = ("torso", f"{side}_arm.shoulder"), _up(-out)
        model.add(
            Universal(f"{side}_shoulder", *ends, at=shoulder, axis=axis, reference=Y, armature=ARM_ROTOR)
        )
        ends = "pelvis", f"{side}_leg.hip"
        model.add(Hinge(f"{side}_hip", *ends, at=hip, axis=_up(out), armature=LEG_ROTOR))
        groups += [f"{side}_arm.limb", f"{side}_leg.limb", f"{side}_arm.hand.plate"]
        groups += [f"{side}_arm.hand.{digit}.links" for digit in DIGITS]
    # It is never meant to touch itself.
    for k, (a, b) in enumerate(combinations_with_replacement(groups, 2)):
        model.add(NoContact(f"self{k}", a, b))


def _up(z: float) -> tuple[float, float, float]:
    return 0.0, 0.0, z


def _body(name: str, z: float, mass: float, *shapes: Shape, made: str = "shell limb", color: str) -> Body:
    """A body at a height [m], `made` of a material and in a group."""
    material, group = made.split()
    return Body(name, at=_up(z), mass=mass, shapes=shapes, material=material, group=group, color=color)


def _bone(radius: float, length: float, gap: float) -> Shape:
    """A capsule from the origin down, shorter than the distance of the joints by a gap at either end."""
    return Capsule(radius, length - 2 * gap, at=_up(-length / 2))


def _across(radius: float, width: float, z: float) -> Shape:
    """A capsule from side to side."""
    return Capsule(radius, width, at=_up(z), rotation=about(X, radians(90.0)))


def _axle(radius: float, width: float, z: float) -> Shape:
    """A cylinder across, for a joint to be seen."""
    return Cylinder(radius, width, at=_up(z), rotation=about(X, radians(90.0)))
