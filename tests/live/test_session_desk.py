"""Drives of a session in the hands of operators."""

import pytest

from helpers.sessions import advance, begun, cart
from linkwork import PositionServo, VelocityServo
from linkwork.model.errors import LinkworkError

begin = pytest.fixture(begun)


def driven(command=0.0, strength=1e3):
    model = cart()
    model.add(VelocityServo("motor", joint="rail", command=command, strength=strength))
    return model


def test_a_lever_of_a_drive_is_obeyed_and_springs_back(begin):
    session = begin(driven())
    session.desk.put("anna", "motor", 1.0)
    advance(session, 0.05)
    assert session.view.values["rail.travel_rate"] > 0.9
    assert session.commands == {"motor": 1.0}
    session.desk.release("anna", "motor")
    advance(session, 0.2)
    assert session.commands == {"motor": 0.0}
    assert abs(session.view.values["rail.travel_rate"]) < 1e-3


def test_what_the_model_runs_and_what_holds_a_place_stays(begin):
    session = begin(driven(command=1.0))
    assert session.desk.inputs["motor"].rest is None
    session.desk.put("anna", "motor", 0.5)
    session.desk.release("anna", "motor")
    advance(session, 0.05)
    assert session.commands == {"motor": 0.5}
    model = cart()
    model.add(PositionServo("place", joint="rail", stiffness=100.0, damping=20.0))
    assert begin(model).desk.inputs["place"].rest is None


def test_a_lever_that_is_held_cannot_be_commanded_otherwise(begin):
    session = begin(driven())
    session.desk.put("anna", "motor", 1.0)
    with pytest.raises(LinkworkError, match="'motor' is held by anna"):
        session.command("motor", -1.0)
    session.desk.release("anna", "motor")
    session.command("motor", -1.0).result()
    assert session.desk.values["motor"] == -1.0
    advance(session, 0.05)
    assert session.commands == {"motor": -1.0}


def test_levers_stay_in_hand_while_the_model_is_rewritten(begin):
    session = begin(driven())
    session.desk.put("anna", "motor", 1.0)
    advance(session, 0.05)
    assert session.rewrite(driven(strength=900.0)) == ""
    advance(session, 0.05)
    assert session.desk.owners == {"motor": "anna"}
    assert session.desk.values["motor"] == 1.0
    assert session.view.values["rail.travel_rate"] > 0.9
