"""Laws of elements, their states and samples, in every method that has them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from linkwork import (
    PID,
    Actuator,
    Body,
    Bushing,
    HydraulicCylinder,
    LineFunction,
    Model,
    PositionServo,
    Simulation,
    Slider,
    Spring,
    equilibrium,
)
from linkwork.engine.elements import CALLED_LAW, DRIVES, LAWS, SPRING
from linkwork.engine.elements.stiffness import Slopes, fastest, too_stiff
from linkwork.model.errors import UnsupportedError

EXPLICIT = [
    {"method": "simgc", "integrator": "rk4"},
    {"method": "simgc", "integrator": "adams"},
    {"method": "simmc", "integrator": "rk4"},
    {"method": "components", "integrator": "rk4"},
    {"method": "components", "integrator": "adams"},
]
ADAPTIVE = [{"method": method, "tolerance": 1e-10} for method in ("simgc", "simmc", "components")]
IMPLICIT = [{"method": method} for method in ("hybrid", "global", "topological")]
IMPULSES = [{"method": method, "solver": "impulses"} for method in ("simgc", "simmc")]
EULER = [{"method": "simgc", "integrator": "euler"}, {"method": "components", "integrator": "euler"}]
ALL = [*EXPLICIT, *ADAPTIVE, *IMPLICIT, *IMPULSES, *EULER]
MASS = 2.0


def named(settings):
    return "-".join(str(value) for value in settings.values())


def cart(*things, velocity=0.0):
    """A body that slides along x, without gravity."""
    model = Model("cart", gravity=(0.0, 0.0, 0.0))
    model.add(Body("body", mass=MASS, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("rail", "ground", "body", axis=(1.0, 0.0, 0.0), velocity=velocity))
    for thing in things:
        model.add(thing)
    return model


def end(model, duration, dt, how):
    sim = Simulation(model, dt=dt, **how)
    sim.run(duration, every=duration)
    return sim


# --- laws ---

NUMBERS = {
    "spring": (3.0, 0.7),
    "backlash": (3.0, 0.7, 0.1),
    "torque": (),
    "position_servo": (3.0, 0.7),
    "dc_motor": (2.0, 0.3),
    "actuator": (0.2, 0.4),
    "hydraulic_cylinder": (0.01, 100.0, 2.0, 30.0, 0.01),
    "pid": (1.0, 2.0, 3.0, 0.1, 5.0),
    "brake": (60.0, 1.0, 0.4),
    "traction_motor": (2.0, 3.0, 1.9),
}


OWN = [
    law for law in LAWS if law is not CALLED_LAW
]  # whose slopes another function states: tested with tyres


def test_every_law_is_tested():
    assert {law.name for law in OWN} == set(NUMBERS)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(OWN), st.floats(-50.0, 50.0), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-0.9, 0.9)
)  # fmt: skip
def test_slopes_are_derivatives_and_power_is_accounted_for(law, x, phi, rate, u):
    p, m, step = NUMBERS[law.name], (0.8, 0.0, 0.0, 0.0), 1e-5

    def along(function, k):
        ends = []
        for sign in (1.0, -1.0):
            moved = [x, phi, rate]
            moved[k] += sign * step
            ends.append(function(p, m, *moved, u))
        return (np.array(ends[0]) - np.array(ends[1])) / (2.0 * step)

    if law.sticks:  # away from where it begins to slide
        assume(abs(abs(p[1] * x + p[2] * rate) - p[0] * max(u, 0.0)) > 1e-3)
    if law.name == "traction_motor":  # and from the corners of its map
        assume(min(abs(abs(rate) - corner) for corner in (0.0, p[1] / p[0], p[2], 1.05 * p[2])) > 1e-3)
    answer = law.respond(p, m, x, phi, rate, u)
    # Laws are of degree two at most here, so that central differences are exact but for rounding.
    assert along(law.respond, 1)[0] == pytest.approx(answer.by_phi, abs=1e-8)
    assert along(law.respond, 2)[0] == pytest.approx(answer.by_rate, abs=1e-8)
    assert along(law.respond, 0)[0] == pytest.approx(answer.by_state, abs=1e-8)
    stored = along(law.respond, 1)[4] * rate
    if law.flow is not None:
        stored += along(law.respond, 0)[4] * law.flow(p, m, x, phi, rate, u).rate
    balance = answer.supplied - answer.dissipated - stored
    # What rounding leaves of differences grows with what is stored.
    assert answer.force * rate == pytest.approx(balance, abs=1e-8 * (1.0 + answer.stored * (1.0 + abs(x))))
    if law.flow is not None:
        change = law.flow(p, m, x, phi, rate, u)
        scale = 1.0 + abs(change.rate)
        assert along(law.flow, 1)[0] == pytest.approx(change.by_phi, abs=1e-6 * scale)
        assert along(law.flow, 2)[0] == pytest.approx(change.by_rate, abs=1e-6 * scale)
        assert along(law.flow, 0)[0] == pytest.approx(change.by_state, abs=1e-6 * scale)


def test_elements_are_stiffer_together_than_alone():
    """A row of masses between springs, against the eigenvalues of the whole chain."""
    n, k, mass = 6, 100.0, 0.5
    chain = np.diff(np.eye(n), axis=0)  # springs between neighbours
    W = chain @ chain.T / mass
    slopes = Slopes(np.full(n - 1, k), np.zeros(n - 1), np.zeros(n - 1), np.zeros(n - 1))
    whole = np.linalg.eigvalsh(k * chain.T @ chain / mass)[-1]
    assert fastest(slopes, W) == pytest.approx(math.sqrt(whole), rel=1e-12)
    # At a step between the two limits each spring alone would do.
    alone = math.sqrt(2.0 * k / mass)
    h = 0.5 / (0.5 * (alone + math.sqrt(whole)))
    chosen = too_stiff(slopes, W, h)
    rest = [i for i in range(n - 1) if i not in chosen]
    assert chosen
    left = k * W[np.ix_(rest, rest)]
    assert not rest or h * math.sqrt(np.linalg.eigvalsh(left)[-1]) <= 0.5


# --- continuous states ---


def pushed(t, force=3.0, T=0.05):
    """Where a cart is that an actuator pushes from rest, and how fast."""
    x = force / MASS * (t * t / 2 - T * t + T * T * (1 - math.exp(-t / T)))
    return x, force / MASS * (t - T * (1 - math.exp(-t / T)))


@pytest.mark.parametrize(
    ("how", "order"),
    [*((how, 4) for how in EXPLICIT), *((how, 2) for how in IMPLICIT), *((how, 1) for how in (*IMPULSES, *EULER))],
    ids=lambda value: named(value) if isinstance(value, dict) else str(value),
)  # fmt: skip
def test_an_actuator_follows_at_the_order_of_the_method(how, order):
    errors = []
    for dt in (4e-3, 2e-3):
        sim = end(cart(Actuator("arm", "rail", time_constant=0.05, command=3.0)), 0.2, dt, how)
        errors.append(
            max(abs(sim["rail.travel"] - pushed(0.2)[0]), 0.1 * abs(sim["rail.travel_rate"] - pushed(0.2)[1]))
        )
    assert errors[1] > 1e-12
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


@pytest.mark.parametrize("how", ADAPTIVE, ids=named)
def test_states_are_part_of_the_error_control(how):
    """A light cart whose motion shows nothing of what the actuator does: its state alone must shorten the steps."""
    model = cart(Actuator("arm", "rail", time_constant=1e-3, command=1e-6))
    sim = end(model, 0.02, 0.02, how)
    assert sim.steps > 10
    assert sim["arm.built_up"] == pytest.approx(1e-6 * (1 - math.exp(-20.0)), abs=1e-9)


CYLINDER = {"area": 1e-3, "supply": 1e7, "flow": 1e-4, "volume": 1e-3, "leakage": 2e-12}


def cylinder(opening=0.5, **more):
    return HydraulicCylinder("ram", "rail", command=opening, **(CYLINDER | more))


def reference(opening, spring, duration):
    """The cart, the pressure and the spring by another integrator."""
    c = CYLINDER

    def rates(t, y):
        x, v, p = y
        drop = 1 - math.copysign(1, opening) * p / c["supply"]
        flow = c["flow"] * opening * math.copysign(math.sqrt(abs(drop)), drop)
        return [
            v,
            (c["area"] * p - spring * x) / MASS,
            4 * 1.4e9 / c["volume"] * (flow - c["area"] * v - c["leakage"] * p),
        ]

    return solve_ivp(
        rates, (0.0, duration), [0.0, 0.0, 0.0], method="Radau", rtol=1e-10, atol=[1e-13, 1e-11, 1e-4]
    ).y[:, -1]


@pytest.mark.parametrize("how", ADAPTIVE, ids=named)
@pytest.mark.parametrize("opening", [0.5, -0.3])
def test_a_hydraulic_cylinder_against_another_integrator(how, opening):
    spring = Spring("buffer", "ground", "body", at_a=(-1, 0, 0), at_b=(0, 0, 0), stiffness=5e4)
    sim = end(cart(cylinder(opening), spring), 0.02, 1e-4, how)
    x, v, p = reference(opening, 5e4, 0.02)
    assert sim["rail.travel"] == pytest.approx(x, abs=1e-9)
    assert sim["rail.travel_rate"] == pytest.approx(v, abs=1e-6)
    assert sim["ram.pressure"] == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("how", [*EXPLICIT, *IMPULSES, *EULER, {"method": "hybrid", "rho": 0.0}], ids=named)
def test_oil_that_is_too_stiff_for_the_step_is_taken_implicitly(how):
    """ω h = 3.3: an explicit step would blow up. The cart goes as fast as the valve lets oil through."""
    sim = end(cart(cylinder(leakage=0.0)), 0.2, 2e-3, how)
    assert sim["rail.travel_rate"] == pytest.approx(0.5 * CYLINDER["flow"] / CYLINDER["area"], rel=1e-3)


@pytest.mark.parametrize("how", ALL, ids=named)
def test_strength_bounds_what_has_been_built_up(how):
    sim = end(
        cart(Actuator("arm", "rail", time_constant=1e-2, command=3.0, built_up=3.0, strength=1.0)),
        0.1,
        1e-3,
        how,
    )
    assert sim["rail.travel_rate"] == pytest.approx(1.0 / MASS * 0.1, rel=1e-9)


def test_statics_takes_states_as_settled():
    spring = Spring("buffer", "ground", "body", at_a=(-1, 0, 0), at_b=(0, 0, 0), stiffness=200.0)
    result = equilibrium(cart(Actuator("arm", "rail", time_constant=0.1, command=3.0), spring))
    assert result.values["rail.travel"] == pytest.approx(3.0 / 200.0, rel=1e-9)


# --- samples ---


def controlled(duration, start=0.0, T=0.013, kp=50.0, ki=20.0, kd=12.0, goal=0.1, strength=math.inf):
    """A cart under a sampled PID controller: constant force between samples, so exact."""
    x, v, total, t, k = start, 0.0, 0.0, 0.0, 0
    while t < duration - 1e-12:
        error = goal - x
        wanted = kp * error + ki * (total + T * error) - kd * v
        force = min(max(wanted, -strength), strength)
        if force == wanted or (wanted - force) * error < 0:
            total += T * error
        k += 1
        h = min(k * T, duration) - t
        x, v, t = x + v * h + force / MASS * h * h / 2, v + force / MASS * h, t + h
    return x, v, force, total


GAINS = {"sample_time": 0.013, "proportional": 50.0, "integral": 20.0, "derivative": 12.0}


@pytest.mark.parametrize("how", [*EXPLICIT, *ADAPTIVE, *IMPLICIT], ids=named)
@pytest.mark.parametrize("dt", [1e-3, 3e-3])
def test_samples_are_taken_at_their_instants(how, dt):
    """Of a period that no step fits into: between samples the motion is a parabola, which these methods hit."""
    sim = end(cart(PID("law", "rail", command=0.1, **GAINS)), 0.3, dt, how)
    x, v, force, total = controlled(0.3)
    assert sim["rail.travel"] == pytest.approx(x, abs=1e-12)
    assert sim["rail.travel_rate"] == pytest.approx(v, abs=1e-11)
    assert sim["law.output"] == pytest.approx(force, abs=1e-10)
    assert sim["law.error_integral"] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("how", [*IMPULSES, *EULER], ids=named)
def test_samples_of_first_order_methods(how):
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim = end(cart(PID("law", "rail", command=0.1, **GAINS)), 0.3, dt, how)
        errors.append(abs(sim["rail.travel"] - controlled(0.3)[0]))
    assert errors[0] < 2e-3 * 0.5  # h times the velocity
    assert all(1.5 < a / b < 2.7 for a, b in itertools.pairwise(errors))


def test_the_integral_does_not_wind_up():
    law = PID("law", "rail", command=0.1, strength=0.4, **GAINS)
    sim = end(cart(law), 0.3, 1e-3, {"method": "simgc"})
    x, _, _, total = controlled(0.3, strength=0.4)
    assert sim["rail.travel"] == pytest.approx(x, abs=1e-12)
    assert sim["law.error_integral"] == pytest.approx(total, abs=1e-12)


def test_statics_refuses_a_sampled_controller_by_name():
    with pytest.raises(
        UnsupportedError, match=r"know no past.*but drive 'law' acts on a joint.*torque source"
    ):
        equilibrium(cart(PID("law", "rail", command=0.1, **GAINS)))


# --- saved, resumed, changed ---


@pytest.mark.parametrize("how", ALL, ids=named)
def test_states_are_saved_and_resumed_bit_by_bit(how, tmp_path):
    model = cart(
        Actuator("arm", "rail", time_constant=0.05, command=3.0), PID("law", "rail", command=0.1, **GAINS)
    )
    whole, half = Simulation(model, dt=1e-3, **how), Simulation(model, dt=1e-3, **how)
    whole.step(37)
    half.step(37)
    half.save_state(tmp_path / "state.h5")
    resumed = Simulation(model, dt=1e-3, **how)
    resumed.load_state(tmp_path / "state.h5")
    names = ("rail.travel", "rail.travel_rate", "arm.built_up", "law.output", "law.error_integral")
    whole.step(41)
    resumed.step(41)
    assert [resumed[name] for name in names] == [whole[name] for name in names]
    assert whole["arm.built_up"] != 0.0
    whole.reset()
    assert [whole[name] for name in names[:3]] == [0.0] * 3  # the controller reads its joint at time zero


@pytest.mark.parametrize(
    "how", [{"method": "simgc"}, {"method": "hybrid"}, {"method": "simgc", "solver": "impulses"}], ids=named
)
def test_states_go_on_in_a_changed_model(how):
    def model(goal):
        return cart(
            Actuator("arm", "rail", time_constant=0.05, command=goal),
            PID("law", "rail", command=0.1, **GAINS),
        )

    sim = Simulation(model(3.0), dt=1e-3, **how)
    sim.step(50)
    before = sim["arm.built_up"], sim["law.error_integral"]
    sim.alter(model(1.0))
    assert (sim["arm.built_up"], sim["law.error_integral"]) == before


@pytest.mark.parametrize("how", ALL, ids=named)
def test_states_are_recorded_by_name(how):
    sim = Simulation(cart(Actuator("arm", "rail", time_constant=0.05, command=3.0)), dt=1e-3, **how)
    record = sim.run(0.05, every=0.01)
    built = record["arm.built_up"]
    assert built[0] == 0.0
    # First-order methods: 1/(1 + h/T)^n against exp(-nh/T), h/2T = 1 % of the logarithm.
    assert np.asarray(built) == pytest.approx(3.0 * (1 - np.exp(-np.asarray(record.time) / 0.05)), rel=0.02)
    assert built[-1] == sim["arm.built_up"]


# --- one law, whatever measures it ---


def law_of_a_spring(t, x, v, p, out):
    stretch = x[0] - p[2]
    out[0] = p[0] * stretch + p[1] * v[0]
    out[1] = 0.5 * p[0] * stretch * stretch
    out[2] = p[1] * v[0] * v[0]


ENDS = {"at_a": (-1.0, 0.0, 0.0), "at_b": (0.0, 0.0, 0.0)}


def stiff_and_soft():
    """All ways with springs of 50 N/m and 1e9 N/m, adaptive steps with soft ones only: they follow any vibration."""
    return [
        pytest.param(how, stiffness, id=f"{stiffness}-{named(how)}")
        for stiffness in (50.0, 1e9)
        for how in ALL
        if stiffness < 1e6 or "tolerance" not in how
    ]


@pytest.mark.parametrize(("how", "stiffness"), stiff_and_soft())
def test_a_stiff_bushing_is_as_implicit_as_a_stiff_spring(how, stiffness):
    """The same spring and damper in three ways of writing it: alike in every method, at any stiffness."""
    ways = [
        Spring("s", "ground", "body", stiffness=stiffness, damping=3.0, **ENDS),
        Bushing("s", "ground", "body", stiffness=(stiffness, 0, 0), damping=(3.0, 0, 0), **ENDS),
        LineFunction("s", "ground", "body", law_of_a_spring, parameters=(stiffness, 3.0, 1.0), **ENDS),
        LineFunction(
            "s", "ground", "body", law_of_a_spring, axis=(2.0, 0, 0), parameters=(stiffness, 3.0, 1.0), **ENDS
        ),
    ]
    ends = []
    for way in ways:
        sim = end(cart(way, velocity=0.2), 0.1, 1e-3, how)
        ends.append((sim["rail.travel"], sim["rail.travel_rate"]))
    assert max(abs(x) for x, _ in ends) < 0.05
    # Slopes of a user's law are differences, good to 1e-9.
    assert np.ptp(np.array(ends), axis=0).max() < (1e-9 if stiffness < 1e6 else 1e-7)


def test_every_drive_has_a_row_of_its_own_kind():
    assert all(drive.law is None or drive.law in LAWS for drive in DRIVES.values())
    assert SPRING in LAWS
    assert PositionServo.law in LAWS
