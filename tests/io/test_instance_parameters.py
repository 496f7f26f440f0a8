"""Parameters of instances, replaced from outside."""

import pytest

from helpers.studied import PENDULUMS
from linkwork import ModelError, load_model


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(PENDULUMS)
    return path


def lengths(model):
    return [body.shapes[0].length for body in model.flatten().bodies.values()]


def test_one_instance_changes_and_no_other(file):
    assert lengths(load_model(file)) == [0.5, 0.5]
    assert lengths(load_model(file, {"left.length": 0.8})) == [0.8, 0.5]
    assert lengths(load_model(file, {"right.length": 0.8, "length": 0.3})) == [0.3, 0.8]


def test_instances_inside_instances(tmp_path):
    (tmp_path / "two.yaml").write_text(PENDULUMS)
    outer = tmp_path / "outer.yaml"
    outer.write_text(
        "linkwork: 1\nunits: SI\ncomponents: {pair: {include: two.yaml}}\n"
        "instances: {front: {component: pair, at: [0, 1, 0]}, back: {component: pair, at: [0, 3, 0]}}\n"
    )
    assert lengths(load_model(outer, {"back.left.length": 0.9})) == [0.5, 0.5, 0.9, 0.5]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("left.lenght", r"parameters\.left\.lenght: there is no such parameter \(did you mean 'length'"),
        ("lft.length", r"there is no instance 'lft' with parameters \(did you mean 'left'"),
        ("left.rod.length", "there is no instance 'rod'"),
    ],
)
def test_what_nothing_has_is_told(file, name, what):
    with pytest.raises(ModelError, match=what):
        load_model(file, {name: 1.0})
