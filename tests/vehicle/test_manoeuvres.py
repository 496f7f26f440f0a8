"""Manoeuvres of a car: against linear theory, friction and statics by hand, and published models."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.command import call, document
from linkwork import Simulation
from linkwork.model.errors import LinkworkError
from linkwork.vehicle import Brush, Car, Coil, Driver, Path, circle
from linkwork.vehicle.manoeuvres import (
    braking,
    constant_radius,
    double_lane_change,
    frequency_response,
    pull_away,
    single_track,
    step_steer,
)
from linkwork.vehicle.manoeuvres.base import STEERING, brakes, flat, motors, run
from linkwork.vehicle.rig_axle import steering_curves

G = 9.81
FRONT, REAR = (
    Brush(cornering_stiffness=45e3, rolling_resistance=0.0, friction=2.0),
    Brush(cornering_stiffness=60e3, rolling_resistance=0.0, friction=2.0),
)
"""Of high friction: at 0.05 g the brush law is then within one percent of its stiffness at no slip."""
STIFF = Coil(stiffness=1e9, damping=1e6)
"""A spring that leaves no travel."""


def locked(**choices):
    """A car without roll: springs that do not yield, tyres that hardly do."""
    tyres = [dataclasses.replace(tyre, stiffness=2e6, damping=3e3) for tyre in (FRONT, REAR)]
    return Car(spring=STIFF, front_bar=0.0, tyre=tyres[0], rear_tyre=tyres[1], **choices)


def test_understeer_gradient_and_yaw_gain_are_those_of_linear_theory():
    """Suspension locked, at 0.05 g: steady yaw rate per steer angle at three speeds, and the gradient from them."""
    car = locked(brake=0.0, drive="none")
    theory = single_track(car)
    for speed in (12.0, 20.0, 30.0):
        found = step_steer(car, speed=speed, lateral=0.05 * G, duration=3.0)
        gain = found["yaw rate"] / found.motion.wheel[-1] * car.steering_ratio
        assert gain == pytest.approx(theory.steady(speed)[0], rel=0.02)
        gradient = (speed / gain - car.wheelbase) / speed**2
        if speed == 30.0:
            assert gradient == pytest.approx(theory.understeer, rel=0.02)


def test_yaw_resonance_is_that_of_linear_theory():
    """Gain and phase of the yaw rate from 0.3 to 2.5 Hz, and where the gain is largest; steps of 0.02 Hz."""
    car = locked(brake=0.0, drive="none")
    found = frequency_response(car, speed=35.0, lateral=0.05 * G, duration=6.0)
    marks, theory = found.marks, found.marks["theory"]
    among = (marks["frequency"] > 0.3) & (marks["frequency"] < 2.5)
    ratio = marks["yaw"][among] / theory[0][among]
    assert np.abs(np.abs(ratio) - 1.0).max() < 0.02
    assert np.degrees(np.abs(np.angle(ratio))).max() < 1.5
    assert found["yaw resonance"] == pytest.approx(
        found["yaw resonance of linear theory"], rel=0.02, abs=0.02
    )
    assert found["yaw gain there"] == pytest.approx(np.abs(theory[0]).max(), rel=0.02)
    assert found["yaw resonance of linear theory"] > 0.5


@pytest.mark.parametrize("friction", [0.3, 0.9])
def test_locked_wheels_brake_by_friction(friction):
    """v²/(2 µ g) from where they slide; the first half second goes into pedals, carcasses and wheels."""
    tyre = Brush(sliding=1.0, rolling_resistance=0.0)
    found = braking(Car(tyre=tyre, drive="none"), speed=20.0, friction=friction)
    assert found["fully developed deceleration"] == pytest.approx(friction * G, rel=5e-3)
    m = found.motion
    k = int(np.searchsorted(m.time, 1.0))
    assert m.x[-1] - m.x[k] == pytest.approx(m.speed[k] ** 2 / (2.0 * friction * G), rel=5e-3)


@pytest.mark.slow
def test_it_stands_on_a_slope_and_pulls_away():
    """30 % for 60 s by its brakes: no creep; then it goes up and does not roll back by more than brakes give."""
    found = pull_away(Car(), slope=0.3, hold=60.0, duration=3.0)
    assert found["creep while it stands"] < 1e-9
    assert found["rolls back"] < 0.02
    assert found["speed at the end"] > 2.0


@pytest.mark.parametrize("slope", [-0.3, 0.1, 0.3])
def test_no_slope_drives_it_uphill(slope):
    """Free to roll: -g sin(tilt)/(1 + Σ I/(m R²)), the rotors of four wheels and nothing else."""
    car = Car(tyre=Brush(rolling_resistance=0.0), brake=0.0, drive="none")
    tilt = math.atan(slope)
    model = car.model()
    model.gravity = (-G * math.sin(tilt), 0.0, -G * math.cos(tilt))
    record = Simulation(model).run(2.0, every=0.1, reactions=False)
    wheel = car.axles[0].each.wheel_mass + car.axles[1].each.wheel_mass
    theory = single_track(car)
    gained = (record["chassis.velocity.x"][-1] - record["chassis.velocity.x"][10]) / 1.0
    spin = (
        wheel * (car.radius / (0.95 * car.radius + 0.05 * car.radius * 2 / 3)) ** 2
    )  # of solid discs: ½ m R² twice
    assert gained == pytest.approx(-G * math.sin(tilt) / (1.0 + spin / theory.mass), rel=0.01)


def test_energy_is_accounted_for_in_every_drive():
    """Driving, braking and steering at once: by the order of the step at kinks of brakes and tyres."""
    car = Car()
    tables = {STEERING: ((0.0, 0.5, 0.7), (0.0, 0.0, 0.8))}
    tables |= dict.fromkeys(motors(car), ((0.0, 0.1, 0.3, 0.8, 0.9), (0.0, 0.0, 0.6, 0.6, 0.0)))
    tables |= dict.fromkeys(brakes(car), ((0.0, 1.0, 1.2), (0.0, 0.0, 0.4)))
    record = run(car, flat(), 2.0, speed=15.0, tables=tables)
    turned = record["energy.dissipated"][-1] + record["energy.supplied"].max()
    assert turned > 5e4
    assert abs(record["energy.balance"]).max() < 1e-4 * turned


def test_it_follows_a_circle():
    """Within a decimetre; the steer angle is the wheelbase over the radius and what understeer adds."""
    found = constant_radius(Car(), lateral=3.2, gain=0.15)
    assert found["largest way off the circle"] < 0.1
    # The rack's ratio is not the same all over its way.
    car = Car()
    curves = steering_curves(car.axles[0], car.wheelbase, 41)
    turned = math.radians(found["steer angle at no speed"]) * car.steering_ratio
    steered = np.interp(turned, curves.wheel_angle, 0.5 * (curves.left + curves.right))
    assert math.degrees(steered) == pytest.approx(found["wheelbase over radius"], rel=0.01)


def test_a_lane_change_stays_within_its_lanes():
    found = double_lane_change(Car())
    assert found["room left beside the lanes"] > 0.0
    assert found["speed at the end"] == pytest.approx(80.0, abs=2.0)


# --- the driver ---


def test_a_path_tells_the_nearest_point():
    path = Path([(0, 0), (10, 0), (10, 10)])
    assert path.nearest(4.0, 1.0) == pytest.approx((4.0, 1.0))
    assert path.nearest(9.0, 6.0) == pytest.approx((16.0, 1.0))
    assert path.nearest(12.0, 6.0) == pytest.approx((16.0, -2.0))
    assert path.nearest(-3.0, 2.0) == pytest.approx((-3.0, 2.0))  # open paths go straight on
    assert path.at(25.0) == pytest.approx((10.0, 15.0))
    ring = circle(20.0)
    assert ring.curvature(50.0) == pytest.approx(1 / 20.0, rel=1e-2)
    assert ring.nearest(0.0, 1.0)[1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("points", "said"),
    [([(0, 0)], "at least two"), ([(0, 0), (0, 0)], "are the same"), ([(0, 0), (math.nan, 1)], "not finite")],
)
def test_paths_that_are_none_are_refused(points, said):
    with pytest.raises(LinkworkError, match=said):
        Path(points)


def test_pedals_keep_a_speed():
    driver = Driver(None, 10.0, wheelbase=2.6)
    still = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert driver(0.0, *still, 5.0, 0.0) == (0.0, 1.0, 0.0)
    assert driver(0.01, *still, 20.0, 0.0)[1:] == (0.0, 1.0)


# --- the command ---


def test_the_command_has_figures_and_a_plot(tmp_path):
    plot = tmp_path / "braking.png"
    found = document(
        "manoeuvre", "braking", "--set", "speed=10", "--set", "friction=0.8", "--plot", str(plot)
    )
    assert 5.0 < found["figures"]["way from the pedal on"]["value"] < 8.0
    assert len(found["motion"]["time"]) == len(found["motion"]["speed"])
    assert plot.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["step-stear"], "there is no manoeuvre 'step-stear' (did you mean 'step-steer'?)"),
        (["braking", "--set", "brake=0"], "the car has no brakes"),
        (["acceleration", "--set", 'drive="none"'], "the car has no motor"),
        (["braking", "--set", "mas=3"], "there is no choice 'mas' (did you mean 'mass'?)"),
        (["braking", "--set", 'speed="fast"'], "must be a number"),
        (["step-steer", "--set", "speed=-1"], "speed must be greater than 0"),
        (["step-steer", "--set", 'tyre="rigid"'], "linear theory needs handling tyres"),
        (["step-steer", "--set", "speed=3", "--set", "lateral=8"], "rack lets it go"),
        (["braking", "--set", 'front="twist_beam"'], "a rack steers by tie rods"),
    ],
)
def test_what_is_wrong_is_named(arguments, said):
    result = call("manoeuvre", *arguments)
    assert result.exit_code != 0
    assert said in " ".join(str(result.exception).split())
