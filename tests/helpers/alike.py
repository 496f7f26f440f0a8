"""Whether two models are the same but for rounding."""

import dataclasses

SHELVES = (
    "bodies",
    "markers",
    "joints",
    "loads",
    "drives",
    "couplings",
    "materials",
    "scenery",
    "no_contacts",
)


def near(a, b, slack=1e-12):
    """Numbers to rounding, quaternions to their sign, files by their names."""
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(near(x, y, slack) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float | int):
        return a == b or abs(a - b) <= slack * max(1.0, abs(a))
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(_field(f.name, a, b, slack) for f in dataclasses.fields(a))
    return a == b


def _field(name, a, b, slack):
    x, y = getattr(a, name), getattr(b, name)
    if name == "file" and x and y:
        return x.rpartition("/")[2] == y.rpartition("/")[2]
    return near(x, y, slack) or (name == "rotation" and near(tuple(-v for v in x), y, slack))


def differences(one, other, slack=1e-12):
    """What two models do not have in common."""
    found = [] if near(one.gravity, other.gravity) else [("gravity", one.gravity, other.gravity)]
    for shelf in SHELVES:
        a, b = getattr(one, shelf), getattr(other, shelf)
        found += [(shelf, name) for name in a.keys() ^ b.keys()]
        found += [
            (shelf, a[name], b[name]) for name in a.keys() & b.keys() if not near(a[name], b[name], slack)
        ]
    return found
