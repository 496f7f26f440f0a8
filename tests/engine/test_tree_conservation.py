"""What runs of random trees conserve: momentum, energy, and its balance with work, to the order of the integrator."""

import numpy as np
import pytest

from helpers.probe import Probe
from helpers.trees import random_plan


def drift(probe, q, v, measure, h, steps):
    """Largest change of a conserved quantity over a run, relative to its size at the start."""
    path = probe.run(q, v, h, steps, stride=steps // 8)
    start = measure(q, v, 0.0)
    size = np.linalg.norm(start)
    return (
        max(np.linalg.norm(measure(*sample) - start) for sample in zip(path.q, path.v, path.t, strict=True))
        / size
    )


def assert_drift_is_of_order_four(probe, q, v, measure):
    # What RK4 does not conserve it loses at its own order or the next: halving the step divides the drift by
    # 2⁴ to 2⁵. The coarse step is small enough for the leading term to rule and large enough for it to
    # stand well above rounding.
    coarse, fine = (drift(probe, q, v, measure, 0.4 / n, n) for n in (64, 128))
    assert coarse < 1e-5
    assert fine < coarse / 12 + 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_a_floating_tree_in_no_gravity_conserves_momentum_at_the_order_of_rk4(seed):
    plan = random_plan(seed, max_links=6, roots=(None,), gravity=False, decades=1, passive=True, loads=0)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    assert_drift_is_of_order_four(probe, q, v, lambda q, v, t: probe.momentum(q, v)[:3])
    assert_drift_is_of_order_four(probe, q, v, lambda q, v, t: probe.momentum(q, v)[3:])


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_without_dampers_conserves_energy_at_the_order_of_rk4(seed):
    plan = random_plan(seed + 10, max_links=6, passive=False, decades=1, loads=0)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    assert_drift_is_of_order_four(probe, q, v, lambda *state: np.array([probe.energies(*state).sum()]))


@pytest.mark.parametrize("seed", range(6))
def test_energy_and_work_balance_at_the_order_of_rk4(seed):
    plan = random_plan(seed + 40, max_links=6, passive=True, decades=1, loads=4)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    start = probe.energies(q, v).sum()

    def imbalance(steps):
        path = probe.run(q, v, 0.4 / steps, steps, stride=steps)
        supplied, dissipated = path.work[-1]
        assert dissipated > 0
        return abs(probe.energies(path.q[-1], path.v[-1], path.t[-1]).sum() - start - supplied + dissipated)

    coarse, fine = imbalance(100), imbalance(200)
    scale = abs(start) + 1
    assert coarse < 1e-5 * scale
    assert fine < coarse / 12 + 1e-13 * scale
