"""What each method can do: one table of features and methods, from which refusals, docs and tests come.

A cell is `+` or the key of a reason, which is written once and shown to the user. Circumstances (contact, ranks, sealed
parts) take away more. What a model has is found out by `features`; the rest is asked for while it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..compile.spanning import Spanning
from ..model import Flat
from ..model.errors import UnsupportedError
from .features import features

SMOOTHLY = "with contact, smooth between events"
WITH_CONTACT, IN_RANKS, WITH_SEALED_PARTS = "with contact", "in ranks", "with sealed parts"
STUDIES, INVERSE, LINEAR = "statics and inverse dynamics", "inverse dynamics", "linearisation"

SWITCHING, CONTACT, SEALED = "joints attached and released", "contact", "sealed components"
SAMPLED, DIAGRAM = "sampled controllers", "control diagrams"
LIGHT_PARTS = "light bodies welded to others"
STIFF_SPRINGS = "springs too stiff for the step"
ACCELERATIONS, REACTIONS, ADAPTIVE = "accelerations", "reactions of joints", "adaptive steps"
PROCESSES, CHANGES = "several processes", "changes while it moves"
RESISTING, SLEEP = "rolling and torsional friction", "sleep"
MOVED_FORCES, DISTANT_REPEATERS = "forces moved to other bodies", "repeaters between processes"


class Reason(NamedTuple):
    """Why something cannot be done, as said of a method, and what to do instead."""

    why: str
    advice: str


REASONS = {
    "rows": Reason("has no constraints", "use method 'simgc'"),
    "smooth": Reason("takes smooth steps only", "use method 'simgc'"),
    "located": Reason("cannot agree with other processes on the moment of an event", "run it in one process"),
    "float": Reason(
        "has no joint coordinates, for its bodies float",
        "use method 'simgc', or a drive, or a body_function on the two bodies",
    ),
    "cut": Reason(
        "has no coordinates of joints that close loops", "use a drive, or a body_function on the two bodies"
    ),
    "mass": Reason(
        "lets every body float by itself",
        "give it mass and inertia about all axes, weld it to a body that has them, or use method 'simgc'",
    ),
    "sealed": Reason("has to know all bodies", "only method 'components' can move it"),
    "alone": Reason("runs in one process", "use method 'components'"),
    "stiff": Reason("takes such forces explicitly", "shorten dt, or use method 'simgc'"),
    "inner": Reason("steps what is inside explicitly", "shorten dt"),
    "jumps": Reason("works with impulses and has no accelerations", "use solver 'direct'"),
    "forces": Reason("does not solve for forces in joints", "use solver 'direct', or method 'hybrid'"),
    "first": Reason("takes fixed steps of first order and cannot keep a tolerance", "use solver 'direct'"),
    "halves": Reason("has no adaptive integrator", "give a `tolerance`, by which its own steps are halved"),
    "mean": Reason(
        "works with impulses and has no accelerations", "use solver 'direct' with integrator 'rk4'"
    ),
    "touch": Reason("does not tell forces in joints beside those of contacts", "leave the materials out"),
    "resists": Reason("knows friction at points alone", "use method 'simgc' with integrator 'euler'"),
    "goes": Reason("keeps all joints as they are", "use method 'simgc' with integrator 'euler'"),
    "awake": Reason("leaves nothing alone", "use method 'simgc' with integrator 'euler'"),
    "inverse": Reason("knows no contact", "leave the materials out"),
    "ports": Reason("have to know all bodies", "only method 'components' can move it"),
    "comes": Reason("cannot share a joint that comes and goes", "run it in one process"),
    "served": Reason("has no process of its own for a sealed component", "start the model without mpiexec"),
    "apart": Reason(
        "has parts in other processes and cannot be changed while it moves", "make the simulation anew"
    ),
    "theirs": Reason("cannot move a force to a body of another process", "run it in one process"),
    "instants": Reason("cannot agree with other processes on instants of samples", "run it in one process"),
    "tape": Reason("does not take the states of a diagram along", "use method 'simgc'"),
    "open": Reason(
        "is about the mechanism alone, not about what controls it",
        "ask it of the model without its diagram: `model.control.clear()`",
    ),
    "past": Reason(
        "know no past, on which a sampled controller depends",
        "leave it out, or put a torque source in its place",
    ),
    "instant": Reason(
        "is about what acts continuously, which a sampled controller does not",
        "leave it out, or put a torque source in its place",
    ),
    "whole": Reason(
        "lets every body float by itself",
        "write it as one body with what it is welded to, or run it in one process",
    ),
    "across": Reason("cannot couple joints of different processes", "place both in one"),
}

_TABLE = """
feature                             tree   simgc  simgc/i simmc  simmc/i hybrid global topological components
loops                               rows   +      +       +      +       +      +      +           +
distance joints                     rows   +      +       +      +       +      +      +           +
joints attached and released        rows   +      +       +      +       +      +      +           +
limits                              rows   +      +       +      +       smooth smooth smooth      +
dry friction                        rows   +      +       +      +       smooth smooth smooth      +
springs in joints                   +      +      +       +      +       +      +      +           +
springs                             +      +      +       +      +       +      +      +           +
bushings                            +      +      +       +      +       +      +      +           +
forces and torques                  +      +      +       +      +       +      +      +           +
body functions                      +      +      +       +      +       +      +      +           +
line functions                      +      +      +       +      +       +      +      +           +
tyres                               rows   +      +       +      +       +      +      +           +
joint functions                     +      +      +       float  float   +      float  +           float
joint functions at closed loops     rows   cut    cut     float  float   cut    float  cut         float
torque sources                      rows   +      +       +      +       +      +      +           +
velocity servos                     rows   +      +       +      +       +      +      +           +
velocity servos of limited strength rows   +      +       +      +       smooth smooth smooth      +
velocity servos of balls            rows   +      +       +      +       smooth smooth smooth      +
position servos                     rows   +      +       +      +       +      +      +           +
position servos of limited strength rows   +      +       +      +       +      +      +           +
DC motors                           rows   +      +       +      +       +      +      +           +
motors by their map                 rows   +      +       +      +       +      +      +           +
brakes and clutches                 rows   +      +       +      +       +      +      +           +
actuators and cylinders             rows   +      +       +      +       +      +      +           +
sampled controllers                 rows   +      +       +      +       +      +      +           +
control diagrams                    rows   +      +       +      +       tape   tape   tape        tape
repeaters                           rows   +      +       +      +       +      +      +           +
backlash                            rows   +      +       +      +       +      +      +           +
contact                             rows   +      +       +      +       smooth smooth smooth      +
sealed components                   sealed sealed sealed  sealed sealed  sealed sealed sealed      +
bodies without inertia              +      +      +       mass   mass    +      +      +           mass
light bodies welded to others       +      +      +       +      +       +      +      +           +
springs too stiff for the step      stiff  +      +       +      +       +      +      +           +
bushings too stiff for the step     stiff  +      +       +      +       +      +      +           +
accelerations                       +      +      jumps   +      jumps   +      +      +           +
reactions of joints                 +      +      forces  +      forces  +      forces +           +
adaptive steps                      +      +      first   +      first   halves halves halves      +
several processes                   alone  alone  alone   alone  alone   alone  alone  alone       +
changes while it moves              +      +      +       +      +       +      +      +           +
forces moved to other bodies        +      +      +       +      +       +      +      +           +
"""
_SHORT = {"simgc": "simgc, direct", "simmc": "simmc, direct"}

_EVENTS = {
    CONTACT: "located", "limits": "located", "dry friction": "located",
    "velocity servos of limited strength": "located",
}  # fmt: skip
"""What needs events where subsystems are in several processes."""
_TAKEN_AWAY = {
    WITH_CONTACT: {ACCELERATIONS: "mean", REACTIONS: "touch"},
    SMOOTHLY: {REACTIONS: "touch", RESISTING: "resists", SLEEP: "awake", SWITCHING: "goes"},
    IN_RANKS: {
        SWITCHING: "comes", SEALED: "served", CHANGES: "apart", MOVED_FORCES: "theirs", DISTANT_REPEATERS: "across",
        SAMPLED: "instants", LIGHT_PARTS: "whole", **_EVENTS,
    },
    WITH_SEALED_PARTS: {
        STIFF_SPRINGS: "inner", CHANGES: "apart", DISTANT_REPEATERS: "across", SAMPLED: "instants",
        LIGHT_PARTS: "whole", **_EVENTS,
    },
    STUDIES: {SEALED: "ports", "joint functions at closed loops": "cut", SAMPLED: "past", DIAGRAM: "open"},
    INVERSE: {CONTACT: "inverse"},
    LINEAR: {
        SEALED: "sealed", "joint functions at closed loops": "cut", SAMPLED: "instant", DIAGRAM: "open",
    },
}  # fmt: skip


def _columns() -> dict[str, dict[str, str]]:
    """For every method or circumstance, what it lacks and the key of the reason."""
    head, *lines = _TABLE.strip().splitlines()
    width = len(head) - len(head.removeprefix("feature").lstrip())
    names = [_SHORT.get(name, name.replace("/i", ", impulses")) for name in head[width:].split()]
    rows = {line[:width].strip(): line[width:].split() for line in lines}
    lacks = {
        name: {feature: cells[i] for feature, cells in rows.items() if cells[i] != "+"}
        for i, name in enumerate(names)
    }
    return lacks | _TAKEN_AWAY


LACKS = _columns()
"""For every method or circumstance, the features that it lacks and the key of the reason."""

FEATURES = tuple(line[: _TABLE.index("tree") - 1].strip() for line in _TABLE.strip().splitlines()[1:])
"""All features of methods."""


def has(columns: Iterable[str], feature: str) -> bool:
    """Whether a method has a feature; `columns` are its own and those of its circumstances."""
    return not any(feature in LACKS[column] for column in columns)


def refuse(columns: Sequence[str], wanted: Mapping[str, Sequence[str]]) -> None:
    """Raise if a method lacks some of the wanted features, with the items that want them, reasons and what to do.

    `columns`: the method's own and those of its circumstances. A feature without items was asked for by itself.
    """
    told: dict[tuple[str, str], list[str]] = {}
    for feature, items in wanted.items():
        for column in columns:
            if feature in LACKS[column]:
                told.setdefault((column, LACKS[column][feature]), []).extend(items)
    sentences = []
    for (column, key), items in told.items():
        who = called(columns[0]) if column == columns[0] else f"{called(columns[0])} {column}"
        because = f", but {'; '.join(items)}" if items else ""
        sentences.append(f"{who} {REASONS[key].why}{because}; {REASONS[key].advice}")
    if sentences:
        raise UnsupportedError("; ".join(sentences))


def require(columns: Sequence[str], flat: Flat, spanning: Spanning | None = None) -> None:
    """Raise if a method lacks something that a model has; `spanning`: which joints form its tree, if that is known."""
    refuse(columns, features(flat, [feature for column in columns for feature in LACKS[column]], spanning))


def called(column: str) -> str:
    """A method in words."""
    method, _, solver = column.partition(", ")
    if method in (STUDIES, INVERSE, LINEAR):
        return method
    return f"method '{method}' with solver '{solver}'" if solver else f"method '{method}'"
