"""Every cell of the table of capabilities: a method does what it has, and refuses what it lacks by the reason given."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.featured import DT, MODELS, STEPS, TIP, arm, model_with, simulate, ways
from linkwork import Body, Bushing, Model, Sealed, Simulation, SimulationError, UnsupportedError
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
from linkwork.methods.options import option_names
from linkwork.methods.registry import WAYS
from linkwork.model.edit import with_item

STIFF_BUSHINGS = "bushings too stiff for the step"

SMOOTH = "components"
"""Whose contact is smooth between events, and has accelerations."""

APART = {"limits": 5e-3}
"""How far methods may be apart after 20 ms [m]: by 2 h t a at first order, with accelerations of 10 m/s² or so; where
something stops at 3 m/s within a step, by what it goes in one."""


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


def sealed_car(folder: Path) -> Model:
    corner = wheel_corner()
    seal(corner, folder / "corner.sealed", corner.ports)
    model = Model("car")
    model.add(Body("chassis", mass=300.0, inertia=(50.0, 50.0, 50.0)))
    model.add(Sealed("corner", str(folder / "corner.sealed")))
    return model


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


TOUCHING = {ACCELERATIONS: lambda sim: sim.accelerations(), REACTIONS: ask_reactions}


@pytest.mark.parametrize(
    "way",
    [way for way in WAYS if "contact" not in LACKS[way.name] and way.name != SMOOTH],
    ids=lambda way: way.name,
)
@pytest.mark.parametrize("feature", LACKS[WITH_CONTACT])
def test_what_contact_takes_away(feature, way):
    simulation = simulate(model_with("contact"), way)
    with pytest.raises(UnsupportedError) as caught:
        TOUCHING[feature](simulation)
    assert REASONS[LACKS[WITH_CONTACT][feature]].advice in str(caught.value)


@pytest.mark.parametrize(
    ("study", "feature"), [(study, feature) for study in (STUDIES, INVERSE) for feature in LACKS[study]]
)
def test_what_studies_refuse(study, feature, car):
    model = car if feature == "sealed components" else model_with(feature)
    reason = REASONS[LACKS[study][feature]]
    why, advice = re.escape(f"{study} {reason.why}"), re.escape(reason.advice)
    with pytest.raises(UnsupportedError, match=f"^{why}, but .*; {advice}$"):
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
