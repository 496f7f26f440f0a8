"""Limits, dry friction and play in components: any hierarchy of subsystems tells what the direct solver tells."""

import dataclasses

import numpy as np
import pytest

from helpers.partitions import some_partitions
from linkwork import Backlash, Hinge, Simulation, UnsupportedError, scene
from linkwork.compile.compiler import Compiled
from linkwork.compile.subsystems import monolith
from linkwork.methods.capabilities import IN_RANKS, LACKS, REASONS, WITH_SEALED_PARTS, require
from linkwork.methods.components import ComponentMethod
from linkwork.methods.part import Steps


def divided(model, partition, dt=1e-3, integrator="rk4"):
    """A simulation by components with subsystems of our choice."""
    simulation = Simulation(model, method="components", integrator=integrator, dt=dt)
    simulation.method = ComponentMethod(Compiled(model), Steps(integrator, dt, 1e-8), partition)
    return simulation


def rough_chain():
    """Five links with dry friction and stops."""
    model = scene("chain5", friction=0.3)
    for name, joint in model.joints.items():
        model.joints[name] = dataclasses.replace(joint, limits=(-2.0, 0.5), restitution=0.3)
    model.add(Backlash("play", "joint4", "joint5", ratio=-1.0, gap=0.2))
    return model


def rubbing_bars(friction):
    """A linkage of one degree of freedom with dry friction in all joints: they hold the same motion many times."""
    model = scene("double_four_bar", rate=0.0)
    for name, joint in model.joints.items():
        if isinstance(joint, Hinge):
            model.joints[name] = dataclasses.replace(joint, friction=friction)
    return model


def test_any_division_tells_the_same():
    model = rough_chain()
    expected = Simulation(model, method="simgc", integrator="rk4", dt=1e-3).run(0.6, every=0.01)
    assert expected.info["events"] > 5
    for partition in (monolith(model), *some_partitions(model, 3, 3)):
        method = ComponentMethod(Compiled(model), Steps("rk4", 1e-3, 1e-8), partition)
        count = len(expected.time) - 1
        done, status, _ = method.advance([600])
        assert (done, status) == (1, 0), count
        simulation = Simulation(model, method="simmc", dt=1e-3)
        simulation.q[:], simulation.v[:] = method.state.q, method.state.v
        for k in range(1, 6):
            assert simulation[f"joint{k}.angle"] == pytest.approx(expected[f"joint{k}.angle"][-1], abs=1e-8)
        assert method.outcome()["events"] == expected.info["events"]
        assert method.outcome()["steps_unsettled"] == 0


@pytest.mark.parametrize("friction", [0.4, 4.0, 40.0])
def test_friction_that_holds_one_motion_many_times(friction):
    """Their bounds add up: together they hold, or slide, as in the direct solver."""
    model = rubbing_bars(friction)
    records = [
        Simulation(model, method=method, integrator="rk4", dt=1e-3).run(1.0, every=0.01, reactions=False)
        for method in ("simgc", "components")
    ]
    one, other = (record["A0.angle"] for record in records)
    np.testing.assert_allclose(one, other, atol=1e-6)  # singular positions leave some 1e-7
    for record in records:
        assert record["energy.dissipated"][-1] >= -1e-12
        assert record.info["steps_unsettled"] == 0
        assert record.info["worst_gap_m"] < 1e-9


def test_crowded_events_are_taken_by_impulses():
    """A joint that clatters between two stops, some twenty times in a step: it stays near them and gains nothing."""
    model = scene("chain5")
    model.joints["joint1"] = dataclasses.replace(
        model.joints["joint1"], limits=(-1e-4, 1e-4), restitution=0.9, velocity=10.0, position=0.0
    )
    simulation = Simulation(model, method="components", integrator="rk4", dt=1e-3)
    record = simulation.run(0.05, every=1e-3, reactions=False)
    assert record.info["steps_by_impulses"] > 0
    assert record.info["steps_unsettled"] == 0
    assert record.info["worst_gap_m"] < 1e-9
    assert np.abs(record["joint1.angle"]).max() < 1e-4 + 10.0 * 1e-3  # what it goes in a step
    total = record["energy.kinetic"] + record["energy.gravity"]
    assert total.max() <= total[0] * (1.0 + 1e-3)
    assert any("crowded" in warning for warning in simulation.method.warnings())


@pytest.mark.parametrize("circumstance", [IN_RANKS, WITH_SEALED_PARTS])
def test_events_are_refused_where_processes_share_them(circumstance):
    reason = REASONS[LACKS[circumstance]["limits"]]
    for model, item in (
        (rough_chain(), "joint 'joint1' has limits"),
        (rubbing_bars(1.0), "'A0' has dry friction"),
        (scene("rolling"), "may touch"),
    ):
        with pytest.raises(UnsupportedError) as caught:
            require(["components", circumstance], model.flatten())
        assert f"{reason.why}, but" in str(caught.value)
        assert item in str(caught.value)
        assert reason.advice in str(caught.value)
