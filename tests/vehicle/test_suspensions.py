"""Suspensions: closed forms of their kinematics, exact limits, statics by hand, mirror images and bad input."""

import math

import numpy as np
import pytest

from helpers.processes import python
from linkwork import (
    Force,
    LinkworkError,
    Material,
    Model,
    ModelError,
    Plane,
    Scenery,
    Simulation,
    Slider,
    Torus,
    Weld,
)
from linkwork.model import Body
from linkwork.model.rotation import matrix
from linkwork.reproduce.suspensions import by_hand
from linkwork.vehicle import (
    SUSPENSIONS,
    Coil,
    DoubleLongitudinal,
    DoubleTransverse,
    HubMotor,
    MacPherson,
    SlidingPillar,
    SwingAxle,
    Torsion,
    TrailingArm,
    Wheel,
    wheel,
)
from linkwork.vehicle.rig import curves, rest

R, LOAD, G = 0.2, 300.0, 9.81
kinds = pytest.mark.parametrize("kind", SUSPENSIONS)
sprung = pytest.mark.parametrize(
    ("kind", "spring"),
    [(kind, "coil") for kind in SUSPENSIONS]
    + [(kind, "torsion") for kind in SUSPENSIONS if SUSPENSIONS[kind].torsion],
)


def corner(kind, **choices):
    return Wheel(suspension=kind, radius=R, load=LOAD, **choices)


def coordinate(kind):
    travel = corner(kind).chain.travel
    return f"it.{travel.name}.{travel.coordinates[0]}"


# --- closed forms, written from the geometry alone ---


def circles(a, b, c, side):
    """The corner B of a triangle over two points, a from the first and b from the second; `side` of the line."""
    p, q = np.array(c[0]), np.array(c[1])
    d = q - p
    length = math.hypot(*d)
    along = (length**2 + a**2 - b**2) / (2 * length)
    aside = math.sqrt(a**2 - along**2)
    u = d / length
    return p + along * u + side * aside * np.array([-u[1], u[0]])


def four_bar(points, phi):
    """Where the wheel's centre, at the origin of the coupler, goes in the plane of a four-bar, and how it is turned.

    points: lower pivot and end, upper pivot and end; phi: turn of the lower arm, counter-clockwise in this plane."""
    A, B, C, D = map(np.array, points)
    c, s = math.cos(phi), math.sin(phi)
    turn = np.array([[c, -s], [s, c]])
    b = A + turn @ (B - A)
    side = np.sign((C - B)[0] * (D - B)[1] - (C - B)[1] * (D - B)[0])
    d = circles(math.dist(B, D), math.dist(C, D), (b, C), side)
    old, new = D - B, d - b
    gamma = math.atan2(old[0] * new[1] - old[1] * new[0], old @ new)
    c, s = math.cos(gamma), math.sin(gamma)
    centre = b + np.array([[c, -s], [s, c]]) @ (-B)
    return centre, gamma


TRAPEZIUM = {"lower_pivot": (0.0, -0.24, -0.03), "lower_end": (0.0, -0.04, -0.05), "upper_pivot": (0.01, -0.2, 0.09),
             "upper_end": (0.01, -0.06, 0.11)}  # fmt: skip
CASES = {
    "swing_axle": SwingAxle(pivot=(0.0, -0.37, 0.04)),
    "trailing_arm": TrailingArm(pivot=(0.31, -0.08, 0.03)),
    "double_transverse": DoubleTransverse(**TRAPEZIUM),
    "parallelogram": DoubleTransverse(),
    "double_longitudinal": DoubleLongitudinal(
        lower_pivot=(0.24, -0.08, -0.05), lower_end=(0.01, -0.08, -0.06), upper_pivot=(0.2, -0.08, 0.06),
        upper_end=(0.0, -0.08, 0.07),
    ),
    "sliding_pillar": SlidingPillar(axis=(0.1, -0.15, 1.0)),
    "macpherson": MacPherson(),
}  # fmt: skip


def known(name, phi):
    """(outwards, forward, up) of the wheel's centre and turn about x and y [rad], at a coordinate."""
    shape = CASES[name]
    c, s = math.cos(phi), math.sin(phi)
    if name == "swing_axle":
        _, y, z = shape.pivot
        return (y - c * y + s * z, 0.0, z - s * y - c * z), (phi, 0.0)
    if name == "trailing_arm":
        x, _, z = shape.pivot
        return (0.0, x - c * x - s * z, z + s * x - c * z), (0.0, phi)
    if name == "sliding_pillar":
        x, y, z = np.array(shape.axis) / np.linalg.norm(shape.axis) * phi
        return (y, x, z), (0.0, 0.0)
    if name == "parallelogram":
        arm = 0.8 * R
        return (arm * c - arm, 0.0, arm * s), (0.0, 0.0)
    if name == "double_transverse":
        points = [TRAPEZIUM[key][1:] for key in ("lower_pivot", "lower_end", "upper_pivot", "upper_end")]
        (y, z), gamma = four_bar(points, phi)
        return (y, 0.0, z), (gamma, 0.0)
    if name == "double_longitudinal":
        # Seen from the left, x runs to the left: (-x, z), in which a turn about y is counter-clockwise.
        ends = (shape.lower_pivot, shape.lower_end, shape.upper_pivot, shape.upper_end)
        (x, z), gamma = four_bar([(-p[0], p[2]) for p in ends], phi)
        return (0.0, -x, z), (0.0, gamma)
    # MacPherson: the hub holds the strut's line, which must pass through the strut's top.
    pivot, end, foot, top = (
        R * np.array(p) for p in ((-1.2, -0.3), (-0.2, -0.3), (-0.25, 0.5), (-0.45, 1.7))
    )
    b = pivot + np.array([[c, -s], [s, c]]) @ (end - pivot)
    line = (top - foot) / math.dist(top, foot)
    off = line[0] * (end - foot)[1] - line[1] * (end - foot)[0]  # the arm's end from the line, square to it
    way = top - b
    # The line passes through the top at the same distance from the arm's end.
    turned = math.atan2(way[1], way[0]) + math.asin(off / math.hypot(*way))
    gamma = turned - math.atan2(line[1], line[0])
    centre = b + np.array([[math.cos(gamma), -math.sin(gamma)], [math.sin(gamma), math.cos(gamma)]]) @ (-end)
    return (centre[0], 0.0, centre[1]), (gamma, 0.0)


@pytest.mark.parametrize("name", CASES)
def test_camber_and_places_follow_closed_forms(name):
    made = corner(CASES[name], travel=(-0.05, 0.05))
    found = curves(made, 9)
    for i, phi in enumerate(found.coordinate):
        (out, forward, up), (gamma, pitch) = known(name, phi)
        assert found.travel[i] == pytest.approx(up, abs=1e-9)
        assert found.camber[i] == pytest.approx(-gamma, abs=1e-9)  # the top leans inwards as it rises
        assert found.toe[i] == pytest.approx(0.0, abs=1e-9)
        pose = made.chain.at(phi)
        centre = pose.p[made.chain.carrier]
        assert centre == pytest.approx((forward, out, up), abs=1e-9)
        turned = pose.R[made.chain.carrier]
        assert math.atan2(turned[0, 2], turned[0, 0]) == pytest.approx(pitch, abs=1e-9)
    assert found.travel[[0, -1]] == pytest.approx((-0.05, 0.05), abs=1e-12)


def test_roll_centre_of_a_swing_axle_is_on_the_line_through_its_pivot():
    """From the contact point, 0.2 below the centre, through the pivot 0.4 inwards at its height."""
    found = curves(corner(SwingAxle(pivot=(0.0, -0.4, 0.0)), travel=(-0.05, 0.05)), 3, track=1.2)
    assert found.roll_centre[1] == pytest.approx(0.6 * R / 0.4, abs=1e-9)


def test_wheel_rate_of_a_parallelogram_with_torsion_spring_is_k_over_arm_squared():
    found = curves(corner("double_transverse", spring=Torsion(stiffness=160.0)), 3)
    assert found.wheel_rate[1] == pytest.approx(160.0 / (0.8 * R) ** 2, rel=1e-6)  # by differences


# --- the compiled corner: what the engine moves agrees with what the constructor solved ---


def hung(part, extra=()):
    """A component held to the ground by its mount, with its limits as the only ends."""
    model = Model("hung", gravity=(0.0, 0.0, 0.0))
    model.add(part.instance("it"))
    model.add(Weld("hold", "ground", "it.mount"))
    for thing in extra:
        model.add(thing)
    return model


@kinds
def test_limits_stop_the_wheel_exactly_at_its_travel(kind):
    for way, push in ((0.045, 4000.0), (-0.055, -4000.0)):
        part = corner(kind, travel=(-0.055, 0.045), spring=Coil(stiffness=0.0, damping=200.0)).component()
        force = Force("push", "it.wheel", force=(0.0, 0.0, push), at=(0.0, 0.0, 0.0))
        sim = Simulation(hung(part, [force]), method="simgc", dt=1e-3)
        sim.step(600)
        assert sim["it.wheel.position.z"] == pytest.approx(way, abs=1e-9)


def test_the_arc_sine_falls_short_on_a_parallelogram():
    """Arm 0.16 m, hinge 0.2 m from the wheel's centre: 60 mm become 0.16 · 0.06/l."""
    made = corner("double_transverse", travel=(-0.06, 0.06), limits="asin")
    told = made.travel_report()
    lever = math.hypot(R, 0.1 * R)
    assert told.lever == pytest.approx(lever)
    assert told.approximate == pytest.approx((-math.asin(0.06 / lever), math.asin(0.06 / lever)))
    assert told.reached == pytest.approx((-0.16 * 0.06 / lever, 0.16 * 0.06 / lever), abs=1e-12)
    assert told.exact == pytest.approx((-math.asin(0.06 / 0.16), math.asin(0.06 / 0.16)))
    limits = made.component().joints["lower_pivot"].limits
    assert limits == pytest.approx(told.approximate)
    pillar = corner("sliding_pillar", travel=(-0.06, 0.06)).travel_report()
    assert pillar.exact == pytest.approx(pillar.approximate)
    assert pillar.lever == 0.0


@kinds
def test_the_right_wheel_is_the_mirror_image_to_rounding(kind):
    """Both sides fall and swing on their springs: the same coordinates, mirrored places and turns."""
    model = Model("pair")
    for side, y in (("left", 0.5), ("right", -0.5)):
        part = wheel(suspension=kind, side=side, radius=R, load=LOAD, drive=HubMotor(
            stall_torque=2.0, idle_speed=500.0, time_constant=0.005, gear=20.0, command=0.3))  # fmt: skip
        model.add(part.instance(side, at=(0.0, y, 0.0)))
        model.add(Weld(f"{side}_hold", "ground", f"{side}.mount", at=(0.0, y, 0.0)))
    record = Simulation(model, method="simgc", dt=1e-3).run(0.4, every=0.05, reactions=False)
    mirror = np.diag([1.0, -1.0, 1.0])
    moved = 0.0
    for body in [name for name in model.instances["left"].component.bodies if name != "mount"]:
        here, there = (
            [np.stack([record[f"{side}.{body}.{what}.{axis}"] for axis in axes], axis=1)
             for what, axes in (("position", "xyz"), ("rotation", "wxyz"))]
            for side in ("left", "right")
        )  # fmt: skip
        assert here[0] * (1, -1, 1) == pytest.approx(there[0], abs=1e-13)
        for one, other in zip(here[1], there[1], strict=True):
            assert mirror @ matrix(one) @ -np.eye(3) == pytest.approx(matrix(other), abs=1e-12)
        moved = max(moved, np.ptp(here[0][:, 2]))
    assert moved > 1e-3
    spun = record["left.axle.angle"][-1]
    assert spun > 1.0
    assert record["right.axle.angle"][-1] == pytest.approx(spun, abs=1e-12)


# --- statics ---


def quarter(made, friction=0.0):
    """A corner below a block that slides upright, on a road; the block weighs what the corner is made to carry."""
    model = Model("quarter")
    model.add(Material("road", friction=friction))
    model.add(Scenery("road", shapes=(Plane(),), material="road"))
    model.add(Body("block", at=(0.0, 0.0, R), mass=LOAD / G, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("heave", "ground", "block", at=(0.0, 0.0, R)))
    model.add(made.component().instance("it", at=(0.0, 0.0, R)))
    model.add(Weld("mount", "block", "it.mount", at=(0.0, 0.0, R)))
    return model


@sprung
def test_it_rests_at_its_neutral_place_under_its_load(kind, spring):
    """Preloaded for it, parts of its own included; any of them is far from neutral on weights of parts forgotten."""
    made = corner(kind, spring=spring)
    sim = Simulation(quarter(made), method="simgc", dt=1e-3)
    sim.step(2000)
    assert sim[coordinate(kind)] == pytest.approx(0.0, abs=1e-8)
    assert sim["block.position.z"] == pytest.approx(R, abs=1e-8)
    (touch,) = sim.touches()
    assert touch.force == pytest.approx(LOAD + made.weight, rel=1e-6)


@kinds
def test_wheel_loads_of_a_vehicle_at_rest_are_hand_sums(kind):
    """By moments of all weights about the axles, where bodies and contact points are then."""
    assert by_hand(kind) < 1e-6


def stand(made, dt, seconds=2.5):
    sim = Simulation(quarter(made), method="simgc", dt=dt)
    sim.step(round(seconds / dt))
    return sim


@sprung
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_springs_of_any_stiffness_rest_where_statics_has_it(kind, spring, dt):
    """Slack as drawn, 1e2 to 1e9: on its stop, or where weights, road and spring balance, found without the engine."""
    lever = 0.16 if spring == "torsion" else 1.0
    for stiffness in (1e2, 1e4, 1e6, 1e9):
        k = stiffness * lever**2
        # Nearly critical, so that it is at rest when it is looked at.
        damping = 2.0 * math.sqrt(k * lever**2 * LOAD / G)
        if spring == "torsion":
            chosen = Torsion(stiffness=k, damping=damping, rest=0.0)
        else:
            drawn = corner(kind).parts.coil
            chosen = Coil(stiffness=k, damping=damping, length=math.dist(drawn.foot, drawn.top))
        made = corner(kind, spring=chosen)
        sim, known_rest = stand(made, dt), rest(made)
        assert sim[coordinate(kind)] == pytest.approx(
            known_rest.coordinate, abs=1e-7
        )  # what has not died out
        assert (known_rest.stop != 0.0) == (stiffness == 1e2) or stiffness == 1e4
        held = sim[f"{coordinate(kind)}_limit_force"]
        assert held == pytest.approx(known_rest.stop, rel=1e-6, abs=1e-6 * LOAD)
        (touch,) = sim.touches()
        assert touch.force == pytest.approx(LOAD + made.weight, rel=1e-6)


def test_the_force_of_a_stop_by_hand():
    """Parallelogram: load and half of the arms at its arm, less the torsion spring, is what the stop holds."""
    arm, k = 0.16, 20.0
    made = corner("double_transverse", travel=(-0.06, 0.06), spring=Torsion(stiffness=k, rest=0.0))
    phi = math.asin(0.06 / arm)
    arms = sum(b.mass for b in made.parts.bodies if b.name.endswith("arm"))
    by_hand = (LOAD + G * arms / 2) * arm * math.cos(phi) - k * phi
    found = rest(made)
    assert found.coordinate == pytest.approx(phi, abs=1e-12)
    assert found.stop == pytest.approx(-by_hand, rel=1e-9)
    standing = stand(made, 1e-3)
    assert standing[coordinate("double_transverse")] == pytest.approx(phi, abs=1e-9)
    held = standing[f"{coordinate('double_transverse')}_limit_force"]
    assert held == pytest.approx(-by_hand, rel=1e-6)


# --- bad input ---

FLAT = DoubleTransverse(
    lower_pivot=(0.0, -0.2, 0.0),
    lower_end=(0.0, -0.1, 0.0),
    upper_pivot=(0.0, -0.25, 0.0),
    upper_end=(0.0, -0.04, 0.0),
)
"""All hinges on one line."""


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"suspension": "macphersen"}, "suspension.*macpherson"),
        ({"suspension": "sliding_pillar", "spring": "torsion"}, "no hinge for a torsion spring"),
        ({"travel": (-0.06, 0.5)}, "travel of .500 mm is beyond the mechanism, which goes to .160 mm"),
        ({"travel": (0.01, 0.05)}, "lowest <= 0 <= highest"),
        ({"travel": (-0.25, 0.05), "limits": "asin"}, "beyond its hinge, which is 201 mm"),
        ({"suspension": DoubleTransverse(lower_end=(0.0, -0.2, -0.02))}, "lower_pivot and lower_end are the same"),
        ({"suspension": MacPherson(strut_top=(0.05, -0.09, 0.34))}, "strut_foot and strut_top must have the same x"),
        ({"suspension": SlidingPillar(axis=(0.0, 1.0, 0.0))}, "must lead upwards"),
        ({"suspension": SwingAxle(pivot=(0.0, 0.0, 0.3))}, "does not lift the wheel"),
        ({"suspension": FLAT}, "instead of one"),
        ({"suspension": TrailingArm(spring_foot=(0.32, -0.08, 0.1), spring_top=(0.32, -0.08, 0.3))}, "does not change"),
        ({"radius": 0.0}, "greater than 0"),
        ({"width": 0.3}, "does not fit a radius"),
        ({"colour": "red"}, "there is no choice 'colour'"),
        ({"drive": {"stall_torque": 1.0}}, "idle_speed"),
    ],
)  # fmt: skip
def test_bad_choices_are_named(choices, told):
    with pytest.raises(LinkworkError, match=told):
        wheel(**{"radius": R, "load": LOAD, **choices})


def test_hard_points_that_lock_are_told():
    """A hinge that is not parallel to the others: the ring cannot move."""
    from linkwork import Hinge
    from linkwork.vehicle.kinematics import Chain

    parts = corner("double_transverse").parts
    crooked = [
        Hinge(j.name, j.a, j.b, at=j.at, axis=(1.0, 0.3, 0.0)) if j.name == "upper_end" else j
        for j in parts.joints
    ]
    with pytest.raises(LinkworkError, match="do not close a mechanism"):
        Chain("corner", "mount", parts.bodies, crooked, parts.carrier, parts.travel)


def test_models_with_torsion_springs_are_built_without_numba():
    code = (
        "import sys; from linkwork.vehicle import wheel; wheel(spring='torsion'); "
        "print('numba' in sys.modules, 'scipy' in sys.modules)"
    )
    assert python("-c", code).split() == ["False", "False"]


def test_a_wheel_is_round_or_flat():
    assert isinstance(wheel(radius=R).bodies["wheel"].shapes[0], Torus)
    flat = wheel(radius=R, tread="flat", friction=None).bodies["wheel"]
    assert flat.shapes[0].radius == R
    assert flat.material is None
    with pytest.raises(ModelError):
        wheel(tread="square")
