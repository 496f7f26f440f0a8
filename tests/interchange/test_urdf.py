"""URDF: what becomes of links, joints, shapes, mimic joints and transmissions, and of what the format cannot say."""

import math

import numpy as np
import pytest
import trimesh

from helpers.command import call, document
from linkwork import (
    Box,
    Hinge,
    Mesh,
    Model,
    ModelError,
    Repeater,
    Simulation,
    Slider,
    Spring,
    TorqueSource,
    VelocityServo,
    import_model,
    load_model,
)
from linkwork.model.rotation import matrix

INERTIAL = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>'


def link(name, inside=INERTIAL):
    return f'<link name="{name}">{inside}</link>\n'


def joint(name, kind, parent, child, inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def write(folder, *parts, name="robot.urdf"):
    file = folder / name
    file.write_text('<?xml version="1.0"?>\n<robot name="r">\n' + "".join(parts) + "</robot>\n")
    return file


def test_joints_stand_where_the_file_puts_them(tmp_path):
    file = write(
        tmp_path,
        link("base"),
        link("arm"),
        link("rod"),
        joint("turn", "revolute", "base", "arm",
              '<origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><axis xyz="0 0 2"/>'
              '<limit lower="-1" upper="2" effort="5" velocity="0"/><dynamics damping="0.5" friction="0.25"/>'),
        joint("push", "prismatic", "arm", "rod", '<origin xyz="0 0 3"/><limit lower="0.1" upper="2"/>'),
    )  # fmt: skip
    model, report = import_model(file)
    turn, push = model.joints["turn"], model.joints["push"]
    assert isinstance(turn, Hinge)
    assert turn.at == (0, 0, 1)
    assert turn.axis == pytest.approx((1, 0, 0))  # z of a frame that is turned about y
    assert (turn.limits, turn.damping, turn.friction) == ((-1, 2), 0.5, 0.25)
    assert isinstance(push, Slider)
    assert push.at == pytest.approx((3, 0, 1))
    assert push.axis == pytest.approx((0, 0, -1))  # x, where no axis is written
    assert push.position == 0.1  # zero is outside of its limits
    assert model.joints["base_base"].kind == "weld"
    assert {entry.line for entry in report.of("dropped")} == {6}  # its effort
    assert import_model(file, free_base=True).model.joints["base_base"].kind == "free"


def test_floating_and_planar_joints(tmp_path):
    file = write(
        tmp_path, link("base"), link("a"), link("b"), joint("f", "floating", "base", "a"),
        joint("p", "planar", "base", "b", '<axis xyz="0 1 0"/>'),
    )  # fmt: skip
    model = Model.from_file(file)
    assert model.joints["f"].coordinates == ("x", "y", "z", "qw", "qx", "qy", "qz")
    assert model.joints["p"].axis == (0, 1, 0)
    assert Simulation(model).run(0.01).energy_drift == pytest.approx(0.0, abs=1e-9)


def test_an_inertia_is_turned_into_the_axes_of_its_link(tmp_path):
    inertial = (
        '<inertial><origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/><mass value="2"/>'
        '<inertia ixx="3" iyy="4" izz="5" ixy="0.1" ixz="-0.2" iyz="0.3"/></inertial>'
    )
    body = import_model(write(tmp_path, link("base", inertial))).model.bodies["base"]
    cx, cy, cz, sx, sy, sz = *np.cos([0.3, -0.4, 0.5]), *np.sin([0.3, -0.4, 0.5])
    R = (
        np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
        @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
        @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    )
    local = np.array([[3, 0.1, -0.2], [0.1, 4, 0.3], [-0.2, 0.3, 5]])
    mass, com, inertia = body.mass_properties
    assert mass == 2
    assert com == pytest.approx((1, 2, 3))
    np.testing.assert_allclose(inertia, R @ local @ R.T, atol=1e-14)


def test_a_link_without_mass_and_shape_is_a_marker_and_the_world_is_the_ground(tmp_path):
    file = write(
        tmp_path,
        link("world", '<collision><geometry><box size="1 1 1"/></geometry></collision>'),
        link("base"), link("tool", ""), link("tip"),
        joint("hold", "fixed", "world", "base", '<origin xyz="1 0 0"/>'),
        joint("tool_joint", "fixed", "base", "tool", '<origin xyz="0 1 0"/>'),
        joint("turn", "continuous", "tool", "tip", '<axis xyz="0 1 0"/>'),
    )  # fmt: skip
    model, report = import_model(file)
    assert set(model.bodies) == {"base", "tip"}
    assert model.markers["tool"].at == (1, 1, 0)
    assert model.markers["tool"].body == "base"
    assert (model.joints["turn"].a, model.joints["turn"].at) == ("base", (1, 1, 0))
    assert model.joints["hold"].a == "ground"
    assert model.scenery["world_shapes"].shapes == (Box((1, 1, 1)),)
    assert report.lossless


def test_shapes_for_pictures_and_for_contact_are_told_apart(tmp_path):
    trimesh.creation.box((2, 3, 4)).export(tmp_path / "part.stl")
    material = '<material name="red"><color rgba="1 0.5 0 1"/></material>'
    file = write(
        tmp_path,
        material,
        link("base", '<visual><origin xyz="0 0 1"/><geometry><mesh filename="part.stl" scale="1 -1 1"/></geometry>'
             '<material name="red"/></visual>'
             '<collision><geometry><cylinder radius="1" length="2"/></geometry></collision>'),
        link("ball", '<collision><geometry><sphere radius="0.5"/></geometry></collision>'),
        joint("hold", "fixed", "base", "ball"),
    )  # fmt: skip
    model, _ = import_model(file)
    seen, touching = model.bodies["base"].shapes
    assert isinstance(seen, Mesh)
    assert (seen.use, seen.color, seen.inverted) == ("picture", "#ff8000", True)
    # A reflection of y is one through the origin and half a turn about y.
    np.testing.assert_allclose(-matrix(seen.rotation), np.diag([1, -1, 1]), atol=1e-15)
    assert touching.use == "contact"
    assert model.bodies["ball"].shapes[0].use == "all"  # it has no other looks
    assert all(body.material is None for body in model.bodies.values())
    touching = import_model(file, contact=True).model
    assert all(body.material == "surface" for body in touching.bodies.values())
    assert import_model(file, meshes=False).report.of("dropped")[0].what == "mesh 'part.stl'"


def test_mimic_joints_keep_their_relation_to_rounding(tmp_path):
    """A parallel gripper: one finger is driven, the other follows, with an offset."""
    limit = '<limit lower="-0.1" upper="0.1"/>'
    file = write(
        tmp_path, link("palm"), link("left"), link("right"),
        joint("left_slide", "prismatic", "palm", "left", f'<axis xyz="0 1 0"/>{limit}'),
        joint("right_slide", "prismatic", "palm", "right",
              f'<axis xyz="0 -1 0"/>{limit}<mimic joint="left_slide" multiplier="0.5" offset="0.01"/>'),
    )  # fmt: skip
    model, report = import_model(file)
    assert report.lossless
    (coupling,) = model.couplings.values()
    assert isinstance(coupling, Repeater)
    model.add(TorqueSource("motor", "left_slide", command=0.3))
    record = Simulation(model).run(0.5)
    left, right = record["left_slide.travel"], record["right_slide.travel"]
    assert np.ptp(left) > 0.03
    np.testing.assert_allclose(right, 0.5 * left + 0.01, atol=1e-14)
    # Both fingers of 1 kg on one motor: F = (1 + 1/4) a.
    t = record.time
    np.testing.assert_allclose(left, 0.5 * 0.3 / 1.25 * t**2, atol=1e-12)


def test_a_follower_of_a_fixed_joint_stands_still_and_a_circle_is_an_error(tmp_path):
    mimic = '<limit lower="-1" upper="1"/><mimic joint="{}" offset="0.2"/>'
    parts = [link("base"), link("a"), link("b"), joint("hold", "fixed", "base", "a")]
    model, _ = import_model(
        write(tmp_path, *parts, joint("turn", "revolute", "a", "b", mimic.format("hold")))
    )
    assert (model.joints["turn"].limits, model.joints["turn"].position) == ((0.2, 0.2), 0.2)
    with pytest.raises(ModelError, match="follows itself"):
        import_model(write(tmp_path, *parts, joint("turn", "revolute", "a", "b", mimic.format("turn"))))


def test_transmissions_are_drives(tmp_path):
    def transmission(name, interface):
        return (
            f'<transmission name="{name}"><type>transmission_interface/SimpleTransmission</type><joint name="{name}">'
            f"<hardwareInterface>hardware_interface/{interface}</hardwareInterface></joint></transmission>"
        )

    parts = [link("base")]
    for name, interface in (
        ("e", "EffortJointInterface"),
        ("v", "VelocityJointInterface"),
        ("p", "PositionJointInterface"),
    ):
        limit = '<limit lower="-1" upper="1" effort="7"/>'
        moved = joint(name, "revolute", "base", f"l{name}", limit)
        parts += [link(f"l{name}"), moved, transmission(name, interface)]
    model, report = import_model(write(tmp_path, *parts))
    assert isinstance(model.drives["e"], TorqueSource)
    assert isinstance(model.drives["v"], VelocityServo)
    assert model.drives["v"].strength == 7
    assert [entry.what for entry in report.of("approximated")] == ["transmission 'p'"]


def test_names_that_models_do_not_take_are_changed_and_told(tmp_path):
    file = write(tmp_path, link("a.b c"), link("ground"), joint("x/y", "continuous", "a.b c", "ground"))
    model, report = import_model(file)
    assert set(model.bodies) == {"a_b_c", "ground_2"}
    assert "x_y" in model.joints
    assert any("a_b_c" in entry.how for entry in report.of("mapped"))


def test_loops_and_springs_stand_in_an_extension_that_other_readers_ignore(tmp_path):
    """A four-bar linkage of equal cranks: the rod only translates, in a circle."""
    rod = '<inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>'
    file = write(
        tmp_path, link("base"), link("left"), link("right"), link("rod", rod),
        joint("a", "continuous", "base", "left", '<axis xyz="0 1 0"/>'),
        joint("b", "continuous", "left", "rod", '<origin xyz="0 0 1"/><axis xyz="0 1 0"/>'),
        joint("c", "continuous", "base", "right", '<origin xyz="1 0 0"/><axis xyz="0 1 0"/>'),
        '<linkwork><hinge name="d" a="right" b="rod" at="[1, 0, 1]" axis="[0, 1, 0]"/>\n'
        '<spring name="pull" a="ground" b="rod" at_a="[0, 0, 2]" at_b="[0, 0, 1]" stiffness="10"/>\n'
        '<set shelf="joints" name="a" velocity="1.0" armature="0.5"/></linkwork>',
    )  # fmt: skip
    model, report = import_model(file)
    assert isinstance(model.loads["pull"], Spring)
    assert (model.joints["a"].velocity, model.joints["a"].armature) == (1.0, 0.5)
    assert report.lossless
    record = Simulation(model).run(1.0)
    assert record.info["worst_gap_m"] < 1e-13
    np.testing.assert_allclose(record["a.angle"] + record["b.angle"], 0.0, atol=1e-12)
    with pytest.raises(ModelError, match=r"robot.urdf:\d+:\d+: hinge 'd'.a: there is no body 'nobody'"):
        import_model(write(tmp_path, file.read_text().split("\n", 2)[2].replace("</robot>", "").replace('a="right"', 'a="nobody"')))  # noqa: E501  # fmt: skip


def test_the_command_tells_what_became_of_it_and_writes_a_model_with_its_meshes(tmp_path):
    (tmp_path / "there").mkdir()
    trimesh.creation.box((2, 3, 4)).export(tmp_path / "part.stl")
    visual = '<visual><geometry><mesh filename="part.stl"/></geometry></visual><sensor/>'
    file = write(tmp_path, link("base", INERTIAL + visual))
    told = document("import", file, "-o", tmp_path / "there" / "m.yaml")
    assert told["report"]["dropped"][0]["line"] == 3
    kept = load_model(tmp_path / "there" / "m.yaml")
    assert kept.bodies["base"].shapes[0].file == str(tmp_path / "there" / "m_meshes" / "part.stl")
    text = call("import", file).stdout.replace("\n", "")
    assert "1 dropped" in text
    assert "robot.urdf:3: sensor of link 'base'" in text


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("r.sdf", "SDF is not read: convert it to URDF or MJCF"),
        ("r.world", "SDF is not read: convert it to URDF or MJCF"),
        ("r.usda", "USD is not read: export URDF or MJCF"),
        ("r.usdz", "USD is not read: export URDF or MJCF"),
        ("r.urdf.xacro", "read its output"),
        ("r.txt", "is not known by its ending"),
    ],
)
def test_other_formats_are_refused_by_name(tmp_path, name, what):
    for opened in (import_model, Model.from_file) if name != "r.txt" else (import_model,):
        with pytest.raises(ModelError, match=what):
            opened(tmp_path / name)


def test_right_angles_survive_the_way_to_roll_pitch_yaw_and_back():
    from linkwork.interchange.values import from_rpy, to_rpy

    rng = np.random.default_rng(0)
    for pitch in (math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9, 0.3):
        R = from_rpy(rng.uniform(-3, 3), pitch, rng.uniform(-3, 3))
        np.testing.assert_allclose(from_rpy(*to_rpy(R)), R, atol=4e-16)
