"""What one thing gives another by contact, for pairs that are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.one_dof import arm
from linkwork import (
    Body,
    Box,
    LinkworkError,
    Material,
    Model,
    Plane,
    Record,
    Scenery,
    Simulation,
    Slider,
    TorqueSource,
)

G, PRESS, MASS = 9.81, 40.0, 2.0
SIDES = ("left_pad", "right_pad")
WAYS = [
    {"method": method, "solver": solver} for method in ("simgc", "simmc") for solver in ("direct", "impulses")
]


def grasp() -> Model:
    """A box between two pads that press with 40 N each, above a floor that it does not touch."""
    model = Model("grasp", gravity=(0.0, 0.0, -G))
    model.add(Material("rubber", friction=0.8))
    model.add(Scenery("floor", shapes=[Plane()], material="rubber"))
    model.add(Body("box", at=(0.0, 0.0, 0.5), mass=MASS, shapes=[Box((0.1, 0.1, 0.1))], material="rubber"))
    for name, side in zip(SIDES, (-1.0, 1.0), strict=True):
        at = (0.06 * side, 0.0, 0.5)
        model.add(Body(name, at=at, mass=0.5, shapes=[Box((0.02, 0.1, 0.1))], material="rubber"))
        model.add(Slider(f"{name}_rail", "ground", name, at=at, axis=(-side, 0.0, 0.0)))
        model.add(TorqueSource(f"{name}_press", f"{name}_rail", command=PRESS))
    model.add(Body("bare", mass=1.0, at=(5.0, 0.0, 0.0), shapes=[Box((0.1, 0.1, 0.1))]))
    model.add(Slider("bare_rail", "ground", "bare", at=(5.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return model


def held(**options: str) -> Simulation:
    simulation = Simulation(grasp(), **options)
    for name in SIDES:
        simulation.add_pair(name, "box")
    simulation.add_pair("box", "left_pad")
    simulation.add_pair("floor", "box")
    return simulation


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))
def test_two_pads_hold_a_box(way):
    """Each presses with what it is driven by, together they carry the weight, to the tolerance of the solver."""
    simulation = held(**way)
    record = simulation.run(0.2, every=0.01)
    near = 1e-4 * PRESS if way["solver"] == "direct" else 1e-2 * PRESS
    left, right = (record[f"contact.{name}.box.force"] for name in SIDES)
    np.testing.assert_allclose(left[1:, 0], PRESS, atol=near)
    np.testing.assert_allclose(right[1:, 0], -PRESS, atol=near)
    np.testing.assert_allclose((left + right)[1:, 2], MASS * G, atol=near)
    # Named the other way round it has the other sign; all that touches it adds up to the force on the body.
    np.testing.assert_array_equal(record["contact.box.left_pad.force"][1:], -left[1:])
    np.testing.assert_array_equal(record["contact.floor.box.force"][1:], 0.0)
    np.testing.assert_allclose((left + right)[1:], record["box.contact_force"][1:], atol=1e-12 * PRESS)
    np.testing.assert_allclose(record["left_pad.contact_force"][1:], -left[1:], atol=1e-12 * PRESS)
    assert np.isnan(left[0]).all()  # there was no step before the first sample


def test_pairs_are_signals_like_others(tmp_path):
    simulation = held()
    assert simulation.signals["contact.left_pad.box.force.x"] == "N"
    record = simulation.run(0.01, save=tmp_path / "grasp.h5")
    now = simulation["contact.left_pad.box.force"]
    np.testing.assert_array_equal(record["contact.left_pad.box.force"][-1], now)
    assert simulation["contact.left_pad.box.force.z"] == now[2]
    touches = [t for t in simulation.touches() if {t.a, t.b} == {"left_pad", "box"}]
    pushes = [(1.0 if t.b == "box" else -1.0) * (t.force * np.array(t.normal) + t.friction) for t in touches]
    np.testing.assert_allclose(np.sum(pushes, axis=0), now, atol=1e-12 * PRESS)
    stored = Record.load(tmp_path / "grasp.h5")
    np.testing.assert_array_equal(stored["contact.left_pad.box.force"], record["contact.left_pad.box.force"])
    assert stored.unit("contact.left_pad.box.force.y") == "N"
    with pytest.raises(LinkworkError, match=r"contact\.left_pad\.box\.force"):
        simulation["contact.left_pad.bx.force"]


def test_pairs_stay_through_resets_and_changed_models():
    simulation = held()
    simulation.add_pair("left_pad", "box")  # once more changes nothing
    assert len([name for name in simulation.signals if name.startswith("contact.left_pad.box.")]) == 3
    simulation.step(50)
    simulation.reset()
    simulation.step(50)
    simulation.alter(grasp())
    simulation.step(50)
    assert simulation["contact.left_pad.box.force.x"] == pytest.approx(PRESS, rel=1e-4)


def test_unknown_names_are_refused():
    simulation = Simulation(grasp())
    with pytest.raises(LinkworkError, match=r"no body or scenery 'left_pat' that may touch.*'left_pad'"):
        simulation.add_pair("left_pat", "box")
    with pytest.raises(LinkworkError, match="body 'bare' touches nothing; give it a material"):
        simulation.add_pair("box", "bare")
    with pytest.raises(LinkworkError, match="name two"):
        simulation.add_pair("box", "box")
    with pytest.raises(LinkworkError, match="nothing may touch in this model"):
        Simulation(arm()).add_pair("arm", "ground")
    assert not any(name.endswith("box.force.x") for name in simulation.signals)
