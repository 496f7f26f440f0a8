"""Who may touch whom: neighbours, welds, groups, and what a model excludes."""

from __future__ import annotations

from itertools import combinations, product

from helpers.contact_models import ball, floor, model_of, pairs, table_of, touching
from linkwork import (
    Box,
    Component,
    Free,
    Hinge,
    Material,
    NoContact,
    Slider,
    Sphere,
    Weld,
)
from linkwork.compile.colliders import GROUPS
from linkwork.compile.compiler import compile_model
from linkwork.model.edit import with_item

# --- who touches whom ---


def test_a_body_without_material_touches_nothing() -> None:
    model = model_of(ball("a"), ball("ghost", material=None), floor(), floor("sky", material=None))
    assert table_of(model).owners == ("a", "floor")
    assert touching(model) == pairs("a floor")
    assert compile_model(model_of(ball("a", material=None)), rows=True).colliders is None
    assert compile_model(model).colliders is None, "only rows have contact"


def test_shapes_of_one_body_do_not_touch_each_other() -> None:
    model = model_of(ball("a", shapes=(Sphere(0.1), Box((1, 1, 1)), Sphere(0.2))), ball("b"), floor())
    assert touching(model) == pairs("a b", "a floor", "b floor")


def test_neighbours_and_what_is_welded_to_them_do_not_touch() -> None:
    names = ("base", "upper", "plate", "lower", "tip")
    model = model_of(
        *(ball(name) for name in names),
        floor(),
        Weld("foot", "base", "ground"),
        Hinge("shoulder", "base", "upper"),
        Weld("screws", "plate", "upper"),
        Slider("elbow", "upper", "lower"),
        Weld("glue", "tip", "lower"),
    )
    # The fixed base against what hangs on the upper arm; everything that moves against the floor.
    moving = pairs("upper floor", "plate floor", "lower floor", "tip floor")
    assert touching(model) == moving | pairs("base lower", "base tip")
    assert table_of(model, maximal=True).colliders.fixed.tolist() == [1, 0, 0, 0, 0, 1]


def test_joints_that_close_loops_keep_apart_as_well() -> None:
    corners = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]
    model = model_of(*(ball(f"bar{k}", at=corners[k]) for k in range(4)))
    for k in range(4):
        model.add(Hinge(f"pin{k}", f"bar{k}", f"bar{(k + 1) % 4}", at=corners[k], axis=(0, 1, 0)))
    assert touching(model) == pairs("bar0 bar2", "bar1 bar3")


def test_a_ring_of_welds_is_one_rigid_part() -> None:
    model = model_of(ball("a"), ball("b"), ball("c"), ball("d"))
    for one, other in ("ab", "bc", "ca"):
        model.add(Weld(one + other, one, other))
    model.add(Hinge("pin", "c", "d"))
    assert touching(model) == set()


def test_free_joints_and_joints_to_the_ground_keep_nothing_apart() -> None:
    model = model_of(
        ball("flier"),
        ball("kite"),
        ball("door"),
        ball("post"),
        floor(),
        Free("flight", "ground", "flier"),
        Free("string", "flier", "kite"),
        Hinge("pivot", "ground", "door"),
        Weld("bolt", "ground", "post"),
    )
    everything = {frozenset(pair) for pair in combinations(["flier", "kite", "door", "post", "floor"], 2)}
    assert touching(model) == everything - pairs("post floor")


def test_a_body_welded_to_the_ground_over_another_is_fixed() -> None:
    model = model_of(
        ball("a"), ball("b"), ball("c"), floor(), Weld("first", "ground", "a"), Weld("second", "b", "a")
    )
    assert touching(model) == pairs("a c", "b c", "c floor")


def test_no_contact_between_names() -> None:
    model = model_of(ball("a"), ball("b"), ball("c"), floor())
    model.add(NoContact("one", "a", "b"))
    model.add(NoContact("two", "floor", "c"))
    assert touching(model) == pairs("a c", "b c", "a floor", "b floor")


def test_no_contact_with_groups() -> None:
    model = model_of(
        ball("a1", group="a"), ball("a2", group="a"), ball("b1", group="b"), ball("c"),
        floor(group="b"), floor("wall"),
        NoContact("within", "a", "a"),
        NoContact("between", "a", "b"),
        NoContact("single", "c", "b"),
    )  # fmt: skip
    assert touching(model) == pairs("a1 c", "a2 c", "a1 wall", "a2 wall", "b1 wall", "c wall", "b1 floor")


def test_no_contact_may_name_what_has_no_material() -> None:
    model = model_of(ball("a"), ball("ghost", material=None, group="ghosts"), floor())
    model.add(NoContact("one", "ghost", "a"))
    model.add(NoContact("two", "ghosts", "floor"))
    model.add(NoContact("three", "ghosts", "ghosts"))
    assert touching(model) == pairs("a floor")


def test_more_groups_than_bits() -> None:
    count = GROUPS + 5
    model = model_of(floor())
    for k, twin in product(range(count), "xy"):
        model.add(ball(f"{twin}{k}", group=f"g{k}"))
    for k in range(count):
        model.add(NoContact(f"n{k}", f"g{k}", f"g{k}"))
    model.add(NoContact("ends", "g0", f"g{count - 1}"))
    found = touching(model)
    everything = 2 * count * (2 * count - 1) // 2 + 2 * count
    assert len(found) == everything - count - 4
    assert not any(frozenset((f"x{k}", f"y{k}")) in found for k in range(count))
    assert frozenset(("x0", f"y{count - 1}")) not in found


def test_groups_of_instances_are_their_own() -> None:
    leg = Component("leg")
    leg.add(Material("rubber"))
    leg.add(ball("thigh", material="rubber", group="skin"))
    leg.add(ball("foot", material="rubber", group="skin"))
    leg.add(NoContact("self", "skin", "skin"))
    model = model_of(
        floor(), leg.instance("left", at=(0, 1, 0)), leg.instance("right", mirror=(0, 1, 0)), ball("stone")
    )
    feet = pairs("left.thigh right.thigh", "left.thigh right.foot", "left.foot right.thigh")
    legs = feet | pairs("left.foot right.foot")
    names = ["left.thigh", "left.foot", "right.thigh", "right.foot"]
    rest = {frozenset(pair) for pair in product([*names, "stone"], ["floor"])}
    rest |= {frozenset((name, "stone")) for name in names}
    assert touching(model) == legs | rest
    # From outside, a group is reached by its dotted name; others may join it.
    model.add(NoContact("legs", "left.skin", "right.skin"))
    assert touching(model) == rest
    joined = with_item(model, "bodies", "stone", group="left.skin")
    assert touching(joined) == {frozenset((name, "floor")) for name in [*names, "stone"]}
