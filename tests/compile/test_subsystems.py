"""The hierarchy that a model was written in: who holds which bodies, and who borders on whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.graphs import chain, hierarchies, outside
from helpers.models import solid
from helpers.suspended import car, suspension
from linkwork import Model
from linkwork.compile.subsystems import Subsystem, borders, hierarchy, monolith, ties
from linkwork.engine.elements import PositionServo, Repeater
from linkwork.model.joints import Hinge


def levels(part):
    """How deep a subsystem is nested."""
    count, level = 0, [part]
    while level:
        count, level = count + 1, [child for one in level for child in one.children]
    return count


def test_components_become_subsystems_as_they_were_written():
    top = hierarchy(car())
    assert [part.name for part in top.walk()] == ["left.wheel", "left", "right.wheel", "right", "car"]
    assert top.bodies == ("chassis",)
    assert top.children[0].bodies == ("left.lower", "left.upper")
    assert levels(top) == 3
    assert sorted(top.everybody()) == sorted(car().flatten().bodies)
    assert monolith(car()).everybody() == list(car().flatten().bodies)


def test_borders_of_a_car():
    model = car()
    found = borders(hierarchy(model), ties(model.flatten()))
    assert found["left.wheel"].ports == ("left.wheel.carrier",)
    assert (found["left.wheel"].size, found["left.wheel"].rows) == (6, 5)
    assert sorted(found["right"].ports) == ["right.lower", "right.upper"]
    assert (found["right"].size, found["right"].rows) == (12, 6)
    assert (found["car"].size, found["car"].rows) == (0, 20)
    assert "left_spring" in [tie.name for tie in found["car"].ties]


def test_ties_are_joints_loads_drives_and_couplings():
    model = Model("m")
    for name in "abc":
        model.add(solid(name))
    model.add(Hinge("one", "ground", "a"))
    model.add(Hinge("two", "b", "c"))
    model.add(PositionServo("servo", "two", stiffness=1.0))
    model.add(Repeater("gear", "one", "two"))
    found = {tie.name: (set(tie.bodies), tie.rows) for tie in ties(model.flatten())}
    assert found == {
        "one": ({"a"}, 5),
        "two": ({"b", "c"}, 5),
        "servo": ({"b", "c"}, 0),
        "gear": ({"a", "b", "c"}, 1),
    }


def test_a_component_may_have_the_name_of_its_model():
    model = Model("left")
    model.add(suspension().instance("left"))
    top = hierarchy(model)
    names = [part.name for part in top.walk()]
    assert len(names) == len(set(names)) == len(borders(top, ties(model.flatten())))


@given(hierarchies(), st.data())
def test_borders_as_they_are_defined(drawn, data):
    top, tied = drawn
    outer, remote = outside(top, data)
    found = borders(top, tied, outer, remote)
    assert list(found) == [part.name for part in top.walk()]
    for part in top.walk():
        inside = set(part.everybody())
        ports = {b for tie in tied if not tie.bodies <= inside for b in tie.bodies & inside}
        ports = inside if part.name in remote else ports | inside & set(outer)
        assert set(found[part.name].ports) == ports
        assert len(found[part.name].ports) == len(ports)
        if part.name in remote:
            assert not found[part.name].ties
            continue
        smaller = [set(child.everybody()) for child in part.children if child.name not in remote]
        own = [t for t in tied if t.bodies <= inside and not any(t.bodies <= s for s in smaller)]
        assert found[part.name].ties == own


@pytest.mark.parametrize("depth", [5000])
def test_deep_hierarchies_need_no_recursion(depth):
    top, tied = chain(depth)
    part = Subsystem("s0", top.bodies[:1])
    for i, name in enumerate(top.bodies[1:], 1):
        part = Subsystem(f"s{i}", (name,), (part,))
    assert levels(part) == depth
    assert sorted(part.everybody()) == sorted(top.bodies)
    found = borders(part, tied)
    assert all(border.size == 6 for border in list(found.values())[:-1])
