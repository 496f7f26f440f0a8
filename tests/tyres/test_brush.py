"""The brush law: its formula, limits of friction, and that it never gives energy."""

import math

import numpy as np
import pytest

from helpers.published_tyre import tir
from linkwork import BrushTyre, MagicTyre
from linkwork.engine.tyres.brush import brush_slip
from linkwork.engine.tyres.magic import magic_slip
from linkwork.engine.tyres.patch import DAMP_X, STIFF_X, slip_of
from linkwork.model.errors import ModelError
from linkwork.vehicle.tyre_rig import forces, numbers

LOAD = 3000.0


def tyre(**fields):
    return BrushTyre("tyre", "wheel", radius=0.3, load=LOAD, **fields)


def test_pure_slip_is_the_cubic_of_the_book():
    """F = µN (3 s - 3 s² + s³), s = C tan α/(3 µN) (Pacejka, section 3.2)."""
    made = tyre(friction=0.9, sliding=0.9)
    for tangent in (0.001, 0.03, 0.1):
        s = 15.0 * LOAD * tangent / (3 * 0.9 * LOAD)
        wanted = 0.9 * LOAD * (3 * s - 3 * s * s + s**3) if s < 1 else 0.9 * LOAD
        assert forces(made, load=LOAD, tangent=tangent).y == pytest.approx(-wanted, rel=1e-12)
        assert forces(made, load=LOAD, tangent=-tangent).y == pytest.approx(wanted, rel=1e-12)
    # Of longitudinal slip the speed of rolling counts: sigma = kappa/(1 + kappa).
    sigma = 0.02 / 1.02
    s = 20.0 * LOAD * sigma / (3 * 0.9 * LOAD)
    assert forces(made, load=LOAD, kappa=0.02).x == pytest.approx(
        0.9 * LOAD * (3 * s - 3 * s * s + s**3), rel=1e-12
    )


def test_stiffness_grows_less_than_the_load_and_never_falls():
    made = tyre(degression=0.25)
    slopes = [
        -forces(made, load=n, tangent=1e-6).y / 1e-6 for n in (0.5 * LOAD, LOAD, 2 * LOAD, 4 * LOAD, 8 * LOAD)
    ]
    assert slopes[:3] == pytest.approx([45e3 * r * (1 + 0.25 * (1 - r)) for r in (0.5, 1.0, 2.0)], rel=1e-3)
    assert slopes[3] <= slopes[4] * (1 + 1e-3)


def test_friction_bounds_the_force_in_every_direction():
    made = tyre(friction=1.0, sliding=0.8)
    rng = np.random.default_rng(1)
    for _ in range(300):
        kappa, tangent = rng.uniform(-1, 1), rng.uniform(-1, 1)
        found = forces(made, load=LOAD, kappa=kappa, tangent=tangent)
        assert math.hypot(found.x, found.y) <= LOAD * (1 + 1e-12)
    sliding = forces(made, load=LOAD, kappa=-1.0, tangent=0.7)  # locked: against the way it slides
    assert math.hypot(sliding.x, sliding.y) == pytest.approx(0.8 * LOAD, rel=1e-12)
    assert sliding.y / sliding.x == pytest.approx(0.7, rel=1e-12)


def test_the_force_has_no_steps_where_sliding_begins():
    made = tyre(friction=1.0, sliding=0.8)
    edge = 3.0 / 15.0
    near = [forces(made, load=LOAD, tangent=edge * (1 + sign * 1e-7)).y for sign in (-1.0, 1.0)]
    assert near[0] == pytest.approx(near[1], rel=1e-6)


def test_the_moment_turns_the_wheel_back_and_is_gone_when_it_slides():
    made = tyre(trail=0.03)
    small = forces(made, load=LOAD, tangent=1e-4)
    assert small.moment == pytest.approx(-0.03 * small.y, rel=1e-2)
    assert forces(made, load=LOAD, tangent=0.3).moment == 0.0


def magic(tmp_path):
    path = tmp_path / "tyre.tir"
    path.write_text(tir())
    return MagicTyre("tyre", "wheel", file=str(path))


def test_no_motion_gains_energy_from_the_tread():
    """-F V - (c u²/2)' = D (V + u')² + d u'² is not negative, whatever the deflection, slip and speed."""
    own = numbers(tyre())
    rng = np.random.default_rng(2)
    for _ in range(2000):
        load = rng.uniform(1.0, 9000.0)
        velocity = rng.normal(size=2) * 10.0 ** rng.uniform(-6, 2)
        rolling = rng.choice([0.0, 1.0]) * rng.normal() * 10.0 ** rng.uniform(-4, 2)
        along, across, _ = brush_slip(own, load, 1.0, *velocity, rolling)
        for axis, slip in enumerate((along, across)):
            c, d = own[STIFF_X + 2 * axis], own[DAMP_X + 2 * axis]
            u, v = rng.normal() * 0.02, velocity[axis]
            rate = -slip.weight * v - slip.ease * c * u
            force = c * u + d * rate
            lost = -force * v - c * u * rate
            assert lost >= -1e-12 * (abs(force * v) + abs(c * u * rate))


def test_standing_is_a_limit_of_rolling():
    """As slip and speed vanish together the carcass alone is left, F = c u - d V; without load there is nothing."""
    own = numbers(tyre())
    along, across, _ = brush_slip(own, LOAD, 1.0, 0.0, 0.0, 0.0)
    assert along == across == (1.0, 0.0, 0.0)
    for speed in (1e-3, 1e-6, 1e-9):
        along, across, _ = brush_slip(own, LOAD, 1.0, 0.3 * speed, -0.2 * speed, 0.1 * speed)
        assert max(1.0 - across.weight, 1.0 - along.weight) < speed
    assert slip_of(0.0, 1.0, 100.0, 0.0).weight == 0.0


def test_the_relaxation_length_is_the_one_given(tmp_path):
    """Near rolling freely u' = -V - |V_x| u/sigma but for what damping takes: weight/ease per speed is c sigma."""
    made = tyre(lateral_relaxation=0.4, longitudinal_relaxation=0.2)
    own = numbers(made)
    for axis, sigma in ((0, 0.2), (1, 0.4)):
        slip = brush_slip(own, LOAD, 1.0, 0.0, 0.0, 12.0)[axis]
        assert slip.weight / slip.ease * 12.0 / own[STIFF_X + 2 * axis] == pytest.approx(sigma, rel=1e-12)
    own = numbers(magic(tmp_path))
    found = magic_slip(own, 4000.0, 1.0, 0.0, 0.0, 12.0, 0.0)
    assert found.speed == 12.0
    assert min(found.secant_x, found.secant_y) > 0.0


def test_more_grip_in_sliding_than_at_the_peak_is_refused():
    with pytest.raises(ModelError, match=r"sliding 1\.2 must not be larger than friction 1"):
        tyre(friction=1.0, sliding=1.2)
