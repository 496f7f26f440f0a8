"""Mechanisms with loops that strain solvers: redundant, over-constrained, unequal masses, driven.

What is checked is their geometry: as written they are closed, their rates agree with their loops, and they have as
many degrees of freedom as they should. How well a method moves them is tested where methods are. More of the excavator
is in test_excavator.py.
"""

import fnmatch
from math import cos, pi, radians, sin, tan

import numpy as np
import pytest

from helpers.loop_scenes import at_start, holding, rank, slope_of_energy
from linkwork import Simulation, scene
from linkwork.analysis.check import check
from linkwork.engine.coordinates.observe import body_pose
from linkwork.model.joints import Hinge, Slider, Spherical, Universal
from linkwork.model.rotation import about, matrix
from linkwork.scenes import bennett, find_scene, mass_ratio_four_bar, scissor_lift, stewart

# name, parameters, degrees of freedom, equations that repeat others
SCENES = [
    ("mass_ratio_four_bar", {"ratio": 1e2}, 1, 3),
    ("mass_ratio_four_bar", {}, 1, 3),
    ("mass_ratio_four_bar", {"ratio": 1e6}, 1, 3),
    ("bennett", {}, 1, 3),
    ("bennett", {"angle": 150.0, "rate": -3.0}, 1, 3),
    ("bennett", {"angle": -20.0}, 1, 3),
    ("bennett", {"angle": 0.0}, 1, 3),  # all links in one line
    ("bennett", {"angle": 180.0}, 1, 3),
    ("stewart", {}, 6, 0),
    ("scissor_lift", {}, 1, 33),
    ("scissor_lift", {"stages": 1, "load": 0.0}, 1, 6),
    ("scissor_lift", {"stages": 3, "angle": 60.0}, 1, 12),
    ("excavator", {}, 4, 12),
    ("excavator", {"hold": True}, 4, 12),
    ("excavator", {"payload": 0.0}, 4, 12),
]


def identified(case):
    name, parameters, *_ = case
    return "-".join([name, *(f"{key}={value}" for key, value in parameters.items())])


every = pytest.mark.parametrize(
    ("name", "parameters", "mobility", "repeated"), SCENES, ids=map(identified, SCENES)
)


def moved_along(kinematics, q, direction, steps, size):
    """A pose some way along a mechanism of one degree of freedom: steps of `size`, each closed by Newton's method."""
    for _ in range(steps):
        kinematics.place(q)
        _, _, rows = np.linalg.svd(kinematics.jacobian(kinematics.hold))
        free = rows[-1] * np.sign(rows[-1] @ direction)
        q, direction = kinematics.moved(q, size * free), free
        for _ in range(6):
            kinematics.place(q)
            J, gaps = kinematics.jacobian(kinematics.hold), kinematics.gaps[kinematics.hold]
            q = kinematics.moved(q, -np.linalg.pinv(J, rcond=1e-6) @ gaps)
    kinematics.place(q)
    return q, direction


def coordinate(kinematics, name):
    """A coordinate at the pose, also of a joint that closes a loop."""
    joints = kinematics.system.rows.joints
    names = [f"{joint.name}.{rate.removesuffix('_rate')}" for joint in joints for rate in joint.rates]
    return float(kinematics.constraints.coords["value"][names.index(name)])


# --- all of them ---


@every
def test_loops_are_closed_as_written(name, parameters, mobility, repeated):
    kinematics, _ = at_start(name, parameters)
    assert np.abs(kinematics.gaps[kinematics.hold]).max() < 1e-13  # up to 20 m, some roundings


@every
def test_start_rates_agree_with_the_loops(name, parameters, mobility, repeated):
    kinematics, system = at_start(name, parameters)
    assert np.abs(kinematics.jacobian(kinematics.hold) @ system.v0).max() < 1e-14
    # Joints that close a loop take no part in the start, but what is written of them must be true too.
    simulation = Simulation(scene(name, **parameters))
    for placed in system.joints.values():
        for rate, written in zip(placed.joint.rates, placed.joint.per_rate("velocity"), strict=True):
            if isinstance(placed.joint, Hinge | Slider | Universal):
                assert simulation[f"{placed.name}.{rate}"] == pytest.approx(written, abs=1e-13)


@every
def test_mobility(name, parameters, mobility, repeated):
    kinematics, system = at_start(name, parameters)
    J = kinematics.jacobian(kinematics.hold)
    assert system.nv - rank(J) == mobility
    assert len(J) - rank(J) == repeated
    assert check(scene(name, **parameters)).dof == mobility - repeated  # what counting equations gives


@every
def test_a_short_run_is_finite(name, parameters, mobility, repeated):
    simulation = Simulation(scene(name, **parameters))
    record = simulation.run(0.1)
    assert np.isfinite(simulation.q).all()
    assert np.isfinite(simulation.v).all()
    for pattern in find_scene(name).plot:
        assert fnmatch.filter(record.names, pattern)


# --- the four-bar with a heavy load ---


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_the_load_is_that_much_heavier_and_hangs_on_the_loop(ratio):
    model = scene("mass_ratio_four_bar", ratio=ratio)
    masses = {name: body.mass_properties.mass for name, body in model.bodies.items()}
    assert masses == pytest.approx({"arm": 0.01, "coupler": 0.01, "lever": 0.01, "load": 0.01 * ratio})
    assert model.bodies["load"].at == model.joints["wrist"].at
    pin = {joint.name: np.array(joint.at) for joint in model.joints.values()}
    for a, b, length in (("crank", "knee", 0.6), ("knee", "wrist", 0.8), ("rocker", "wrist", 0.7)):
        assert np.linalg.norm(pin[a] - pin[b]) == pytest.approx(length, abs=1e-15)


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_it_is_released_at_an_angle_from_its_equilibrium(ratio):
    rest = mass_ratio_four_bar.equilibrium(ratio)

    def height(angle):
        """Of the centre of mass, times the mass [kg m]."""
        pin = mass_ratio_four_bar.points(angle)
        return 0.01 * (pin["B"][1] + (1.0 + ratio) * pin["C"][1])

    # A parabola around the lowest point: equally high on both sides but for the third order.
    d = 1e-3
    assert min(height(rest - d), height(rest + d)) > height(rest)
    assert height(rest + d) - height(rest - d) == pytest.approx(0.0, abs=2 * d**3 * 0.01 * (2.0 + ratio))
    x, y, _ = scene("mass_ratio_four_bar", ratio=ratio).joints["knee"].at
    assert np.arctan2(y, x) - rest == pytest.approx(mass_ratio_four_bar.RELEASE, abs=1e-15)


@pytest.mark.parametrize("ratio", [1e2, 1e4])
def test_its_slope_is_that_of_the_compiled_mechanism(ratio):
    kinematics, system = at_start("mass_ratio_four_bar", {"ratio": ratio})
    _, _, rows = np.linalg.svd(kinematics.jacobian(kinematics.hold))
    free = rows[-1] / rows[-1][system.rate("crank.angle_rate")]
    start = mass_ratio_four_bar.equilibrium(ratio) + mass_ratio_four_bar.RELEASE
    expected = mass_ratio_four_bar.slope(start, ratio)
    assert slope_of_energy(kinematics, system) @ free == pytest.approx(expected, rel=1e-12)


# --- Bennett's loop ---


@pytest.mark.parametrize("angle", [-150.0, -20.0, 0.0, 5.0, 70.0, 120.0, 180.0])
def test_bennett_closes(angle):
    first, *_, again = bennett.frames(radians(angle))
    np.testing.assert_allclose(again, first, rtol=0.0, atol=1e-15)
    assert bennett.SHORT / sin(bennett.SHORT_TWIST) == pytest.approx(bennett.LONG / sin(bennett.LONG_TWIST))


def test_bennett_is_built_of_skew_hinges_at_the_right_distances():
    model = scene("bennett")
    hinges = [joint for joint in model.joints.values() if isinstance(joint, Hinge)]
    for k, (length, twist) in enumerate(bennett.LINKS):
        a, b = hinges[k], hinges[(k + 1) % 4]
        apart = np.subtract(b.at, a.at)
        assert np.linalg.norm(apart) == pytest.approx(length, abs=1e-15)
        assert np.abs([apart @ a.axis, apart @ b.axis]).max() < 1e-15  # the link is their common normal
        assert np.dot(a.axis, b.axis) == pytest.approx(cos(twist), abs=1e-15)


@pytest.mark.parametrize("angle", [-100.0, 30.0, 70.0, 170.0])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_bennett_moves_though_it_should_be_stuck(angle, way):
    kinematics, system = at_start("bennett", {"angle": angle, "rate": way})
    zero = np.array(bennett.angles(radians(angle)))
    q, direction = system.q0, system.v0
    for _ in range(8):
        q, direction = moved_along(kinematics, q, direction, steps=5, size=0.1)
        assert np.abs(kinematics.gaps[kinematics.hold]).max() < 1e-14
        assert system.nv - rank(kinematics.jacobian(kinematics.hold)) == 1
        theta = zero + [coordinate(kinematics, f"joint{k + 1}.angle") for k in range(4)]
        assert product_error(theta[0], theta[1]) < 1e-13
        np.testing.assert_allclose(theta[:2] + theta[2:], 0.0, atol=1e-13)
    assert np.abs(q).max() > 1.0


def product_error(first, second):
    """How far tan θ1/2 tan θ2/2 is from what it always is; written with sines it has no poles."""
    return abs(sin(first / 2) * sin(second / 2) - bennett.PRODUCT * cos(first / 2) * cos(second / 2))


def test_bennett_keeps_its_relation_while_running():
    errors = []
    for h in (1e-3, 5e-4):
        simulation = Simulation(scene("bennett"), dt=h)
        worst = 0.0
        for _ in range(6):
            simulation.step(round(0.05 / h))
            moved = [simulation[f"joint{k + 1}.angle"] for k in range(2)]
            theta = np.add(bennett.angles(radians(70.0))[:2], moved)
            worst = max(worst, product_error(*theta))
        errors.append(worst)
    # Gaps are of second order: h² a/2 with accelerations up to 100 m/s² over links of 0.3 m.
    assert errors[0] < 1e-6 * 100 / 0.3
    assert errors[1] < 0.5 * errors[0] + 1e-8


# --- the Stewart platform ---


def test_stewart_legs_join_ground_and_platform():
    model = scene("stewart")
    ground, top = stewart.anchors()
    for k in range(6):
        np.testing.assert_array_equal(model.joints[f"foot{k + 1}"].at, ground[k])
        np.testing.assert_array_equal(model.joints[f"ball{k + 1}"].at, top[k] + [0.0, 0.0, stewart.HEIGHT])
        kinds = [type(model.joints[f"{part}{k + 1}"]) for part in ("foot", "leg", "ball")]
        assert kinds == [Universal, Slider, Spherical]
    radii = np.linalg.norm(ground[:, :2], axis=1), np.linalg.norm(top[:, :2], axis=1)
    np.testing.assert_allclose(radii, np.repeat([[stewart.BASE], [stewart.TOP]], 6, axis=1))
    # Turned by a third of a circle it is the same machine.
    third = matrix(about((0.0, 0.0, 1.0), 2 * pi / 3))
    np.testing.assert_allclose(ground @ third.T, np.roll(ground, -2, axis=0), atol=1e-15)
    np.testing.assert_allclose(top @ third.T, np.roll(top, -2, axis=0), atol=1e-15)


def test_stewart_commands_stay_within_the_strokes_and_start_and_end_at_rest():
    model = scene("stewart")
    for k in range(6):
        values = np.array(model.drives[f"servo{k + 1}"].signal.values)
        assert np.abs(values).max() < stewart.STROKE
        assert np.abs(values).max() > 0.1
        assert values[[0, -1]] == pytest.approx(0.0, abs=1e-15)
        assert np.abs(np.diff(values)[[0, -1]]).max() < 1e-3


def test_stewart_legs_follow_from_the_pose_of_the_platform():
    simulation = Simulation(scene("stewart"))
    rest = stewart.lengths(np.array([0.0, 0.0, stewart.HEIGHT]), np.eye(3))
    record = simulation.run(1.5, every=0.3)
    for i, t in enumerate(record.time):
        position = np.array([record[f"platform.position.{axis}"][i] for axis in "xyz"])
        R = matrix(np.array([record[f"platform.rotation.{axis}"][i] for axis in "wxyz"]))
        travels = [record[f"leg{k + 1}.travel"][i] for k in range(6)]
        # Six balls, each with a gap of second order: h² a/2 with a below 1 m/s².
        np.testing.assert_allclose(travels, stewart.lengths(position, R) - rest, atol=1e-6)
        wanted, turned = stewart.dance(t, 0.12, 7.0)
        # Servos lag by damping/stiffness, 12 ms at up to 0.4 m/s, and sag by a millimetre under their load.
        np.testing.assert_allclose(position, wanted, atol=8e-3)
        np.testing.assert_allclose(R, turned, atol=8e-3 / stewart.TOP)


# --- the scissor lift ---


@pytest.mark.parametrize(("stages", "angle"), [(1, 30.0), (4, 60.0), (10, 25.0)])
def test_scissor_height_as_written(stages, angle):
    model = scene("scissor_lift", stages=stages, angle=angle)
    height = stages * scissor_lift.BAR * sin(radians(angle))
    assert model.bodies["platform"].at[2] == pytest.approx(height, rel=1e-15)
    assert model.joints["guide"].at[0] == pytest.approx(scissor_lift.BAR * cos(radians(angle)), rel=1e-15)
    assert len(model.bodies) == 2 * stages + 4
    assert len(model.joints) == 3 * stages + 5


@pytest.mark.parametrize("stages", [2, 10])
def test_scissor_height_follows_from_the_angle_along_its_motion(stages):
    kinematics, system = at_start("scissor_lift", {"stages": stages})
    first = system.rate("base_pin.angle_rate")
    q, direction = system.q0, np.eye(system.nv)[first]
    for _ in range(3):
        q, direction = moved_along(kinematics, q, direction, steps=2, size=0.2)
        assert np.abs(kinematics.gaps[kinematics.hold]).max() < 1e-12
        assert system.nv - rank(kinematics.jacobian(kinematics.hold)) == 1
        angle = radians(25.0) + coordinate(kinematics, "base_pin.angle")
        travel = scissor_lift.BAR * (cos(angle) - cos(radians(25.0)))
        assert coordinate(kinematics, "guide.travel") == pytest.approx(travel, abs=1e-12)
        assert coordinate(kinematics, "top_guide.travel") == pytest.approx(travel, abs=1e-12)
        _, _, height = body_pose(kinematics.tables, system.body("platform"))[0]
        assert height == pytest.approx(stages * scissor_lift.BAR * sin(angle), abs=1e-11)
    assert coordinate(kinematics, "base_pin.angle") > 0.1


@pytest.mark.parametrize(("stages", "angle", "load"), [(1, 40.0, 0.0), (3, 50.0, 100.0), (10, 25.0, 250.0)])
def test_scissor_servo_holds_it_in_balance_at_the_start(stages, angle, load):
    kinematics, system = at_start("scissor_lift", {"stages": stages, "angle": angle, "load": load})
    needed = holding(kinematics, system, ["cylinder"])
    force = scissor_lift.holding(radians(angle), stages, load)
    assert needed == pytest.approx([force], rel=1e-9)
    weight = 9.81 * (scissor_lift.PLATFORM + scissor_lift.SHOE + load + stages * scissor_lift.BAR_MASS)
    assert force == pytest.approx(-stages * weight / tan(radians(angle)))
    servo = scene("scissor_lift", stages=stages, angle=angle, load=load).drives["cylinder"]
    assert servo.stiffness * servo.signal.values[0] == pytest.approx(force, rel=1e-9)
    assert servo.strength > abs(force)
