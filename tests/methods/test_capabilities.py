"""Every cell of the table of capabilities: a method does what it has, and refuses what it lacks by the reason given."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import linkwork
from helpers.models import ball
from linkwork import (
    PID,
    Actuator,
    Body,
    BodyFunction,
    Box,
    Bushing,
    DCMotor,
    Direct,
    Force,
    Hinge,
    Impulses,
    JointFunction,
    LineFunction,
    LinkworkError,
    Material,
    Model,
    Plane,
    PositionServo,
    Repeater,
    Scenery,
    Sealed,
    Simulation,
    SimulationError,
    Spring,
    TorqueSource,
    UnsupportedError,
    VelocityServo,
    Weld,
    scene,
)
from linkwork.cli.run import run as run_command
from linkwork.distributed.sealed_file import seal
from linkwork.library import wheel_corner
from linkwork.methods.capabilities import (
    ACCELERATIONS,
    ADAPTIVE,
    CHANGES,
    FEATURES,
    IN_RANKS,
    INVERSE,
    LACKS,
    LIGHT_PARTS,
    MOVED_FORCES,
    PROCESSES,
    REACTIONS,
    REASONS,
    STIFF_SPRINGS,
    STUDIES,
    WITH_CONTACT,
    WITH_SEALED_PARTS,
    called,
    require,
)
from linkwork.methods.describe import described, markdown
from linkwork.methods.features import DETECTED, features
from linkwork.methods.options import Options, option_names
from linkwork.methods.registry import WAYS
from linkwork.model.edit import with_item

DT, STEPS = 1e-3, 20
TIP = (2.0, 0.0, 0.0)
STIFF_BUSHINGS = "bushings too stiff for the step"


def arm(*things, shoulder=None, elbow=None) -> Model:
    """Two links in a vertical plane, which swing; the centres of mass move at 1 m/s and more."""
    model = Model("arm")
    model.add(Body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.0)))
    model.add(Body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0.0, 0.0)))
    model.add(Hinge("shoulder", "ground", "upper", axis=(0, 1, 0), **(shoulder or {"velocity": 2.0})))
    model.add(Hinge("elbow", "upper", "lower", at=(1.0, 0.0, 0.0), axis=(0, 1, 0), **(elbow or {})))
    for thing in things:
        model.add(thing)
    return model


def touching() -> Model:
    return arm(
        Material("wood", friction=0.5),
        Scenery("floor", shapes=(Plane(at=(0, 0, -1.0)),), material="wood"),
        Body("box", at=(3, 0, -0.95), density=700, shapes=(Box((0.2, 0.1, 0.1)),), material="wood"),
    )


def with_closing_function() -> Model:
    model = scene("double_four_bar")
    (joint, *_) = [item.split("'")[1] for item in features(model.flatten())["loops"]]
    model.add(JointFunction("law", joint, pull_joint))
    return model


def pull_joint(t, x, v, parameters, out):
    out[0] = -2.0 * x[0] - 0.5 * v[0]


def pull_body(t, x, v, parameters, out):
    out[0] = -v[0]


def pull_line(t, x, v, parameters, out):
    out[0] = -10.0 * (x[0] - 1.0)


def sealed_car(folder: Path) -> Model:
    corner = wheel_corner()
    seal(corner, folder / "corner.sealed", corner.ports)
    model = Model("car")
    model.add(Body("chassis", mass=300.0, inertia=(50.0, 50.0, 50.0)))
    model.add(Sealed("corner", str(folder / "corner.sealed")))
    return model


MODELS = {
    "loops": lambda: scene("double_four_bar"),
    "joints attached and released": lambda: arm(elbow={"attached": ((0.0, 0.005),)}),
    "limits": lambda: arm(elbow={"limits": (-0.01, 1.0)}),
    "dry friction": lambda: arm(elbow={"friction": 0.5}),
    "springs in joints": lambda: arm(elbow={"spring": 20.0, "damping": 0.5}),
    "springs": lambda: arm(Spring("wire", "ground", "lower", at_a=(0, 0, 1), at_b=TIP, stiffness=50.0)),
    "bushings": lambda: arm(
        Bushing("rubber", "ground", "lower", at_a=TIP, at_b=TIP, stiffness=(50.0, 50.0, 50.0))
    ),
    "forces and torques": lambda: arm(Force("push", "lower", force=(0.0, 0.0, 5.0))),
    "body functions": lambda: arm(BodyFunction("drag", "lower", pull_body)),
    "line functions": lambda: arm(
        LineFunction("rope", "ground", "lower", pull_line, at_a=(0, 0, 1), at_b=TIP)
    ),
    "joint functions": lambda: arm(JointFunction("law", "elbow", pull_joint)),
    "joint functions at closed loops": with_closing_function,
    "torque sources": lambda: arm(TorqueSource("motor", "elbow", command=1.0)),
    "velocity servos": lambda: arm(VelocityServo("servo", "elbow", command=0.0)),
    "velocity servos of limited strength": lambda: arm(
        VelocityServo("servo", "elbow", command=1.0, strength=2.0)
    ),
    "velocity servos of balls": lambda: ball(VelocityServo("servo", "socket", command=0.0)),
    "position servos": lambda: arm(PositionServo("servo", "elbow", stiffness=50.0, damping=1.0)),
    "position servos of limited strength": lambda: arm(
        PositionServo("servo", "elbow", command=0.5, stiffness=50.0, damping=1.0, strength=2.0)
    ),
    "actuators and cylinders": lambda: arm(Actuator("muscle", "elbow", command=1.0, time_constant=0.05)),
    "sampled controllers": lambda: arm(
        PID("law", "elbow", command=0.5, sample_time=0.004, proportional=20.0, derivative=1.0)
    ),
    "DC motors": lambda: arm(
        DCMotor("motor", "elbow", command=0.5, stall_torque=1.0, idle_speed=10.0, time_constant=0.1)
    ),
    "repeaters": lambda: arm(Repeater("belt", "elbow", "shoulder", ratio=-0.5), elbow={"velocity": -1.0}),
    "contact": touching,
    "bodies without inertia": lambda: scene("a01_pendulum"),
    "light bodies welded to others": lambda: arm(
        Body("tip", at=TIP, mass=0.5, inertia=(0.0, 0.0, 0.0)), Weld("glue", "lower", "tip", at=TIP)
    ),
}
"""A model for every feature that is found in models; sealed components need a file."""

APART = {"limits": 5e-3}
"""How far methods may be apart after 20 ms [m]: by 2 h t a at first order, with accelerations of 10 m/s² or so; where
something stops at 3 m/s within a step, by what it goes in one."""


@cache
def model_with(feature: str) -> Model:
    return MODELS[feature]()


def simulate(model: Model, way, **options) -> Simulation:
    return Simulation(model, method=way.method, solver=way.solver, dt=DT, **options)


@cache
def places(feature: str, name: str) -> np.ndarray:
    """Where the bodies are in the end."""
    way = next(way for way in WAYS if way.name == name)
    simulation = simulate(model_with(feature), way)
    simulation.step(STEPS)
    return np.array([simulation.point(body)[0] for body in simulation.system.bodies])


def told(column: str, feature: str, name: str) -> str:
    """What a refusal must say, as a pattern."""
    reason = REASONS[LACKS[column][feature]]
    who = called(name) + ("" if column == name else f" {column}")
    return f"^{re.escape(f'{who} {reason.why}')}.*{re.escape(reason.advice)}$"


ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


@ways
@pytest.mark.parametrize("feature", MODELS)
def test_models_with_a_feature_run_or_are_refused(feature, way):
    model = model_with(feature)
    if feature in LACKS[way.name]:
        with pytest.raises(UnsupportedError, match=told(way.name, feature, way.name)) as caught:
            simulate(model, way)
        assert all(item in str(caught.value) for item in features(model.flatten())[feature])
        return
    mine = places(feature, way.name)
    assert np.isfinite(mine).all()
    reference = next(other.name for other in WAYS if feature not in LACKS[other.name])
    np.testing.assert_allclose(mine, places(feature, reference), atol=APART.get(feature, 5e-4))


def test_models_have_the_features_that_they_are_for():
    for feature in MODELS:
        assert feature in features(model_with(feature).flatten())
        assert set(features(model_with(feature).flatten(), [feature])) == {feature}
    assert set(MODELS) | {"sealed components"} == set(DETECTED)
    assert features(arm().flatten()) == {}


@pytest.fixture(scope="module")
def car(tmp_path_factory: pytest.TempPathFactory) -> Model:
    pytest.importorskip("cryptography")
    return sealed_car(tmp_path_factory.mktemp("sealed"))


@ways
def test_sealed_components(way, car):
    feature = "sealed components"
    assert features(car.flatten())[feature] == ["component 'corner' is sealed"]
    if feature in LACKS[way.name]:
        with pytest.raises(UnsupportedError, match=told(way.name, feature, way.name)):
            simulate(car, way)
        return
    simulation = simulate(car, way)
    try:
        simulation.step(2)
        assert np.isfinite(simulation.q).all()
        with pytest.raises(UnsupportedError, match="with sealed parts has parts in other processes"):
            simulation.method.require(CHANGES)
    finally:
        simulation.close()


# --- what is asked for while it runs ---


def ask_reactions(simulation: Simulation) -> None:
    names = simulation.run(2 * DT).names
    if not any(name.startswith("elbow.force") for name in names):
        simulation.method.require(REACTIONS)
        raise AssertionError("the table promises reactions")


def alter(simulation: Simulation) -> None:
    model = with_item(simulation.model, "bodies", "lower", mass=2.0)
    simulation.step(2)
    simulation.alter(model)
    simulation.step(2)
    assert simulation.time == pytest.approx(4 * DT)


def move_force(simulation: Simulation) -> None:
    simulation.set_force("push", (0.0, 0.0, 50.0), body="upper")
    simulation.step(2)


ASKED = {
    ACCELERATIONS: (lambda: arm(), lambda sim: sim.accelerations()),
    REACTIONS: (lambda: arm(), ask_reactions),
    CHANGES: (lambda: arm(), alter),
    MOVED_FORCES: (MODELS["forces and torques"], move_force),
}


@ways
@pytest.mark.parametrize("feature", ASKED)
def test_what_is_asked_for_is_done_or_refused(feature, way):
    make, ask = ASKED[feature]
    simulation = simulate(make(), way)
    if feature in LACKS[way.name]:
        with pytest.raises(UnsupportedError, match=told(way.name, feature, way.name)):
            ask(simulation)
    else:
        ask(simulation)
        assert np.isfinite(simulation.q).all()


@ways
def test_adaptive_steps(way):
    if ADAPTIVE in LACKS[way.name]:
        with pytest.raises(UnsupportedError, match=told(way.name, ADAPTIVE, way.name)):
            simulate(arm(), way, integrator="adaptive")
    else:
        simulation = simulate(arm(), way, tolerance=1e-9)
        assert simulation.integrator == "adaptive"
        simulation.step(2)
        assert np.isfinite(simulation.q).all()


@ways
def test_ranks(way):
    if PROCESSES in LACKS[way.name]:
        with pytest.raises(UnsupportedError, match="--ranks shares the work of method 'components'"):
            run_command("chain5", method=way.method, solver=way.solver, ranks=2)
    else:
        assert way.name == "components"  # which tests/distributed/test_ranked.py runs so


STIFF = {
    STIFF_SPRINGS: lambda: arm(elbow={"spring": 1e8, "damping": 1e2}),
    STIFF_BUSHINGS: lambda: arm(
        Bushing("rubber", "ground", "lower", at_a=TIP, at_b=TIP, stiffness=(1e8, 1e8, 1e8))
    ),
}


@ways
@pytest.mark.parametrize("feature", STIFF)
def test_forces_too_stiff_for_the_step(feature, way):
    """They are not refused, for smaller steps would do; a run that takes them explicitly must end with advice."""
    simulation = simulate(STIFF[feature](), way)
    if feature in LACKS[way.name]:
        with pytest.raises(SimulationError, match=r"too stiff for dt|too long: shorten it"):
            simulation.step(200)
    else:
        simulation.step(200)
        assert np.abs(simulation.v).max() < 100.0


TOUCHING = {
    ACCELERATIONS: (lambda sim: sim.accelerations(), {}),
    REACTIONS: (ask_reactions, {}),
    ADAPTIVE: (None, {"integrator": "adaptive"}),
}


@pytest.mark.parametrize(
    "way", [way for way in WAYS if "contact" not in LACKS[way.name]], ids=lambda way: way.name
)
@pytest.mark.parametrize("feature", LACKS[WITH_CONTACT])
def test_what_contact_takes_away(feature, way):
    ask, options = TOUCHING[feature]
    lacking = way.name if feature in LACKS[way.name] else WITH_CONTACT
    if ask is None:
        with pytest.raises(UnsupportedError, match=told(lacking, feature, way.name)):
            simulate(model_with("contact"), way, **options)
        return
    simulation = simulate(model_with("contact"), way)
    with pytest.raises(UnsupportedError) as caught:
        ask(simulation)
    assert REASONS[LACKS[WITH_CONTACT][feature]].advice in str(caught.value)


@pytest.mark.parametrize(
    ("study", "feature"), [(study, feature) for study in (STUDIES, INVERSE) for feature in LACKS[study]]
)
def test_what_studies_refuse(study, feature, car):
    model = car if feature == "sealed components" else model_with(feature)
    reason = REASONS[LACKS[study][feature]]
    with pytest.raises(UnsupportedError, match=f"^{study} {reason.why}, but .*; {reason.advice}$"):
        require([study], model.flatten())


@pytest.mark.parametrize("circumstance", [IN_RANKS, WITH_SEALED_PARTS])
def test_light_parts_are_not_divided_among_processes(circumstance):
    told_ = told(circumstance, LIGHT_PARTS, "components")
    with pytest.raises(UnsupportedError, match=told_) as caught:
        require(["components", circumstance], model_with(LIGHT_PARTS).flatten())
    assert "body 'lower' (with 'tip' welded to it)" in str(caught.value)


# --- the tables themselves ---


def test_every_cell_is_tested():
    asked = {*ASKED, *STIFF, ADAPTIVE, PROCESSES, "sealed components"}
    assert set(FEATURES) == set(MODELS) | asked
    assert len(FEATURES) == len(set(FEATURES))


def test_the_tables_fit_together():
    assert [way.name for way in WAYS] == list(LACKS)[: len(WAYS)]
    used = {key for lacks in LACKS.values() for key in lacks.values()}
    assert used == set(REASONS)
    for way in WAYS:
        assert way.options(**way.fixed).way == way.name
        assert set(way.fixed) <= set(option_names(way.options))


def test_the_docs_have_the_table():
    page = Path(__file__).parents[2] / "docs" / "methods.md"
    assert page.read_text("utf-8") == markdown(), (
        "write it anew: linkwork methods --markdown > docs/methods.md"
    )
    assert len(described()) == len(WAYS)


# --- options ---


@ways
def test_names_and_objects_are_the_same(way):
    by_name = simulate(arm(), way)
    by_object = Simulation(arm(), method=way.options(**way.fixed), dt=DT)
    assert by_name.options == by_object.options
    for simulation in (by_name, by_object):
        simulation.step(5)
    assert np.array_equal(by_name.q, by_object.q)
    assert by_name.options == Simulation(arm(), solver=way.options(**way.fixed)).options


def test_objects_hold_all_options():
    simulation = Simulation(arm(), method=Direct(coordinates="maximal", integrator="rk4"))
    assert simulation.method.columns == ("simmc, direct",)
    assert simulation.integrator == "rk4"
    assert Simulation(arm(), method=Impulses(epsilon=1e-8)).method.info()["epsilon"] == 1e-8
    hybrid = Simulation(arm(), method=linkwork.Hybrid(rho=0.7))
    assert hybrid.method.info()["rho"] == 0.7
    assert hybrid.integrator == "alpha"
    touching = Simulation(model_with("contact"), method=Direct(slop=2e-5, iterations=7))
    assert touching.method.info()["iterations"] == 7
    assert touching.method.info()["slop"] == 2e-5
    for name in ("Tree", "Direct", "Impulses", "Hybrid", "Global", "Topological", "Components"):
        kind = getattr(linkwork, name)
        assert issubclass(kind, Options)
        assert kind in {way.options for way in WAYS}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Direct(integrator="rk5"), r"'direct' has no integrator 'rk5' \(it has adams, rk4, adaptive, euler\)"),
        (lambda: Direct(coordinates="polar"), r"there are no coordinates 'polar' \(known: generalized, maximal\)"),
        (lambda: Direct(integrator="rk4", tolerance=1e-8), "integrator 'rk4' takes fixed steps"),
        (lambda: Direct(slop=0.0), "slop must be a positive number of metres, not 0.0"),
        (lambda: Impulses(erp=1.5), "erp is a share of the gap"),
        (lambda: Impulses(iterations=0), "iterations must be at least 1, not 0"),
        (lambda: Impulses(integrator="adaptive"), "takes fixed steps of first order .* use solver 'direct'"),
        (lambda: linkwork.Hybrid(rho=2.0), "rho is a spectral radius"),
        (lambda: linkwork.Global(rho=0.5, integrator="trapezoidal"), "rho belongs to the integrator 'alpha'"),
        (lambda: linkwork.Components(budget="1"), "budget must be a positive number of seconds, not '1'"),
        (lambda: linkwork.Tree(tolerance=float("nan")), "tolerance must be a positive number, not nan"),
        (lambda: Simulation(arm(), method=Direct(), integrator="rk4"), "integrator: beside method=Direct"),
        (lambda: Simulation(arm(), method="simmc", solver=Direct()), "method: beside solver=Direct"),
        (lambda: Simulation(arm(), method=Direct(erp=0.5)), "erp: about contact .* without contact belongs to simgc"),
        (lambda: Simulation(arm(), method="tree", budget=1.0), "budget: no option of method 'tree'; .* hybrid"),
    ],
)  # fmt: skip
def test_options_are_checked(make, words):
    with pytest.raises(LinkworkError, match=words):
        make()


def test_altered_models_keep_the_options():
    simulation = Simulation(arm(), method=Direct(integrator="rk4", coordinates="maximal"), dt=DT)
    simulation.step(3, dt=2e-3)
    before = simulation.options
    simulation.alter(with_item(arm(), "bodies", "lower", mass=2.0))
    assert simulation.options == before
    assert simulation.method.columns == ("simmc, direct",)
    assert simulation.method.info()["integrator"] == "rk4"
