"""Models with items exchanged for others."""

import pytest

from helpers.models import twins
from linkwork import Force, LinkworkError, Model, ModelError, Simulation
from linkwork.model.edit import with_gravity, with_item, with_load


@pytest.mark.parametrize("where", ["left", "right.leg"])
def test_an_item_of_one_instance_is_changed_alone(where):
    model, same = twins(), twins()
    made = with_item(model, "joints", f"{where}.knee", friction=0.9)
    old, new = model.flatten(), made.flatten()
    assert new.joints[f"{where}.knee"].friction == 0.9
    assert model == same
    assert type(made) is Model
    assert made.gravity == model.gravity
    for one, other in zip(old.items(), new.items(), strict=True):
        assert (one == other) is (one.name != f"{where}.knee"), one.name
    Simulation(made)


def test_an_item_of_the_model_itself_is_changed():
    made = with_item(twins(), "bodies", "hip", mass=7.0)
    assert made.flatten().bodies["hip"].mass_properties.mass == 7.0
    assert with_gravity(twins(), (1, 2, 3)).gravity == (1, 2, 3)


def test_what_is_added_to_a_changed_model_is_not_added_to_the_old_one():
    model = twins()
    made = with_load(with_gravity(model, (0, 0, 0)), Force("hand", "hip", force=(1, 0, 0)))
    made.instances.pop("left")
    assert "hand" in made.loads
    assert model == twins()


@pytest.mark.parametrize(
    ("shelf", "name", "message"),
    [
        ("joints", "left.kneee", r"no 'kneee' among the joints of 'leg' \(did you mean 'knee'"),
        ("joints", "middle.knee", r"no 'middle\.knee' among the joints of 'walker'"),
        ("loads", "left.knee", "no 'knee' among the loads of 'leg'"),
        ("joints", "right.knee", "no 'knee' among the joints of 'side'"),
    ],
)
def test_items_that_are_not_there_are_named(shelf, name, message):
    with pytest.raises(LinkworkError, match=message):
        with_item(twins(), shelf, name, friction=1.0)


def test_values_that_an_item_cannot_have_are_refused():
    with pytest.raises(ModelError, match="friction"):
        with_item(twins(), "joints", "left.knee", friction=-1.0)
    with pytest.raises(LinkworkError, match="stickiness"):
        with_item(twins(), "joints", "left.knee", stickiness=1.0)
