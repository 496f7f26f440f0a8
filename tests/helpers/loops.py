"""Random mechanisms with loops: random trees, and more joints between their bodies."""

from helpers.trees import Link, Plan, build, random_joint, triple
from linkwork.model.item import GROUND

KINDS = ("hinge", "slider", "cylindrical", "universal", "spherical", "planar", "screw")


def looped(rng, seed, kinds=KINDS, *, links=5, loops=2, passive=False, **fields):
    """A random tree of `links` bodies with `loops` more joints between random bodies; `fields` are those of a plan."""
    plan = Plan(
        tuple(
            Link(
                kinds[rng.integers(len(kinds))],
                int(rng.integers(-1, i)) if i else -1,
                bool(rng.random() < 0.5),
            )
            for i in range(links)
        ),
        seed=seed,
        passive=passive,
        **fields,
    )
    model = build(plan)
    names = [GROUND, *model.bodies]
    for k in range(loops):
        a, b = rng.choice(len(names), 2, replace=False)
        at = triple(rng.uniform(-0.5, 0.5, 3))
        kind = kinds[rng.integers(len(kinds))]
        model.add(random_joint(rng, kind, f"loop{k}", names[a], names[b], at, passive))
    return model
