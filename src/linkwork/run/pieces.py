"""What is compiled together: the kernels of a method, or of contact, divided into jobs for several processes.

Kernels follow from the types of tables, which no model changes: small mechanisms stand for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..methods.base import Method
from ..model import GROUND, Body, Free, Hinge, Material, Model, Plane, Scenery, Sphere

__all__ = ["OBSERVE", "PIECES", "STEP", "Piece", "compile_job", "compile_piece", "piece_of"]

OBSERVE, STEP = "observe", "step"
"""Jobs of every piece: what measures and records a state, and a step, which needs all the others."""


def _rod(name: str, x: float, y: float) -> Body:
    """A body with inertia about all axes."""
    return Body(name, at=(x, y, 0.0), mass=1.0, com=(0.0, 0.5, 0.0), inertia=(0.1, 0.1, 0.1))


def open_chain() -> Model:
    """A pendulum."""
    model = Model("open_chain")
    model.add(_rod("a", 0.0, 0.0))
    model.add(Hinge("A", GROUND, "a"))
    return model


def loop() -> Model:
    """A four-bar linkage: ground, two cranks and what couples them."""
    model = Model("loop", gravity=(0.0, -9.81, 0.0))
    for name, x, y in (("a", 0.0, 0.0), ("b", 1.0, 0.0), ("c", 0.0, 1.0)):
        model.add(_rod(name, x, y))
    for name, first, second, at in (
        ("A", GROUND, "a", (0.0, 0.0, 0.0)), ("B", GROUND, "b", (1.0, 0.0, 0.0)),
        ("C", "a", "c", (0.0, 1.0, 0.0)), ("D", "c", "b", (1.0, 1.0, 0.0)),
    ):  # fmt: skip
        model.add(Hinge(name, first, second, at=at, velocity=0.5 if second != "c" else -0.5))
    return model


def touching() -> Model:
    """The same linkage, and a ball that lies on a plane."""
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
    jobs: dict[str, float]
    """CPU time of each on an empty cache, with those before it compiled [s]; parts of the method are by its names."""

    @property
    def cost(self) -> float:
        """CPU time of all of it [s]; only ratios count."""
        return sum(self.jobs.values())


_IMPLICIT = {"observe": 10.0, "rows": 2.0, "tangents": 2.0, "blocks": 3.0, "evaluate": 7.0, "begin": 4.0}
PIECES = {
    "contact": Piece(
        touching,
        {"method": "simgc"},
        {
            "collide": 16.0, "subspace": 5.0, "rows": 3.0, "patches": 2.0, "settle": 4.0, "detect": 5.0,
            OBSERVE: 5.0, STEP: 20.0,
        },
    ),
    "hybrid": Piece(loop, {"method": "hybrid"}, {**_IMPLICIT, STEP: 16.0}),
    "topological": Piece(loop, {"method": "topological"}, {**_IMPLICIT, STEP: 18.0}),
    "global": Piece(loop, {"method": "global"}, {**_IMPLICIT, STEP: 16.0}),
    "components": Piece(loop, {"method": "components"}, {OBSERVE: 8.0, STEP: 22.0}),
    "direct": Piece(loop, {"method": "simgc", "solver": "direct"}, {OBSERVE: 7.0, STEP: 20.0}),
    "impulses": Piece(loop, {"method": "simgc", "solver": "impulses"}, {OBSERVE: 6.0, STEP: 9.0}),
    "tree": Piece(open_chain, {"method": "tree"}, {OBSERVE: 3.0, STEP: 8.0}),
}  # fmt: skip
"""All kernels that stepping and recording need: those of a method or solver, or of contact."""


def piece_of(way: str, touches: bool) -> str | None:
    """The piece that a way of `methods.registry.WAYS` needs; None if it has none."""
    name = "contact" if touches else way.rpartition(", ")[2]
    return name if name in PIECES else None


def compile_job(name: str, job: str) -> None:
    """Compile a job of a piece in this process, or load what of it is kept on disk."""
    from ..engine.kernels.jit import compile_inner
    from .simulate import Simulation

    piece = PIECES[name]
    simulation = Simulation(piece.build(), **piece.options)
    method: Method = simulation.method
    if job == OBSERVE:
        method.observer.observe(method.now())
    elif job == STEP:
        simulation.run(simulation.dt)
    else:
        compile_inner(*method.parts()[job])


def compile_piece(name: str) -> None:
    """Compile a piece in this process, or load what of it is kept on disk."""
    compile_job(name, STEP)
