"""Joints that are attached and released during a run."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.runs import CLOSED, bits, both, explicit, orders
from linkwork import (
    Body,
    Box,
    Hinge,
    LinkworkError,
    Material,
    Model,
    ModelError,
    Plane,
    PositionServo,
    Repeater,
    Scenery,
    Simulation,
    Slider,
    Spherical,
    UnsupportedError,
    VelocityServo,
    Weld,
    check,
    equilibrium,
    load_model,
    save_model,
)
from linkwork.live.session import Session
from linkwork.model.item import GROUND

G = 9.81
DIRECT = [(m, s) for m in ("simgc", "simmc") for s in ("direct", "impulses")]
smooth_ways = pytest.mark.parametrize(("method", "solver"), [*DIRECT, ("components", None)])
ways = pytest.mark.parametrize(("method", "solver"), DIRECT)
IMPLICIT = ("hybrid", "topological", "global")
every_way = pytest.mark.parametrize(
    ("method", "solver"),
    [
        *DIRECT,
        *((method, None) for method in (*IMPLICIT, "components")),
    ],
)
ROUNDING = 1e-12


def pendulum(attached, **fields):
    """A rod of 2 kg that begins to fall from the horizontal, its centre of mass half a metre from the pivot."""
    model = Model("pendulum")
    model.add(Body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.0, 0.0)))
    model.add(Hinge("pivot", GROUND, "rod", axis=(0.0, 1.0, 0.0), attached=attached, **fields))
    return model


def arm(attached=((0.3, 0.7),), joint=Spherical, **fields):
    """Two links that fall, in space; the end of the second takes hold of the ground where it is then."""
    model = Model("arm")
    model.add(Body("upper", mass=1.5, inertia=(0.02, 0.03, 0.04), at=(0.2, 0.0, 0.0)))
    model.add(Body("hand", mass=1.0, inertia=(0.01, 0.02, 0.015), at=(0.6, 0.1, 0.0)))
    model.add(Hinge("shoulder", GROUND, "upper", axis=(0.0, 1.0, 0.2), velocity=0.5))
    model.add(
        Spherical("elbow", "upper", "hand", at=(0.4, 0.0, 0.0), velocity=(0.3, -0.2, 0.5), damping=0.02)
    )
    model.add(joint("grip", "hand", GROUND, at=(0.8, 0.2, 0.0), attached=attached, **fields))
    return model


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


# --- commands, energy, contradictions ---


@smooth_ways
def test_commands_and_callbacks(method, solver):
    """The hand takes hold when it is low enough."""

    def watch(simulation):
        if simulation.point("hand", (0.2, 0.1, 0.0))[0][2] < -0.2:
            simulation.attach("grip")

    simulation = Simulation(arm(()), method=method, solver=solver)
    simulation.run(0.5, callbacks=[(1e-3, watch)])
    (change,) = simulation.changes
    assert simulation.attached == {"grip"}
    before = simulation.point("hand", (0.2, 0.1, 0.0))[0]
    assert before[2] == pytest.approx(-0.2, abs=5e-3)
    simulation.run(0.1)
    np.testing.assert_allclose(simulation.point("hand", (0.2, 0.1, 0.0))[0], before, atol=1e-6)
    simulation.attach("grip")
    assert simulation.changes == (change,)
    simulation.release("grip")
    simulation.release("grip")
    assert [c.attached for c in simulation.changes] == [True, False]


@ways
def test_energy_closes_with_springs_rotors_and_drives(method, solver):
    model = arm(((0.1, 0.4),), spring=3.0, rest=0.4, armature=0.05, damping=0.1)
    model.add(VelocityServo("turn", "shoulder", command=0.5, strength=5.0))
    simulation = Simulation(model, method=method, solver=solver, dt=2e-4)
    record = simulation.run(0.6)
    attach, release = simulation.changes
    assert release.energy > 0.01  # what was left in the spring
    assert attach.energy > 0.0
    # Some 3 J are in play: the fourth order of the direct solver, and the first of impulses at this step.
    assert record.energy_drift < (1e-6 if solver == "direct" else 2e-2)


@explicit
def test_coordinates_drives_and_couplings_count_from_where_it_takes_hold(method):
    model = Model("turntable", gravity=(0.0, 0.0, 0.0))
    model.add(Body("table", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Body("gear", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.0, 0.0, 0.0)))
    model.add(Body("block", mass=0.5, inertia=(0.01, 0.01, 0.01), at=(0.3, 0.0, 0.0)))
    model.add(Hinge("bearing", GROUND, "table", velocity=1.0))
    model.add(Hinge("other", GROUND, "gear", at=(1.0, 0.0, 0.0), velocity=0.5))
    model.add(Hinge("clamp", "table", "block", at=(0.3, 0.0, 0.0), attached=((0.0, 0.2), (0.5, None))))
    model.add(Repeater("ratio", "other", "clamp", ratio=2.0))
    model.add(PositionServo("swing", "clamp", stiffness=20.0, damping=4.0, strength=50.0, command=0.25))
    simulation = Simulation(model, method=method)
    simulation.run(0.4)
    apart = simulation["other.angle"]
    simulation.run(0.1)
    assert simulation["clamp.angle"] == pytest.approx(0.0, abs=1e-15)
    begin = simulation["other.angle"]
    assert begin > apart
    record = simulation.run(6.0, every=0.5)
    assert record["clamp.angle"][-1] == pytest.approx(0.25, abs=1e-3)
    np.testing.assert_allclose(record["other.angle"] - begin, 2.0 * record["clamp.angle"], atol=1e-10)


@explicit
def test_a_loop_stays_closed_when_what_repeated_it_lets_go(method):
    model = Model("four bar")
    model.add(Body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, 0.0, 0.25)))
    model.add(Body("coupler", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.5)))
    model.add(Body("rocker", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.0, 0.0, 0.25)))
    turn = {"axis": (0.0, 1.0, 0.0)}
    model.add(Hinge("a", GROUND, "crank", velocity=1.0, **turn))
    model.add(Hinge("b", "crank", "coupler", at=(0.0, 0.0, 0.5), **turn))
    model.add(Hinge("spare", "coupler", "rocker", at=(1.0, 0.0, 0.5), attached=((0.0, 0.3),), **turn))
    model.add(Hinge("c", "coupler", "rocker", at=(1.0, 0.0, 0.5), **turn))
    model.add(Hinge("d", GROUND, "rocker", at=(1.0, 0.0, 0.0), **turn))
    with_spare = Simulation(model, method=method).run(0.8, every=0.1)
    del model.joints["spare"]
    without = Simulation(model, method=method).run(0.8, every=0.1)
    np.testing.assert_allclose(with_spare.array("positions"), without.array("positions"), atol=1e-9)
    assert with_spare.info["worst_gap_m"] < CLOSED


@smooth_ways
def test_contradictions_do_not_explode(method, solver):
    """Held by the ground at two places, and turned by a drive of any strength at the moment that they take hold."""
    model = arm((), Weld)
    model.add(Weld("also", "upper", GROUND, at=(0.4, 0.0, 0.0), attached=()))
    simulation = Simulation(model, method=method, solver=solver)
    simulation.run(0.1)
    simulation.attach("grip", "also")
    assert np.abs(simulation.v).max() < ROUNDING
    place = simulation.point("hand")[0]
    record = simulation.run(0.2)
    np.testing.assert_allclose(
        simulation.point("hand")[0], place, atol=1e-5 if solver == "impulses" else CLOSED
    )
    assert record.energy_drift < (1e-2 if solver == "impulses" else 1e-9)
    model.add(VelocityServo("turn", "shoulder", command=1.0))
    simulation = Simulation(model, method=method, solver=solver)
    simulation.run(0.1)
    before = np.abs(simulation.v).max()
    simulation.attach("grip", "also")
    assert np.abs(simulation.v).max() < before


# --- contact ---


def crane(attached):
    model = Model("crane")
    model.add(Material("steel", friction=0.3))
    model.add(Scenery("floor", shapes=[Plane()], material="steel"))
    model.add(
        Body("crate", shapes=[Box((0.2, 0.2, 0.2))], density=500.0, material="steel", at=(0.0, 0.0, 0.5))
    )
    model.add(Body("trolley", shapes=[Box((0.2, 0.1, 0.1))], density=500.0, at=(0.0, 0.0, 1.0)))
    model.add(Slider("rail", GROUND, "trolley", at=(0.0, 0.0, 1.0), axis=(1.0, 0.0, 0.0)))
    model.add(VelocityServo("drive", "rail", command=0.4))
    model.add(Weld("magnet", "trolley", "crate", at=(0.0, 0.0, 0.7), attached=attached))
    return model


@ways
def test_contact(method, solver):
    """A trolley drops a crate, which slides to rest on the floor; then it takes hold of it where it lies."""
    fall = math.sqrt(2.0 * 0.4 / G)
    simulation = Simulation(crane(((0.0, 0.5), (1.5, None))), method=method, solver=solver)
    simulation.run(0.5)
    assert simulation.point("crate")[0] == pytest.approx((0.2, 0.0, 0.5), abs=1e-4)
    simulation.run(round(fall - 0.02, 3))
    settled = 1e-9 if solver == "direct" else 1e-5  # [m/s]: impulses end at 1e-6 N s
    assert simulation.point("crate")[1][0] == pytest.approx(0.4, abs=settled)
    assert not simulation.touches()
    simulation.run(1.4 - simulation.time)
    place, speed = simulation.point("crate")
    assert np.abs(speed).max() < 1e-6
    assert place[2] == pytest.approx(0.1, abs=1e-4)
    simulation.run(0.6)
    moved, speed = simulation.point("crate")
    assert speed[0] == pytest.approx(0.4, abs=1e-4)
    assert moved[0] - place[0] == pytest.approx(0.4 * 0.5, abs=1e-3)
    assert moved[2] == pytest.approx(place[2], abs=1e-4)
    assert [c.attached for c in simulation.changes] == [False, True]


# --- state ---


SAVED = [
    *(("arm", m, s, i) for m in ("simgc", "simmc") for s, i in (("direct", "adams"), ("impulses", None))),
    ("arm", "simgc", "direct", "adaptive"),
    ("arm", "components", None, "rk4"),
    ("arm", "components", None, "adaptive"),
    *(("crane", m, s, None) for m in ("simgc", "simmc") for s in ("direct", "impulses")),
]


@pytest.mark.parametrize(("which", "method", "solver", "integrator"), SAVED)
def test_runs_resume_and_repeat_to_the_last_bit(which, method, solver, integrator, tmp_path):
    model = arm(((0.0503, 0.1203), (0.15, 0.25))) if which == "arm" else crane(((0.0, 0.1), (0.25, 0.35)))

    def fresh():
        return Simulation(model, method=method, solver=solver, integrator=integrator)

    whole = fresh()
    record = whole.run(0.4, every=0.1)
    expected = bits(whole)
    first = fresh()
    for k, part in enumerate((0.1, 0.1, 0.1)):
        first.run(part, every=0.1)
        resumed = fresh()
        first.save_state(tmp_path / "part.npz")
        resumed.load_state(tmp_path / "part.npz")
        assert resumed.attached == first.attached
        resumed.run(0.1 * (3 - k), every=0.1)
        assert bits(resumed) == expected
    changes = whole.changes
    whole.reset()
    again = whole.run(0.4, every=0.1)
    assert bits(whole) == expected
    assert whole.changes == changes
    for group in ("positions", "energy"):
        np.testing.assert_array_equal(again.array(group), record.array(group))


@smooth_ways
def test_altered_models_go_on_with_what_is_attached(method, solver):
    one, other = (Simulation(arm(()), method=method, solver=solver) for _ in range(2))
    for simulation in (one, other):
        simulation.run(0.2)
        simulation.attach("grip")
        simulation.run(0.1)
    other.alter(arm(()))
    assert other.attached == {"grip"}
    assert other.changes == one.changes
    for simulation in (one, other):
        simulation.run(0.2)
    np.testing.assert_allclose(other.point("hand")[0], one.point("hand")[0], atol=1e-9)
    place = other.point("hand", (0.2, 0.1, 0.0))[0]
    other.release("grip")
    other.run(0.1)
    assert np.abs(other.point("hand", (0.2, 0.1, 0.0))[0] - place).max() > 1e-3


def test_a_saved_state_of_other_spans_is_refused(tmp_path):
    simulation = Simulation(arm())
    simulation.save_state(tmp_path / "state.npz")
    with pytest.raises(LinkworkError, match="another model"):
        Simulation(arm(((0.3, 0.8),))).load_state(tmp_path / "state.npz")


# --- studies, files, refusals ---


def test_the_doctor_and_statics_see_the_mechanism_as_it_starts():
    held, loose = check(pendulum(((0.0, 1.0),)), test_run=False), check(pendulum(()), test_run=False)
    assert (held.mobility, loose.mobility) == (1, 6)
    assert (held.dof, loose.dof) == (1, 6)
    assert any("as it starts" in finding.what for finding in loose.findings)
    model = pendulum(None)
    model.add(Spherical("grip", "rod", GROUND, at=(1.0, 0.0, 0.0), attached=((0.1, 0.2),)))
    assert check(model).ok
    found = equilibrium(model)
    assert found.posed().joints["pivot"].position == pytest.approx((math.pi / 2,), abs=1e-6)
    found = equilibrium(pendulum(((0.0, 1.0),)))
    assert abs(found.values["pivot.angle"]) == pytest.approx(math.pi / 2, abs=1e-6)


def test_files(tmp_path):
    model = arm(((0.0, 2.0), (3.0, None)))
    save_model(model, tmp_path / "arm.yaml")
    again = load_model(tmp_path / "arm.yaml")
    assert again.joints["grip"].attached == ((0.0, 2.0), (3.0, None))
    assert again.joints["grip"] == model.joints["grip"]


FILE = """linkwork: 1
name: arm
bodies:
  rod: {{mass: 1, inertia: [1, 1, 1]}}
joints:
  grip:
    type: hinge
    a: ground
    b: rod
    attached: {}
"""
BAD = [
    ("[[2, 1]]", "ends after it begins"),
    ("[[1, 1]]", "ends after it begins"),
    ("[[1, 3], [2, 4]]", "one after the other"),
    ("[[3, 4], [1, 2]]", "one after the other"),
    ("[[1, null], [2, 3]]", "never ends"),
    ("[[null, 2]]", "needs a beginning"),
    ("[[-1, 2]]", "attached"),
    ("[1, 2]", "attached"),
    ("soon", "attached"),
]


@pytest.mark.parametrize(("spans", "what"), BAD)
def test_bad_spans_are_told_with_file_and_line(spans, what, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(FILE.format(spans))
    with pytest.raises(ModelError) as caught:
        load_model(path)
    text = str(caught.value)
    assert "bad.yaml:10" in text
    assert "grip" in text
    assert what in text


def test_refusals():
    with pytest.raises(ModelError, match="not attached then"):
        Hinge("pivot", GROUND, "rod", attached=((1.0, 2.0),), velocity=1.0)
    with pytest.raises(UnsupportedError, match=r"'pivot' is attached and released.*'simgc'"):
        Simulation(pendulum(()), method="tree")
    simulation = Simulation(arm())
    with pytest.raises(LinkworkError, match=r"no joint 'grp'.*grip"):
        simulation.attach("grp")
    with pytest.raises(LinkworkError, match="'elbow' always holds"):
        simulation.release("elbow")
    plain = Model("plain")
    plain.add(Body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    plain.add(Hinge("pivot", GROUND, "rod"))
    with pytest.raises(UnsupportedError, match=r"'tree'.*'pivot'"):
        Simulation(plain).attach("pivot")


# --- live ---


def test_an_operator_attaches_and_releases():
    with Session(arm(()), paused=True) as session:
        assert session.switches == {"grip": False}
        session.attach("grip", True).result()
        assert session.switches == {"grip": True}
        session.loop.step(10).result()
        session.attach("grip", False).result()
        assert session.switches == {"grip": False}
        with pytest.raises(LinkworkError, match="no joint 'grp'"):
            session.attach("grp", True)
