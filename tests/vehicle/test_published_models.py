"""Step steer beside the published single-track and multi-body models of the package `commonroad-vehicle-models`.

What differs is explained by what they are: the single-track model has no roll and forces that follow slip at once; the
multi-body model rolls, shifts loads between its wheels and has tyres by the Magic Formula with its own offsets.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linkwork.vehicle import Brush, Car, Coil, Rack
from linkwork.vehicle.manoeuvres import motion, single_track
from linkwork.vehicle.manoeuvres.base import STEERING, flat, run

SPEED, ANGLE, RATE, START, DURATION = 20.0, 0.01, 0.4, 0.5, 3.0
"""Of the car [m/s], the front wheels' angle [rad] and how fast it is built up [rad/s], begin and end [s]."""

pytestmark = pytest.mark.peers


@cache
def published():
    """Parameters of a BMW 320i."""
    return pytest.importorskip("vehiclemodels.parameters_vehicle2").parameters_vehicle2()


def matched(p) -> Car:
    """A car of the same mass, axles, yaw inertia and cornering stiffness, without roll."""
    g, base = 9.81, p.a + p.b
    loads = 0.5 * p.m * g * p.b / base, 0.5 * p.m * g * p.a / base
    tyres = [
        Brush(
            cornering_stiffness=-p.tire.p_ky1 * load, friction=p.tire.p_dy1, rolling_resistance=0.0, trail=0.0,
            lateral_relaxation=0.1, stiffness=2e6, damping=3e3, degression=0.0,
        )
        for load in loads
    ]  # fmt: skip
    mass, share, yaw = p.m, p.b / base, math.sqrt(p.I_z / p.m)
    for _ in range(4):
        car = Car(
            mass=mass, wheelbase=base, track=p.T_f, radius=p.R_w, height=p.h_s, front_share=share,
            gyration=(0.7, yaw, yaw), spring=Coil(stiffness=1e9, damping=1e6), front_bar=0.0, tyre=tyres[0],
            rear_tyre=tyres[1], drive="none", brake=0.0, steering=Rack(mass=0.5, wheel_inertia=0.01),
        )  # fmt: skip
        theory = single_track(car)
        mass *= p.m / theory.mass
        share += (theory.front - p.a) / base
        yaw = math.sqrt(yaw**2 + (p.I_z - theory.yaw_inertia) / mass)
    return car


@cache
def ours():
    car = matched(published())
    turned = ANGLE * car.steering_ratio
    table = ((0.0, START, START + ANGLE / RATE), (0.0, 0.0, turned))
    return motion(run(car, flat(), DURATION, speed=SPEED, tables={STEERING: table}))


def theirs(function, start, p, time):
    """Yaw rate over time of one of their models."""

    x, found, built = np.array(start, float), np.zeros(len(time)), START + ANGLE / RATE
    for begin, end, rate in ((0.0, START, 0.0), (START, built, RATE), (built, DURATION, 0.0)):
        among = (time >= begin - 1e-9) & (time <= end + 1e-9)
        piece = solve_ivp(
            lambda t, x, rate=rate: function(x, [rate, 0.0], p), (begin, end), x, dense_output=True, rtol=1e-7,
            atol=1e-8, method="LSODA", max_step=0.01,
        )  # fmt: skip
        assert piece.success
        found[among], x = piece.sol(time[among])[5], piece.y[:, -1]
    return found


def test_a_step_steer_beside_the_single_track_model():
    from vehiclemodels.init_st import init_st
    from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st

    p = published()
    car = matched(p)
    theory = single_track(car)
    assert theory.mass == pytest.approx(p.m, rel=1e-4)
    assert theory.yaw_inertia == pytest.approx(p.I_z, rel=1e-3)
    assert theory.front == pytest.approx(p.a, rel=1e-3)
    m = ours()
    other = theirs(vehicle_dynamics_st, init_st([0.0, 0.0, 0.0, SPEED, 0.0, 0.0, 0.0]), p, m.time)
    assert m.yaw_rate[-1] == pytest.approx(other[-1], rel=0.01)
    # Forces are built up over the relaxation length and by the carcass' damper: so much later it turns.
    late = theory.relaxation / SPEED + theory.settling
    assert np.abs(m.yaw_rate - other).max() < 1.05 * late * np.abs(np.gradient(other, m.time)).max()


def test_a_step_steer_beside_the_multi_body_model():
    """Its steady yaw rate, which its roll makes 2 % larger, and how fast it comes."""
    from vehiclemodels.init_mb import init_mb
    from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb

    p = published()
    m = ours()
    other = theirs(vehicle_dynamics_mb, init_mb([0.0, 0.0, 0.0, SPEED, 0.0, 0.0, 0.0], p), p, m.time)
    own = other - np.interp(START, m.time, other)  # it turns by itself, by the offsets of its tyres
    assert m.yaw_rate[-1] == pytest.approx(own[-1], rel=0.03)
    half = [m.time[np.argmax(values > 0.5 * values[-1])] for values in (m.yaw_rate, own)]
    assert half[0] == pytest.approx(half[1], abs=0.02)
