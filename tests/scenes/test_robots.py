"""Robots of the gallery: they hold themselves by their servos, and are missed politely where they are not installed."""

import numpy as np
import pytest

from linkwork import LinkworkError, Simulation, scene
from linkwork.scenes import find_scene, gallery_names, robots, scene_names
from linkwork.scenes.robots import anymal_c, g1, panda

installed = pytest.mark.skipif(robots.robots_folder() is None, reason="needs the package example-robot-data")


def run(name, **settings):
    found = find_scene(name)
    return Simulation(found.model(settings), dt=found.dt).run(3.0, every=0.01)


def test_without_the_package_they_are_not_listed_and_say_what_is_lacking(monkeypatch):
    monkeypatch.setattr(robots, "robots_folder", lambda: None)
    assert gallery_names() == scene_names()
    assert find_scene("panda").source  # known, with what it is
    with pytest.raises(LinkworkError, match=r"the robot 'panda' needs .* pip install 'linkwork\[robots\]'"):
        scene("panda")


@installed
@pytest.mark.peers
def test_they_are_listed_with_their_source_and_licence():
    assert set(gallery_names()) - set(scene_names()) == {"anymal_c", "g1", "panda"}
    for name in robots.robot_names():
        assert "example-robot-data" in find_scene(name).source


@installed
@pytest.mark.peers
def test_panda_reaches_its_pose_and_one_finger_mimics_the_other():
    record = run("panda", width=0.05)
    left, right = (record[f"panda_finger_joint{k}.travel"] for k in (1, 2))
    assert np.ptp(left) > 0.02
    np.testing.assert_allclose(right, left, atol=1e-14)
    # The mimic coupling shares the finger's servo, which holds what weighs little: at rest, where it is told.
    assert left[-1] == pytest.approx(0.025, abs=1e-4)
    for k, angle in enumerate(panda.READY, 1):
        # Servos are springs: the arm sags by its weight's torque over their stiffness, at most 25 N m / 900 here.
        assert record[f"panda_joint{k}.angle"][-1] == pytest.approx(angle, abs=0.03)


@installed
@pytest.mark.peers
@pytest.mark.parametrize(("name", "trunk", "low"), [("anymal_c", "base", 0.4), ("g1", "pelvis", 0.7)])
def test_legs_carry_the_trunk(name, trunk, low):
    """They land, come to rest upright, and their feet are on the ground."""
    found = find_scene(name)
    simulation = Simulation(found.build(), dt=found.dt)
    record = simulation.run(4.0, every=0.01)
    height = record[f"{trunk}.position.z"]
    assert low < height[-1] < height[0]
    assert np.ptp(height[-50:]) < 2e-3
    upright = 1 - 2 * (record[f"{trunk}.rotation.x"] ** 2 + record[f"{trunk}.rotation.y"] ** 2)
    assert upright[-1] > 0.99
    feet = (
        [f"{leg}_FOOT" for leg in anymal_c.LEGS]
        if name == "anymal_c"
        else [f"{s}_ankle_roll_link" for s in ("left", "right")]
    )
    for foot in feet:
        assert 0.0 < record[f"{foot}.position.z"][-1] < 0.1


@installed
@pytest.mark.peers
def test_parameters_change_what_they_say():
    assert scene("anymal_c", height=1.0).joints["base_base"].position[2] == 1.0
    assert scene("g1", crouch=0.3).drives["left_knee_joint_servo"].command == 0.6
    assert g1.build().files == {}
