"""Runs of mechanisms with limits, friction and drives by either solver."""

import pytest

from linkwork import Simulation

solvers = pytest.mark.parametrize("solver", ["direct", "impulses"])
H = 1e-3


def simulate(model, method, dt=H, solver="impulses", **options):
    """A simulation by either solver; options are those of impulses."""
    options = {"epsilon": 1e-12} | options if solver == "impulses" else {}
    return Simulation(model, method=method, solver=solver, dt=dt, **options)


def run(model, method, duration, dt=H, every=None, **options):
    return simulate(model, method, dt, **options).run(duration, every=every or dt)
