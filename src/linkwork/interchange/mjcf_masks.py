"""Who touches whom as MuJoCo's masks: two touch if the type of one is among the affinities of the other."""

from __future__ import annotations

from itertools import combinations_with_replacement

from ..model import Body, Flat, Scenery

_MOST = 31
"""Bits of a mask."""


class Masks:
    """Type and affinity of everything that may touch, by its name."""

    def __init__(self, flat: Flat):
        self.flat = flat
        things: list[Body | Scenery] = [*flat.bodies.values(), *flat.scenery.values()]
        touching = [thing for thing in things if thing.material is not None]
        rules = [
            (rule.a, rule.b)
            for rule in flat.no_contacts.values()
            if not (rule.a in flat.bodies and rule.b in flat.bodies)  # these are excludes
        ]
        named = {name for rule in rules for name in rule}
        labels = {
            thing.name: frozenset({thing.name, thing.group or thing.name} & named) for thing in touching
        }
        classes = list(dict.fromkeys(labels.values()))
        self.crowded = len(classes) > _MOST
        """Whether there are more classes than bits."""
        classes = classes[:_MOST]
        affinity = dict.fromkeys(range(len(classes)), 0)
        for i, j in combinations_with_replacement(range(len(classes)), 2):
            one, other = classes[i], classes[j]
            if not any((a in one and b in other) or (b in one and a in other) for a, b in rules):
                affinity[i] |= 1 << j
                affinity[j] |= 1 << i
        self.of: dict[str, tuple[int, int]] = {}
        for name, label in labels.items():
            i = classes.index(label) if label in classes else 0
            self.of[name] = 1 << i, affinity[i]
