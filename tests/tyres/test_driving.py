"""Tyres that roll, slide, stand, fly and land: against momentum, friction and statics by hand."""

import math

import numpy as np
import pytest

from linkwork import Body, BrushTyre, Free, Material, Model, Plane, Scenery, Simulation, about
from linkwork.model.errors import ModelError

MASS, RADIUS, G = 300.0, 0.3, 9.81
LOAD = MASS * G
SPIN, LOCKED = 10.0, 1e13
"""Inertia about the axle [kg m²]; so large that the wheel does not turn."""


def wheel(
    *,
    tilt=0.0,
    heading=0.0,
    friction=1.0,
    inertia=SPIN,
    velocity=(0.0, 0.0, 0.0),
    spin=0.0,
    height=None,
    **tyre,
):
    """A heavy wheel on a plane that rises by `tilt` along x; it heads that way, or by `heading` to the left of it. Its
    inertia about the other axes keeps it upright."""
    model = Model("wheel")
    model.add(Material("road", friction=friction))
    slope = about((0.0, 1.0, 0.0), -tilt)
    model.add(Scenery("road", rotation=slope, shapes=[Plane()], material="road"))
    c, s = math.cos(tilt), math.sin(tilt)
    deep = RADIUS - 0.05 * RADIUS * c if height is None else height
    at = (-deep * s, 0.0, deep * c)
    axle = (-math.sin(heading) * c, math.cos(heading), -math.sin(heading) * s)
    along = (math.cos(heading) * c, math.sin(heading), math.cos(heading) * s)
    across = np.cross(along, axle)
    I = LOCKED * np.eye(3) + (inertia - LOCKED) * np.outer(axle, axle)
    model.add(Body("wheel", at=at, mass=MASS, inertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])))
    frame = np.stack([along, axle, across], axis=1)
    v = frame @ np.array(velocity)
    w = spin * np.array(axle)
    model.add(Free("free", "ground", "wheel", at=at, velocity=(*v, *w)))
    numbers = {"radius": RADIUS, "load": LOAD, "rolling_resistance": 0.0, **tyre}
    model.add(BrushTyre("tyre", "wheel", axis=axle, **numbers))
    return model


def run(model, duration, dt=1e-3, **options):
    simulation = Simulation(model, dt=dt, **options)
    return simulation, simulation.run(duration, every=1e-2)


def balanced(record, share=1e-6):
    """Nothing was gained from nowhere: by the integrator's error, against all that was turned over."""
    turned = abs(record["energy.dissipated"]).max() + np.ptp(record["energy.kinetic"]) + 1.0
    assert abs(record["energy.balance"]).max() <= share * turned


def test_it_rolls_against_its_resistance():
    """(m + I/R²) v' = -f N, of which slip takes a share of f N/C = 1/2000."""
    _, record = run(wheel(velocity=(3.0, 0, 0), spin=3.0 / 0.295, rolling_resistance=0.01), 2.0)
    v, w = record["wheel.velocity.x"][[100, -1]], record["wheel.angular_velocity.y"][-1]
    arm = v[1] / w
    assert arm == pytest.approx(RADIUS - 0.05 * RADIUS / 3, rel=1e-3)
    slowed = (v[0] - v[1]) / (record.time[-1] - record.time[100])
    assert slowed == pytest.approx(0.01 * LOAD / (MASS + SPIN / arm**2), rel=2e-3)
    balanced(record)


@pytest.mark.parametrize("heading", [0.0, 0.5 * math.pi, 0.6])
def test_locked_it_slides_as_far_as_friction_lets_it(heading):
    """v²/(2 µ g), whichever way the wheel points; the carcass yields by µ N/c, 19 mm at most, half of it in the way."""
    c, s = math.cos(heading), math.sin(heading)
    model = wheel(
        heading=heading, inertia=LOCKED, velocity=(10.0 * c, -10.0 * s, 0.0), friction=0.8, sliding=1.0
    )
    _, record = run(model, 2.0)
    assert record["wheel.position.x"].max() == pytest.approx(100.0 / (2 * 0.8 * G), rel=5e-3)
    assert abs(record["wheel.position.y"]).max() <= 0.02
    assert abs(record["wheel.velocity.x"][-1]) < 1e-2  # it swings on its carcass
    balanced(record)


def test_a_burnout_ends_in_rolling_by_momentum():
    """About the line of contact nothing acts: I w₀ = I w + m v R. While it slides it gains µ g; nothing winds up, so
    that it is never faster than it is in the end."""
    spin, arm = 60.0, RADIUS - 0.05 * RADIUS / 3
    _, record = run(wheel(spin=spin, sliding=1.0), 1.0)
    v, w = record["wheel.velocity.x"], record["wheel.angular_velocity.y"]
    final = SPIN * spin * arm / (SPIN + MASS * arm**2)
    assert v[-1] == pytest.approx(final, rel=2e-3)
    assert w[-1] * arm == pytest.approx(v[-1], rel=1e-3)
    early = record.time < 0.5 * final / G
    assert (v[early][-1] - v[0]) / record.time[early][-1] == pytest.approx(
        G, rel=3e-2
    )  # the carcass has to be wound up
    assert v.max() <= final * (1 + 3e-2)
    balanced(record)


def test_forwards_and_backwards_are_mirror_images():
    one, other = (
        run(wheel(velocity=(sign * 2.0, 0.3, 0), spin=-sign * 60.0), 1.5)[1] for sign in (1.0, -1.0)
    )
    for name in ("wheel.position.x", "wheel.velocity.x"):
        assert np.allclose(one[name], -other[name], rtol=0, atol=1e-9)
    assert np.allclose(one["wheel.position.y"], other["wheel.position.y"], rtol=0, atol=1e-9)
    assert one["wheel.velocity.x"].min() < 0.0 < one["wheel.velocity.x"].max()  # it turns back
    balanced(one)


@pytest.mark.parametrize("heading", [0.0, 0.5 * math.pi, 0.7])
def test_it_stands_on_a_slope_on_its_carcass(heading):
    """30 %, locked: the deflection holds what gravity pulls, and nothing creeps."""
    tilt = math.atan(0.3)
    _, record = run(wheel(tilt=tilt, heading=heading, inertia=LOCKED, damping=3000.0), 20.0)
    v = np.stack([record[f"wheel.velocity.{axis}"][-1] for axis in "xyz"])
    assert np.linalg.norm(v) <= 1e-9
    pull = LOAD * math.sin(tilt)
    assert math.hypot(record["tyre.force.x"][-1], record["tyre.force.y"][-1]) == pytest.approx(pull, rel=1e-6)
    assert record["tyre.force.z"][-1] == pytest.approx(LOAD * math.cos(tilt), rel=1e-6)
    for axis, c in (("x", 20 * LOAD / (0.6 * RADIUS)), ("y", 15 * LOAD / (1.2 * RADIUS))):
        assert record[f"tyre.deflection.{axis}"][-1] == pytest.approx(
            record[f"tyre.force.{axis}"][-1] / c, rel=1e-6, abs=1e-9
        )


@pytest.mark.parametrize("slope", [-0.6, -0.1, 0.05, 0.3, 0.8])
def test_no_slope_drives_it_uphill(slope):
    """Free to roll it gains -g sin(tilt)/(1 + I (1 - kappa)/(m R²)), whatever the slope; the slip kappa is its force
    over 20 loads, and holds to a few of its own share."""
    tilt = math.atan(slope)
    _, record = run(wheel(tilt=tilt, footprint=(0.2, 0.1)), 1.0)
    v = record["wheel.velocity.x"] * math.cos(tilt) + record["wheel.velocity.z"] * math.sin(tilt)
    arm = RADIUS - 0.05 * RADIUS * math.cos(tilt) / 3
    gained = (v[-1] - v[50]) / (record.time[-1] - record.time[50])
    ratio = SPIN / (MASS * arm**2)
    kappa = -ratio / (1 + ratio) * abs(math.tan(tilt)) / 20.0
    assert gained == pytest.approx(
        -G * math.sin(tilt) / (1 + ratio * (1 + kappa)), rel=0.2 * abs(kappa) + 5e-4
    )


def test_it_flies_lands_and_rolls_on():
    """In the air the wheel spins on, nothing acts, and the deflection goes; landed, momentum about the contact
    holds."""
    model = wheel(height=1.3, velocity=(4.0, 0.5, 0.0), spin=50.0)
    simulation, record = run(model, 3.0)
    air = record.time < 0.99 * math.sqrt(2 * (1.3 - RADIUS) / G)
    assert np.allclose(record["wheel.angular_velocity.y"][air], 50.0, rtol=1e-12)
    assert np.allclose(record["wheel.velocity.x"][air], 4.0, rtol=1e-12)
    for axis in "xyz":
        assert not record[f"tyre.force.{axis}"][air].any()
    fall = record["wheel.position.z"][air] - (1.3 - 0.5 * G * record.time[air] ** 2)
    assert abs(fall).max() < 1e-9
    assert record["tyre.force.z"].min() >= 0.0  # the road pushes and never pulls, also as it bounces
    assert record["tyre.force.z"].max() > 3 * LOAD
    # The load comes and goes with a kink: the first order of a step across it, 1e-3 s at 4.4 m/s and 2e5 N/m.
    balanced(record, 1e-3)
    assert simulation["energy.dissipated"] > 0.0


def test_lifted_off_it_lets_its_deflection_go():
    """Parked across a slope, then in the air: what the carcass stored is heat within some d/c, 10 ms."""
    model = wheel(velocity=(0.0, 2.0, 3.0))
    _, record = run(model, 0.3)
    assert abs(record["tyre.deflection.y"]).max() > 5e-4
    assert record["tyre.force.z"][-1] == 0.0
    assert abs(record["tyre.deflection.y"][-1]) < 1e-8
    balanced(record, 1e-3)


def test_parked_it_comes_to_rest():
    """A push of 0.1 m/s swings on the carcass and dies out as exp(-d t/(2 m)), d = 0.2 √(c m); where it stood it
    stands, but for what slid."""
    _, record = run(wheel(inertia=LOCKED, velocity=(0.1, 0.1, 0.0)), 6.0)
    speed = math.hypot(record["wheel.velocity.x"][-1], record["wheel.velocity.y"][-1])
    assert speed < 0.1 * math.exp(-0.1 * math.sqrt(1.25e5 / MASS) * 6.0)
    assert abs(record["wheel.position.x"][-1]) < 0.1 / math.sqrt(4e5 / MASS)
    balanced(record)


def test_its_order_is_that_of_the_integrator():
    """Rolling with slip on a plane is smooth, while no slip changes its sign: halving the step divides the error of
    Runge-Kutta's method by 16."""
    model = wheel(velocity=(5.0, 0.4, 0.0), spin=16.2, damping=100.0)
    places = []
    for dt in (4e-3, 2e-3, 1e-3, 2e-4):
        simulation = Simulation(model, dt=dt, integrator="rk4")
        simulation.run(0.04)
        places.append([simulation[f"wheel.{name}"] for name in ("position.x", "position.y", "velocity.y")])
    errors = np.linalg.norm(np.array(places[:3]) - places[3], axis=1)
    assert errors[0] / errors[1] > 10
    assert errors[1] / errors[2] > 10


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_impulses_take_any_step(dt):
    """Linearised at each step: a stiff tyre on a step of 10 ms lands, rolls and stands."""
    model = wheel(height=0.5, velocity=(2.0, 0.0, 0.0), stiffness=2e6, rolling_resistance=0.01)
    simulation = Simulation(model, dt=dt, solver="impulses")
    simulation.run(3.0)
    assert simulation["wheel.position.z"] == pytest.approx(RADIUS - LOAD / 2e6, abs=1e-4)
    arm = RADIUS - LOAD / 2e6 / 3
    assert simulation["wheel.velocity.x"] == pytest.approx(
        arm * simulation["wheel.angular_velocity.y"], rel=1e-3
    )


def test_without_a_road_it_is_told():
    model = Model("air")
    model.add(Body("wheel", mass=1.0, inertia=(1, 1, 1)))
    model.add(Free("free", "ground", "wheel"))
    model.add(BrushTyre("tyre", "wheel", radius=0.3, load=LOAD))
    with pytest.raises(ModelError, match="brush_tyre 'tyre': there is no road for it"):
        Simulation(model)
