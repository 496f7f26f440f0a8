"""Equilibria against formulas, independent minimisations and simulations that must stay where they are put."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.equilibria import G, bisect, double_pendulum, holder, lift, slope
from helpers.one_dof import arm
from helpers.runs import touches
from helpers.trees import build, random_plan
from linkwork import (
    Body,
    Hinge,
    LinkworkError,
    Model,
    Planar,
    Simulation,
    Spherical,
    Spring,
    scene,
)
from linkwork.analysis.forces import Forces
from linkwork.analysis.mechanism import Mechanism
from linkwork.analysis.statics import equilibrium
from linkwork.engine.elements import TorqueSource
from linkwork.scenes import scene_names
from linkwork.scenes.crank_rocker import BASE, CRANK, points
from linkwork.scenes.n_four_bar import rod

# --- where the search begins ---


def test_studies_begin_where_a_run_begins():
    model = scene("crank_rocker", start=60.0, voltage=0.0)
    model.joints["crank"] = dataclasses.replace(model.joints["crank"], position=0.2)  # the others must follow
    q = Mechanism(model).assemble()
    assert q[0] == 0.2
    np.testing.assert_allclose(q, Simulation(model, method="simgc").q, rtol=0.0, atol=1e-14)


# --- springs ---


def test_a_mass_hangs_on_its_spring():
    found = equilibrium(lift(spring=300.0, rest=0.1))
    assert found.values["rail.travel"] == pytest.approx(0.1 - 2.0 * G / 300.0, abs=1e-14)
    assert found.stability == "stable"
    assert found.modes[0].frequency == pytest.approx(math.sqrt(300.0 / 2.0) / math.tau, rel=1e-9)
    assert holder(found, "rail.travel").force == pytest.approx(2.0 * G, rel=1e-12)
    assert holder(found, "rail.travel").unit == "N"
    assert found.residual < 1e-12


@pytest.mark.parametrize("stiffness", [1e-3, 1e9])
def test_springs_may_be_soft_or_stiff(stiffness):
    found = equilibrium(lift(spring=stiffness))
    assert found.values["rail.travel"] == pytest.approx(-2.0 * G / stiffness, rel=1e-9)
    assert found.stability == "stable"


def test_a_mass_hangs_between_two_springs_between_points():
    """In the plane, on two coils that are drawn slack: the equations of two unknowns, solved by Newton here."""
    model = Model("hung")
    model.add(Body("ball", at=(0.1, 0.0, 0.0), mass=1.5, inertia=(0.01, 0.01, 0.01)))
    model.add(
        Planar("plane", "ground", "ball", at=(0.1, 0.0, 0.0), axis=(0.0, -1.0, 0.0), spring=(0, 0, 1.0))
    )
    anchors = np.array([[-0.5, 0.6], [0.7, 0.5]])
    rigid = np.array([80.0, 120.0])
    rest = np.array([0.5, 0.4])
    for k in range(2):
        model.add(
            Spring(
                f"coil{k}", "ground", "ball", at_a=(anchors[k, 0], 0.0, anchors[k, 1]), at_b=(0.1, 0.0, 0.0),
                stiffness=rigid[k], length=rest[k],
            )
        )  # fmt: skip

    def pull(p):
        d = anchors - p
        far = np.linalg.norm(d, axis=1)
        return (rigid * (far - rest) / far) @ d - [0.0, 1.5 * G]

    p = np.array([0.1, 0.3])
    for _ in range(50):
        J = np.column_stack([(pull(p + e) - pull(p - e)) / 2e-6 for e in 1e-6 * np.eye(2)])
        p = p - np.linalg.solve(J, pull(p))
    found = equilibrium(model)
    place = Simulation(found.posed(), method="simgc").run(1e-3)
    assert place["ball.position.x"][0] == pytest.approx(p[0], abs=1e-10)
    assert place["ball.position.z"][0] == pytest.approx(p[1], abs=1e-10)


@pytest.mark.parametrize("stiffness", [0.5, 5.0, 50.0])
def test_a_pendulum_on_a_torsion_spring(stiffness):
    """k θ = -m g (l/2) cos θ, from the horizontal; a soft spring lets it hang almost straight down."""
    angle = bisect(lambda a: stiffness * a + 2.0 * G * 0.3 * math.cos(a), -math.pi / 2, 0.0)
    found = equilibrium(arm(spring=stiffness))
    assert found.values["pin.angle"] == pytest.approx(angle, abs=1e-11)
    stiff = stiffness - 2.0 * G * 0.3 * math.sin(angle)
    assert found.modes[0].frequency == pytest.approx(
        math.sqrt(stiff / (0.05 + 2.0 * 0.09)) / math.tau, rel=1e-8
    )


def test_a_double_pendulum_with_springs_rests_in_the_least_of_its_potential():
    def gradient(x):
        a, b = x
        cos_b = 0.7 * G * 0.2 * math.cos(a + b)
        return np.array(
            [
                4.0 * (a - 0.5) + G * (1.0 * 0.25 + 0.7 * 0.5) * math.cos(a) + cos_b,
                1.5 * (b + 0.8) + cos_b,
            ]
        )

    x = np.array([0.0, 0.0])
    for _ in range(100000):  # downhill, slowly and surely
        x = x - 0.05 * gradient(x)
    found = equilibrium(double_pendulum())
    assert [found.values["shoulder.angle"], found.values["elbow.angle"]] == pytest.approx(x, abs=1e-10)
    assert found.stability == "stable"


def test_frequencies_are_those_of_small_oscillations():
    """Of the double pendulum above, against a simulation of high order that is let go near by."""
    found = equilibrium(double_pendulum())
    simulation = Simulation(double_pendulum(), dt=1e-3)
    found.start(simulation)
    mode = found.modes[0]
    simulation.q[:] += 1e-4 * mode.shape
    record = simulation.run(4.0)
    away = record["shoulder.angle"] - found.values["shoulder.angle"]
    expected = 1e-4 * mode.shape[0] * np.cos(math.tau * mode.frequency * record.time)
    # What is left is of second order in the displacement.
    np.testing.assert_allclose(away, expected, atol=1e-6)


# --- loops ---

LINKS = 8


def hanging_chain(span=1.2, drop=0.3, links=LINKS):
    """A chain of equal links between two pins of the ground, drawn on a circular arc, then let go."""
    length = 0.25

    def ends(half):
        angles = np.linspace(-half, half, links)
        return length * np.array([np.cos(angles).sum(), np.sin(angles).sum()])

    half = bisect(lambda a: np.linalg.norm(ends(a)) - math.hypot(span, drop), 1e-3, 3.0)
    turn = math.atan2(-drop, span)
    angles = np.linspace(-half, half, links) + turn
    model = Model("chain", gravity=(0.0, -G, 0.0))
    p = np.zeros(2)
    before = "ground"
    for k, angle in enumerate(angles):
        end = p + length * np.array([math.cos(angle), math.sin(angle)])
        model.add(rod(f"link{k}", tuple(p), tuple(end), 0.3, 0.01))
        model.add(Hinge(f"pin{k}", before, f"link{k}", at=(*p, 0.0)))
        p, before = end, f"link{k}"
    model.add(Hinge(f"pin{links}", before, "ground", at=(*p, 0.0)))
    return model, angles, length


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_a_chain_hangs_as_the_forces_in_its_links_say(drop):
    """Each link: tan of its angle = (vertical force at its middle)/(horizontal force), both unknown at one end."""
    model, drawn, length = hanging_chain(drop=drop)

    def shape(x):
        horizontal, vertical = x
        return np.arctan2(vertical + 0.3 * G * (np.arange(LINKS) + 0.5), horizontal)

    def miss(x):
        angles = shape(x)
        return length * np.array([np.cos(angles).sum(), np.sin(angles).sum()]) - [1.2, -drop]

    x = np.array([5.0, -0.5 * 0.3 * G * LINKS])
    for _ in range(100):
        J = np.column_stack([(miss(x + e) - miss(x - e)) / 2e-5 for e in 1e-5 * np.eye(2)])
        x = x - np.linalg.solve(J, miss(x))
    found = equilibrium(model)
    angles = drawn + np.cumsum([found.values[f"pin{k}.angle"] for k in range(LINKS)])
    np.testing.assert_allclose(angles, shape(x), atol=1e-9)
    assert found.stability == "stable"
    assert len(found.modes) == LINKS - 2


def sprung_four_bar(stiffness=60.0):
    model = scene("crank_rocker")
    model.drives.clear()
    model.add(
        Spring("coil", "arm", "lever", at_a=(CRANK * math.cos(math.pi / 3), CRANK * math.sin(math.pi / 3), 0.0),
               at_b=(BASE, 0.0, 0.0), stiffness=stiffness, length=0.36)
    )  # fmt: skip
    return model


def test_a_four_bar_with_a_spring_rests_where_virtual_work_vanishes():
    def potential(angle):
        p = {name: np.array(point) for name, point in points(angle).items()}
        heights = [p["B"][1] / 2, (p["B"] + p["C"])[1] / 2, (p["C"] + p["D"])[1] / 2]
        stretch = np.linalg.norm(p["D"] - p["B"]) - 0.36
        return G * np.dot((0.2, 0.5, 1.0), heights) + 0.5 * 60.0 * stretch**2

    found = equilibrium(sprung_four_bar())
    angle = math.pi / 3 + found.values["crank.angle"]
    root = bisect(lambda a: slope(potential, a), angle - 0.3, angle + 0.3)
    assert angle == pytest.approx(root, abs=1e-10)
    assert slope(lambda a: slope(potential, a), root) > 0.0
    assert found.stability == "stable"


def test_redundant_loops_are_harmless():
    found = equilibrium(scene("peaucellier"))
    # Symmetric about the line of gravity: the crank points along it.
    assert math.pi / 3 + found.values["crank.angle"] == pytest.approx(0.0, abs=1e-9)
    assert len(found.modes) == 1


def test_a_loop_drawn_open_is_closed_first():
    model = scene("crank_rocker")
    model.drives.clear()
    model.joints["crank"] = dataclasses.replace(model.joints["crank"], position=0.05)
    kin = Mechanism(model).kin
    kin.place(equilibrium(model).q)
    assert np.abs(kin.gaps[kin.hold]).max() < 1e-12


# --- what runs away ---


def test_free_fall_is_refused():
    with pytest.raises(LinkworkError, match=r"'rail.travel' slides on and on"):
        equilibrium(lift())
    model = Model("stone")
    model.add(Body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    with pytest.raises(LinkworkError, match=r"'stone_free.z' slides on and on"):
        equilibrium(model)


def test_a_wheel_that_is_turned_for_ever_is_refused():
    model = arm()
    model.add(TorqueSource("drive", "pin", command=2.0 * G * 0.3 * 1.5))
    with pytest.raises(LinkworkError, match=r"'pin.angle' turns on and on"):
        equilibrium(model)
    model.drives["drive"] = TorqueSource("drive", "pin", command=2.0 * G * 0.3 * 0.5)
    found = equilibrium(model)  # m g (l/2) cos θ = τ
    assert math.cos(found.values["pin.angle"]) == pytest.approx(0.5, abs=1e-11)
    assert found.stability == "stable"


def test_friction_is_reported():
    with pytest.raises(LinkworkError, match="dry friction, which may, is left out"):
        equilibrium(lift(friction=100.0))
    assert any("rail.travel" in note for note in equilibrium(lift(friction=1.0, spring=10.0)).notes)


# --- run forward ---

RESTING = {
    "lift": lambda: lift(spring=300.0, position=0.2),
    "double pendulum": double_pendulum,
    "chain": lambda: hanging_chain()[0],
    "four-bar": sprung_four_bar,
    "limit": lambda: arm(limits=(-0.4, 1.0)),
    "ball": lambda: scene("spherical_pendulum"),
    "torsion bar": lambda: scene("torsion_bar"),
}


@pytest.mark.parametrize("method", ["simgc", "simmc"])
@pytest.mark.parametrize("name", RESTING)
def test_a_simulation_stays_in_a_stable_equilibrium(name, method):
    """From the model as posed, which is good to some 1e-11 of the forces: so are accelerations, for a stable pose."""
    found = equilibrium(RESTING[name]())
    record = Simulation(found.posed(), method=method).run(0.3)
    for group in ("positions", "rotations"):
        moved = record.array(group) - record.array(group)[0]
        assert np.abs(moved).max() < 1e-9
    assert record["energy.kinetic"].max() < 1e-15


@pytest.mark.parametrize("name", ["lift", "double pendulum", "ball"])
def test_an_open_mechanism_stays_to_rounding(name):
    model = RESTING[name]()
    found = equilibrium(model)
    simulation = Simulation(model)
    found.start(simulation)
    assert np.abs(simulation.accelerations()).max() < 1e-11
    simulation.run(1.0)
    np.testing.assert_allclose(simulation.q, found.q, atol=1e-12)


def test_a_damped_run_comes_to_rest_in_the_equilibrium_found():
    model = double_pendulum()
    for name in model.joints:
        model.joints[name] = dataclasses.replace(model.joints[name], damping=1.0)
    record = Simulation(model).run(20.0)
    found = equilibrium(model)
    for name in ("shoulder.angle", "elbow.angle"):
        assert record[name][-1] == pytest.approx(found.values[name], abs=1e-6)


WHY_NOT = ("on and on", "nothing rests", "still creeps", "it has a control diagram")


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_finds_rest_or_says_why_not(name):
    smaller = {"pile200": {"count": 20}, "suspensions": {"kind": "macpherson"}}
    model = scene(name, **smaller.get(name, {}))
    try:
        found = equilibrium(model)
    except LinkworkError as error:
        assert any(text in str(error) for text in WHY_NOT)  # noqa: PT017
        return
    # With contact, bodies may accelerate by 1e-5 m/s², about the millionth part of gravity.
    share = 1e-6 if touches(model) else 1e-9
    assert found.residual <= share * max(
        1.0, sum(b.mass_properties.mass for b in model.flatten().bodies.values()) * G
    )
    kin = Mechanism(model).kin
    kin.place(found.q)
    assert np.abs(kin.gaps[kin.hold]).max(initial=0.0) < 1e-9


# --- balls ---


def test_a_ball_with_a_spring_hangs_askew():
    """Of its rotation vector, against forces that vanish: checked by the accelerations of the tree."""
    model = Model("ball")
    model.add(Body("bob", mass=1.0, com=(0.1, 0.05, -0.3), inertia=(0.02, 0.03, 0.01)))
    model.add(Spherical("socket", "ground", "bob", spring=(0.5, 0.3, 0.2), rest=(0.3, -0.4, 0.5)))
    found = equilibrium(model)
    simulation = Simulation(model)
    found.start(simulation)
    assert np.abs(simulation.accelerations()).max() < 1e-10
    assert found.stability == "stable"


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_forces_with_a_potential_have_a_symmetric_stiffness_on_balls_too(seed):
    """Away from equilibrium, where turns that do not commute would spoil it."""
    plan = random_plan(seed, max_links=6, kinds=("hinge", "spherical", "free"), roots=("spherical", "free"))
    model = build(plan)
    model.loads.clear()
    forces = Forces(model, {}, 0.0)
    K = forces.stiffness(forces.start(), np.zeros(0), np.zeros(0))
    np.testing.assert_allclose(K, K.T, atol=1e-11 * np.abs(K).max())
