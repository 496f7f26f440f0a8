"""Models to hang control diagrams on, and their runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwork import Body, Model, Record, Simulation, Slider, TorqueSource
from linkwork.io.reader import parse_model


def bench(*blocks: Any, mass: float = 1.0, velocity: float = 0.0, damping: float = 0.0) -> Model:
    """A mass on a rail with a force on it, without gravity, and a diagram."""
    model = Model("bench", gravity=(0.0, 0.0, 0.0))
    model.add(Body("mass", mass=mass, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("rail", "ground", "mass", axis=(1, 0, 0), velocity=velocity, damping=damping))
    model.add(TorqueSource("push", "rail"))
    for block in blocks:
        model.add(block)
    return model


def simulation(*blocks: Any, dt: float = 1e-3, integrator: str = "rk4", **options: Any) -> Simulation:
    """The bench with a diagram, ready to run."""
    host = {name: options.pop(name) for name in ("mass", "velocity", "damping") if name in options}
    return Simulation(bench(*blocks, **host), dt=dt, integrator=integrator, **options)


def run(*blocks: Any, duration: float = 1.0, every: float | None = None, **options: Any) -> Record:
    """The record of a run of the bench with a diagram."""
    return simulation(*blocks, **options).run(duration, every=every)


HEAD = """linkwork: 1
units: SI
bodies:
  arm: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  pad: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  pivot: {type: hinge, a: ground, b: arm, axis: [0, 1, 0]}
  rail: {type: slider, a: ground, b: pad, axis: [1, 0, 0]}
loads:
  wind: {type: force, body: pad, force: [1, 0, 0]}
  coil: {type: spring, a: ground, b: pad, at_a: [0, 0, 0], at_b: [1, 0, 0], stiffness: 10}
drives:
  motor: {type: torque_source, joint: pivot}
  timed: {type: torque_source, joint: pivot, signal: {signal: sine, frequency: 1}}
  ram: {type: torque_source, joint: rail}
"""
"""Twenty lines of a model file that diagrams are written below."""
FIRST = HEAD.count("\n") + 1
"""Line of what follows it."""


def written(text: str) -> Model:
    """The model of such a file."""
    return parse_model(HEAD + text, Path("diagram.yaml"))
