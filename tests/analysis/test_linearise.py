"""Linearisation against formulas: mechanisms whose linear equations are known by hand or were published."""

import math

import numpy as np
import pytest
from scipy import signal as scipy_signal

from helpers import bicycle as bike
from linkwork import (
    PID,
    Actuator,
    Body,
    Hinge,
    HydraulicCylinder,
    LinkworkError,
    Model,
    PositionServo,
    Repeater,
    Simulation,
    Slider,
    Spherical,
    UnsupportedError,
    VelocityServo,
    linearise,
    scene,
)
from linkwork.analysis.linear_motion import modes_record
from linkwork.analysis.linearise import linearise_along

G = 9.81
EXACT = (
    1e-9  # differences of fourth order, strides of 1e-3: 1e-12 of the third-order terms, and rounding / 1e-3
)


def close(found, wanted, tolerance=EXACT):
    wanted = np.asarray(wanted, float)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def names(ports):
    return [port.name for port in ports]


def pendulum(angle=0.0, **hinge):
    model = Model("pendulum")
    model.add(Body("rod", mass=2, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5)))
    model.add(Hinge("pin", "ground", "rod", axis=(0, 1, 0), position=angle, **hinge))
    return model


def cart_pole(drive=True):
    model = Model("cart_pole")
    model.add(Body("cart", mass=1.5, inertia=(1, 1, 1)))
    model.add(Body("pole", mass=0.3, inertia=(0.01, 0.01, 0.01), com=(0, 0, 0.4)))
    model.add(Slider("rail", "ground", "cart", axis=(1, 0, 0)))
    model.add(Hinge("pin", "cart", "pole", axis=(0, 1, 0)))
    if drive:
        model.add(Actuator("push", "rail", time_constant=0.05))
    return model


@pytest.mark.parametrize("angle", [0.0, math.pi, 0.7])
def test_a_damped_pendulum_hanging_standing_and_let_go(angle):
    found = linearise(pendulum(angle, damping=0.3), inputs=["pin.angle"])
    inertia = 0.1 + 2 * 0.25
    close(found.A, [[0, 1], [-2 * G * 0.5 * math.cos(angle) / inertia, -0.3 / inertia]])
    close(found.B, [[0], [1 / inertia]])
    assert names(found.states) == ["pin.angle", "pin.angle_rate"]
    assert [port.unit for port in found.states] == ["rad", "rad/s"]
    assert found.inputs[0].unit == "N m"
    assert found.residual == pytest.approx(2 * G * 0.5 * abs(math.sin(angle)) / inertia, abs=1e-12)


def test_a_cart_with_a_pole_pushed_by_an_actuator_that_lags():
    found = linearise(cart_pole(), outputs=["pole.position.x", "pin.angle_acceleration", "push.built_up"])
    inertia = np.array([[1.8, 0.12], [0.12, 0.01 + 0.3 * 0.16]])
    K = np.linalg.solve(inertia, [[0, 0], [0, 0.3 * G * 0.4]])
    push = np.linalg.solve(inertia, [1, 0])
    A = np.zeros((5, 5))
    A[:2, 2:4], A[2:4, :2], A[2:4, 4], A[4, 4] = np.eye(2), K, push, -20
    close(found.A, A)
    close(found.B, [[0], [0], [0], [0], [20]])
    close(found.C, [[1, 0, 0, 0, 0], [*A[3]], [0, 0, 0, 0, 1]])
    close(found.D, [[0], [0], [0]])
    assert names(found.states) == [
        "rail.travel",
        "pin.angle",
        "rail.travel_rate",
        "pin.angle_rate",
        "push.built_up",
    ]


def test_a_double_pendulum():
    m1, m2, l1, l2 = 1.3, 0.7, 0.6, 0.9
    model = Model("double")
    tiny = (1e-12,) * 3
    model.add(Body("upper", mass=m1, inertia=tiny, com=(0, 0, -l1)))
    model.add(Body("lower", at=(0, 0, -l1), mass=m2, inertia=tiny, com=(0, 0, -l2)))
    model.add(Hinge("shoulder", "ground", "upper", axis=(0, 1, 0)))
    model.add(Hinge("elbow", "upper", "lower", at=(0, 0, -l1), axis=(0, 1, 0)))
    # In angles against the vertical, θ1 and θ2 = θ1 + elbow.
    M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
    K = G * np.diag([(m1 + m2) * l1, m2 * l2])
    T = np.array([[1.0, 0.0], [1.0, 1.0]])
    found = linearise(model)
    close(found.A[2:, :2], -np.linalg.solve(M @ T, K @ T))
    w = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)))
    assert sorted(mode.frequency for mode in found.modes) == pytest.approx(
        sorted(w / (2 * math.pi)), rel=1e-9
    )
    assert all(mode.eigenvalue.real == pytest.approx(0, abs=1e-9) for mode in found.modes)


def test_ball_joints_have_rotation_vectors_for_coordinates():
    model = Model("ball")
    model.add(Body("rod", mass=2, inertia=(0.1, 0.15, 0.05), com=(0, 0, -0.5)))
    model.add(Spherical("hip", "ground", "rod"))
    found = linearise(model)
    stiff = 2 * G * 0.5
    close(found.A[3:, :3], np.diag([-stiff / (0.1 + 0.5), -stiff / (0.15 + 0.5), 0.0]))


def four_bar(crank=0.4):
    """A parallelogram with a heavy coupler, whose coupler only shifts."""
    model = Model("parallelogram")
    length, c, s = 0.5, math.cos(crank), math.sin(crank)
    tip = (length * s, 0, -length * c)
    model.add(Body("left", mass=0.2, inertia=(0.01, 0.01, 0.01), com=(tip[0] / 2, 0, tip[2] / 2)))
    model.add(Body("right", at=(1, 0, 0), mass=0.2, inertia=(0.01,) * 3, com=(tip[0] / 2, 0, tip[2] / 2)))
    model.add(Body("coupler", at=tip, mass=3.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0)))
    model.add(Hinge("a", "ground", "left", axis=(0, 1, 0), damping=0.2))
    model.add(Hinge("b", "left", "coupler", at=tip, axis=(0, 1, 0)))
    model.add(Hinge("c", "coupler", "right", at=(1 + tip[0], 0, tip[2]), axis=(0, 1, 0)))
    model.add(Hinge("d", "ground", "right", at=(1, 0, 0), axis=(0, 1, 0)))
    return model


@pytest.mark.parametrize("crank", [0.0, 0.4])
def test_a_four_bar_is_reduced_to_its_one_freedom(crank):
    found = linearise(
        four_bar(crank), inputs=["a.angle"], outputs=["d.angle", "coupler.position.x"], states=["a.angle"]
    )
    inertia = 2 * (0.01 + 0.2 * 0.0625) + 3 * 0.25
    weight = (2 * 0.2 * 0.25 + 3 * 0.5) * G
    close(found.A, [[0, 1], [-weight * math.cos(crank) / inertia, -0.2 / inertia]])
    close(found.B, [[0], [1 / inertia]])
    # Turning about +y takes a point below the pin to -x.
    close(found.C, [[1, 0], [-0.5 * math.cos(crank), 0]])
    assert names(found.states) == ["a.angle", "a.angle_rate"]


@pytest.mark.parametrize("name", ["crank_rocker", "peaucellier", "stewart", "excavator"])
def test_loops_agree_with_the_nonlinear_motion(name):
    """A against the motion itself: a short run from a displaced start, and from the start."""
    model = scene(name)
    sim = Simulation(model, method="simgc", integrator="rk4", dt=1e-5)
    found = linearise(sim)
    coordinates = [port.name for port in found.states if not port.name.endswith("_rate")][
        : len(found.coordinates)
    ]
    index = len(coordinates)
    rate = found.states[index].name
    h = 1e-5

    def acceleration(value):
        sim.reset()
        sim.set({coordinates[0]: value, **{c: sim[c] for c in coordinates[1:]}, rate: sim[rate]})
        joint = [column.name for column in sim.system.rates].index(rate)
        return sim.accelerations()[joint]

    start = sim[coordinates[0]]
    slope = (acceleration(start + h) - acceleration(start - h)) / (2 * h)
    assert found.A[index, 0] == pytest.approx(slope, rel=1e-4, abs=1e-4 * np.abs(found.A).max())


def test_position_servos_cylinders_and_repeaters():
    model = cart_pole(drive=False)
    model.add(PositionServo("hold", "pin", stiffness=50.0, damping=2.0, command=0.0))
    model.add(HydraulicCylinder("ram", "rail", area=1e-3, supply=1e7, flow=1e-3, volume=1e-4))
    found = linearise(model)
    inertia = np.array([[1.8, 0.12], [0.12, 0.058]])
    K = np.linalg.solve(inertia, [[0, 0], [0, 0.3 * G * 0.4 - 50.0]])
    close(found.A[2:4, :2], K)
    close(found.A[2:4, 3], np.linalg.solve(inertia, [0, -2.0]))
    close(found.A[2:4, 4], np.linalg.solve(inertia, [1e-3, 0]))
    assert names(found.inputs) == ["hold", "ram"]
    close(found.B[2:4, 0], np.linalg.solve(inertia, [0, 50.0]))
    bulk = HydraulicCylinder("ram", "rail", area=1e-3, supply=1e7, flow=1e-3, volume=1e-4).bulk_modulus
    assert found.A[4, 2] == pytest.approx(-4 * bulk / 1e-4 * 1e-3, rel=1e-9)


def test_a_repeater_is_a_loop_of_its_own():
    model = Model("gears")
    for name, at in (("one", 0.0), ("two", 1.0)):
        model.add(Body(name, at=(at, 0, 0), mass=1, inertia=(0.2, 0.2, 0.2)))
        model.add(Hinge(f"axle_{name}", "ground", name, at=(at, 0, 0), axis=(0, 1, 0), spring=3.0))
    model.add(Repeater("mesh", "axle_one", "axle_two", ratio=-2.0))
    found = linearise(model, states=["axle_two.angle"])
    close(found.A, [[0, 1], [-3 * (1 + 4) / (0.2 * (1 + 4)), 0]])


def test_velocity_servos_are_constraints():
    model = cart_pole(drive=False)
    model.add(VelocityServo("drive", "rail", command=0.7))
    found = linearise(model)
    assert names(found.states) == ["rail.travel", "pin.angle", "pin.angle_rate"]
    close(found.A, [[0, 0, 0], [0, 0, 1], [0, 0.12 * G / 0.058, 0]])
    with pytest.raises(LinkworkError, match="velocity servo 'drive' keeps a rate"):
        linearise(model, inputs=["drive"])


# --- steady motions ---


def test_a_governor_that_spins():
    """A heavy point on a hinged arm of a shaft: cos θ = g/(Ω² l), and Ω² sin² θ with a shaft that keeps its rate."""
    model = Model("governor")
    model.add(Body("shaft", mass=1, inertia=(1e6, 1e6, 1e6)))
    model.add(Body("arm", mass=2, inertia=(1e-12,) * 3, com=(0, 0, -0.5)))
    model.add(Hinge("spin", "ground", "shaft", axis=(0, 0, 1), velocity=6.0))
    model.add(Hinge("out", "shaft", "arm", axis=(0, 1, 0), position=0.8))
    found = linearise(model, steady={"spin.angle_rate": 6.0}, drop_cyclic=True)
    assert names(found.states) == ["out.angle", "spin.angle_rate", "out.angle_rate"]
    theta = math.acos(G / (36 * 0.5))
    assert found.reference.q[1] == pytest.approx(theta, abs=1e-10)
    assert found.residual < 1e-10
    fastest = max(abs(found.eigenvalues.imag))
    assert fastest == pytest.approx(6 * math.sin(theta), rel=1e-5)  # 2 kg m² of 1e6


@pytest.mark.parametrize("speed", [0.0, 4.292, 5.0, 6.024, 10.0])
def test_the_benchmark_bicycle(speed):
    """Rigid wheels that roll: loops, contacts that neither part nor slip, cyclic coordinates dropped."""
    found = linearise(bike.bicycle(speed), drop_cyclic=True)
    assert names(found.states) == [
        "rider.wx", "steer.angle", "rider.wx_rate", "rear_axle.angle_rate", "steer.angle_rate"
    ]  # fmt: skip
    wanted = [*bike.published(speed), 0.0]  # and the speed, which stays
    left = list(found.eigenvalues)
    for value in wanted:
        nearest = min(left, key=lambda other: abs(other - value))
        left.remove(nearest)
        assert nearest == pytest.approx(value, abs=1e-6)
    if speed == 5.0:
        for value in bike.AT_5:
            assert np.abs(found.eigenvalues - value).min() < 1e-6
    assert found.residual < 1e-9


def test_weave_and_capsize_speeds_of_the_bicycle():
    """Where the real parts of both modes vanish, by secants through our own eigenvalues; published to four digits."""

    def growth(speed, swings):
        values = linearise(bike.bicycle(speed), drop_cyclic=True).eigenvalues
        if swings:
            return values[np.argmax(values.imag)].real
        slow = [value.real for value in values if value.imag == 0.0 and value.real > -5]
        return max(slow, key=abs)  # the other is that of the speed, which stays

    for swings, near, published in ((True, 4.3, 4.292), (False, 6.0, 6.024)):
        a, b = near, near + 0.02
        f, g = growth(a, swings), growth(b, swings)
        for _ in range(3):
            a, f, b = b, g, b - g * (b - a) / (g - f)
            g = growth(b, swings)
        assert b == pytest.approx(published, abs=6e-4)


def test_the_bicycle_is_the_same_wherever_it_heads():
    one = linearise(bike.bicycle(5.0), drop_cyclic=True)
    other = linearise(bike.bicycle(5.0, heading=2.1, place=(40.0, -7.0)), drop_cyclic=True)
    close(other.A, one.A, 1e-6)


def test_wheels_that_slip_are_refused():
    model = bike.bicycle(5.0)
    model.joints["rear_axle"] = Hinge(
        "rear_axle", "frame", "rear", at=(0, 0, bike.REAR), axis=(0, 1, 0), velocity=0.0
    )
    with pytest.raises(LinkworkError, match=r"slides at .* m/s"):
        linearise(model)


# --- along a motion ---


def test_along_the_swing_of_a_pendulum():
    sim = Simulation(pendulum(1.0), method="simgc", integrator="rk4")
    found = linearise_along(sim, [0.0, 0.2, 0.5])
    assert sim.time == pytest.approx(0.5)
    for system in found:
        angle = system.reference.q[0]
        close(system.A, [[0, 1], [-2 * G * 0.5 * math.cos(angle) / 0.6, 0]])
    assert found[0].reference.q[0] != found[2].reference.q[0]


def test_about_where_a_simulation_stands_with_its_commands_and_states():
    model = pendulum()
    model.add(PositionServo("hold", "pin", stiffness=30.0, damping=1.0))
    model.add(Actuator("push", "pin", time_constant=0.1))
    sim = Simulation(model)
    sim.command("hold", 0.5)
    sim.command("push", 2.0)
    sim.run(40.0)
    found = linearise(sim)
    angle = sim["pin.angle"]
    assert angle > 0.2
    assert found.residual < 1e-6  # it has come to rest there
    close(found.A[1, :2], [-(2 * G * 0.5 * math.cos(angle) + 30) / 0.6, -1 / 0.6])


# --- what comes of it ---


def test_responses_transfer_functions_and_exports_agree():
    found = linearise(cart_pole(), outputs=["rail.travel", "pin.angle"])
    frequencies = np.geomspace(0.05, 20, 30)
    response = found.response(frequencies)
    exported = found.to_scipy()
    top, bottom = found.transfer("push", "pin.angle")
    for k, f in enumerate(frequencies):
        s = 2j * math.pi * f
        direct = exported.C @ np.linalg.solve(s * np.eye(5) - exported.A, exported.B) + exported.D
        np.testing.assert_allclose(response[k], direct, rtol=1e-12)
        assert np.polyval(top, s) / np.polyval(bottom, s) == pytest.approx(response[k, 1, 0], rel=1e-6)
    assert isinstance(exported, scipy_signal.StateSpace)
    with pytest.raises(LinkworkError, match=r"no output 'pin\.angel' \(did you mean 'pin\.angle'"):
        found.transfer("push", "pin.angel")


@pytest.mark.peers
def test_python_control_gets_names():
    pytest.importorskip("control")
    found = linearise(cart_pole()).to_control()
    assert found.state_labels[0] == "rail_travel"
    assert found.input_labels == ["push"]
    close(found.poles().imag, np.zeros(5), 1e-6)


def test_a_bode_plot_and_a_record_of_the_modes(tmp_path):
    found = linearise(four_bar(), inputs=["a.angle"])
    found.bode(output=found.outputs[0].name, path=tmp_path / "bode.png")
    assert (tmp_path / "bode.png").stat().st_size > 1000
    record = modes_record(found)
    times, texts = zip(*record.info["captions"], strict=True)
    assert list(texts) == [f"mode {k}: {mode.text}" for k, mode in enumerate(found.modes)]
    assert 0.0 == times[0] <= times[-1] < record.time[-1]
    tip = record["coupler.position"]
    assert np.ptp(tip[:, 0]) > 0.05
    np.testing.assert_allclose(np.hypot(tip[:, 0], tip[:, 2]), 0.5, atol=1e-12)  # loops stay closed


def test_what_has_no_linear_motion_is_refused():
    stop = pendulum(0.5, limits=(0.5, 1.0))
    with pytest.raises(LinkworkError, match=r"limit 'pin\.angle' touches"):
        linearise(stop)
    model = pendulum()
    model.add(PID("law", "pin", sample_time=0.01, proportional=3.0))
    with pytest.raises(UnsupportedError, match="linearisation is about what acts continuously"):
        linearise(model)
    with pytest.raises(LinkworkError, match=r"no drive or joint coordinate 'pin\.angl'"):
        linearise(pendulum(), inputs=["pin.angl"])
    with pytest.raises(LinkworkError, match=r"no output 'rod\.position\.w'"):
        linearise(pendulum(), outputs=["rod.position.w"])
    with pytest.raises(LinkworkError, match=r"no coordinate 'pim\.angle'"):
        linearise(pendulum(), states=["pim.angle"])


def test_dry_friction_is_left_out_and_said_so():
    found = linearise(pendulum(friction=0.5))
    close(found.A, [[0, 1], [-G / 0.6, 0]])
    assert any("dry friction is left out (pin" in note for note in found.notes)
