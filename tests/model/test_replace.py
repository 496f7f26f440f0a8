"""Components that take the place of others."""

import numpy as np
import pytest

from linkwork import Body, Component, Hinge, LinkworkError, Model, ModelError, Simulation, TorqueSource
from linkwork.library import damper, wheel_corner, wheel_on_arm
from linkwork.scenes import car
from linkwork.scenes.n_four_bar import four_bar_chain

SOFT = damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE, stiffness=20000.0)


def test_one_instance_changes_and_nothing_else():
    model = car.build()
    before = car.build()
    made = model.replace("front_left.damper", SOFT)
    assert model == before
    assert type(made) is Model
    loads = made.flatten().loads
    assert loads["front_left.damper.spring"].stiffness == 20000.0
    for corner in ("front_right", "rear_left", "rear_right"):
        assert loads[f"{corner}.damper.spring"].stiffness == 40000.0
    back = made.replace("front_left.damper", damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE))
    assert back == before


def test_a_mirrored_instance_stays_mirrored():
    made = car.build().replace("front_right", wheel_corner(strut=SOFT))
    old, new = car.build().flatten(), made.flatten()
    assert made.instances["front_right"].mirror == (0.0, 1.0, 0.0)
    for name, body in old.bodies.items():
        assert new.bodies[name].at == body.at


def test_softer_springs_let_the_car_sink_deeper_on_their_corner():
    """Twice as soft in front on both sides: springs there carry the same, so the front sinks and the rear hardly."""
    model = car.build()
    soft = model.replace("front_left.damper", SOFT).replace("front_right.damper", SOFT)
    stiff, low = (
        Simulation(made, method="simgc", dt=1e-3).run(2.4, every=0.1, reactions=False)
        for made in (model, soft)
    )
    carried = 0.53 - length(stiff, "front_left")
    # Half the stiffness, twice the compression, as far as levers and the share of weight stay what they were.
    assert 0.53 - length(low, "front_left") == pytest.approx(2 * carried, rel=0.1)
    assert length(low, "rear_left") == pytest.approx(length(stiff, "rear_left"), abs=0.1 * carried)


def length(record, corner):
    eyes = [
        np.array([record[f"{corner}.damper.{tube}.position.{axis}"][-1] for axis in "xyz"])
        for tube in ("lower", "upper")
    ]
    return np.linalg.norm(eyes[1] - eyes[0])


def test_deep_paths_and_components_of_components():
    chain = four_bar_chain(4)
    cell = chain.instances["chain"].component.instances["near"].component.instances["far"].component
    heavy = Component("heavy", ports=cell.ports)
    for thing in cell.flatten().items():
        heavy.add(thing)
    heavy.bodies["coupler"] = Body("coupler", at=cell.bodies["coupler"].at, mass=5.0, inertia=(1, 1, 1))
    made = chain.replace("chain.near.far", heavy)
    masses = {name: body.mass for name, body in made.flatten().bodies.items()}
    assert [name for name, mass in masses.items() if mass == 5.0] == ["chain.near.far.coupler"]
    part = chain.instances["chain"].component
    assert isinstance(part.replace("near.far", heavy), Component)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("front_lfet", r"no component 'front_lfet' to replace: no instance 'front_lfet' \(did you mean 'front_left'"),
        ("front_left.dampr", r"no instance 'dampr' in 'front_left' \(did you mean 'damper'"),
        ("front_left.damper.lower", r"no instance 'lower' in 'front_left.damper' \(there are no components in it\)"),
        ("chassis", "no instance 'chassis'"),
        ("", "no instance ''"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused(path, words):
    with pytest.raises(LinkworkError, match=words):
        car.build().replace(path, SOFT)


def test_missing_ports_are_named():
    with pytest.raises(
        ModelError, match=r"instance 'front_left': the new component has no port 'damper.upper'"
    ):
        car.build().replace("front_left", wheel_on_arm())
    closed = damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE)
    closed.ports = ("upper",)
    with pytest.raises(ModelError, match=r"'rear_left.damper': .*no port 'lower' \(its ports: 'upper'\)"):
        car.build().replace("rear_left.damper", closed)


def test_ports_elsewhere_are_named_with_their_distance():
    x, y, z = car.UPPER_EYE
    with pytest.raises(ModelError, match=r"the port 'upper' of the new component stands 0.02 m from where"):
        car.build().replace("front_left.damper", damper(lower=car.LOWER_EYE, upper=(x, y, z + 0.02)))
    # Rounding of coordinates is no other place.
    moved = damper(lower=car.LOWER_EYE, upper=(x, y, z + 1e-13))
    assert car.build().replace("front_left.damper", moved)


def test_more_ports_do_no_harm():
    open_ = damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE)
    open_.add(Body("reservoir", at=car.UPPER_EYE, mass=0.5, inertia=(1e-3, 1e-3, 1e-3)))
    open_.add(Hinge("clamp", "upper", "reservoir", at=car.UPPER_EYE))
    open_.ports = None
    assert "rear_left.damper.reservoir" in car.build().replace("rear_left.damper", open_).flatten().bodies


def undeclared():
    part = Component("part")
    part.add(Body("a", mass=1.0, inertia=(1, 1, 1)))
    part.add(Body("b", at=(1, 0, 0), mass=1.0, inertia=(1, 1, 1)))
    part.add(Hinge("pin", "a", "b"))
    return part


def test_without_declared_ports_what_is_attached_counts():
    model = Model("machine")
    model.add(undeclared().instance("p"))
    model.add(Hinge("foot", "ground", "p.a"))
    model.add(TorqueSource("motor", "p.pin", command=1.0))
    other = undeclared()
    other.bodies["b"] = Body("b", at=(3, 0, 0), mass=2.0, inertia=(1, 1, 1))
    assert model.replace("p", other).flatten().bodies["p.b"].mass == 2.0  # nobody attaches to b
    other.bodies["a"] = Body("a", at=(0.5, 0, 0), mass=2.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match=r"the port 'a' of the new component stands 0.5 m"):
        model.replace("p", other)
    # A drive outside names a joint inside: it must be there again.
    without = undeclared()
    without.joints.clear()
    with pytest.raises(ModelError, match=r"torque_source 'motor'.joint: there is no joint 'p.pin'"):
        model.replace("p", without)


def test_only_components_take_the_place_of_components():
    with pytest.raises(LinkworkError, match="by a Component, not by the model 'car'"):
        car.build().replace("front_left", car.build())
    with pytest.raises(LinkworkError, match="by a Component, not by 3"):
        car.build().replace("front_left", 3)
    with pytest.raises(LinkworkError, match="soft: there is no such file"):  # text names a sealed component
        car.build().replace("front_left", "soft")
