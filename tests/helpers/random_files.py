"""Random models with everything that a file can hold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from linkwork import (
    PID,
    Actuator,
    AxleMotor,
    BeltTyre,
    Brake,
    BrushTyre,
    Clutch,
    HydraulicCylinder,
    MagicTyre,
    TractionMotor,
)
from linkwork.engine.elements import (
    COUPLINGS,
    DRIVES,
    Backlash,
    DCMotor,
    PositionServo,
    Repeater,
    TorqueSource,
    VelocityServo,
)
from linkwork.engine.loads import Bushing, Force, Spring, Torque
from linkwork.io.kinds import file_types
from linkwork.model import Body, Component, Marker, Material, MaterialPair, Model, NoContact, Scenery
from linkwork.model.item import Refers
from linkwork.model.joints import JOINTS, Joint
from linkwork.model.rotation import about
from linkwork.model.shapes import (
    SHAPES,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
    Torus,
)
from linkwork.model.signals import Sine, Table

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(min_value=1e-300, max_value=1e300)
NON_NEGATIVE = st.just(0.0) | POSITIVE
NOT_ZERO = NUMBERS.filter(bool)
LIMITS = st.tuples(st.none() | NUMBERS, st.none() | NUMBERS).filter(
    lambda pair: None in pair or pair[0] <= pair[1]
)
POINTS = st.tuples(*[st.floats(-1e6, 1e6)] * 3)
AXES = st.tuples(*[st.floats(-5.0, 5.0)] * 3).filter(lambda a: math.hypot(*a) > 1e-3)
QUATERNIONS = st.builds(about, AXES, st.floats(-10, 10)) | st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(
    lambda q: math.hypot(*q) > 1e-3
)
TRICKY = (
    "null",
    "true",
    "no",
    "1",
    "1e3",
    "=x",
    "-",
    "~",
    "#a",
    "Ωμέγα",
    "腕",
    "a,b",
    "{}",
    "\x07",
    "&a",
    "*b",
    "!c",
)
NAMES = st.sampled_from(TRICKY) | st.text(min_size=1, max_size=12).filter(
    lambda name: name != "ground" and not any(c.isspace() or c in "/:\\\"'." for c in name)
)
TITLES = st.sampled_from(("wheel", "", "two\nlines", "=1", "a: b")) | st.text(max_size=8)


def shapes(folder: Path, fixed: bool) -> st.SearchStrategy[Any]:
    places = {"at": POINTS, "rotation": QUATERNIONS}
    made = {
        "box": st.builds(Box, st.tuples(POSITIVE, POSITIVE, POSITIVE), **places),
        "sphere": st.builds(Sphere, POSITIVE),
        "cylinder": st.builds(Cylinder, POSITIVE, POSITIVE, **places),
        "capsule": st.builds(Capsule, POSITIVE, POSITIVE, **places),
        "torus": st.builds(
            lambda tube, more, **place: Torus(tube + more, tube, **place), POSITIVE, POSITIVE, **places
        ),
        "ellipsoid": st.builds(Ellipsoid, st.tuples(POSITIVE, POSITIVE, POSITIVE), **places),
        "mesh": st.builds(
            Mesh, st.just(str(folder / "sub" / "part.stl")), scale=POSITIVE, inverted=st.booleans()
        ),
    }
    grids = st.just(((0.0, -0.0), (1e-3, 2.5), (1.0, 1.0)))
    size = st.tuples(POSITIVE, POSITIVE)
    surfaces = {
        "plane": st.builds(Plane, **places),
        "heights": st.builds(HeightField, size, heights=grids, smooth=st.booleans(), **places)
        | st.builds(HeightField, size, file=st.just(str(folder / "sub" / "hills.csv"))),
    }
    assert made.keys() | surfaces.keys() == SHAPES.keys()
    return st.one_of(*made.values(), *(surfaces.values() if fixed else ()))


SIGNALS = st.none() | st.one_of(
    st.builds(Sine, NON_NEGATIVE, amplitude=NUMBERS, phase=NUMBERS, offset=NUMBERS),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=60).map(
        lambda rows: Table(sorted(t for t, _ in rows), [x for _, x in rows])
    ),
)


@st.composite
def bodies(draw: st.DrawFn, name: str, folder: Path, materials: list[str], group: str) -> Body:
    geometry = draw(st.lists(shapes(folder, fixed=False), max_size=2))
    common = {"at": draw(POINTS), "rotation": draw(QUATERNIONS), "shapes": geometry}
    common["color"] = draw(st.none() | st.just("#12abEF"))
    common["com"] = draw(st.none() | POINTS)
    common["group"] = draw(st.none() | st.just(group))
    if geometry and materials:
        common["material"] = draw(st.none() | st.sampled_from(materials))
    if geometry and draw(st.booleans()):
        return Body(name, density=draw(POSITIVE), **common)
    a, b = draw(st.floats(0.1, 10)), draw(st.floats(0.1, 10))
    inertia = draw(
        st.sampled_from((None, (a, b, (a + b) / 2), (a, b, (a + b) / 2, -0.0, 0.01, 0.0), (0.1, 0.1, a)))
    )
    return Body(name, mass=draw(NON_NEGATIVE), inertia=inertia, trust_inertia=True, **common)


@st.composite
def joints(draw: st.DrawFn, name: str, ends: tuple[str, str], markers: list[str]) -> Joint:
    kind = draw(st.sampled_from(sorted(JOINTS)))
    extra = {"pitch": draw(NUMBERS)} if kind == "screw" else {}
    plain = JOINTS[kind](name, *ends, **extra)
    count = len(plain.rates)
    fields = dict.fromkeys(("damping", "spring", "friction", "armature"), NON_NEGATIVE) | {"rest": NUMBERS}
    for field, numbers in fields.items():
        extra[field] = draw(st.just(0.0) | numbers | st.tuples(*[numbers] * count))
    extra["limits"] = draw(st.none() | LIMITS | (st.tuples(*[LIMITS] * count) if count else st.none()))
    extra["restitution"] = draw(st.just(0.0) | st.floats(0, 1))
    if "qw" not in plain.coordinates:
        extra["position"] = draw(st.none() | NUMBERS | st.tuples(*[NUMBERS] * count))
    else:
        extra["position"] = draw(
            st.tuples(*[NUMBERS] * (len(plain.coordinates) - 4), *[st.floats(0.1, 1)] * 4)
        )
    if draw(st.booleans()):
        extra |= {"axis": draw(st.just((0.0, -0.0, 2.0))), "reference": (1.0, 0.0, 5.0)}
    else:
        extra["axis"] = draw(st.none() | AXES)
    at = draw(POINTS | st.sampled_from(markers) if markers else POINTS)
    return JOINTS[kind](name, *ends, at=at, mirrored=draw(st.booleans()), **extra)


@st.composite
def loads(draw: st.DrawFn, name: str, known: list[str], markers: list[str], folder: Path) -> Any:
    kind = draw(st.sampled_from(sorted(file_types("loads"))))
    body = draw(st.sampled_from(known))
    place = POINTS | st.sampled_from(markers) if markers else POINTS
    if kind == "force":
        at, signal = draw(st.none() | place), draw(SIGNALS)
        return Force(name, body, force=draw(POINTS), at=at, signal=signal, follows=draw(st.booleans()))
    if kind == "torque":
        return Torque(name, body, torque=draw(POINTS), signal=draw(SIGNALS))
    if kind == "belt_tyre":
        size = {field: draw(POSITIVE) for field in ("radius", "load", "length", "width")}
        own = {"stiffness": draw(st.none() | POSITIVE), "damping": draw(st.none() | NON_NEGATIVE)}
        return BeltTyre(name, body, at=draw(st.none() | place), axis=draw(AXES), **size, **own)
    if kind in ("brush_tyre", "magic_tyre"):
        wheel = {"at": draw(st.none() | place), "axis": draw(AXES)}
        wheel["footprint"] = draw(st.none() | st.tuples(NON_NEGATIVE, NON_NEGATIVE))
        if kind == "magic_tyre":
            side = draw(st.sampled_from(("left", "right")))
            return MagicTyre(name, body, file=str(folder / "sub" / "tyre.tir"), side=side, **wheel)
        own = {"stiffness": draw(st.none() | POSITIVE), "trail": draw(st.none() | NON_NEGATIVE)}
        degression = draw(st.floats(0.0, 0.9))
        numbers = {"radius": draw(POSITIVE), "load": draw(POSITIVE), "degression": degression}
        return BrushTyre(name, body, **numbers, **own, **wheel)
    ends = {"at_a": draw(place), "at_b": draw(place)}
    if kind == "bushing":
        per_axis = {field: draw(st.tuples(*[NON_NEGATIVE] * 3)) for field in ("stiffness", "damping")}
        rest, rotation = draw(st.none() | POINTS), draw(QUATERNIONS)
        return Bushing(name, body, "ground", rest=rest, rotation=rotation, **per_axis, **ends)
    assert kind == "spring", "a new load needs its line here"
    return Spring(
        name, body, "ground", stiffness=draw(NON_NEGATIVE), length=draw(st.none() | POSITIVE), **ends
    )


@st.composite
def drives(draw: st.DrawFn, name: str, known: list[str], unlimited: st.SearchStrategy[bool]) -> Any:
    kind = draw(st.sampled_from(sorted(DRIVES)))
    common = {"coordinate": draw(st.none() | TITLES), "command": draw(NUMBERS), "signal": draw(SIGNALS)}
    joint = draw(st.sampled_from(known))
    if kind == "torque_source":
        return TorqueSource(name, joint, **common)
    if kind == "dc_motor":
        sheet = {"stall_torque": draw(POSITIVE), "idle_speed": draw(POSITIVE), "gear": draw(NOT_ZERO)}
        return DCMotor(name, joint, time_constant=draw(NON_NEGATIVE), **sheet, **common)
    if kind == "hydraulic_cylinder":
        sheet = {field: draw(POSITIVE) for field in ("area", "supply", "flow", "volume", "bulk_modulus")}
        own = {"leakage": draw(NON_NEGATIVE), "pressure": draw(NUMBERS)}
        return HydraulicCylinder(name, joint, **sheet, **own, **common)
    pair = {"other": draw(st.sampled_from(known)), "other_coordinate": draw(st.none() | TITLES)}
    if kind in ("brake", "clutch"):
        pads = {field: draw(POSITIVE) for field in ("torque", "give", "settling")}
        if kind == "brake":
            return Brake(name, joint, **pads, **common)
        assume((joint, common["coordinate"]) != (pair["other"], pair["other_coordinate"]))
        return Clutch(name, joint, ratio=draw(NOT_ZERO), **pads, **pair, **common)
    if kind in ("traction_motor", "axle_motor"):
        sheet = {field: draw(POSITIVE) for field in ("torque", "power", "top_speed")}
        sheet |= {"inertia": draw(NON_NEGATIVE), "gear": draw(NOT_ZERO)}
        if kind == "traction_motor":
            return TractionMotor(name, joint, **sheet, **common)
        assume((joint, common["coordinate"]) != (pair["other"], pair["other_coordinate"]))
        return AxleMotor(name, joint, ratio=draw(NOT_ZERO), **sheet, **pair, **common)
    if not draw(unlimited):
        common["strength"] = draw(NON_NEGATIVE)
    if kind == "velocity_servo":
        return VelocityServo(name, joint, **common)
    if kind == "actuator":
        own = {"time_constant": draw(POSITIVE), "damping": draw(NON_NEGATIVE), "built_up": draw(NUMBERS)}
        return Actuator(name, joint, **own, **common)
    if kind == "pid":
        gains = {gain: draw(NON_NEGATIVE) for gain in ("proportional", "integral", "derivative")}
        return PID(name, joint, sample_time=draw(POSITIVE), **gains, **common)
    assert kind == "position_servo", "a new drive needs its line here"
    return PositionServo(name, joint, stiffness=draw(POSITIVE), damping=draw(NON_NEGATIVE), **common)


@st.composite
def couplings(draw: st.DrawFn, name: str, known: list[str]) -> Any:
    assert COUPLINGS.keys() == {"repeater", "backlash"}, "a new coupling needs its line here"
    a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
    names = {"coordinate_a": draw(st.none() | TITLES), "coordinate_b": draw(st.none() | TITLES)}
    assume((a, names["coordinate_a"]) != (b, names["coordinate_b"]))
    if draw(st.booleans()):
        return Repeater(name, a, b, ratio=draw(NOT_ZERO), **names)
    own = {"gap": draw(NON_NEGATIVE), "middle": draw(st.none() | NUMBERS)}
    if draw(st.booleans()):
        own |= {"stiffness": draw(POSITIVE), "damping": draw(NON_NEGATIVE)}
    else:
        own["restitution"] = draw(st.floats(0, 1))
    if draw(st.booleans()):
        return Backlash(name, a, coordinate_a=names["coordinate_a"], **own)
    return Backlash(name, a, b, ratio=draw(NOT_ZERO), **names, **own)


def surfaces() -> dict[str, Any]:
    share = st.floats(0, 1)
    names = ("friction", "bounce_speed", "rolling", "torsion")
    return dict.fromkeys(names, NON_NEGATIVE) | {"restitution": share}


@st.composite
def scenery(draw: st.DrawFn, name: str, folder: Path, materials: list[str], group: str) -> Scenery:
    geometry = draw(st.lists(shapes(folder, fixed=True), min_size=1, max_size=2))
    material = draw(st.none() | st.sampled_from(materials) if materials else st.none())
    common = {"material": material, "group": draw(st.none() | st.just(group))}
    return Scenery(name, at=draw(POINTS), rotation=draw(QUATERNIONS), shapes=geometry, **common)


@st.composite
def filled(draw: st.DrawFn, component: Component, inner: list[Component], folder: Path) -> Any:
    names = draw(st.lists(NAMES, min_size=8, max_size=8, unique=True))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(draw(st.builds(Material, st.just(name), **surfaces())))
    materials, group = list(component.materials), names[7]
    if materials and draw(st.booleans()):
        values = {field: st.none() | value for field, value in surfaces().items()}
        ends = [st.sampled_from(materials)] * 2
        component.add(draw(st.builds(MaterialPair, st.just(names[0]), *ends, **values)))
    for name in names[: draw(st.integers(1, 3))]:
        component.add(draw(bodies(name, folder, materials, group)))
    for name in names[5 : 5 + draw(st.integers(0, 2))]:
        component.add(draw(scenery(name, folder, materials, group)))
    for name in names[3 : 3 + draw(st.integers(0, 2))]:
        if inner:
            placed = draw(st.sampled_from(inner))
            mirror = draw(st.none() | AXES)
            component.add(placed.instance(name, at=draw(POINTS), rotation=draw(QUATERNIONS), mirror=mirror))
    known = list(component.flatten().bodies)
    component.ports = draw(st.none() | st.just(known))
    for name in names[:2]:
        component.add(Marker(name, draw(st.sampled_from(known)), at=draw(POINTS), rotation=draw(QUATERNIONS)))
    markers = list(component.flatten().markers)
    for name in names[: draw(st.integers(0, 2))]:
        ends = draw(st.lists(st.sampled_from(["ground", *known]), min_size=2, max_size=2, unique=True))
        component.add(draw(joints(name, (ends[0], ends[1]), markers)))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(draw(loads(name, ["ground", *known], markers, folder)))
    joined = list(component.flatten().joints)
    unlimited = st.booleans()
    for name in names[: draw(st.integers(0, 3)) if joined else 0]:
        component.add(draw(drives(name, joined, unlimited)))
    for name in names[: draw(st.integers(0, 2)) if joined else 0]:
        component.add(draw(couplings(name, joined)))
    touching = st.sampled_from(list(component.flatten().of(Refers.TOUCHING)))
    for name in names[: draw(st.integers(0, 2))]:
        component.add(NoContact(name, draw(touching), draw(touching)))
    return component


@st.composite
def models(draw: st.DrawFn, folder: Path) -> Model:
    parts: list[Component] = []
    for _ in range(draw(st.integers(0, 2))):
        parts.append(draw(filled(Component(draw(TITLES)), list(parts), folder)))
    model = Model(draw(TITLES), gravity=draw(POINTS))
    return draw(filled(model, parts, folder))
