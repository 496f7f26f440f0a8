"""What is compiled together: the kernels of a method, or of contact, and the parts that several processes share out.

Kernels follow from the types of tables, which no model changes: small mechanisms stand for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.elements import PositionServo
from ..engine.loads import Spring
from ..model import (
    GROUND,
    Body,
    Box,
    Cylinder,
    Ellipsoid,
    Free,
    HeightField,
    Hinge,
    Material,
    Model,
    Plane,
    Scenery,
    Shape,
    Sphere,
    Spherical,
)

if TYPE_CHECKING:
    from ..engine.kernels.rehearsal import Part
    from ..model import Flat

__all__ = ["PIECES", "Piece", "compile_piece", "extras_of", "parts_of", "pieces_of"]


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


def bounded() -> Model:
    """All of that, and a joint with friction that comes to its stop."""
    model = loop()
    model.add(_rod("lever", 7.0, 0.0))
    model.add(
        Hinge("L", GROUND, "lever", at=(7.0, 0.0, 0.0), velocity=1.0, friction=0.1, limits=(-1.0, 0.5e-3))
    )
    return model


def controlled(model: Model) -> Model:
    """What has all that `bounded` has, with a control diagram of operations of all kinds."""
    from ..control.blocks import BLOCKS

    of: dict[str, Any] = {**BLOCKS}
    for block in (
        of["lever"]("stick"), of["sine_wave"]("wave", 1.0), of["chirp"]("chirp", 1.0, 2.0, 1.0), of["imu"]("imu", "r"),
        of["time_table"]("corners", (0.0, 1.0), (0.0, 1.0)), of["noise"]("noise", 1e-3), of["pulse"]("beat", 0.1),
        of["formula"]("sum", "sin(wave)*R.angle + atan2(stick, 2) + abs(chirp)*lag + r.position.x + r.rotation.w"),
        of["saturation"]("bounded", "sum"), of["relay"]("relay", "bounded", 0.5, 0.1), of["play"]("loose", "sum", 0.1),
        of["lookup"]("curve", "sum", (0.0, 1.0), (0.0, 1.0)), of["rate_limit"]("slow", "curve", 1.0, time_constant=1.0),
        of["lookup_2d"]("map", "sum", "wave", (0.0, 1.0), (0.0, 1.0), ((0.0, 1.0), (1.0, 0.0))),
        of["first_order"]("lag", "map", 1.0), of["integrator"]("area", "loose", low=-1.0, high=1.0),
        of["sampled_pid"]("pid", "slow", "noise", 1e-3, proportional=1.0), of["delay"]("late", "pid", 1e-3),
        of["moving_average"]("mean", "late", 1e-3, 3), of["flip_flop"]("seen", "relay", "beat"),
        of["state_machine"]("machine", ("a", "b"), ({"source": "a", "target": "b", "when": "seen"},), 1e-3),
        of["formula"]("all", "0.01*mean + 0.01*area + 0.01*machine.elapsed + 1e-6*servo.force + imu.az*1e-6"),
        of["drive"]("act", "servo", "all"),
    ):  # fmt: skip
        model.add(block)
    return model


def touching() -> Model:
    """What `bounded` has, and shapes of many kinds that drop on others: some slip, some stick."""
    model = bounded()
    model.add(Material("matter", friction=0.5, rolling=1e-3))
    floors = (Plane(), Box((4.0, 4.0, 2.0), at=(20.0, 0.0, 0.0)))
    model.add(Scenery("floor", shapes=floors, material="matter"))
    ball, brick, drum, egg = Sphere(0.1), Box((0.2, 0.2, 0.2)), Cylinder(0.1, 0.2), Ellipsoid((0.1, 0.1, 0.1))
    # Two bricks on each other; they lie a little too deep.
    dropped: list[tuple[Shape, float, float, float, float]] = [
        (brick, 10.0, 9.0, 0.09, 0.0), (brick, 10.0, 9.0, 0.289, 0.0), (ball, 11.0, 9.0, 0.1, 0.3),
        (ball, 20.0, -1.0, 1.1, 0.3), (brick, 20.0, 0.0, 1.1, 0.3), (drum, 20.0, 1.0, 1.1, 0.3),
        (egg, 21.0, 0.0, 1.1, 0.3),
    ]  # fmt: skip
    return _drop(model, dropped)


def rough() -> Model:
    """Terrain with edges and without, and shapes that drop on it."""
    model = Model("rough")
    model.add(Material("matter", friction=0.5))
    flat = ((0.0,) * 4,) * 4
    floors = (
        HeightField((4.0, 4.0), heights=flat, at=(30.0, 0.0, 1.0)),
        HeightField((4.0, 4.0), heights=flat, smooth=True, at=(40.0, 0.0, 1.0)),
    )
    model.add(Scenery("floor", shapes=floors, material="matter"))
    ball, brick, drum = Sphere(0.1), Box((0.2, 0.2, 0.2)), Cylinder(0.1, 0.2)
    dropped: list[tuple[Shape, float, float, float, float]] = [
        (ball, 30.0, -1.0, 1.1, 0.3), (brick, 30.0, 0.0, 1.1, 0.3), (drum, 30.0, 1.0, 1.1, 0.3),
        (ball, 40.0, -1.0, 1.1, 0.3), (drum, 40.0, 1.0, 1.1, 0.3),
    ]  # fmt: skip
    return _drop(model, dropped)


def _drop(model: Model, dropped: list[tuple[Shape, float, float, float, float]]) -> Model:
    """Bodies of these shapes, at these places, that slip at these velocities."""
    for k, (shape, x, y, z, slip) in enumerate(dropped):
        model.add(Body(f"thing{k}", at=(x, y, z), mass=1.0, shapes=(shape,), material="matter"))
        fall = (slip, 0.0, -0.1, 0.0, 0.0, slip)
        model.add(Free(f"way{k}", GROUND, f"thing{k}", at=(x, y, z), velocity=fall))
    return model


def sliding() -> Model:
    """All that `bounded` has, a ball that slides and a box that meets the floor."""
    model = bounded()
    model.add(Material("matter", friction=0.5))
    model.add(Scenery("floor", shapes=(Plane(),), material="matter"))
    things: list[tuple[Shape, float, tuple[float, ...]]] = [
        (Sphere(0.1), 10.0, (0.3, 0.0, 0.0, 0.0, 0.0, 0.3)),
        (Box((0.2, 0.2, 0.2)), 11.0, (0.0, 0.0, -0.1, 0.0, 0.0, 0.0)),
    ]  # fmt: skip
    for k, (shape, x, velocity) in enumerate(things):
        model.add(Body(f"thing{k}", at=(x, 9.0, 0.1), mass=1.0, shapes=(shape,), material="matter"))
        model.add(Free(f"way{k}", GROUND, f"thing{k}", at=(x, 9.0, 0.1), velocity=velocity))
    return model


class Piece(NamedTuple):
    """Kernels that are compiled together."""

    build: Callable[[], Model]
    """A model that runs with them."""
    options: dict[str, Any]
    """Of `Simulation`."""
    ways: tuple[dict[str, Any], ...] = ({},)
    """Further options, for each rehearsal: what one of them does not come by another one may."""
    besides: tuple[str, ...] = ()
    """Pieces whose rehearsals come by more of its kernels."""
    diagram: bool = False
    """Whether it is rehearsed with a control diagram: its own kernels deal with that, those of "control" are others."""
    later: str = ""
    """Part of the package whose kernels it has: those that others ask for (`kernels/later.py`), and what these call."""


_FIXED_AND_ADAPTIVE: tuple[dict[str, Any], ...] = ({}, {"integrator": "euler"}, {"integrator": "adaptive"})
PIECES = {
    "contact": Piece(touching, {"method": "simgc"}, besides=("terrain",), diagram=True),
    # Which shapes meet, and how islands are solved, is compiled with both; more of it is seen where more happens.
    "smooth": Piece(sliding, {"method": "simgc", "integrator": "rk4"}, besides=("contact",), diagram=True),
    "hybrid": Piece(loop, {"method": "hybrid"}),
    "topological": Piece(loop, {"method": "topological"}),
    "global": Piece(loop, {"method": "global"}),
    "components": Piece(bounded, {"method": "components"}, ({}, {"integrator": "adaptive"})),
    "direct": Piece(bounded, {"method": "simgc", "solver": "direct"}, _FIXED_AND_ADAPTIVE, diagram=True),
    "impulses": Piece(bounded, {"method": "simgc", "solver": "impulses"}, diagram=True),
    "tree": Piece(open_chain, {"method": "tree"}, _FIXED_AND_ADAPTIVE),
    "control": Piece(
        bounded,
        {"method": "simgc"},
        ({"solver": "direct"}, {"solver": "impulses"}),
        diagram=True,
        later="control",
    ),
    "terrain": Piece(rough, {"method": "simgc"}, later="contact.heights"),
}
"""All kernels that stepping and recording need: those of a method or solver, of contact by impulses ("contact"), or of
contact as constraints between events ("smooth"); and beside these what few models have: control diagrams, terrain."""


def pieces_of(flat: Flat | None, way: str, touches: bool, integrator: str = "euler") -> list[str]:
    """The pieces that a way of `methods.registry.WAYS` needs with an integrator, for a model if that is known."""
    name = way.rpartition(", ")[2]
    if touches:
        name = "contact" if integrator == "euler" else "smooth"
    found = [name, *([] if flat is None else extras_of(flat))]
    return [name for name in found if name in PIECES]


def extras_of(flat: Flat) -> list[str]:
    """Pieces that a model needs however it runs."""
    owners = [*flat.bodies.values(), *flat.scenery.values()]
    rough = any(isinstance(shape, HeightField) for one in owners for shape in getattr(one, "shapes", ()))
    return [name for name, wanted in (("control", bool(flat.control)), ("terrain", rough)) if wanted]


def _run(piece: Piece, way: dict[str, Any], diagram: bool = False, recorded: bool = True) -> None:
    """A step, recorded if that is wanted: what records and judges a run is the same in all ways."""
    from .simulate import Simulation

    model = controlled(piece.build()) if diagram else piece.build()
    simulation = Simulation(model, **(piece.options | way))
    if recorded:
        simulation.run(simulation.dt)
    else:
        simulation.step()


@cache
def parts_of(name: str) -> dict[str, Part]:
    """What a piece consists of, each after what it calls: found by running it as plain Python."""
    from ..engine.kernels.rehearsal import rehearsed

    with rehearsed() as parts:
        mine = PIECES[name]
        for piece in (mine, *(PIECES[other] for other in mine.besides)):
            for way in piece.ways:
                _run(piece, way, piece.diagram, recorded=way is mine.ways[0])
    wanted = f"{__package__.rpartition('.')[0]}.engine.{mine.later}"
    found: set[Part] = set()
    for part in reversed(parts):  # callers before what they call
        late = part.kernel.is_later and not part.entry
        root = late and part.module.startswith(wanted) if mine.later else part.entry
        if part in found or root:
            found |= {part, *part.calls}
    return {part.name: part for part in parts if part in found}


def compile_piece(name: str) -> None:
    """Compile a piece in this process, or load what of it is kept on disk."""
    if PIECES[name].later:
        for part in parts_of(name).values():
            part.compile()
    else:
        _run(PIECES[name], PIECES[name].ways[0])
