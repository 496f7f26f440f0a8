"""A pendulum in real time, and the samples that listeners get of it."""

import numpy as np
import pytest

from helpers.processes import PATIENCE
from linkwork import Body, Hinge, Model, Simulation
from linkwork.live.realtime import RealTime

DT = 1e-3

WAYS = {
    "tree": {"method": "tree"},
    "adams": {"method": "simgc"},
    "maximal": {"method": "simmc", "integrator": "rk4"},
    "impulses": {"method": "simgc", "solver": "impulses"},
}

ADAPTIVE = {
    "adaptive tree": {"method": "tree", "integrator": "adaptive"},
    "adaptive": {"method": "simgc", "integrator": "adaptive"},
}


def ways(*known):
    merged = {name: way for group in known for name, way in group.items()}
    return pytest.mark.parametrize("way", merged.values(), ids=merged)


def pendulum():
    model = Model("pendulum")
    model.add(Body("bob", mass=1.0, com=(0, 0, -1.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0, 1, 0), position=1.0))
    return model


def started():
    """Starts loops and ends them again, however a test goes; to be made a fixture: `pytest.fixture(started)`."""
    loops = []

    def start(model=None, *, way=WAYS["tree"], **options):
        loop = RealTime(Simulation(model or pendulum(), dt=DT, **way), **options)
        loops.append(loop)
        loop.start()
        return loop

    yield start
    for loop in loops:
        loop.stop()


def done(future):
    return future.result(timeout=PATIENCE)


def listen(loop):
    """Samples on the grid as they come: (run, time, coordinates, rates)."""
    heard = []

    def hear(samples):
        for k in range(samples.kept):
            t, q, v = (array[k] for array in samples.block[:3])
            heard.append((samples.run, float(t), q.copy(), v.copy()))
        assert samples.kept <= len(samples.block[0]) <= samples.kept + 1

    loop.listeners.append(hear)
    return heard


def check_against_run(heard, way, bits=True):
    times = np.array([t for _, t, _, _ in heard])
    last = round(times[-1] / 0.01)
    np.testing.assert_allclose(times, 0.01 * np.arange(1, last + 1), atol=1e-9)  # each once, in order
    plain = Simulation(pendulum(), dt=DT, **way)
    # To 1e-8 by the tolerance of steps, which end elsewhere, a few hundred of them.
    near = 0.0 if bits else 1e-6
    for _, t, q, v in heard:
        plain.run(0.01, every=0.01)
        assert plain.time == pytest.approx(t, abs=0.0 if bits else 1e-12)
        np.testing.assert_allclose(q, plain.q, rtol=0, atol=near)
        np.testing.assert_allclose(v, plain.v, rtol=0, atol=near)
