"""Joints that are attached and released during a run."""

import dataclasses

import numpy as np
import pytest

from helpers.runs import CLOSED, both, explicit, orders
from helpers.switched import DIRECT, ROUNDING, G, arm, crane, pendulum, ways
from linkwork import (
    Body,
    Hinge,
    Model,
    Simulation,
    Spherical,
    Weld,
)
from linkwork.model.item import GROUND

IMPLICIT = ("hybrid", "topological", "global")

every_way = pytest.mark.parametrize(
    ("method", "solver"),
    [
        *DIRECT,
        *((method, None) for method in (*IMPLICIT, "components")),
    ],
)


def flying(attached):
    """Two bodies that tumble through space without gravity, and a weld between them."""
    model = Model("flying", gravity=(0.0, 0.0, 0.0))
    model.add(Body("one", mass=2.0, inertia=(0.2, 0.3, 0.4), at=(0.0, 0.0, 0.0)))
    model.add(Body("other", mass=0.7, inertia=(0.05, 0.02, 0.03), at=(1.0, 0.3, -0.2)))
    model.add(Weld("lock", "one", "other", at=(0.5, 0.1, 0.0), attached=attached))
    return model


def throw(simulation):
    """Velocities and spins of the two, the same in whatever coordinates: free joints at their centres of mass."""
    simulation.v[:] = (0.5, -0.2, 0.1, 0.3, 1.1, -0.4, -0.6, 0.4, 0.2, -0.9, 0.5, 1.3)


def momenta(simulation, model):
    """Momentum and moment of momentum about the origin."""
    P, L = np.zeros(3), np.zeros(3)
    for body in model.flatten().bodies.values():
        p, v = simulation.point(body.name)
        R = np.column_stack([simulation.point(body.name, e)[0] - p for e in np.eye(3)])
        spin = np.column_stack([simulation.point(body.name, e)[1] - v for e in np.eye(3)]) @ R.T
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        I = R @ body.mass_properties.inertia @ R.T
        P += body.mass * v
        L += body.mass * np.cross(p, v) + I @ w
    return P, L


# --- analytic ---


@every_way
def test_a_released_pendulum_flies_a_parabola(method, solver):
    dt, at = 1e-3, 0.3
    simulation = Simulation(pendulum(((0.0, at),)), method=method, solver=solver, dt=dt)
    simulation.run(at)
    assert simulation.attached == frozenset()
    p, v = simulation.point("rod")
    kinetic = simulation.energies()[0]
    record = simulation.run(0.5)
    t = record.time - at
    # Semi-implicit Euler falls by g t dt/2 too far; the direct solver is exact in free flight.
    late = 0.5 * G * dt * t if solver == "impulses" else 0.0
    z = p[2] + v[2] * t - 0.5 * G * t * t - late
    np.testing.assert_allclose(record["rod.position.x"], p[0] + v[0] * t, atol=ROUNDING)
    np.testing.assert_allclose(record["rod.position.y"], 0.0, atol=ROUNDING)
    np.testing.assert_allclose(record["rod.position.z"], z, atol=ROUNDING)
    # It still turns about its centre of mass as fast as it did about the pivot.
    assert kinetic == pytest.approx(0.5 * (2.0 + 0.2 / 0.25) * (v @ v), rel=1e-9)
    assert record["energy.kinetic"][0] == pytest.approx(kinetic, rel=ROUNDING)
    (change,) = simulation.changes
    assert dataclasses.asdict(change) == {
        "time": at, "joint": "pivot", "attached": False, "force": (0, 0, 0), "torque": (0, 0, 0), "energy": 0.0,
    }  # fmt: skip


@every_way
def test_welding_in_flight_keeps_momentum_and_loses_what_it_must(method, solver):
    model = flying(())
    simulation = Simulation(model, method=method, solver=solver)
    throw(simulation)
    simulation.run(0.2)
    P, L = momenta(simulation, model)
    kinetic = simulation.energies()[0]
    before = {body: simulation.point(body)[1] for body in ("one", "other")}
    simulation.attach("lock")
    P1, L1 = momenta(simulation, model)
    np.testing.assert_allclose(P1, P, atol=ROUNDING)
    np.testing.assert_allclose(L1, L, atol=ROUNDING)
    # One rigid body of the same momentum and moment of momentum.
    total = 2.7
    places = {body: simulation.point(body)[0] for body in before}
    com = (2.0 * places["one"] + 0.7 * places["other"]) / total
    I = np.zeros((3, 3))
    for name, body in model.flatten().bodies.items():
        r = places[name] - com
        R = np.column_stack([simulation.point(name, e)[0] - places[name] for e in np.eye(3)])
        I += R @ body.mass_properties.inertia @ R.T + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    w = np.linalg.solve(I, L - np.cross(com, P))
    for body, place in places.items():
        expected = P / total + np.cross(w, place - com)
        np.testing.assert_allclose(simulation.point(body)[1], expected, atol=ROUNDING)
    left = 0.5 * P @ P / total + 0.5 * w @ I @ w
    (change,) = simulation.changes
    assert change.attached
    assert change.energy == pytest.approx(kinetic - left, abs=ROUNDING)
    impulse = 0.7 * (simulation.point("other")[1] - before["other"])
    np.testing.assert_allclose(change.force, impulse, atol=ROUNDING)
    record = simulation.run(0.3)
    assert record.info["changes"][0]["energy"] == change.energy
    gaps = 1e-5 if solver == "impulses" else CLOSED
    assert record.info["worst_gap_m"] < gaps
    if solver == "direct":
        assert record.energy_drift < 1e-9
        P2, L2 = momenta(simulation, model)
        np.testing.assert_allclose(P2, P, atol=1e-11)
        np.testing.assert_allclose(L2, L, atol=1e-9)


@explicit
def test_the_torque_of_the_impulse_is_about_the_joint(method):
    """A door that swings about z is caught at its far edge."""
    model = Model("door", gravity=(0.0, 0.0, 0.0))
    model.add(Body("door", mass=3.0, inertia=(0.1, 0.2, 0.25), at=(0.5, 0.0, 0.0)))
    model.add(Hinge("post", GROUND, "door", velocity=2.0))
    model.add(Weld("catch", GROUND, "door", at=(1.0, 0.0, 0.0), attached=((0.0625, None),)))
    simulation = Simulation(model, method=method)
    record = simulation.run(0.125)
    (change,) = simulation.changes
    assert record["post.angle"][-1] == pytest.approx(0.125, abs=ROUNDING)
    # Post and catch share the load; about the post the catch must take all of the moment of momentum.
    moment = change.torque[2] + change.force[1]  # at (1, 0, 0), where the ground has it
    assert moment == pytest.approx(-2.0 * (0.25 + 3.0 * 0.25), abs=ROUNDING)
    assert change.energy == pytest.approx(0.5 * 4.0 * (0.25 + 3.0 * 0.25), abs=ROUNDING)
    assert record.energy_drift < ROUNDING
    assert np.abs(simulation.v).max() < ROUNDING


@both
def test_attached_from_the_start_is_as_if_it_always_were(method):
    start = {"position": 0.3, "velocity": 2.0, "damping": 0.1, "spring": 2.0, "limits": (-1.0, 1.2)}
    records = [
        Simulation(pendulum(spans, **start), method=method, tolerance=1e-11).run(1.0, every=0.1)
        for spans in (None, ((0.0, None),))
    ]
    for name in ("pivot.angle", "pivot.angle_rate", "pivot.force.z", "energy.dissipated"):
        np.testing.assert_allclose(records[1][name], records[0][name], atol=1e-7)
    assert records[1]["pivot.angle"][0] == pytest.approx(0.3, abs=ROUNDING)


# --- all methods tell one motion ---


def end_of_arm(method, solver, dt, **options):
    simulation = Simulation(arm(), method=method, solver=solver, dt=dt, **options)
    record = simulation.run(1.0, every=0.1)
    return record, simulation


def test_all_methods_tell_one_motion():
    reference, exact = end_of_arm("simgc", "direct", 1e-3, tolerance=1e-12)
    assert [(c.time, c.attached) for c in exact.changes] == [(0.3, True), (0.7, False)]
    assert exact.changes[0].energy > 0.1
    for method in ("simgc", "simmc"):
        record, simulation = end_of_arm(method, "direct", 1e-3)
        assert np.abs(record.array("positions") - reference.array("positions")).max() < 1e-8
        assert simulation.changes[0].energy == pytest.approx(exact.changes[0].energy, rel=1e-7)
        assert record.energy_drift < 1e-7
        assert record.info["worst_gap_m"] < CLOSED
        errors = []
        for dt in (1e-3, 5e-4):
            record, _ = end_of_arm(method, "impulses", dt)
            errors.append(np.abs(record.array("positions") - reference.array("positions")).max())
        assert orders(errors)[0] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("method", IMPLICIT)
def test_implicit_steps_keep_their_order_across_changes(method):
    """At the ends of steps and within them."""
    for spans in (((0.3, 0.7),), ((0.1234567, 0.2837),)):
        model = arm(spans)
        exact = Simulation(model, method="simgc", tolerance=1e-12)
        reference = exact.run(1.0, every=0.1)
        errors = []
        for dt in (4e-3, 2e-3, 1e-3):
            simulation = Simulation(model, method=method, dt=dt)
            record = simulation.run(1.0, every=0.1)
            errors.append(np.abs(record.array("positions") - reference.array("positions")).max())
            assert record.info["worst_gap_m"] < CLOSED
            assert [(c.time, c.attached) for c in simulation.changes] == [
                (spans[0][0], True),
                (spans[0][1], False),
            ]
        assert simulation.changes[0].energy == pytest.approx(exact.changes[0].energy, rel=1e-3)
        assert orders(errors)[-1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("integrator", "longest"), [("rk4", 8e-3), ("adams", 2e-3)])
@explicit
def test_order_is_kept_across_changes_off_the_grid(method, integrator, longest):
    """Times that no step ends at. Adams takes Runge-Kutta steps where the step is too long for it."""
    model = arm(((0.1234567, 0.2837),))
    reference = Simulation(model, method="simgc", tolerance=1e-13)
    reference.run(0.48)
    place = reference.point("hand")[0]
    errors = []
    for dt in (longest, longest / 2, longest / 4):
        simulation = Simulation(model, method=method, integrator=integrator, dt=dt)
        simulation.run(0.48)
        assert simulation.time == pytest.approx(0.48, abs=1e-15)
        assert [change.time for change in simulation.changes] == [0.1234567, 0.2837]
        errors.append(np.abs(simulation.point("hand")[0] - place).max())
    assert errors[-1] < 1e-7
    assert orders(errors).min() > 3.5


def test_several_changes_within_one_step():
    simulation = Simulation(arm(((0.0101, 0.0103), (0.0105, 0.0107))), dt=1e-2)
    record = simulation.run(0.1)
    assert [c.time for c in simulation.changes] == [0.0101, 0.0103, 0.0105, 0.0107]
    assert len(record.time) == 11
    np.testing.assert_allclose(record.time, 0.01 * np.arange(11), atol=1e-15)


@ways
def test_changes_a_hair_beside_the_end_of_a_step(method, solver):
    near = 0.1 + np.array([-1e-10, 0.0, 1e-12, 1e-10])
    for model in (arm, crane):
        ends = []
        for time in near:
            simulation = Simulation(model(((0.0, float(time)),)), method=method, solver=solver)
            simulation.run(0.2)
            assert simulation.changes[0].time == time
            ends.append(simulation.point("hand" if model is arm else "crate")[0])
        # A step that is split is two steps: of first order, each moves by h²/2 times the acceleration.
        spread = np.ptp(ends, axis=0).max()
        assert spread < (1e-8 if solver == "direct" and model is arm else 1e-4)


@explicit
def test_a_sample_at_the_time_of_a_change_shows_what_it_left(method):
    record = Simulation(arm(((0.3, 0.7),), joint=Weld), method=method).run(0.5, every=0.1)
    i = int(np.argmin(np.abs(record.time - 0.3)))
    assert record["energy.kinetic"][i] < 0.5 * record["energy.kinetic"][i - 1]
    assert record["energy.dissipated"][i] > record["energy.dissipated"][i - 1]
    grip = np.array([record[f"grip.force.{axis}"] for axis in "xyz"])
    assert np.abs(grip[:, :i]).max() == 0.0
    assert np.abs(grip[:, i:]).max(axis=0).min() > 1.0


@explicit
def test_reactions_carry_the_weight_where_it_hangs(method):
    """Held by the hand alone after the pivot let go, the rod's weight is in the grip."""
    model = pendulum(((0.0, 0.25),), damping=0.0)
    model.add(Weld("grip", "rod", GROUND, at=(1.0, 0.0, 0.0), attached=((0.25, None),)))
    record = Simulation(model, method=method).run(0.5, every=0.125)
    assert record["grip.force.z"][-1] == pytest.approx(-2.0 * G, rel=1e-9)  # of the rod on the ground
    assert record["pivot.force.z"][-1] == 0.0
    assert record["grip.force.z"][0] == 0.0


# --- rows that ask for nothing where the mechanism stands ---


def between_balls(spans, seed):
    """A body on two balls, free to turn about the line through both, and another that a joint holds or lets go; the
    direction of the line."""
    random = np.random.default_rng(seed)
    one, two, place = random.uniform(-1.0, 1.0, (3, 3))
    axis, reference = random.normal(size=(2, 3))
    model = Model("between_balls", gravity=(0.0, 0.0, 0.0))
    model.add(Body("rotor", mass=2.0, inertia=(0.2, 0.3, 0.4), at=tuple(place)))
    model.add(Body("other", mass=0.7, inertia=(0.05, 0.02, 0.03), at=(1.0, 0.3, -0.2)))
    for name, at in (("one", one), ("two", two)):
        model.add(
            Spherical(name, GROUND, "rotor", at=tuple(at), axis=tuple(axis), reference=tuple(reference))
        )
    model.add(Hinge("switched", GROUND, "other", at=(1.1, 0.2, 0.0), axis=(0.1, 0.9, -0.3), attached=spans))
    return model, (two - one) / np.linalg.norm(two - one)


@pytest.mark.parametrize("spans", [((0.0, 0.0234),), ((0.0234, None),)], ids=["released", "attached"])
@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
def test_what_happens_elsewhere_leaves_a_body_turning_about_its_line(method, spans):
    """Two balls repeat one equation: what is left of it is rounding, and must not be taken for one that holds."""
    model, line = between_balls(spans, seed=1)
    simulation = Simulation(model, method=method, dt=1e-3)
    spin = dict(zip(("wx", "wy", "wz"), _turned(model, "one").T @ line, strict=True))
    simulation.set({f"one.{name}": 2.0 * part for name, part in spin.items()})
    record = simulation.run(0.03, every=0.01)
    assert np.abs(record["rotor.angular_velocity"] - 2.0 * line).max() < 1e-10
    assert np.ptp(record["energy.kinetic"]) < 1e-10


def _turned(model, joint):
    """Axes of a joint's frame, as columns: z along its axis, x towards its reference."""
    found = model.joints[joint]
    z = np.array(found.axis) / np.linalg.norm(found.axis)
    x = np.array(found.reference) - z * (z @ found.reference)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
