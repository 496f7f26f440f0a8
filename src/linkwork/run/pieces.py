"""What is compiled together: the kernels of a method, or of contact, and the parts that several processes share out.

Kernels follow from the types of tables, which no model changes: small mechanisms stand for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.elements import PositionServo
from ..engine.loads import Spring
from ..model import GROUND, Body, Free, Hinge, Material, Model, Plane, Scenery, Sphere, Spherical

if TYPE_CHECKING:
    from ..engine.kernels.rehearsal import Part

__all__ = ["PIECES", "Piece", "compile_piece", "parts_of", "piece_of"]


def _rod(name: str, x: float, y: float) -> Body:
    """A body with inertia about all axes."""
    return Body(name, at=(x, y, 0.0), mass=1.0, com=(0.0, 0.5, 0.0), inertia=(0.1, 0.1, 0.1))


def open_chain() -> Model:
    """Two pendulums on springs, one of them spherical."""
    model = Model("open_chain", gravity=(0.0, -9.81, 0.0))
    for name, x in (("p", 5.0), ("r", 6.0)):
        model.add(_rod(name, x, 0.0))
    model.add(Spherical("P", GROUND, "p", at=(5.0, 0.0, 0.0), damping=0.1, velocity=(0.1, 0.2, 0.3)))
    model.add(Hinge("R", GROUND, "r", at=(6.0, 0.0, 0.0), velocity=1.0, spring=1.0))
    model.add(
        Spring("spring", "p", "r", at_a=(5.0, 0.5, 0.0), at_b=(6.0, 0.5, 0.0), stiffness=1.0, length=0.5)
    )
    return model


def loop() -> Model:
    """Two pendulums on springs with a servo, and a four-bar linkage: ground, two cranks and what couples them."""
    model = open_chain()
    model.add(PositionServo("servo", "R", stiffness=1.0))
    for name, x, y in (("a", 0.0, 0.0), ("b", 1.0, 0.0), ("c", 0.0, 1.0)):
        model.add(_rod(name, x, y))
    for name, first, second, at in (
        ("A", GROUND, "a", (0.0, 0.0, 0.0)), ("B", GROUND, "b", (1.0, 0.0, 0.0)),
        ("C", "a", "c", (0.0, 1.0, 0.0)), ("D", "c", "b", (1.0, 1.0, 0.0)),
    ):  # fmt: skip
        model.add(Hinge(name, first, second, at=at, velocity=0.5 if second != "c" else -0.5))
    return model


def touching() -> Model:
    """All of that, and a ball that lies on a plane."""
    model = loop()
    model.add(Material("matter"))
    model.add(Scenery("floor", shapes=(Plane(),), material="matter"))
    model.add(Body("ball", at=(9.0, 9.0, 0.1), mass=1.0, shapes=(Sphere(0.1),), material="matter"))
    model.add(Free("way", GROUND, "ball", at=(9.0, 9.0, 0.1)))
    return model


class Piece(NamedTuple):
    """Kernels that are compiled together."""

    build: Callable[[], Model]
    options: dict[str, Any]
    """Of `Simulation`."""
    ways: tuple[dict[str, Any], ...] = ({},)
    """Further options, for each rehearsal: what one of them does not come by another one may."""


_FIXED_AND_ADAPTIVE: tuple[dict[str, Any], ...] = ({}, {"integrator": "euler"}, {"integrator": "adaptive"})
PIECES = {
    "contact": Piece(touching, {"method": "simgc"}),
    "hybrid": Piece(loop, {"method": "hybrid"}),
    "topological": Piece(loop, {"method": "topological"}),
    "global": Piece(loop, {"method": "global"}),
    "components": Piece(loop, {"method": "components"}, ({}, {"integrator": "adaptive"})),
    "direct": Piece(loop, {"method": "simgc", "solver": "direct"}, _FIXED_AND_ADAPTIVE),
    "impulses": Piece(loop, {"method": "simgc", "solver": "impulses"}),
    "tree": Piece(open_chain, {"method": "tree"}, _FIXED_AND_ADAPTIVE),
}
"""All kernels that stepping and recording need: those of a method or solver, or of contact."""


def piece_of(way: str, touches: bool) -> str | None:
    """The piece that a way of `methods.registry.WAYS` needs; None if it has none."""
    name = "contact" if touches else way.rpartition(", ")[2]
    return name if name in PIECES else None


def _run(piece: Piece, way: dict[str, Any]) -> None:
    """A step, recorded."""
    from .simulate import Simulation

    simulation = Simulation(piece.build(), **piece.options, **way)
    simulation.run(simulation.dt)


@cache
def parts_of(name: str) -> dict[str, Part]:
    """What a piece consists of, each after what it calls: found by running it as plain Python."""
    from ..engine.kernels.rehearsal import rehearsed

    with rehearsed() as parts:
        for way in PIECES[name].ways:
            _run(PIECES[name], way)
    return {part.name: part for part in parts}


def compile_piece(name: str) -> None:
    """Compile a piece in this process, or load what of it is kept on disk."""
    _run(PIECES[name], {})
