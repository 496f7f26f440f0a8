"""N four-bars in a row: one degree of freedom, but singular whenever all links lie on one line."""

from math import atan2, cos, hypot, sin

from ..model import GROUND, Body, Box, Component, Hinge, Marker, Model
from ..model.errors import LinkworkError

SOURCE = "IFToMM benchmark A02 (lim.ii.udc.es/mbsbenchmark)"
DURATION = 10.0
ENDLESS = True
PLOT = ("A0.angle", "A0.angle_rate", "energy.balance")


def rod(
    name: str, start: tuple[float, float], end: tuple[float, float], mass: float, width: float = 0.05
) -> Body:
    """A uniform rod between two points of the plane z = 0 [m], of some inertia about its own axis too."""
    (x0, y0), (x1, y1) = start, end
    length, angle = hypot(x1 - x0, y1 - y0), atan2(y1 - y0, x1 - x0)
    side = mass * length**2 / 12
    inertia = (mass * width**2 / 6, side, side)  # no motion in the plane feels the first
    box, turned = (
        Box((length, width, width), at=(length / 2, 0.0, 0.0)),
        (cos(angle / 2), 0.0, 0.0, sin(angle / 2)),
    )
    return Body(
        name, at=(x0, y0, 0.0), rotation=turned, mass=mass, com=box.at, inertia=inertia, shapes=(box,)
    )


def build(n: int = 40, rate: float = 1.0) -> Model:
    """`n` four-bars of unit links; `rate` at which they start to tip over clockwise [rad/s]."""
    model = Model(f"n_four_bar{n}", gravity=(0.0, -9.81, 0.0))
    for k in range(n + 1):
        model.add(rod(f"link{k}", (k, 0.0), (k, 1.0), 1.0))
        model.add(Hinge(f"A{k}", GROUND, f"link{k}", at=(k, 0.0, 0.0), velocity=-rate))
    for k in range(n):
        model.add(rod(f"coupler{k}", (k, 1.0), (k + 1.0, 1.0), 1.0))
        model.add(Hinge(f"B{k}_out", f"link{k}", f"coupler{k}", at=(k, 1.0, 0.0), velocity=rate))
        model.add(
            Hinge(f"B{k + 1}_in", f"coupler{k}", f"link{k + 1}", at=(k + 1.0, 1.0, 0.0), velocity=-rate)
        )
    model.add(Marker("B0", "link0", at=(0.0, 1.0, 0.0)))
    return model


def four_bar_chain(cells: int = 40, rate: float = 1.0) -> Model:
    """The mechanism of `build` as nested components: each chain is a component of two halves, down to single cells.

    A cell is a coupler and the link at its end. Between two halves there is one hinge, so that every component has two
    bodies by which others attach, however long it is. `rate` as for `build` [rad/s].
    """
    if cells < 1:
        raise LinkworkError(f"a chain has at least one cell (got {cells})")
    model = Model(f"four_bar_chain{cells}", gravity=(0.0, -9.81, 0.0))
    model.add(rod("link", (0.0, 0.0), (0.0, 1.0), 1.0))
    model.add(Hinge("A", GROUND, "link", velocity=-rate))
    chain, first, _ = _part_of_chain(cells, rate, {})
    model.add(chain.instance("chain"))
    model.add(Hinge("B", "link", f"chain.{first}", at=(0.0, 1.0, 0.0), velocity=rate))
    return model


def _part_of_chain(
    cells: int, rate: float, made: dict[int, tuple[Component, str, str]]
) -> tuple[Component, str, str]:
    """So many cells from the origin on, their first coupler and their last link. `made`: those of other lengths."""
    if cells not in made:
        if cells == 1:
            part, first, last = _cell(rate), "coupler", "link"
        else:
            half = cells // 2
            near, near_first, near_last = _part_of_chain(half, rate, made)
            far, far_first, far_last = _part_of_chain(cells - half, rate, made)
            first, last = f"near.{near_first}", f"far.{far_last}"
            part = Component(f"cells{cells}", ports=(first, last))
            part.add(near.instance("near"))
            part.add(far.instance("far", at=(half, 0.0, 0.0)))
            ends = f"near.{near_last}", f"far.{far_first}"
            part.add(Hinge("B", *ends, at=(half, 1.0, 0.0), velocity=rate))
        made[cells] = part, first, last
    return made[cells]


def _cell(rate: float) -> Component:
    """A coupler from the origin of the row and the link at its end."""
    part = Component("cell", ports=("coupler", "link"))
    part.add(rod("coupler", (0.0, 1.0), (1.0, 1.0), 1.0))
    part.add(rod("link", (1.0, 0.0), (1.0, 1.0), 1.0))
    part.add(Hinge("A", GROUND, "link", at=(1.0, 0.0, 0.0), velocity=-rate))
    part.add(Hinge("B", "coupler", "link", at=(1.0, 1.0, 0.0), velocity=-rate))
    return part
