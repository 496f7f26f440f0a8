"""From a model to tables: the tree and its cuts, components, islands, names."""

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Component,
    Force,
    Free,
    Hinge,
    Marker,
    Model,
    ModelError,
    Simulation,
    Slider,
    Spherical,
    Spring,
    Universal,
    Weld,
    about,
)
from linkwork.compile.compiler import compile_model


def rod(name, x=0.0):
    return Body(name, at=(x, 0, 0), mass=1.0, shapes=(Box((1, 0.1, 0.1), at=(0.5, 0, 0)),))


def four_bar():
    model = Model("four_bar", gravity=(0, -9.81, 0))
    model.add(Hinge("coupler_rocker", "coupler", "rocker", at=(2, 1, 0)))
    model.add(Hinge("rocker_pin", "ground", "rocker", at=(2, 0, 0)))
    model.add(Hinge("crank_pin", "ground", "crank"))
    model.add(Hinge("crank_coupler", "crank", "coupler", at=(0, 1, 0)))
    for name in ("crank", "coupler", "rocker"):
        model.add(rod(name))
    return model


def test_a_loop_has_one_cut_and_any_order_of_writing_will_do():
    system = compile_model(four_bar())
    assert len(system.cuts) == 1
    assert system.nv == 3


def test_the_loop_is_cut_at_the_joint_with_the_most_freedom():
    model = four_bar()
    model.add(Body("extra", mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("extra_pin", "ground", "extra", at=(4, 0, 0)))
    model.add(Spherical("link", "extra", "rocker", at=(3, 0, 0)))
    assert "link" in compile_model(model).cuts


def test_a_chain_written_backwards_is_the_same_chain():
    def chain(flip):
        model = Model("two")
        model.add(rod("one"))
        model.add(rod("two", 1.0))
        model.add(Universal("first", *(("one", "ground") if flip else ("ground", "one")), axis=(0, 1, 0)))
        model.add(
            Hinge("second", *(("two", "one") if flip else ("one", "two")), at=(1, 0, 0), axis=(0, 1, 0))
        )
        return Simulation(model)

    forward, backward = chain(False), chain(True)
    a = forward.run(1.0).array("positions")
    b = backward.run(1.0).array("positions")
    # Started from rest in the same pose they move alike, although all coordinates have the other sign.
    np.testing.assert_allclose(a, b, atol=1e-10)
    assert forward["second.angle"] == pytest.approx(-backward["second.angle"], abs=1e-10)


def test_welded_bodies_move_as_one():
    model = Model("welded")
    model.add(rod("one"))
    model.add(rod("two", 1.0))
    model.add(Hinge("pivot", "ground", "one", axis=(0, 1, 0)))
    model.add(Weld("weld", "one", "two", at=(1, 0, 0)))
    record = Simulation(model).run(1.0)
    whole = Model("whole")
    whole.add(Body("bar", mass=2.0, shapes=(Box((2, 0.1, 0.1), at=(1, 0, 0)),)))
    whole.add(Hinge("pivot", "ground", "bar", axis=(0, 1, 0)))
    np.testing.assert_allclose(record["pivot.angle"], Simulation(whole).run(1.0)["pivot.angle"], atol=1e-12)


def test_a_body_on_nothing_falls_freely_and_says_so():
    model = Model("falling")
    model.add(Body("stone", at=(1, 2, 3), mass=2.0, inertia=(1, 1, 1)))
    simulation = Simulation(model)
    assert any("'stone' hangs on nothing" in note for note in simulation.system.notes)
    record = simulation.run(1.0)
    assert record["stone.position.z"][-1] == pytest.approx(3 - 9.81 / 2, abs=1e-12)


def test_every_body_stands_as_it_was_written():
    model = Model("frames")
    turned = about((1, 2, 3), 0.7)
    model.add(Body("base", at=(1, 2, 3), rotation=turned, mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1)))
    model.add(Body("arm", at=(4, 5, 6), rotation=about((0, 1, 1), -2.0), mass=1.0, inertia=(1, 1, 1)))
    model.add(Free("float", "ground", "base", at=(0.5, 0, 0), axis=(1, 1, 0)))
    model.add(Universal("cardan", "arm", "base", at=(2, 2, 2), axis=(0, 1, 1), reference=(1, 0, 0)))
    record = Simulation(model).run(0.001)
    np.testing.assert_allclose([record[f"base.position.{k}"][0] for k in "xyz"], [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose([record[f"arm.position.{k}"][0] for k in "xyz"], [4, 5, 6], atol=1e-14)
    np.testing.assert_allclose([record[f"base.rotation.{k}"][0] for k in "wxyz"], turned, atol=1e-15)


def test_markers_place_joints_and_loads():
    def build(marked):
        model = Model("marked")
        model.add(rod("arm"))
        model.add(Marker("pin", "arm", at=(0.2, 0, 0), rotation=about((1, 0, 0), -np.pi / 2)))
        model.add(Marker("tip", "arm", at=(1, 0, 0)))
        here = {"at": "pin"} if marked else {"at": (0.2, 0, 0), "axis": (0, 1, 0)}
        model.add(Hinge("pivot", "ground", "arm", **here))
        model.add(Force("push", "arm", force=(0, 0, 1), at="tip" if marked else (1, 0, 0)))
        model.add(
            Spring(
                "cable", "ground", "arm", at_a=(1, 0, 1), at_b="tip" if marked else (1, 0, 0), stiffness=5.0
            )
        )
        return Simulation(model).run(1.0)["pivot.angle"]

    np.testing.assert_allclose(build(True), build(False), atol=1e-12)


def test_unknown_names_are_all_reported_at_once_with_the_nearest():
    model = Model("broken")
    model.add(rod("arm"))
    model.add(Hinge("pivot", "ground", "amr"))
    model.add(Slider("rail", "grund", "arm"))
    model.add(Force("push", "arm", force=(1, 0, 0), at="tip"))
    with pytest.raises(ModelError) as caught:
        compile_model(model)
    text = str(caught.value)
    assert len(caught.value.problems) == 3
    assert "hinge 'pivot'.b: there is no body 'amr' (did you mean 'arm'?)" in text
    assert "slider 'rail'.a: there is no body 'grund' (did you mean 'ground'?)" in text
    assert "force 'push'.at: there is no marker 'tip'" in text


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda m: m.add(rod("arm")), "already one of that name"),
        (lambda m: m.add(rod("front.arm")), "may not contain a dot"),
        (lambda m: m.add("arm"), "is not a body, marker, joint"),
        (lambda m: m.add(Component("leg").instance("arm")), "may not share a name"),
    ],
)
def test_what_cannot_be_added_is_refused(add, message):
    model = Model("names")
    model.add(rod("arm"))
    with pytest.raises(ModelError, match=message):
        add(model)


def test_an_empty_model_is_refused():
    with pytest.raises(ModelError, match="has no bodies"):
        compile_model(Model("nothing"))


def leg():
    """A component with every way of naming things: thigh and shin on hinges, a spring, a nested foot."""
    foot = Component("foot")
    foot.add(Body("sole", at=(0, 0, -2.1), mass=0.5, shapes=(Box((0.4, 0.2, 0.1)),)))
    part = Component("leg")
    part.add(Body("thigh", mass=2.0, com=(0.05, 0.02, -0.5), inertia=(0.2, 0.2, 0.05)))
    part.add(Body("shin", at=(0, 0, -1), mass=1.0, com=(0, -0.03, -0.5), inertia=(0.1, 0.1, 0.02)))
    part.add(Hinge("knee", "thigh", "shin", at=(0, 0, -1), axis=(0, 1, 0.2), damping=0.1))
    part.add(foot.instance("end"))
    part.add(Spherical("ankle", "shin", "end.sole", at=(0, 0, -2), damping=0.2, velocity=(0.1, 0.3, -0.2)))
    part.add(Spring("calf", "thigh", "shin", at_a=(0.2, 0, -0.5), at_b=(0.2, 0, -1.2), stiffness=50.0))
    return part


def test_components_are_reached_by_dotted_names_and_used_many_times():
    model = Model("biped")
    part = leg()
    for side, y in (("left", 0.3), ("right", -0.3)):
        model.add(part.instance(side, at=(0, y, 0)))
        model.add(Hinge(f"{side}_hip", "ground", f"{side}.thigh", at=(0, y, 0), axis=(0, 1, 0), position=0.4))
    record = Simulation(model).run(0.5)
    assert set(record.find("*.knee.angle")) == {"left.knee.angle", "right.knee.angle"}
    np.testing.assert_allclose(record["left.knee.angle"], record["right.knee.angle"], atol=1e-12)
    np.testing.assert_allclose(
        record["left.end.sole.position.y"] - record["right.end.sole.position.y"], 0.6, atol=1e-12
    )


def test_a_mirrored_component_moves_as_its_mirror_image():
    model = Model("mirrored")
    part = leg()
    model.add(part.instance("left", at=(0, 0.3, 0)))
    model.add(part.instance("right", at=(0, -0.3, 0), mirror=(0, 1, 0)))
    for side, y in (("left", 0.3), ("right", -0.3)):
        model.add(Hinge(f"{side}_hip", "ground", f"{side}.thigh", at=(0, y, 0), axis=(0, 1, 0), position=0.4))
    record = Simulation(model).run(1.0)
    # A mirrored joint keeps its coordinates; positions are mirrored in the plane y = 0.
    np.testing.assert_allclose(record["left.knee.angle"], record["right.knee.angle"], atol=1e-11)
    for axis, sign in (("x", 1), ("y", -1), ("z", 1)):
        left, right = (record[f"{side}.end.sole.position.{axis}"] for side in ("left", "right"))
        np.testing.assert_allclose(left, sign * right, atol=1e-11)
    assert np.abs(record["left.end.sole.position.y"] - 0.3).max() > 1e-3


def test_an_instance_may_be_turned():
    turned = about((0, 0, 1), 0.5)
    model = Model("turned")
    model.add(leg().instance("a"))
    model.add(leg().instance("b", at=(5, 0, 0), rotation=turned))
    c, s = np.cos(0.5), np.sin(0.5)
    model.add(Hinge("hip_a", "ground", "a.thigh", axis=(0, 1, 0), position=0.4))
    model.add(Hinge("hip_b", "ground", "b.thigh", at=(5, 0, 0), axis=(-s, c, 0), position=0.4))
    record = Simulation(model).run(0.5)
    np.testing.assert_allclose(record["a.knee.angle"], record["b.knee.angle"], atol=1e-11)
    x, y = record["a.end.sole.position.x"], record["a.end.sole.position.y"]
    np.testing.assert_allclose(record["b.end.sole.position.x"], 5 + c * x - s * y, atol=1e-11)
