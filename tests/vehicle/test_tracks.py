"""Tracks: turning on the spot against its formula and an integral of its own, a step, a slope, files, bad input."""

import math

import numpy as np
import pytest

from linkwork import (
    Body,
    Cylindrical,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    VelocityServo,
    load_model,
    scene,
)
from linkwork.engine.tyres.belt import GRIP, LENGTH, WIDTH, belt_slip
from linkwork.engine.tyres.patch import DAMP_X, DAMP_Y
from linkwork.io.reference import find_entry
from linkwork.model.errors import LinkworkError, ModelError
from linkwork.scenes.krt100 import MOTOR
from linkwork.vehicle import HubMotor, Track, fit, track

L, R, B, GAUGE, MASS, G, FRICTION = 0.8, 0.1, 0.08, 0.5, 60.0, 9.81, 0.8
TRACK = Track(length=L, radius=R, width=B, load=0.5 * MASS * G)
WEIGHT = G * (MASS + 2.0 * TRACK.whole_mass)


def robot(commands=None, *, gravity=(0.0, 0.0, -G), held=False):
    """Two tracks and a hull, in the middle above them; motors with commands, or belts that run freely or are held."""
    model = Model("robot", gravity=gravity)
    model.add(Material("soil", friction=FRICTION))
    model.add(Scenery("floor", shapes=[Plane()], material="soil"))
    model.add(Body("hull", at=(0, 0, R), mass=MASS, inertia=(1.5, 4.0, 5.0), com=(0, 0, 0.1)))
    for k, (name, y) in enumerate((("left", 0.5 * GAUGE), ("right", -0.5 * GAUGE))):
        drive = None if commands is None else HubMotor(**MOTOR, command=commands[k])
        part = track(length=L, radius=R, width=B, load=0.5 * MASS * G, drive=drive)
        fit(model, name, part, chassis="hull", at=(0, y, R))
        if held:
            model.add(VelocityServo(f"{name}_brake", f"{name}.sprocket_axle", command=0.0, strength=1e3))
    return model


def balanced(record, share):
    turned = abs(record["energy.dissipated"]).max() + np.ptp(record["energy.kinetic"]) + 1.0
    assert abs(record["energy.balance"]).max() <= share * turned


def grid(nx=400, ny=40):
    """Points of a track on the ground."""
    x = ((np.arange(nx) + 0.5) / nx - 0.5) * L
    y = ((np.arange(ny) + 0.5) / ny - 0.5) * B
    return np.meshgrid(x, y, indexing="ij")


def test_turning_on_the_spot_takes_mu_w_l_over_4():
    """Turned from outside, belts free: every point of a line of length L slides sideways, ∫ µ W |x|/L dx."""
    model = robot()
    model.add(Cylindrical("turn", "ground", "hull", at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(VelocityServo("yaw", "turn", coordinate="angle", command=0.3, strength=1e4))
    record = Simulation(model).run(1.5, every=0.01)
    assert record["yaw.force"][-1] == pytest.approx(FRICTION * WEIGHT * L / 4, rel=0.02)
    # And with the width of the belts: ∫ µ W r dA over their area, r from the middle of a belt, which rolls along; but
    # for two points across, and what is slower than 1 cm/s.
    x, y = grid()
    assert record["yaw.force"][-1] == pytest.approx(FRICTION * WEIGHT * np.hypot(x, y).mean(), rel=0.02)
    balanced(record, 1e-6)


def test_it_turns_on_the_spot_as_fast_as_its_slip_lets_it():
    """Belts run at ±v; the yaw rate at which moments balance by an integral over all of both tracks."""
    simulation = Simulation(robot((-0.3, 0.3)))
    record = simulation.run(2.0, every=0.01)
    speed = float(simulation["right.sprocket_axle.angle_rate"]) * R
    x, y = grid()

    def moment(yaw):
        v_x, v_y = 0.5 * GAUGE * yaw + y * -yaw - speed, yaw * x  # of the right track over the ground
        size = np.hypot(v_x, v_y)
        return float(np.mean(-x * v_y / size - (0.5 * GAUGE - y) * v_x / size))

    low, high = 0.0, 2.0 * speed / GAUGE
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if moment(middle) > 0.0 else (low, middle)
    assert simulation["hull.angular_velocity.z"] == pytest.approx(low, rel=0.02)
    assert low < 0.8 * 2.0 * speed / GAUGE  # far from rolling
    assert abs(record["hull.position.x"]).max() < 1e-6
    assert simulation["left.sprocket_axle.angle_rate"] == pytest.approx(-speed / R, rel=1e-9)
    balanced(record, 1e-5)


def test_all_wheels_of_a_track_turn_with_its_belt():
    simulation = Simulation(robot((0.5, 0.1)))
    record = simulation.run(1.0, every=0.01)
    for side in ("left", "right"):
        belt = record[f"{side}.sprocket_axle.angle"]
        for name in TRACK.places:
            assert abs(record[f"{side}.{name}_axle.angle"] - belt).max() < 1e-9
    assert simulation["hull.angular_velocity.z"] < -0.1  # to the right, where the belt is slower


def test_left_and_right_are_mirror_images():
    one, other = (Simulation(robot(commands)).run(0.5, every=0.05) for commands in ((0.5, 0.1), (0.1, 0.5)))
    assert np.allclose(one["hull.position.x"], other["hull.position.x"], rtol=0, atol=1e-9)
    assert np.allclose(one["hull.position.y"], -other["hull.position.y"], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("up", "side"), [(0.3, 0.0), (0.0, 0.3)])
def test_it_stands_on_a_slope_of_thirty_percent(up, side):
    """Held belts, or across the slope: the pads yield, and nothing creeps."""
    tilt = math.atan(up + side)
    down = -G * math.sin(tilt)
    model = robot(gravity=(down * (up > 0), down * (side > 0), -G * math.cos(tilt)), held=True)
    simulation = Simulation(model)
    simulation.run(6.0)
    place = np.array([simulation[f"hull.position.{c}"] for c in "xyz"])
    assert np.linalg.norm(place - (0, 0, R)) < 0.01
    assert np.linalg.norm([simulation[f"hull.velocity.{c}"] for c in "xyz"]) < 1e-8


def test_it_climbs_a_step_higher_than_its_wheels_and_comes_down():
    """0.12 m, wheels of 0.1 m: up it goes, by as much as the step is high, down again, and turns."""
    simulation = Simulation(scene("tracked_robot"), dt=2e-3)
    record = simulation.run(8.0, every=0.02)
    z = record["hull.position.z"]
    on_top = z[np.searchsorted(record.time, 5.0)]
    assert on_top - z[np.searchsorted(record.time, 1.0)] == pytest.approx(0.12, abs=1e-4)
    assert record["hull.position.x"][-1] > 3.5
    assert z[-1] == pytest.approx(z[np.searchsorted(record.time, 1.0)], abs=1e-4)
    # One contact a wheel on flanks that bend more than the wheel: up to 2 J of the 83 J of the lift (3 % of them).
    assert abs(record["energy.balance"]).max() < 0.03 * WEIGHT * 0.12


def test_on_ice_it_does_not():
    simulation = Simulation(scene("tracked_robot", friction=0.1), dt=2e-3)
    simulation.run(6.0)
    assert simulation["hull.position.x"] < 1.2
    assert simulation["hull.position.z"] < 0.15


@pytest.mark.parametrize("yaw", [0.0, 1e-3, 0.7, -2.0])
def test_a_footprint_never_gives_energy_and_keeps_to_friction(yaw):
    own = np.zeros(30)
    own[DAMP_X], own[DAMP_Y], own[GRIP], own[LENGTH], own[WIDTH] = 100.0, 100.0, 0.9, 0.16, 0.08
    rng = np.random.default_rng(3)
    for _ in range(100):
        slip_x, slip_y = rng.normal(size=2) * 10.0 ** rng.uniform(-4, 1)
        along, across, damping, moment = belt_slip(own, 100.0, 1.0, slip_x, slip_y, yaw)
        # Steady: F = F0 - D V with D = w d/(1 - w).
        x, y = (slip.offset - slip.weight / slip.ease * v for slip, v in ((along, slip_x), (across, slip_y)))
        assert math.hypot(x, y) <= 90.0 * (1 + 1e-9)
        assert x * slip_x + y * slip_y + (moment - damping * yaw) * yaw <= 1e-12


FILE = """\
linkwork: 1
units: SI
materials: {soil: {friction: 0.8}}
scenery: {floor: {shapes: [{shape: plane}], material: soil}}
bodies:
  hull: {at: [0, 0, 0.1], mass: 60, inertia: [1.5, 4, 5]}
components:
  belt:
    parameters: {load: 294.3}
    track: {length: 0.8, radius: 0.1, width: 0.08, load: =load}
instances:
  left: {component: belt, at: [0, 0.25, 0.1]}
  right: {component: belt, at: [0, -0.25, 0.1], mirror: [0, 1, 0]}
joints:
  left_mount: {type: weld, a: hull, b: left.mount}
  right_mount: {type: weld, a: hull, b: right.mount}
"""


def test_a_file_makes_what_python_makes(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(FILE)
    read = load_model(path).instances["left"].component
    made = track(length=0.8, radius=0.1, width=0.08, load=294.3)
    made.name = read.name
    assert read == made
    path.write_text(FILE.replace("length: 0.8", "length: -0.8"))
    with pytest.raises(ModelError, match=r"robot.yaml:10.*length"):
        load_model(path)
    assert find_entry("track").fields
    assert find_entry("belt_tyre").fields


def test_bad_tracks_are_named():
    with pytest.raises(LinkworkError, match=r"there is no choice 'lenght' .did you mean 'length'"):
        track(lenght=1.0)
    with pytest.raises(LinkworkError, match="wheels"):
        track(length=1.0, load=100.0, wheels=1)
    model = robot()
    del model.scenery["floor"]
    with pytest.raises(ModelError, match="there is no road for it"):
        Simulation(model)
    model.add(Scenery("floor", shapes=[Plane()], material="soil"))
    Simulation(model)
