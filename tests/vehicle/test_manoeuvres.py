"""Manoeuvres of a car: against linear theory, friction and statics by hand, and published models."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.command import call, document
from linkwork import Simulation
from linkwork.model.errors import LinkworkError
from linkwork.vehicle import Brush, Car, Coil, Driver, Path, circle
from linkwork.vehicle.linear_tyres import linear_tyres, wheel_loads
from linkwork.vehicle.manoeuvres import (
    braking,
    constant_radius,
    double_lane_change,
    frequency_response,
    pull_away,
    roll_track,
    single_track,
    step_steer,
)
from linkwork.vehicle.manoeuvres.base import STEERING, brakes, flat, motors, run
from linkwork.vehicle.rig_axle import steering_curves
from linkwork.vehicle.roll_track import understeer
from linkwork.vehicle.rolled import Rolled

G = 9.81
FRONT, REAR = (
    Brush(cornering_stiffness=45e3, rolling_resistance=0.0),
    Brush(cornering_stiffness=60e3, rolling_resistance=0.0),
)
STIFF = Coil(stiffness=1e9, damping=1e6)
"""A spring that leaves no travel."""


def free(**choices):
    """A car on its springs that coasts."""
    return Car(brake=0.0, drive="none", **{"tyre": FRONT, "rear_tyre": REAR, **choices})


def locked():
    """A car without roll: springs that do not yield, tyres that hardly do."""
    tyres = [dataclasses.replace(tyre, stiffness=2e6, damping=3e3) for tyre in (FRONT, REAR)]
    return free(spring=STIFF, front_bar=0.0, tyre=tyres[0], rear_tyre=tyres[1])


def steered(car, speed, lateral):
    """What steering changes: yaw rate per steer angle of the wheels [1/s], and roll per lateral acceleration; and the
    speed then. The steering wheel's weight is on the left, and leans the car a little all the time."""
    m = step_steer(car, speed=speed, lateral=lateral, duration=5.0).motion
    k = int(np.searchsorted(m.time, 0.49))
    turned, aside = m.wheel[-1] - m.wheel[k], m.lateral[-1] - m.lateral[k]
    gain = (m.yaw_rate[-1] - m.yaw_rate[k]) / turned * car.steering_ratio
    return gain, (m.roll[-1] - m.roll[k]) / aside, m.speed[-1]


def test_wheel_loads_of_linear_theory_are_those_at_rest():
    """Racks and tie rods lie behind their axle: loads by the moments of all, not those that an axle is made for."""
    car = free()
    simulation = Simulation(car.model())
    simulation.step(4000)
    for axle, load in zip(("front", "rear"), wheel_loads(car), strict=True):
        both = sum(simulation[f"{axle}.{side}.tyre.force.z"] for side in ("left", "right"))
        assert both == pytest.approx(2.0 * load, rel=1e-4)  # the car stands on its springs, a little pitched


@pytest.mark.parametrize("speed", [12.0, 20.0, 30.0])
def test_understeer_gradient_and_yaw_gain_are_those_of_linear_theory(speed):
    """Suspension locked, at 0.05 g: within 2 %, most of it the bend of the brush law, of whose friction an axle has
    0.05 there. F/(µ N) = 1 - (1 - s)³ makes its secant 1 - s + s²/3 of the stiffness at no slip, and less yet of its
    trail; with those secants theory is ten times as near."""
    car = locked()
    gain, _, now = steered(car, speed, 0.05 * G)
    s = 1.0 - 0.95 ** (1 / 3)
    front = linear_tyres(car, 0.05 * G)[0].stiffness
    assert front / linear_tyres(car)[0].stiffness == pytest.approx(1.0 - s + s * s / 3.0, rel=1e-5)
    for theory, bound in ((single_track(car), 0.02), (single_track(car, 0.05 * G), 0.002)):
        assert gain == pytest.approx(theory.steady(now)[0], rel=bound)
        if (
            speed > 12.0
        ):  # where the gradient is a seventh of the steer angle, and errors of that count as much more
            gradient = (now / gain - car.wheelbase) / now**2
            assert gradient == pytest.approx(theory.understeer, rel=bound)
        assert understeer(theory, theory.wheelbase, now) == pytest.approx(theory.understeer, rel=1e-9)


CARS = {
    "struts and links": {},
    "torsion springs": {
        "front": "double_wishbone",
        "rear": "double_wishbone",
        "spring": "torsion",
        "rear_bar": 200.0,
    },
    "twist beam": {"front": "double_wishbone", "rear": "twist_beam"},
    "solid axle": {"rear": "solid_axle"},
}


@pytest.mark.parametrize("kind", CARS)
def test_on_its_suspensions_it_steers_and_rolls_as_linear_theory_with_roll(kind):
    """At 0.01 g and 25 m/s, where locked suspensions would change what struts or a solid axle make of it by 5 %.
    Steering lifts one side: a wheel goes up by some 3 mm a rad, which theory leaves out of the roll, 0.5 % of it."""
    car = free(**CARS[kind])
    gain, roll, now = steered(car, 25.0, 0.01 * G)
    theory = roll_track(car)
    assert gain == pytest.approx(theory.steady(now)[0], rel=5e-3)
    assert roll == pytest.approx(theory.roll(now), rel=1e-2)
    if kind in ("struts and links", "solid axle"):
        assert gain > 1.05 * single_track(car).steady(now)[0]


def test_rolled_it_has_the_mass_and_the_inertia_of_the_whole():
    car = free()
    theory, other = roll_track(car), single_track(car)
    assert theory.inertia[0, 0] == pytest.approx(other.mass, rel=1e-12)
    middle = theory.inertia[0, 1] / other.mass
    assert middle == pytest.approx(car.arms[0] - other.front - other.trail_front, abs=1e-9)
    # Wheels that roll on resist yaw, too: their moments of inertia over the squares of their radii.
    wheels = sum(
        Rolled(car).spins(k) * (0.5 * car.track / Rolled(car).rolling_radius(k)) ** 2 for k in range(2)
    )
    own = theory.inertia[1, 1] - wheels - other.mass * middle**2
    assert own == pytest.approx(other.yaw_inertia, rel=2e-3)


def response(car, speed):
    """Yaw rate and lateral acceleration over 0.3 to 2.5 Hz at 0.05 g, as shares of what they are at 0.3 Hz, and those
    of both theories."""
    found = frequency_response(car, speed=speed, lateral=0.05 * G, duration=6.0)
    marks = found.marks
    among = (marks["frequency"] > 0.3) & (marks["frequency"] < 2.5)
    lines = (marks["yaw"], marks["lateral"]), marks["theory"], marks["theory with roll"]
    whole = [abs(line[among][0]) for line in lines[0]]
    return found, *([line[among] / w for line, w in zip(pair, whole, strict=True)] for pair in lines)


def test_yaw_resonance_is_that_of_linear_theory():
    """Gain and phase of the yaw rate from 0.3 to 2.5 Hz, and where the gain is largest; steps of 0.02 Hz."""
    found, ours, theory, rolling = response(locked(), 35.0)
    for k in range(2):
        assert np.abs(ours[k] - theory[k]).max() < 0.02 * np.abs(theory[k]).max()
        # Without travel both theories are one.
        assert np.abs(rolling[k] - theory[k]).max() < 0.02 * np.abs(theory[k]).max()
    resonance = found["yaw resonance of linear theory"]
    assert found["yaw resonance"] == pytest.approx(resonance, abs=0.02)
    assert found["yaw gain there"] == pytest.approx(np.abs(found.marks["theory"][0]).max(), rel=0.02)
    assert resonance > 0.5


def test_yaw_resonance_with_roll_is_that_of_linear_theory_with_roll():
    """Free suspensions: a fifth lower than without roll, which theory without roll misses."""
    found, ours, theory, rolling = response(free(), 35.0)
    for k in range(2):
        assert np.abs(ours[k] - rolling[k]).max() < 0.03 * np.abs(rolling[k]).max()
        assert np.abs(ours[k] - theory[k]).max() > 0.1 * np.abs(rolling[k]).max()
    assert found["yaw resonance"] == pytest.approx(
        found["yaw resonance of linear theory with roll"], abs=0.03
    )
    assert found["yaw resonance"] < 0.85 * found["yaw resonance of linear theory"]


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
