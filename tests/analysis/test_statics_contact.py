"""Statics of models whose bodies touch, against the mechanics of textbooks.

Forces are exact to what bodies may still accelerate at rest: 1e-5 m/s² at most, some 1e-6 of the weight.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from helpers.command import call
from linkwork import (
    Actuator,
    Body,
    Box,
    Force,
    Hinge,
    LinkworkError,
    Material,
    Model,
    Plane,
    PositionServo,
    Scenery,
    Simulation,
    Slider,
    Sphere,
    Spring,
    Table,
    UnsupportedError,
    VelocityServo,
    equilibrium,
    inverse,
    save_model,
)
from linkwork.analysis.statics_result import Equilibrium
from linkwork.model.rotation import about, matrix, quaternion

G = 9.81
EXACT = 3e-6
Y = (0.0, 1.0, 0.0)


def world(*things: Any, friction: float = 0.5, turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)) -> Model:
    model = Model("statics", gravity=tuple(matrix(turn) @ (0.0, 0.0, -G)))
    model.add(Material("rough", friction=friction))
    model.add(Material("smooth", friction=0.0))
    for thing in things:
        model.add(thing)
    return model


def plane(name: str, rotation: Any = (1.0, 0.0, 0.0, 0.0), at: Any = (0.0, 0.0, 0.0), **more: Any) -> Scenery:
    return Scenery(name, **{"shapes": [Plane()], "at": at, "rotation": rotation, "material": "rough"} | more)


def pushes(found: Equilibrium, a: str, b: str) -> tuple[float, np.ndarray]:
    """Normal force between two and friction of the first on the second, all points together [N]."""
    normal, friction = 0.0, np.zeros(3)
    for touch in found.contacts:
        if {touch.a, touch.b} == {a, b}:
            normal += touch.force
            friction += np.array(touch.friction) * (1.0 if touch.a == a else -1.0)
    return normal, friction


def box_on_slope(
    angle: float, turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0), friction: float = 0.5
) -> Model:
    tilt = quaternion(matrix(turn) @ matrix(about(Y, angle)))
    box = Body(
        "box", at=tuple(matrix(tilt) @ (0.0, 0.0, 0.05)), rotation=tilt, mass=2.0, shapes=[Box((0.2, 0.1, 0.1))],
        material="rough",
    )  # fmt: skip
    return world(plane("slope", tilt), box, friction=friction, turn=turn)


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0, 0.0), (0.6, 0.4, -0.3, 0.62)], ids=["upright", "turned"])
def test_a_box_stays_on_a_slope_below_the_friction_angle(turn):
    turn = tuple(np.array(turn) / np.linalg.norm(turn))
    angle = 0.99 * math.atan(0.5)
    found = equilibrium(box_on_slope(angle, turn))
    normal, friction = pushes(found, "slope", "box")
    assert normal == pytest.approx(2.0 * G * math.cos(angle), rel=EXACT)
    uphill = matrix(turn) @ (-math.cos(angle), 0.0, math.sin(angle))
    np.testing.assert_allclose(friction, 2.0 * G * math.sin(angle) * uphill, atol=EXACT * 2.0 * G)
    # It has not moved but for the slop, and friction lets it rest elsewhere just as well.
    assert max(map(abs, found.values.values())) < 1e-5
    assert found.stability == "indifferent"


def test_a_box_above_the_friction_angle_is_refused_by_name():
    with pytest.raises(LinkworkError, match=r"'box' still creeps at [\d.]+ m/s"):
        equilibrium(box_on_slope(1.05 * math.atan(0.5)))


def test_what_falls_for_ever_is_refused_by_name():
    box = Body("stone", mass=1.0, at=(0.0, 0.0, -1.0), shapes=[Box((0.1, 0.1, 0.1))], material="rough")
    with pytest.raises(LinkworkError, match="'stone' still creeps"):
        equilibrium(world(plane("ceiling", about((1.0, 0.0, 0.0), math.pi)), box))
    with pytest.raises(LinkworkError, match="patience must be a positive number"):
        equilibrium(world(box), patience=0.0)
    with pytest.raises(LinkworkError, match=r"within 0\.01 s: 'stone'"):
        equilibrium(world(box), patience=0.01)


def ball() -> Body:
    return Body("ball", at=(0.1, 0.0, 0.5), mass=3.0, shapes=[Sphere(0.1)], material="smooth")


def test_a_ball_rolls_into_a_groove():
    """Without friction two normals carry it: m g sin β / sin(α + β) and m g sin α / sin(α + β)."""
    a, b = 0.8, 0.6
    found = equilibrium(world(plane("left", about(Y, a)), plane("right", about(Y, -b)), ball()))
    assert pushes(found, "left", "ball")[0] == pytest.approx(
        3.0 * G * math.sin(b) / math.sin(a + b), rel=EXACT
    )
    assert pushes(found, "right", "ball")[0] == pytest.approx(
        3.0 * G * math.sin(a) / math.sin(a + b), rel=EXACT
    )


def beam(joint: Hinge, *more: Any, **fields: Any) -> Model:
    """1 m long and 0.1 m thick, from its pin at (0, 0, 0.5) on along x, over a post of which the top is at 0.8 m."""
    post = Scenery("post", shapes=[Sphere(0.1)], at=(0.8, 0.0, 0.35), material="smooth")
    bar = Body(
        "bar", at=(0.0, 0.0, 0.5), mass=2.0, com=(0.6, 0.0, 0.0), inertia=(0.01, 0.2, 0.2),
        shapes=[Box((1.0, 0.1, 0.1), at=(0.5, 0.0, 0.0))], material="smooth",
    )  # fmt: skip
    return world(post, bar, joint, *more, **fields)


def pin(**fields: Any) -> Hinge:
    return Hinge("pin", "ground", "bar", at=(0.0, 0.0, 0.5), axis=Y, **fields)


@pytest.mark.parametrize("damping", [0.0, 50.0])
def test_a_beam_on_a_support_obeys_the_lever_law(damping):
    """Also if it begins 0.3 rad above and something damps it heavily."""
    found = equilibrium(beam(pin(position=-0.3, damping=damping)))
    assert found.values["pin.angle"] == pytest.approx(0.0, abs=2e-5)  # the slop over the arm
    assert pushes(found, "post", "bar")[0] == pytest.approx(2.0 * G * 0.6 / 0.8, rel=2e-5)
    assert found.stability == "stable"


def test_a_spring_presses_a_lever_on_a_stop():
    model = beam(pin(spring=40.0, rest=0.5))
    model.gravity = (0.0, 0.0, 0.0)
    found = equilibrium(model)
    assert pushes(found, "post", "bar")[0] == pytest.approx(40.0 * 0.5 / 0.8, rel=5e-5)
    (spring,) = found.holders
    assert (spring.name, spring.kind) == ("pin.angle", "spring")
    assert spring.force == pytest.approx(40.0 * (0.5 - found.values["pin.angle"]), rel=1e-9)


def test_drives_press_with_what_they_have_built_up():
    """An actuator that needs 0.3 s for its force, and a servo that pulls back."""
    found = equilibrium(
        beam(
            pin(),
            Actuator("push", "pin", command=10.0, time_constant=0.3),
            PositionServo("pull", "pin", command=-0.1, stiffness=30.0, damping=2.0),
        )
    )
    force = 10.0 - 30.0 * 0.1 + 2.0 * G * 0.6
    assert pushes(found, "post", "bar")[0] == pytest.approx(force / 0.8, rel=5e-5)
    assert {one.name: one.force for one in found.holders} == pytest.approx(
        {"push": 10.0, "pull": -3.0}, rel=1e-3
    )


def test_commands_and_places_can_be_held():
    lifted = equilibrium(beam(pin()), hold={"pin.angle": -0.2})
    assert lifted.contacts == []
    assert lifted.values["pin.angle"] == pytest.approx(-0.2, abs=1e-12)
    (held,) = lifted.holders
    assert (held.name, held.kind) == ("pin.angle", "held")
    assert held.force == pytest.approx(-2.0 * G * 0.6 * math.cos(0.2), rel=EXACT)
    servo = VelocityServo("brake", "pin")
    braked = equilibrium(beam(pin(position=-0.2), servo))
    assert [(one.name, one.kind) for one in braked.holders] == [("brake", "held")]
    assert braked.holders[0].force == pytest.approx(held.force, rel=EXACT)
    loose = equilibrium(beam(pin(position=-0.2), servo), hold={"pin.angle": -0.1})
    assert [one.name for one in loose.holders] == ["pin.angle"]
    told = equilibrium(beam(pin(), PositionServo("lift", "pin", stiffness=500.0)), hold={"lift": -0.3})
    angle = told.values["pin.angle"]
    assert 500.0 * (angle + 0.3) == pytest.approx(2.0 * G * 0.6 * math.cos(angle), rel=1e-5)
    with pytest.raises(LinkworkError, match="moving at 1: nothing rests"):
        equilibrium(beam(pin(), VelocityServo("motor", "pin", command=1.0)))
    box = Body("box", mass=1.0, at=(0.0, 0.0, 0.05), shapes=[Box((0.1, 0.1, 0.1))], material="rough")
    with pytest.raises(LinkworkError, match=r"'box_free\.wx' cannot be held alone: hold .*box_free\.wy"):
        equilibrium(world(plane("floor"), box), hold={"box_free.wx": 0.0})
    with pytest.raises(LinkworkError, match=r"did you mean 'pin\.angle'"):
        equilibrium(beam(pin()), hold={"pin.angel": 0.0})


def test_dry_friction_of_a_joint_carries_what_it_can():
    """A slide down by 30°, with a joint that holds 12 N of the 9.81 N that pull."""
    axis = (math.cos(math.pi / 6), 0.0, -0.5)
    box = Body("box", mass=2.0, shapes=[Box((0.1, 0.1, 0.1))], material="rough")
    stop = Scenery("stop", at=(2.0, 0.0, -1.0), shapes=[Sphere(0.1)], material="rough")
    found = equilibrium(world(box, stop, Slider("rail", "ground", "box", axis=axis, friction=12.0)))
    assert [(one.name, one.kind) for one in found.holders] == [("rail.travel", "friction")]
    assert found.holders[0].force == pytest.approx(-G, rel=EXACT)
    assert not any("left out" in note for note in found.notes)


def test_limits_carry_beside_contacts():
    found = equilibrium(beam(pin(limits=(-1.0, -0.1))))
    assert found.contacts == []
    (force,) = found.limits.values()
    assert force == pytest.approx(2.0 * G * 0.6 * math.cos(0.1), rel=1e-5)


def test_signals_stand_still():
    """The force of 5 N at t = 2 s: time does not go on while it creeps, however long that takes."""
    ramp = Table([0.0, 100.0], [0.0, 100.0])
    model = beam(pin(), Force("hand", "bar", force=(0.0, 0.0, -2.5), at=(0.8, 0.0, 0.0), signal=ramp))
    found = equilibrium(model, time=2.0)
    assert pushes(found, "post", "bar")[0] == pytest.approx(2.0 * G * 0.6 / 0.8 + 5.0, rel=2e-5)


def rod(*sides: Scenery, at: Any, angle: float, **fields: Any) -> Model:
    """1 m between the centres of balls of 0.02 m at its ends, turned about y."""
    body = Body(
        "rod", at=at, rotation=about(Y, angle), mass=3.0, inertia=(0.01, 0.25, 0.25), material="rough",
        shapes=[Sphere(0.02, at=(0.5, 0.0, 0.0)), Sphere(0.02, at=(-0.5, 0.0, 0.0))],
    )  # fmt: skip
    return world(*sides, body, **fields)


def ladder(friction: float) -> tuple[Equilibrium, float, float]:
    """Leaned against a wall without friction at 60°; the force of the wall, from moments about the foot, and friction
    that is needed of the floor."""
    angle, r = math.pi / 3, 0.02
    wall = plane("wall", about(Y, -math.pi / 2), material="smooth")
    at = (-r - 0.5 * math.cos(angle), 0.0, r + 0.5 * math.sin(angle))
    force = 3.0 * G * 0.5 * math.cos(angle) / (math.sin(angle) + r)
    return (
        equilibrium(rod(plane("floor"), wall, at=at, angle=-angle, friction=friction)),
        force,
        force / (3.0 * G),
    )


def test_a_ladder_leans_on_a_wall_without_friction():
    found, force, needed = ladder(0.5)
    assert needed < 0.5
    assert pushes(found, "wall", "rod")[0] == pytest.approx(force, rel=5e-5)  # the slop over the ladder
    normal, friction = pushes(found, "floor", "rod")
    assert normal == pytest.approx(3.0 * G, rel=EXACT)
    np.testing.assert_allclose(friction, [force, 0.0, 0.0], atol=5e-5 * force)


def test_a_ladder_slides_down_where_the_floor_holds_too_little():
    for factor, slides in ((1.02, False), (0.98, True)):
        found, _, needed = ladder(factor * 0.2822)
        assert needed == pytest.approx(0.2822, rel=1e-3)
        assert (found.values["rod_free.z"] < -0.4) == slides
        assert pushes(found, "floor", "rod")[0] == pytest.approx(3.0 * G, rel=EXACT)


def test_a_rod_level_in_a_corner_rests_but_does_not_stay():
    """Without friction its centre is as high as it can be: the pose is an equilibrium, and unstable."""
    height = 0.5 + 0.02 * math.sqrt(2.0)
    sides = [plane("left", about(Y, math.pi / 4)), plane("right", about(Y, -math.pi / 4))]
    model = rod(*sides, at=(0.0, 0.0, height), angle=0.0, friction=0.0)
    found = equilibrium(model)
    for side in ("left", "right"):
        assert pushes(found, side, "rod")[0] == pytest.approx(3.0 * G / math.sqrt(2.0), rel=1e-5)
    assert found.stability == "unstable"
    assert found.values["rod_free.z"] == pytest.approx(0.0, abs=2e-5)
    lower = equilibrium(model, stable=True)
    assert lower.stability != "unstable"
    assert lower.values["rod_free.z"] < -0.3


def stack(order: Iterable[int]) -> Model:
    boxes = [
        Body(
            f"box{k}", at=(0.02 * k, 0.0, 0.05 + 0.1 * k), mass=1.0 + k, shapes=[Box((0.1, 0.1, 0.1))],
            material="rough",
        )
        for k in range(3)
    ]  # fmt: skip
    return world(plane("floor"), *(boxes[k] for k in order))


def test_the_order_of_bodies_does_not_matter():
    one, other = equilibrium(stack((0, 1, 2))), equilibrium(stack((2, 0, 1)))
    for a, b, carried in (("floor", "box0", 6.0), ("box0", "box1", 5.0), ("box1", "box2", 3.0)):
        for found in (one, other):
            normal, friction = pushes(found, a, b)
            assert normal == pytest.approx(carried * G, rel=EXACT)
            np.testing.assert_allclose(friction, 0.0, atol=1e-4)
    for name, value in one.values.items():
        assert other.values[name] == pytest.approx(value, abs=1e-6)


def test_corners_share_a_load_evenly():
    box = Body("box", at=(0.0, 0.0, 0.3), mass=1.0, shapes=[Box((0.2, 0.1, 0.1))], material="rough")
    found = equilibrium(world(plane("floor"), box))
    assert [touch.force for touch in found.contacts] == pytest.approx([G / 4] * 4, rel=1e-5)
    np.testing.assert_allclose([touch.friction for touch in found.contacts], 0.0, atol=1e-4)


def test_a_spring_hangs_a_box_half_way_on_the_floor():
    box = Body("box", at=(0.0, 0.0, 0.05), mass=2.0, shapes=[Box((0.1, 0.1, 0.1))], material="rough")
    coil = Spring(
        "coil", "ground", "box", at_a=(0.0, 0.0, 1.0), at_b=(0.0, 0.0, 0.05), stiffness=10.0, length=0.5
    )
    found = equilibrium(world(plane("floor"), box, coil))
    (pull,) = found.holders
    assert (pull.name, pull.kind) == ("coil", "spring")
    assert abs(pull.force) == pytest.approx(4.5, abs=2e-4)  # the slop times the stiffness
    assert pushes(found, "floor", "box")[0] == pytest.approx(2.0 * G - abs(pull.force), rel=EXACT)


def test_a_simulation_put_there_stays():
    found, _, _ = ladder(0.5)
    simulation = Simulation(found.posed())
    before = simulation["rod.position"]
    simulation.step(1000)
    assert np.abs(simulation["rod.position"] - before).max() < 1e-5  # the slop
    assert np.abs(simulation.v).max() < 1e-6
    other = Simulation(found.posed())
    found.start(other)
    np.testing.assert_array_equal(other.q, found.q)


def test_progress_rises_to_the_end():
    told: list[float] = []
    equilibrium(
        world(plane("left", about(Y, 0.8)), plane("right", about(Y, -0.6)), ball()), progress=told.append
    )
    assert told
    assert all(0.0 <= share <= 1.0 for share in told)
    assert told[-1] > told[0]


def test_what_stays_refused():
    with pytest.raises(UnsupportedError, match="inverse dynamics knows no contact, but body 'bar' may touch"):
        inverse(beam(pin()), {"pin.angle": 0.0}, [0.0, 1.0])


def test_the_command_tells_the_contacts(tmp_path):
    path = tmp_path / "beam.yaml"
    save_model(beam(pin(position=-0.1)), path)
    text = call("statics", str(path))
    assert text.exit_code == 0, text.output
    assert "pushes 'post' with 14.71" in text.output or "pushes 'bar' with 14.71" in text.output
    assert "after a small push it comes back" in text.output
    (touch,) = json.loads(call("statics", str(path), "--json").stdout)["contacts"]
    assert touch["force"] == pytest.approx(2.0 * G * 0.6 / 0.8, rel=2e-5)
    assert {touch["a"], touch["b"]} == {"bar", "post"}
    failed = call("statics", str(path), "--patience", "0.01")
    assert "'bar' still creeps" in str(failed.exception)
