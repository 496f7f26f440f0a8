"""A planar four-bar linkage."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

from ..model import Body, Box, Component, Hinge
from ..model.errors import LinkworkError

Spot = tuple[float, float]


def four_bar(
    *,
    base: float = 1.0,
    crank: float = 0.4,
    coupler: float = 1.1,
    rocker: float = 0.8,
    angle: float = 60.0,
    mass_per_length: float = 1.0,
    width: float = 0.04,
) -> Component:
    """Four bars in a ring of four hinges about z, in the plane z = 0.

    Origin: where base and crank meet; the base lies along x. Attach the base to the ground or to a machine.

    Ports: `base`, `crank`, `coupler` and `rocker`. The frame of each stands at its hinge nearer to the origin: base and
    crank at the origin, coupler at the crank's end, rocker at the base's end, x along the bar.

    * base, crank, coupler, rocker: lengths [m];
    * angle of the crank against the base [°]; coupler and rocker meet above the line from crank to base's end;
    * mass_per_length: of all bars [kg/m]; width: of their square section [m].
    """
    O: Spot = (0.0, 0.0)
    A: Spot = (crank * cos(angle * pi / 180), crank * sin(angle * pi / 180))
    B: Spot = (base, 0.0)
    C = _meet(A, coupler, B, rocker)
    part = Component("four_bar", ports=("base", "crank", "coupler", "rocker"))
    for name, start, end in (
        ("base", O, B), ("crank", O, A), ("coupler", A, C), ("rocker", B, C),
    ):  # fmt: skip
        part.add(bar(name, start, end, mass_per_length, width))
    for name, a, b, (x, y) in (
        ("crank_pin", "base", "crank", O), ("rocker_pin", "base", "rocker", B),
        ("crank_end", "crank", "coupler", A), ("rocker_end", "coupler", "rocker", C),
    ):  # fmt: skip
        part.add(Hinge(name, a, b, at=(x, y, 0.0)))
    return part


def bar(name: str, start: Spot, end: Spot, mass_per_length: float, width: float) -> Body:
    """A straight bar of square section between two points of the plane z = 0 [m], x along it from the first."""
    length, angle = hypot(end[0] - start[0], end[1] - start[1]), atan2(end[1] - start[1], end[0] - start[0])
    turned, box = (
        (cos(angle / 2), 0.0, 0.0, sin(angle / 2)),
        Box((length, width, width), at=(length / 2, 0.0, 0.0)),
    )
    return Body(name, at=(*start, 0.0), rotation=turned, mass=mass_per_length * length, shapes=(box,))


def _meet(A: Spot, coupler: float, B: Spot, rocker: float) -> Spot:
    """Where coupler and rocker meet: of the two places, the one to the left on the way from A to B."""
    way = hypot(B[0] - A[0], B[1] - A[1])
    if not abs(coupler - rocker) < way < coupler + rocker:
        raise LinkworkError(
            f"four_bar: coupler ({coupler:g} m) and rocker ({rocker:g} m) cannot meet over the {way:g} m between the "
            "ends of crank and base; change the lengths or the angle"
        )
    along = (way * way + coupler * coupler - rocker * rocker) / (2 * way)
    aside = (coupler * coupler - along * along) ** 0.5
    ux, uy = (B[0] - A[0]) / way, (B[1] - A[1]) / way
    return A[0] + along * ux - aside * uy, A[1] + along * uy + aside * ux
