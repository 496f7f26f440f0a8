"""Energies that a record tells, against what follows from its motion and the model's numbers alone."""

import numpy as np
import pytest

from helpers.energy import by_drives, is_told, kinetic, potential, powers, worked
from linkwork import (
    Body,
    DCMotor,
    Force,
    Hinge,
    Model,
    Simulation,
    Spherical,
    Spring,
    TorqueSource,
    Universal,
    Weld,
)
from linkwork.analysis.readings import is_smooth
from linkwork.fuzz.random_mechanisms import build, random_plan
from linkwork.fuzz.random_plan import SWITCHED
from linkwork.scenes import find_scene, scene_names

WAYS = [
    {"method": "tree"}, {"method": "simgc"}, {"method": "simgc", "solver": "impulses"}, {"method": "simmc"},
    {"method": "simmc", "solver": "impulses"}, {"method": "components"}, {"method": "hybrid"}, {"method": "global"},
    {"method": "topological"},
]  # fmt: skip


def wheel(velocity=0.0, armature=0.9):
    model = Model("wheel", gravity=(0.0, 0.0, -9.81))
    model.add(Body("rim", mass=1.0, com=(0.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("axle", "ground", "rim", axis=(0.0, 1.0, 0.0), armature=armature, velocity=velocity))
    return model


def named(ways):
    return pytest.mark.parametrize("way", ways, ids=lambda way: "-".join(way.values()))


@named(WAYS)
def test_an_armature_is_kinetic_energy(way):
    """A wheel of 0.1 kg m² with a rotor of 0.9 that turns at 3 rad/s has 4.5 J, however it is calculated."""
    sim = Simulation(wheel(3.0), **way)
    assert sim.energies()[0] == pytest.approx(4.5, rel=1e-12)
    record = sim.run(0.01)
    np.testing.assert_allclose(record["energy.kinetic"], 4.5, rtol=1e-9)
    np.testing.assert_allclose(record["energy.supplied"], 0.0, atol=1e-9)


@named([way for way in WAYS if way["method"] != "tree"])
@pytest.mark.parametrize("motor", [False, True])
def test_what_speeds_a_rotor_up_is_supplied(way, motor):
    """Torque, and a motor against its back-EMF, give all that the wheel and the rotors have."""
    model = wheel(armature=0.6)
    if motor:
        model.add(DCMotor("drive", "axle", stall_torque=2.0, idle_speed=10.0, time_constant=1.5, command=1.0))
        rotor = 2.0 * 1.5 / 10.0
    else:
        model.add(TorqueSource("drive", "axle", command=2.0))
        rotor = 0.0
    inertia = 0.7 + rotor
    assert model.flatten().drives["drive"].rotor == pytest.approx(rotor)
    record = Simulation(model, dt=5e-3, **way).run(0.2)
    slope = 0.2 if motor else 0.0
    # J ω' = 2 - k ω, so that P = (2 - k ω) ω has supplied ½ J ω².
    rate = 2.0 / slope * -np.expm1(-slope / inertia * record.time) if motor else 2.0 / inertia * record.time
    first = way.get("solver") == "impulses"
    bound = (
        2e-2 if first else 1e-5
    )  # a step of order one is off by h/2 of accelerations of 3; others by h² and less
    np.testing.assert_allclose(record["axle.angle_rate"], rate, atol=bound)
    np.testing.assert_allclose(record["energy.kinetic"], 0.5 * inertia * rate**2, atol=3 * bound)
    np.testing.assert_allclose(record["energy.supplied"], 0.5 * inertia * rate**2, atol=3 * bound)
    if not first:  # whose forces are means over the last step
        np.testing.assert_allclose(by_drives(model, record), record["energy.supplied"], atol=1e-5)


@named([way for way in WAYS if way["method"] in ("simgc", "simmc")])
def test_an_armature_in_a_closed_loop_counts_once(way):
    """Two links on one axle, held together by a weld: wherever the tree is cut, both rotors turn."""
    model = Model("loop", gravity=(0.0, 0.0, 0.0))
    for name, armature in (("one", 0.3), ("two", 0.5)):
        model.add(Body(name, mass=1.0, com=(0.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
        joint = {"armature": armature, "velocity": 2.0}
        model.add(Hinge(f"{name}_axle", "ground", name, axis=(0.0, 1.0, 0.0), **joint))
    model.add(Weld("hold", "one", "two"))
    record = Simulation(model, **way).run(0.01)
    np.testing.assert_allclose(record["energy.kinetic"], 0.5 * (0.2 + 0.8) * 4.0, rtol=1e-9)


def turned(closing):
    """A rod on a universal joint with rotors, in the tree or closing a loop; as if no joint accelerated, its rates
    change all the same, since its axes turn."""
    model = Model("turned")
    model.add(Body("arm", mass=1.0, com=(0.0, 0.0, -0.3), inertia=(0.1, 0.1, 0.05)))
    model.add(Hinge("pivot", "ground", "arm", axis=(0.0, 1.0, 0.0), velocity=2.0))
    model.add(Body("rod", mass=1.0, at=(0.0, 0.0, -0.6), com=(0.1, 0.0, -0.3), inertia=(0.1, 0.1, 0.1)))
    at = {"at": (0.0, 0.0, -0.6)}
    if closing:  # by which the rod is held twice, without another equation
        model.add(Spherical("ball", "arm", "rod", **at))
    rotors = {"axis": (1.0, 0.0, 0.0), "reference": (0.0, 1.0, 0.0), "armature": (0.2, 0.3)}
    model.add(
        Universal("cross", "arm", "rod", **at, **rotors, **({} if closing else {"velocity": (3.0, 4.0)}))
    )
    return model


@pytest.mark.parametrize("closing", [False, True])
@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_rotors_on_axes_that_turn_by_impulses(method, closing):
    """Of first order: ten times smaller steps, ten times nearer to the solver of fourth order, which has no steps of
    this kind; a momentum that is left out in every step would stay."""
    model, sample = turned(closing), {"every": 0.1}
    right = Simulation(model, method="simgc", dt=1e-3).run(0.4, **sample)
    assert np.abs(right["energy.balance"]).max() < 1e-7
    strays, off = [], []
    for dt in (2e-3, 2e-4):
        record = Simulation(model, method=method, solver="impulses", dt=dt, epsilon=1e-12).run(0.4, **sample)
        strays.append(np.abs(record["energy.balance"]).max())
        off.append(np.abs(record.array("positions") - right.array("positions")).max())
    assert off[1] < 0.2 * off[0]
    assert strays[1] < 0.2 * strays[0]


@pytest.mark.parametrize("name", scene_names())
def test_energies_of_every_scene_follow_from_its_motion(name):
    found = find_scene(name)
    model = found.build(**({"count": 20} if name == "pile200" else {}))
    options = {"dt": found.dt} | ({"method": found.method} if found.method else {})
    told = is_told(model)
    every = {"every": found.dt} if told else {}
    record = Simulation(model, **options).run((40 if told else 10) * found.dt, reactions=False, **every)
    expected = kinetic(model, record)
    # Rounding; and with impulses joints do not close, so rates of joints and of bodies differ by their gaps.
    scale = np.abs(expected).max() + np.abs(record["energy.kinetic"]).max()
    np.testing.assert_allclose(record["energy.kinetic"], expected, atol=1e-8 * scale + 1e-12)
    # Bodies that are welded to the ground never change theirs.
    expected = potential(model, record)
    change = record["energy.gravity"] - record["energy.gravity"][0]
    np.testing.assert_allclose(change, expected - expected[0], atol=1e-9 * np.abs(expected).max() + 1e-12)
    if told:
        forces_do_the_work(model, record)


def forces_do_the_work(model, record):
    """Kinetic and potential energy change by the work of all forces, whatever a simulation says of its energy."""
    moving, high = kinetic(model, record), potential(model, record)
    have, scale = moving + high, np.abs(moving).max() + np.ptp(high)
    work, off = worked(model, record)
    done = sum(map(np.abs, powers(model, record).values()), np.zeros(len(record)))
    # The quadrature's error is below what the rule of half its order is off; a share of 1e-5 of the work is left for
    # the step: its motion changes at some 10 rad/s, so that a step of 1 ms errs by (0.01)^4 and less.
    # Heights are told to rounding of all weight, which is more than what comes and goes where a machine stands still.
    bound = off.max() + 1e-5 * np.trapezoid(done, record.time) + 1e-9 * scale + rounding(model, record)
    np.testing.assert_allclose((have - have[0])[::2], work, rtol=0, atol=bound)
    return off.max() < 1e-2 * np.trapezoid(done, record.time)


def rounding(model, record):
    """What sums of energies may be off by rounding [J]: each of a body's at two times, of positions and rotations."""
    weight = sum(body.mass_properties.mass for body in model.flatten().bodies.values()) * np.linalg.norm(
        model.gravity
    )
    return 4 * np.finfo(float).eps * weight * np.abs(record.array("positions")).max() + 1e-12


def test_forces_of_random_mechanisms_do_the_work():
    """In all formulations; elements with states, free play, limits and impacts apart, whose powers are not smooth."""
    sharp = 0
    for seed in range(120):
        plan = random_plan(seed)
        if plan.touching or any(extra.kind in SWITCHED for extra in plan.extras):
            continue
        model = build(plan)
        if is_smooth(model.flatten()):
            for method in ("simgc", "simmc", *(("components",) if plan.parts > 1 else ())):
                record = Simulation(model, method=method, dt=1e-3).run(0.04, every=1e-3, reactions=False)
                sharp += forces_do_the_work(model, record)
    assert sharp > 20  # of which it says something


@pytest.mark.parametrize("missing", ["motor", "coil", "weight"])
def test_a_force_that_is_left_out_would_be_seen(missing):
    """Of the check itself: without one of the forces the work is not what the energies say."""
    model = wheel(1.0)
    model.add(TorqueSource("motor", "axle", command=2.0))
    model.add(Force("weight", "rim", force=(0.0, 0.0, -3.0), at=(0.5, 0.0, 0.0)))
    at = {"at_a": (1.0, 0.0, 1.0), "at_b": (0.5, 0.0, 0.0)}
    model.add(Spring("coil", "ground", "rim", **at, stiffness=20.0, damping=0.1, length=0.5))
    record = Simulation(model, dt=1e-3).run(0.1, every=1e-3)
    forces_do_the_work(model, record)
    less = wheel(1.0)
    for thing in (*model.drives.values(), *model.loads.values()):
        if thing.name != missing:
            less.add(thing)
    with pytest.raises(AssertionError):
        forces_do_the_work(less, record)
