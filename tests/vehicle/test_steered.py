"""Steered suspensions in three dimensions: closed forms, the engine's own motion, mirror images, statics, bad input."""

import math

import numpy as np
import pytest

from linkwork import Body, Force, LinkworkError, Material, Model, Plane, Scenery, Simulation, Slider, Weld
from linkwork.model.rotation import matrix
from linkwork.vehicle import (
    AntiRollBar,
    Axle,
    Coil,
    DoubleWishbone,
    MacPhersonStrut,
    MultiLink,
    Rack,
    Wheel,
    axle,
    wheel,
)
from linkwork.vehicle.kinematics import toe_out
from linkwork.vehicle.rig import curves, steerable
from linkwork.vehicle.rig_axle import anti, steering_curves

R, LOAD, TRACK, BASE = 0.3, 3000.0, 1.5, 2.6
STEERED = ("double_wishbone", "macpherson_strut", "multi_link")
steered = pytest.mark.parametrize("kind", STEERED)
WISHBONE = {
    "lower_front": (0.16, -0.37, -0.12), "lower_rear": (-0.17, -0.35, -0.08), "lower_end": (0.015, -0.08, -0.13),
    "upper_front": (0.1, -0.3, 0.15), "upper_rear": (-0.13, -0.31, 0.11), "upper_end": (-0.02, -0.12, 0.16),
    "tie_inner": (-0.12, -0.33, -0.03), "tie_outer": (-0.13, -0.13, -0.04),
}  # fmt: skip
STRUT = {
    "arm_front": (0.1, -0.36, -0.1), "arm_rear": (-0.18, -0.34, -0.08), "arm_end": (0.01, -0.06, -0.12),
    "strut_foot": (-0.01, -0.1, 0.12), "strut_top": (-0.04, -0.17, 0.5),
    "tie_inner": (-0.13, -0.42, -0.05), "tie_outer": (-0.14, -0.13, -0.06),
}  # fmt: skip


def corner(kind, **choices):
    return Wheel(suspension=kind, radius=R, load=LOAD, **choices)


# --- closed forms, written from circles and spheres alone ---


def unit(v):
    return v / np.linalg.norm(v)


def turned(axis, angle, v):
    """Rodrigues' formula."""
    return (
        v * math.cos(angle) + np.cross(axis, v) * math.sin(angle) + axis * (axis @ v) * (1 - math.cos(angle))
    )


def angle_at(centre, axis, start, far, distance):
    """The smallest turn of a point about an axis that brings it to a distance from another point."""
    r = start - centre
    along = axis * (axis @ r)
    p = r - along
    q = np.cross(axis, p)
    to = far - centre - along
    # |p cos + q sin - to|² = distance²
    A, B = 2 * p @ to, 2 * q @ to
    C = p @ p + to @ to - distance**2
    middle, half = math.atan2(B, A), math.acos(C / math.hypot(A, B))
    return min((middle + half, middle - half), key=abs)


def rigid(before, after):
    """The rotation that takes three points to three others."""

    def triad(points):
        x = unit(points[1] - points[0])
        z = unit(np.cross(x, points[2] - points[0]))
        return np.column_stack([x, np.cross(z, x), z])

    return triad(after) @ triad(before).T


def three_spheres(centres, radii, near):
    """The point at three distances from three points, on the side of their plane where `near` was."""
    a, b, c = centres
    x = unit(b - a)
    i = x @ (c - a)
    y = unit(c - a - i * x)
    z = np.cross(x, y)
    d, j = np.linalg.norm(b - a), y @ (c - a)
    u = (radii[0] ** 2 - radii[1] ** 2 + d**2) / (2 * d)
    v = (radii[0] ** 2 - radii[2] ** 2 + i**2 + j**2 - 2 * i * u) / (2 * j)
    w = math.sqrt(radii[0] ** 2 - u**2 - v**2)
    return a + u * x + v * y + math.copysign(w, near) * z


def arm(front, rear, end, phi):
    front, rear = np.array(front), np.array(rear)
    return rear + turned(unit(front - rear), phi, np.array(end) - rear)


def wishbone_pose(phi, rack):
    """Rotation of the upright and place of the wheel's centre."""
    p = {name: np.array(value) for name, value in WISHBONE.items()}
    low = arm(p["lower_front"], p["lower_rear"], p["lower_end"], phi)
    axis = unit(p["upper_front"] - p["upper_rear"])
    psi = angle_at(p["upper_rear"], axis, p["upper_end"], low, math.dist(p["upper_end"], p["lower_end"]))
    high = arm(p["upper_front"], p["upper_rear"], p["upper_end"], psi)
    inner = p["tie_inner"] + (0.0, rack, 0.0)
    old = (p["lower_end"], p["upper_end"], p["tie_inner"])
    radii = [math.dist(p["tie_outer"], point) for point in old]
    normal = np.cross(old[1] - old[0], old[2] - old[0])
    outer = three_spheres((low, high, inner), radii, normal @ (p["tie_outer"] - old[0]))
    turn = rigid((p["lower_end"], p["upper_end"], p["tie_outer"]), (low, high, outer))
    return turn, low - turn @ p["lower_end"]


def strut_pose(phi, rack):
    """The same: the hub's line passes through the strut's top, its ball is at the arm's end."""
    p = {name: np.array(value) for name, value in STRUT.items()}
    end = arm(p["arm_front"], p["arm_rear"], p["arm_end"], phi)
    along, top = unit(p["strut_top"] - p["strut_foot"]), p["strut_top"]
    off = p["arm_end"] - p["strut_foot"]
    off = off - along * (along @ off)  # from the line to the ball
    way = top - end
    reach = math.sqrt(way @ way - off @ off)
    # From the ball, in axes of the hub: top = reach along - off. Any turn that brings it there, then one about the way.
    drawn = reach * along - off
    axis = unit(np.cross(drawn, way)) if np.linalg.norm(np.cross(drawn, way)) > 1e-15 else along
    first = math.atan2(np.linalg.norm(np.cross(drawn, way)), drawn @ way)
    outer = end + turned(axis, first, p["tie_outer"] - p["arm_end"])
    inner = p["tie_inner"] + (0.0, rack, 0.0)
    theta = angle_at(end, unit(way), outer, inner, math.dist(p["tie_outer"], p["tie_inner"]))
    columns = [turned(unit(way), theta, turned(axis, first, e)) for e in np.eye(3)]
    turn = np.column_stack(columns)
    return turn, end - turn @ p["arm_end"]


CLOSED = {
    "double_wishbone": (DoubleWishbone(**WISHBONE), wishbone_pose),
    "macpherson_strut": (MacPhersonStrut(**STRUT), strut_pose),
}


@pytest.mark.parametrize("kind", CLOSED)
def test_travel_and_steering_follow_closed_forms(kind):
    hung, known = CLOSED[kind]
    chain = steerable(corner(hung, travel=(-0.08, 0.08))).chain
    for z in (-0.08, -0.03, 0.0, 0.05, 0.08):
        for rack in (-0.05, 0.0, 0.04):
            pose = chain.at_height(z, rack)
            turn, centre = known(chain.coordinate(pose), rack)
            assert centre == pytest.approx(pose.p[chain.carrier], abs=1e-9)
            assert turn == pytest.approx(pose.R[chain.carrier], abs=1e-9)
            assert centre[2] == pytest.approx(z, abs=1e-9)


@pytest.mark.parametrize("kind", CLOSED)
def test_camber_and_toe_of_the_rig_follow_closed_forms(kind):
    hung, known = CLOSED[kind]
    found = curves(corner(hung, travel=(-0.08, 0.08)), 9)
    for i, phi in enumerate(found.coordinate):
        turn, centre = known(phi, 0.0)
        assert found.camber[i] == pytest.approx(-math.asin(turn[2, 1]), abs=1e-9)
        assert found.toe[i] == pytest.approx(math.atan2(turn[0, 1], turn[1, 1]), abs=1e-9)
        assert found.travel[i] == pytest.approx(centre[2], abs=1e-9)


@pytest.mark.parametrize("kind", CLOSED)
def test_kingpin_is_the_line_through_the_balls(kind):
    """Caster, inclination, scrub radius and trail by hand, from two points and the lowest of a round tread."""
    hung, known = CLOSED[kind]
    made = corner(hung, travel=(-0.08, 0.08), width=0.16)
    found = curves(made, 5)
    for i, phi in enumerate(found.coordinate):
        turn, centre = known(phi, 0.0)
        if kind == "double_wishbone":
            low, high = (turn @ np.array(WISHBONE[name]) + centre for name in ("lower_end", "upper_end"))
        else:
            low, high = turn @ np.array(STRUT["arm_end"]) + centre, np.array(STRUT["strut_top"])
        x, y, z = high - low
        assert found.caster[i] == pytest.approx(math.atan2(-x, z), abs=1e-9)
        assert found.kingpin[i] == pytest.approx(math.atan2(-y, z), abs=1e-9)
        axle_line = turn[:, 1]
        down = unit(np.array([0.0, 0.0, -1.0]) + axle_line[2] * axle_line)
        contact = centre + (R - 0.08) * down - (0.0, 0.0, 0.08)
        foot = low + (high - low) * (contact[2] - low[2]) / z
        heading = unit(np.array([axle_line[1], -axle_line[0]]))
        apart = (contact - foot)[:2]
        assert found.trail[i] == pytest.approx(-apart @ heading, abs=1e-9)
        assert found.scrub[i] == pytest.approx(apart @ (-heading[1], heading[0]), abs=1e-9)


@steered
def test_rods_keep_their_lengths_and_supports_are_differences(kind):
    made = steerable(corner(kind))
    chain = made.chain
    rods = [joint for joint in made.parts.joints if joint.kind == "distance"]
    assert len(rods) == (4 if kind == "multi_link" else 1)
    for z, rack in ((-0.07, 0.0), (0.06, 0.05), (0.03, -0.06)):
        pose = chain.at_height(z, rack)
        for rod in rods:
            a = np.add(rod.at, (0.0, rack if rod.a == "rack" else 0.0, 0.0))
            b = pose.point(chain.carrier, np.array(rod.to))
            assert math.dist(a, b) == pytest.approx(math.dist(rod.at, rod.to), abs=1e-12)
    # A point of the upright at the road, by central differences: h² times third derivatives of some 1/m².
    h, road = 1e-4, np.array([0.0, 0.0, -R])
    ends = [chain.at_height(z) for z in (-h, h)]
    found = curves(made, 3)
    for name, x in (("support_braking", road), ("support_driving", 0.0 * road)):
        way = np.subtract(*(pose.point(chain.carrier, x) for pose in ends))
        assert getattr(found, name)[1] == pytest.approx(math.atan2(-way[0], -way[2]), abs=1e-6)
    share = anti(found, BASE, 0.55, 0.6)[1]
    assert share == pytest.approx(0.6 * math.tan(found.support_braking[1]) * BASE / 0.55)
    mid = 0.5 * (curves(made, 3).toe[0] - found.toe[0])
    assert mid == 0.0


# --- the compiled axle ---


def on_ground(part, extra=(), gravity=(0.0, 0.0, 0.0)):
    """An axle whose mount is held."""
    model = Model("held", gravity=gravity)
    model.add(part.instance("it"))
    model.add(Weld("hold", "ground", "it.mount"))
    for thing in extra:
        model.add(thing)
    return model


@steered
def test_the_engine_moves_the_wheels_as_the_rig_has_it(kind):
    """Steered and pushed, the left wheel up and the right one down: poses of both wheels against the rig's."""
    part = axle(
        track=TRACK,
        suspension=kind,
        radius=R,
        load=LOAD,
        steering=Rack(),
        spring=Coil(stiffness=2e4, damping=2e3),
    )
    extra = [
        Force(f"push_{s}", f"it.{s}.wheel", force=(0.0, 0.0, f), at=(0.0, y, 0.0))
        for s, f, y in (("left", 500.0, 0.75), ("right", -700.0, -0.75))
    ]
    sim = Simulation(on_ground(part, extra), method="simgc", dt=1e-3)
    made = Axle(track=TRACK, wheel=corner(kind), steering=Rack())
    chain = made.left.chain
    travel, carrier = chain.travel, chain.bodies[chain.carrier].name
    for command in (0.0, 4.0, -7.0):
        sim.command("it.steering", command)
        sim.step(150)
        rack = sim["it.rack_slide.travel"]
        assert rack == pytest.approx(made.to_left * sim["it.column.angle"] * 0.16 * R / math.tau, abs=1e-12)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            pose = chain.at(sim[f"it.{side}.{travel.name}.{travel.coordinates[0]}"], sign * rack)
            place = np.array([sim[f"it.{side}.wheel.position.{x}"] for x in "xyz"])
            home = np.array([0.0, sign * TRACK / 2, 0.0])
            assert (place - home) * (1, sign, 1) == pytest.approx(pose.p[chain.carrier], abs=1e-9)
            q = [sim[f"it.{side}.{carrier}.rotation.{x}"] for x in "wxyz"]
            mirror = np.diag([1.0, sign, 1.0])
            drawn = sign * mirror  # the mirror image of a frame is turned over, too
            assert mirror @ matrix(q) @ drawn @ mirror == pytest.approx(pose.R[chain.carrier], abs=1e-9)
    assert abs(sim["it.left.wheel.position.z"]) > 0.01


@steered
def test_steering_left_is_the_mirror_image_of_steering_right(kind):
    ends = []
    for command in (5.0, -5.0):
        part = axle(track=TRACK, suspension=kind, radius=R, load=LOAD, steering=Rack())
        sim = Simulation(on_ground(part, gravity=(0.0, 0.0, -9.81)), method="simgc", dt=1e-3)
        sim.command("it.steering", command)
        sim.step(300)
        ends.append(
            {s: np.array([sim[f"it.{s}.wheel.position.{x}"] for x in "xyz"]) for s in ("left", "right")}
        )
    assert abs(ends[0]["left"][0]) > 1e-3
    for side, other in (("left", "right"), ("right", "left")):
        # Rounding of 300 steps; the tree has the left wheel first.
        assert ends[0][side] == pytest.approx(ends[1][other] * (1, -1, 1), abs=1e-11)


@steered
def test_left_of_the_steering_wheel_is_left_and_the_inner_wheel_turns_more(kind):
    made = Axle(track=TRACK, wheel=corner(kind), steering=Rack(travel=0.06))
    found = steering_curves(made, BASE, 13)
    left = found.wheel_angle > 0.0
    assert left.sum() == 6
    assert (found.left[left] > 0.0).all()
    assert (found.right[left] > 0.0).all()
    assert found.left == pytest.approx(-found.right[::-1], abs=1e-12)
    chain = made.left.chain
    for i in (0, 4, 12):
        inner, outer = sorted((abs(found.left[i]), abs(found.right[i])), reverse=True)
        if kind != "multi_link":  # made for the rear
            assert inner > outer
            ideal = math.atan(1.0 / (1.0 / math.tan(inner) + TRACK / BASE))
            assert found.ackermann_error[i] == pytest.approx(outer - ideal, abs=1e-12)
        assert toe_out(chain.at_height(0.0, found.rack[i]).R[chain.carrier]) == pytest.approx(found.left[i])
    # Ratio: way of the steering wheel per mean way of the wheels, by central differences, h² of 0.1 mm.
    h, turn = 1e-4, 0.16 * R
    for i in (6, 10):
        rates = [
            [toe_out(chain.at_height(0.0, x + d).R[chain.carrier]) for d in (-h, h)]
            for x in (found.rack[i], -found.rack[i])
        ]
        rate = 0.5 * sum(b - a for a, b in rates) / (2 * h)
        assert found.ratio[i] == pytest.approx(math.tau / turn / (made.to_left * rate), rel=1e-5)


# --- statics ---


def standing(part, load=LOAD):
    """An axle below a block that slides upright, on a road without friction."""
    model = Model("standing")
    model.add(Material("road", friction=0.0))
    model.add(Scenery("road", shapes=(Plane(),), material="road"))
    model.add(Body("block", at=(0.0, 0.0, R), mass=2 * load / 9.81, inertia=(100.0, 100.0, 100.0)))
    model.add(Slider("heave", "ground", "block", at=(0.0, 0.0, R)))
    model.add(part.instance("it", at=(0.0, 0.0, R)))
    model.add(Weld("mount", "block", "it.mount", at=(0.0, 0.0, R)))
    return model


@pytest.mark.parametrize("kind", [*STEERED, "solid_axle", "twist_beam", "double_transverse"])
@pytest.mark.parametrize("bar", [False, True])
def test_axles_rest_at_their_neutral_place_under_their_load(kind, bar):
    steering = Rack() if kind in STEERED else None
    made = Axle(
        track=TRACK,
        wheel=corner(kind),
        steering=steering,
        anti_roll=AntiRollBar(stiffness=800.0) if bar else None,
    )
    sim = Simulation(standing(made.component()), method="simgc", dt=1e-3)
    sim.step(2500)
    assert sim["block.position.z"] == pytest.approx(R, abs=1e-8)
    for touch in sim.touches():
        assert touch.force == pytest.approx(made.wheel_load, rel=1e-6)


def test_an_anti_roll_bar_twists_by_the_forces_of_its_links():
    """One wheel up, the other down: the moment of each link about the bar's axis is stiffness times twist."""
    k, lever = 900.0, 0.25
    part = axle(
        track=TRACK, suspension="double_wishbone", radius=R, load=LOAD, anti_roll=AntiRollBar(stiffness=k, lever=lever),
        spring=Coil(stiffness=3e4, damping=5e3), friction=None,
    )  # fmt: skip
    extra = [
        Force(f"push_{s}", f"it.{s}.wheel", force=(0.0, 0.0, f), at=(0.0, y, 0.0))
        for s, f, y in (("left", 4200.0, 0.75), ("right", 2600.0, -0.75))
    ]
    sim = Simulation(on_ground(part, extra), method="simgc", dt=1e-3)
    record = sim.run(3.0, every=0.5)
    twist = record["it.bar_twist.angle"][-1]
    assert abs(twist) > 0.1
    feet = {s: part.joints[f"bar_link_{s}"] for s in ("left", "right")}
    axis = np.array(part.joints["bar_bearing"].at)
    for side, sign, angle in (
        ("left", 1.0, record["it.bar_bearing.angle"][-1]),
        ("right", -1.0, record["it.bar_bearing.angle"][-1] + twist),
    ):
        reach = turned(np.array([0.0, 1.0, 0.0]), angle, np.array(feet[side].at) - axis)
        force = np.array([record[f"it.bar_link_{side}.force.{x}"][-1] for x in "xyz"])
        # Of a, the bar, on b: the bar feels the opposite.
        assert -np.cross(reach, force)[1] == pytest.approx(sign * -k * twist, rel=1e-6)
    assert math.hypot(*(feet["left"].at - axis)[[0, 2]]) == pytest.approx(lever)


# --- bad input ---


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"suspension": "trailing_arm", "steering": Rack()}, "a rack steers by tie rods, which suspension .trail"),
        ({"suspension": "solid_axle", "steering": Rack()}, "tie rods, which suspension 'solid_axle' does not have"),
        ({"suspension": DoubleWishbone(tie_inner=(0, -0.3, 0), tie_outer=(0, -0.3, 0))}, "rod of zero length"),
        ({"suspension": DoubleWishbone(lower_front=(-0.3, -0.36, 0.0))}, "lower_front .* must be in front"),
        ({"suspension": DoubleWishbone(tie_outer=(-0.003, -0.0975, 0.0075))}, "a tie rod's end off the kingpin"),
        ({"suspension": "double_wishbone", "travel": (-0.1, 0.4)}, "travel of .400 mm is beyond the mechanism"),
        ({"suspension": "solid_axle", "travel": (-0.1, 0.9)}, "travel of .900 mm is beyond the mechanism"),
        ({"suspension": "solid_axle", "spring": "torsion"}, "no hinge for a torsion spring"),
        ({"suspension": "double_wishbone", "steering": Rack(travel=0.5)}, "of the rack are beyond the mechanism"),
        ({"suspension": "double_wishbone", "track": 0.4, "steering": Rack()}, "beyond the middle of a track"),
        ({"suspension": MultiLink(link_inner=(0.3, -0.075, -0.126))}, "link_outer lie along the vehicle"),
        ({"colour": "red"}, "there is no choice 'colour'"),
        ({"wheel": Wheel(), "radius": 0.3}, "not both"),
    ],
)  # fmt: skip
def test_bad_choices_are_named(choices, told):
    sized = {} if "wheel" in choices else {"radius": R, "load": LOAD}
    with pytest.raises(LinkworkError, match=told):
        axle(**{"track": TRACK, **sized, **choices})


def test_a_wheel_cannot_be_half_an_axle():
    with pytest.raises(LinkworkError, match="'twist_beam': is an axle of two wheels; make it by axle"):
        wheel(suspension="twist_beam", radius=R)


def test_the_rig_refuses_an_axle_without_a_rack():
    with pytest.raises(LinkworkError, match="has no steering rack"):
        steering_curves(Axle(track=TRACK, wheel=corner("double_wishbone")), BASE)
