"""What a model has that not every method can do, found in one place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property

from ..compile.colliders import may_touch
from ..compile.spanning import Edge, Spanning, spanning_tree
from ..compile.welded import carriers, label, light_welds, too_light
from ..engine.elements import Backlash, Repeater
from ..engine.loads import (
    BodyFunction,
    Bushing,
    Force,
    JointFunction,
    LineFunction,
    Load,
    Spring,
    Torque,
    Tyre,
)
from ..model import Flat, Port
from ..model.drive import Drive
from ..model.joints import Distance


def features(
    flat: Flat, among: Iterable[str] | None = None, spanning: Spanning | None = None
) -> dict[str, list[str]]:
    """Features of a model by name, each with the items that cause it, in words; only those of `among`, if given.

    `spanning`: which joints form its tree, if that is known.
    """
    look = _Look(flat, spanning)
    found = {
        name: DETECTED[name](look) for name in (DETECTED if among is None else among) if name in DETECTED
    }
    return {name: items for name, items in found.items() if items}


class _Look:
    """A model that is looked at; where its loops are cut is found out if somebody asks."""

    def __init__(self, flat: Flat, spanning: Spanning | None = None):
        self.flat, self._spanning = flat, spanning

    @cached_property
    def spanning(self) -> Spanning:
        return spanning_tree(self.flat) if self._spanning is None else self._spanning

    @property
    def cuts(self) -> list[str]:
        """Joints that close loops, and those that are attached and released."""
        return [joint.name for joint in self.spanning.cuts]

    def loops(self) -> list[str]:
        joints = self.flat.joints
        return [f"joint '{name}' closes a loop" for name in self.cuts if not joints[name].closes_only]

    def joints_that(self, what: str, has: Callable[..., bool]) -> list[str]:
        return [f"joint '{joint.name}' {what}" for joint in self.flat.joints.values() if has(joint)]

    def drives(
        self, kind: str = "", what: str = "acts on a joint", has: Callable[[Drive], object] = lambda _: True
    ) -> list[str]:
        drives = [drive for drive in self.flat.drives.values() if kind in ("", drive.kind) and has(drive)]
        return [f"drive '{drive.name}' {what}" for drive in drives]

    def plays(self, what: str, has: Callable[[Backlash], bool]) -> list[str]:
        plays = [thing for thing in self.flat.couplings.values() if isinstance(thing, Backlash)]
        return [f"backlash '{play.name}' {what}" for play in plays if has(play)]

    def limited(self, kind: str) -> list[str]:
        return self.drives(kind, "has a limited strength", lambda drive: math.isfinite(drive.bound))

    def servos_of_balls(self) -> list[str]:
        balls = [name for name, joint in self.flat.joints.items() if joint.kind in ("spherical", "free")]
        what = "keeps the rate of a ball, which is no coordinate"
        return self.drives("velocity_servo", what, lambda drive: drive.joint in balls)

    def loads(self, *kinds: type[Load]) -> list[str]:
        return [f"load '{load.name}' acts" for load in self.flat.loads.values() if type(load) in kinds]

    def joint_functions(self, *, closing: bool) -> list[str]:
        loads = [load for load in self.flat.loads.values() if isinstance(load, JointFunction)]
        return [
            f"load '{load.name}' acts on the coordinates of joint '{load.joint}'"
            for load in loads
            if (load.joint in self.cuts) == closing
        ]

    def sealed(self) -> list[str]:
        owners = (body.owner for body in self.flat.bodies.values() if isinstance(body, Port))
        return [f"component '{owner}' is sealed" for owner in dict.fromkeys(owners)]

    @cached_property
    def merged(self) -> tuple[Edge, ...]:
        """Welds of bodies that count as one where bodies float."""
        return light_welds(self.flat, self.spanning.edges)

    def weightless(self) -> list[str]:
        return [
            f"body {label(body, self.merged)} has no inertia of its own about some axis"
            for body in too_light(self.flat, self.merged)
        ]

    def light_parts(self) -> list[str]:
        leaders = dict.fromkeys(carriers(self.flat.bodies, self.merged)[weld.child] for weld in self.merged)
        return [f"body {label(body, self.merged)} has parts that are too light to float" for body in leaders]


DETECTED: dict[str, Callable[[_Look], list[str]]] = {
    "loops": _Look.loops,
    "distance joints": lambda look: look.joints_that("is a rod", lambda joint: isinstance(joint, Distance)),
    "joints attached and released": lambda look: look.joints_that(
        "is attached and released", lambda joint: joint.switchable
    ),
    "limits": lambda look: [
        *look.joints_that("has limits", lambda joint: joint.limits is not None),
        *look.plays("has rigid flanks", lambda play: play.rigid),
    ],
    "dry friction": lambda look: look.joints_that(
        "has dry friction", lambda joint: any(joint.per_rate("friction"))
    ),
    "springs in joints": lambda look: look.joints_that(
        "has a spring or damper",
        lambda joint: any(joint.per_rate("spring")) or any(joint.per_rate("damping")),
    ),
    "springs": lambda look: look.loads(Spring),
    "bushings": lambda look: look.loads(Bushing),
    "forces and torques": lambda look: look.loads(Force, Torque),
    "body functions": lambda look: look.loads(BodyFunction),
    "line functions": lambda look: look.loads(LineFunction),
    "tyres": lambda look: [
        f"tyre '{load.name}' rolls on a road" for load in look.flat.loads.values() if isinstance(load, Tyre)
    ],
    "joint functions": lambda look: look.joint_functions(closing=False),
    "joint functions at closed loops": lambda look: look.joint_functions(closing=True),
    "torque sources": lambda look: look.drives("torque_source"),
    "velocity servos": lambda look: look.drives("velocity_servo"),
    "velocity servos of limited strength": lambda look: look.limited("velocity_servo"),
    "velocity servos of balls": _Look.servos_of_balls,
    "position servos": lambda look: look.drives("position_servo"),
    "position servos of limited strength": lambda look: look.limited("position_servo"),
    "DC motors": lambda look: look.drives("dc_motor"),
    "motors by their map": lambda look: [*look.drives("traction_motor"), *look.drives("axle_motor")],
    "brakes and clutches": lambda look: [*look.drives("brake"), *look.drives("clutch")],
    "actuators and cylinders": lambda look: look.drives(
        has=lambda drive: drive.law and drive.law.state and not drive.law.sticks
    ),
    "sampled controllers": lambda look: look.drives(has=lambda drive: drive.period > 0.0),
    "control diagrams": lambda look: (
        [f"it has a control diagram ('{next(iter(look.flat.control))}' ...)"] if look.flat.control else []
    ),
    "repeaters": lambda look: [
        f"'{thing.name}' couples joints"
        for thing in look.flat.couplings.values()
        if isinstance(thing, Repeater)
    ],
    "backlash": lambda look: look.plays("is free play", lambda play: not play.rigid),
    "contact": lambda look: may_touch(look.flat),
    "sealed components": _Look.sealed,
    "bodies without inertia": _Look.weightless,
    "light bodies welded to others": _Look.light_parts,
}
"""How each feature of models is found."""


def resisting(flat: Flat) -> list[str]:
    """Materials, and pairs of them, with rolling or torsional friction, in words."""
    single = [(f"material '{name}' resists", m.rolling or m.torsion) for name, m in flat.materials.items()]
    pairs = [
        (f"materials '{pair.a}' and '{pair.b}' resist", pair.rolling or pair.torsion)
        for pair in flat.material_pairs.values()
    ]
    return [f"{who} rolling or spinning" for who, resists in (*single, *pairs) if resists]
