"""Diagrams while they run: the same bits again, and after a resume; operators, functions, joints, forces."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.diagrams import bench, simulation, written
from linkwork import Body, Component, Force, Hinge, LinkworkError, Simulation, SimulationError
from linkwork.control.blocks.actuators import AttachCommand, DriveCommand, ForceCommand, Inlet, Outlet
from linkwork.control.blocks.continuous import FirstOrder, Integrator
from linkwork.control.blocks.logic import Compare, FlipFlop, StateMachine
from linkwork.control.blocks.mathematics import Formula, Gain, Sum
from linkwork.control.blocks.nonlinear import Play, Relay
from linkwork.control.blocks.panel import Button, Joystick, Lever, Toggle
from linkwork.control.blocks.sampled import Delay, MovingAverage, SampledPID
from linkwork.control.blocks.sensors import IMU
from linkwork.control.blocks.sources import Clock, Noise, Pulse, Step
from linkwork.control.blocks.user import CompiledFunction, PythonFunction


def busy(kp=4.0):
    """A diagram with all kinds of memory."""
    return (
        Pulse("beat", 0.13, begin=0.02),
        Noise("noise", 0.004, deviation=0.1, seed=1),
        Sum("error", ("beat", "noise", "-rail.travel")),
        SampledPID("pid", "error", 0.0, 0.005, proportional=kp, integral=3.0),
        Delay("late", "pid", 0.005, steps=7),
        MovingAverage("mean", "late", 0.01, 5),
        FirstOrder("lag", "mean", 0.03),
        Play("loose", "lag", 0.1),
        Relay("relay", "loose", 2.2, 1.6),
        FlipFlop("seen", "relay", "beat"),
        StateMachine("m", ("a", "b"), ({"source": "a", "target": "b", "when": "relay"},
                                       {"source": "b", "target": "a", "when": "-relay"}), 0.01),
        Formula("sum", "loose - 2*rail.travel_rate + 0.2*seen - 0.1*m.b", unit="N"),
        DriveCommand("act", "push", "sum"),
    )  # fmt: skip


WAYS = [
    {"integrator": "rk4"}, {"integrator": "adams"}, {"integrator": "adaptive"},
    {"integrator": None, "method": "simgc", "solver": "impulses"}, {"integrator": "rk4", "method": "simmc"},
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(str(x) for x in way.values()))
def test_reruns_and_resumed_runs_have_the_same_bits(way, tmp_path):
    def state(sim):
        return np.hstack([sim.q, sim.v, sim.wire_values(), [sim.time]])

    sim = simulation(*busy(), **way)
    sim.run(0.3, every=0.01)
    sim.save_state(tmp_path / "half.npz")
    record = sim.run(0.3, every=0.01)
    end = state(sim)
    sim.reset()
    sim.run(0.3, every=0.01)
    sim.run(0.3, every=0.01)
    assert np.array_equal(state(sim), end)
    other = simulation(*busy(), **way)
    other.load_state(tmp_path / "half.npz")
    again = other.run(0.3, every=0.01)
    assert np.array_equal(state(other), end)
    for name in ("pid.out", "lag.out", "loose.out", "seen.out", "m.state", "rail.travel"):
        assert np.array_equal(record[name], again[name]), name
    assert np.ptp(record["m.state"]) == 1.0


def test_a_changed_diagram_goes_on_from_where_it_was():
    sim = simulation(*busy())
    sim.run(0.3)
    before = {name: sim[name] for name in ("lag.out", "m.state", "late.out")}
    sim.alter(bench(*busy(kp=8.0)))
    assert {name: sim[name] for name in before} == before
    sim.run(0.1)
    assert np.isfinite(sim["lag.out"])


def test_an_operator_moves_levers_and_lets_go():
    sim = simulation(
        Joystick("stick", low=-2.0, high=2.0),
        Lever("gas", low=0.0, high=1.0, spring_back=False),
        Button("horn"),
        Toggle("light", on=True),
        Gain("force", "stick.y", 3.0, unit="N"),
        DriveCommand("act", "push", "force"),
    )
    assert [sim[f"{name}"] for name in ("stick.x", "gas.out", "horn.out", "light.out")] == [
        0.0,
        0.0,
        0.0,
        1.0,
    ]
    sim.operate("stick.y", 0.5)
    sim.run(1.0)
    assert sim["rail.travel"] == pytest.approx(0.5 * 1.5 * 1.0, abs=1e-12)
    sim.operate("stick.y", 7.0)
    assert sim["force.out"] == 6.0  # at the end of its range
    sim.let_go("stick.y")
    assert sim["force.out"] == 0.0
    sim.operate("gas.out", 0.7)
    sim.let_go("gas.out")
    assert sim["gas.out"] == 0.7
    with pytest.raises(LinkworkError, match="did you mean"):
        sim.operate("stik.x", 1.0)
    with pytest.raises(LinkworkError, match="finite"):
        sim.operate("stick.x", float("nan"))
    with pytest.raises(LinkworkError, match="obeys block 'act'"):
        sim.command("push", 1.0)


def test_compiled_functions_are_called_at_every_evaluation():
    def law(t, x, v, p, out):
        out[0] = -p[0] * x[0] - p[1] * x[1]
        out[1] = t

    sim = simulation(
        CompiledFunction(
            "law", law, ("rail.travel", "rail.travel_rate"), parameters=(25.0, 2.0), outputs=("u", "t")
        ),
        DriveCommand("act", "push", "law.u"),
        velocity=1.0,
    )
    record = sim.run(2.0, every=0.05)
    t, w = record.time, np.sqrt(24.0)
    assert np.abs(record["rail.travel"] - np.exp(-t) * np.sin(w * t) / w).max() < 1e-10
    assert np.abs(record["law.t"] - t).max() < 1e-12


def test_python_functions_are_called_at_their_instants():
    times = []

    def law(t, x):
        times.append(t)
        return -2.0 * x

    sim = simulation(
        PythonFunction("law", law, 0.1, ("rail.travel",)), DriveCommand("act", "push", "law"), velocity=1.0
    )
    record = sim.run(1.0, every=0.05)
    assert np.allclose(times, np.arange(11) * 0.1, atol=1e-12)
    x, v, found = 0.0, 1.0, []
    for _ in range(11):  # held forces: exact arcs of parabolas
        found.append(x)
        u = -2.0 * x
        x, v = x + 0.1 * v + 0.005 * u, v + 0.1 * u
    assert np.abs(record["rail.travel"][::2] - found).max() < 1e-12


def test_what_a_python_function_raises_is_told():
    def law(t):
        if t > 0.2:
            raise ValueError("no idea")
        return 1.0, 2.0

    sim = simulation(PythonFunction("law", law, 0.1, outputs=("a", "b")), Gain("g", "law.b"))
    with pytest.raises(SimulationError, match=r"block 'law' failed at t = 0.3 s: ValueError: no idea"):
        sim.run(1.0)


def test_a_component_is_a_subdiagram_that_is_used_twice():
    law = Component("law")
    law.add(Inlet("x", unit="m"))
    law.add(Inlet("gain", 1.0))
    law.add(Formula("product", "x*gain"))
    law.add(Outlet("u", "product"))
    model = bench(Clock("t"))
    for name, gain in (("one", 2.0), ("two", "t")):
        placed = law.instance(name)
        model.add(dataclasses.replace(placed, inputs={"x": "-rail.travel", "gain": gain}))
    model.add(Sum("sum", ("one.u", "two.u")))
    sim = Simulation(model)
    sim["rail.travel"] = 0.5
    sim.run(1.0)
    assert sim["one.u.out"] == pytest.approx(-1.0)
    assert sim["two.u.out"] == pytest.approx(-0.5)
    assert sim["sum.out"] == pytest.approx(-1.5)


def test_joints_are_attached_and_released_by_a_diagram():
    model = bench(velocity=1.0)
    model.add(Body("wagon", at=(0.5, 0, 0), mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("track", "ground", "wagon", at=(0.5, 0, 0), axis=(0, 0, 1)))
    model.add(Hinge("latch", "wagon", "ground", at=(0.5, 0, 0), axis=(1, 0, 0), attached=()))
    model.add(Compare("far", "rail.travel", ">", 0.5))
    model.add(AttachCommand("act", "latch", "far"))
    sim = Simulation(model, integrator="rk4", dt=1e-3)
    sim["track.angle_rate"] = 2.0
    record = sim.run(1.0, every=0.01)
    assert [(change.joint, change.attached) for change in sim.changes] == [("latch", True)]
    assert sim.changes[0].time == pytest.approx(0.5, abs=1.1e-3)
    late = record.time > 0.502
    assert np.abs(record["track.angle_rate"][late]).max() < 1e-12


def test_forces_are_scaled():
    model = bench(Step("on", at=0.5), Gain("half", "on", 0.5), ForceCommand("act", "wind", "half"))
    model.add(Force("wind", "mass", force=(4.0, 0.0, 0.0)))
    record = Simulation(model, integrator="rk4", dt=1e-3).run(1.0, every=0.05)
    after = np.maximum(record.time - 0.5, 0.0)
    assert np.abs(record["rail.travel"] - after**2).max() < 1e-12


def test_sensors_of_motion_and_force():
    model = written(
        "control:\n  feel: {type: imu, body: pad, at: [0, 0, 0.5]}\n"
        "  sink: {type: sum, inputs: [pad.position.x, -rail.travel]}\n"
        "  told: {type: gain, input: ram.force}\n"
        "  pull: {type: drive, drive: ram, input: 2.0}\n"
        "  turn: {type: drive, drive: motor, input: 0.3}\n"
        "  spin: {type: imu, body: arm}\n"
    )
    sim = Simulation(model, integrator="rk4", dt=1e-3)
    sim.run(0.5)
    assert sim["sink.out"] == pytest.approx(0.0, abs=1e-14)
    assert sim["told.out"] == pytest.approx(2.0, abs=1e-12)
    assert sim["feel.az"] == pytest.approx(9.81, abs=1e-9)
    assert sim["spin.wy"] == pytest.approx(0.3 / 0.1 * 0.5, abs=1e-9)
    # The spring of 10 N/m, the wind of 1 N and the drive push the pad of 1 kg, which lies on a rail.
    force = 3.0 + 10.0 * -sim["rail.travel"]
    assert sim["feel.ax"] == pytest.approx(force, abs=0.1)  # as of the end of the last step


def test_states_can_be_set_and_outputs_cannot():
    sim = simulation(Integrator("sum", 0.0), Gain("g", "sum", 2.0))
    sim["sum.out"] = 1.5
    assert sim["g.out"] == 3.0
    with pytest.raises(LinkworkError, match="no state"):
        sim["g.out"] = 1.0


def test_wires_have_names_and_units():
    sim = simulation(IMU("imu", "mass"), Lever("stick", unit="rad"))
    assert sim.wires == ("imu.wx", "imu.wy", "imu.wz", "imu.ax", "imu.ay", "imu.az", "stick.out")
    assert sim.signals["stick.out"] == "rad"
    assert len(sim.wire_values()) == 7
