"""Mechanisms in random hierarchies of subsystems."""

import dataclasses

import numpy as np

from linkwork.compile.subsystems import Subsystem
from linkwork.fuzz.random_mechanisms import build, random_plan
from linkwork.methods.components import ComponentMethod
from linkwork.methods.part import Steps

DEPTH = 4


def random_partition(rng, bodies, name="top", depth=0):
    """Any tree over these bodies: components of one body, of none, and without bodies of their own among them."""
    bodies = [str(body) for body in rng.permutation(list(bodies))]
    count = int(rng.integers(0, 4)) if depth < DEPTH else 0
    place = rng.integers(-1, count, len(bodies))
    parts = [[body for body, p in zip(bodies, place, strict=True) if p == k] for k in range(-1, count)]
    children = (random_partition(rng, part, f"{name}.{k}", depth + 1) for k, part in enumerate(parts[1:]))
    return Subsystem(name, tuple(parts[0]), tuple(children))


def smooth_mechanism(seed, **options):
    """A random mechanism without what component-based simulation refuses: limits, friction, limited servos."""
    plan = random_plan(seed, **options)
    rough = ("limits", "friction", "velocity_servo")
    extras = tuple(extra for extra in plan.extras if extra.kind not in rough)
    return build(dataclasses.replace(plan, extras=extras, placed="here"))


def by_components(model, partition=None, integrator="rk4", dt=1e-3):
    return ComponentMethod(model, Steps(integrator, dt, 1e-8), partition)


def some_partitions(model, seed, count=3):
    rng = np.random.default_rng([seed, 7])
    return [random_partition(rng, model.flatten().bodies) for _ in range(count)]
