"""MJCF: the mechanics of MuJoCo's models, equalities that hold to rounding, drives, keyframes, what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

mujoco = pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
pytestmark = pytest.mark.peers

from helpers.mujoco_twin import MujocoTwin  # noqa: E402
from helpers.opened import opened_in  # noqa: E402
from helpers.robots import apart  # noqa: E402
from linkwork import ModelError, Repeater, Simulation, import_model  # noqa: E402

SHIPPED = Path(mujoco.__file__).parent / "testdata"


def write(folder, inside, name="m.xml"):
    file = folder / name
    file.write_text(f"<mujoco>\n{inside}\n</mujoco>\n")
    return file


MIXED = """<compiler angle="radian" autolimits="true"/><option gravity="1 -2 -9"/>
<default><geom density="500"/>
<default class="stiff"><joint stiffness="7" springref="0.4" damping="0.3"/></default></default>
<worldbody>
  <body name="floats" pos="1 2 3" euler="0.3 -0.4 0.5"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2"/>
    <body name="ball" pos="0 0.3 0.1" euler="1 0.2 0">
      <joint name="b" type="ball" pos="0 0 0.1" stiffness="3" damping="0.2"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0.1 0" mass="2"/></body></body>
  <body name="cart" pos="0 0 1" gravcomp="0.7"><joint name="x" type="slide" axis="1 0 0" armature="0.3"/>
    <joint name="y" type="slide" axis="0 1 0.3"/>
    <joint name="yaw" axis="0 0.1 1" pos="0.1 0 0" class="stiff" ref="0.2"/>
    <geom type="ellipsoid" size="0.3 0.2 0.1"/><geom type="cylinder" size="0.1 0.2" pos="0.3 0 0" euler="0 1 0"/>
    <body name="arm" pos="0.3 0 0" quat="1 0.2 0 0"><joint name="e" axis="0 1 0" pos="0 0 0.1"/>
      <inertial pos="0.1 0 0.2" mass="1.3" diaginertia="0.05 0.04 0.02" euler="0.1 0.2 0.3"/></body></body>
  <body name="post" pos="5 0 0"><geom size="0.1"/>
    <body name="flag" pos="0 0 1"><joint name="f"/><geom size="0.2"/></body></body>
</worldbody>"""


@pytest.mark.parametrize("name", ["model.xml", "mixed"])
def test_mass_matrix_gravity_and_accelerations_are_those_of_mujoco(name, tmp_path):
    if name == "mixed":
        file = write(tmp_path, MIXED)
    else:  # without what adds forces that belong to no tree
        text = (SHIPPED / name).read_text()
        for section in ("actuator", "sensor", "keyframe"):
            text = re.sub(f"<{section}>.*</{section}>", "", text, flags=re.DOTALL)
        file = tmp_path / name
        file.write_text(text)
    twin = MujocoTwin(file)
    assert twin.weight == pytest.approx(twin.m.body_mass.sum(), rel=1e-12)
    for seed in range(4):
        for ours, theirs in twin.both(seed):
            assert apart(ours, theirs) < 1e-9


def test_everything_that_mujoco_ships_is_read_or_says_why_not():
    found = {file.name: file for file in SHIPPED.glob("*.xml")}
    assert "model.xml" in found
    for file in found.values():
        if "<body" not in file.read_text():
            with pytest.raises(ModelError, match="it has no bodies"):
                import_model(file)
            continue
        model, report = import_model(file, contact=False)
        assert all(entry.how for entry in report.of("approximated") + report.of("dropped"))
        assert Simulation(model).run(0.002).time[-1] == pytest.approx(0.002)
    for file in SHIPPED.glob("*.urdf"):
        assert import_model(file).model.bodies


RODS = """<option gravity="3 0 -9"/><default><geom type="capsule" size="0.02"/></default><worldbody>
  <body name="left"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 0 0 1"/>
    <body name="rod" pos="0 0 1"><joint name="b" axis="0 1 0"/><geom fromto="0 0 0 1 0 0"/></body></body>
  <body name="right" pos="1 0 0"><joint name="c" axis="0 1 0"/><geom fromto="0 0 0 0 0 1"/></body>
</worldbody>
<equality><connect name="closing" body1="rod" body2="right" anchor="1 0 0"/></equality>"""


def test_a_four_bar_closed_by_a_connect_equality_stays_closed_to_rounding(tmp_path):
    model, report = import_model(write(tmp_path, RODS), contact=False)
    assert model.joints["closing"].kind == "spherical"
    assert any("holds to rounding" in entry.how for entry in report.of("mapped"))
    record = Simulation(model, dt=1e-3).run(1.0)
    assert np.ptp(record["a.angle"]) > 0.5
    assert record.info["worst_gap_m"] < 1e-13
    np.testing.assert_allclose(record["a.angle"] + record["b.angle"], 0.0, atol=1e-11)


def test_a_gripper_of_two_joints_in_an_equality_moves_in_proportion(tmp_path):
    text = """<worldbody><body name="l"><joint name="l" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
    <body name="r" pos="1 0 0"><joint name="r" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
    <equality><joint joint1="r" joint2="l" polycoef="0.02 -0.5 0 0 0"/></equality>
    <actuator><motor joint="l" gear="3"/></actuator>"""
    model, _ = import_model(write(tmp_path, text), contact=False)
    (coupling,) = model.couplings.values()
    assert isinstance(coupling, Repeater)
    simulation = Simulation(model)
    simulation.command("actuator0", 0.6)
    record = simulation.run(1.0)
    left, right = record["l.travel"], record["r.travel"]
    np.testing.assert_allclose(left, 0.5 * 0.6 / 1.25 * record.time**2, atol=1e-12)
    np.testing.assert_allclose(right, 0.02 - 0.5 * left, atol=1e-14)


DRIVEN = """<option timestep="1e-4" integrator="RK4" gravity="0 0 0"/><compiler angle="radian"/>
<worldbody><body><joint name="j" axis="0 0 1" ref="0.3" damping="0.1"/>
<geom type="box" size="0.3 0.1 0.1" mass="1"/></body></worldbody>
<actuator>{}</actuator>"""


@pytest.mark.parametrize(
    ("actuator", "share", "control"),
    [
        ('<motor joint="j" gear="3"/>', 3.0, 0.2),
        ('<position joint="j" kp="2" kv="0.1" gear="1.5"/>', 1 / 1.5, 0.6),
        ('<velocity joint="j" kv="0.5" gear="2"/>', 1.0, 0.4),
        ('<general joint="j" dyntype="filterexact" dynprm="0.2" gainprm="2" gear="1.5"/>', 3.0, 0.3),
    ],
)
def test_actuators_move_a_joint_as_in_mujoco(actuator, share, control, tmp_path):
    file = write(tmp_path, DRIVEN.format(actuator))
    model, report = import_model(file, contact=False)
    assert not report.of("approximated")
    simulation = Simulation(model, dt=1e-3, integrator="rk4")
    simulation.command("actuator0", share * control - (0.3 if "position" in actuator else 0.0))
    angle = simulation.run(1.0)["j.angle"][-1]
    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    d.ctrl[0] = control
    mujoco.mj_step(m, d, 10_000)
    assert abs(angle) > 0.02
    # Both are of fourth order in their steps; MuJoCo holds activations through a step, which is of first order.
    assert angle == pytest.approx(d.qpos[0] - 0.3, rel=1e-3 if "filter" in actuator else 1e-7)


def test_a_keyframe_is_where_it_starts(tmp_path):
    joints = MIXED + '<keyframe><key name="home" qpos="{}" qvel="{}"/></keyframe>'
    m = mujoco.MjModel.from_xml_string(f"<mujoco>{MIXED}</mujoco>")
    rng = np.random.default_rng(5)
    qpos, qvel = m.qpos0.copy(), rng.uniform(-1, 1, m.nv)
    mujoco.mj_integratePos(m, qpos, rng.uniform(-1, 1, m.nv), 1.0)
    file = write(tmp_path, joints.format(*(" ".join(map(repr, map(float, row))) for row in (qpos, qvel))))
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, d)
    simulation = Simulation(import_model(file, keyframe="home", contact=False).model)
    for body in ("floats", "ball", "cart", "arm", "flag"):
        np.testing.assert_allclose(simulation.point(body)[0], d.body(body).xpos, atol=1e-12)
    with pytest.raises(Exception, match="no keyframe 'hom'"):
        import_model(file, keyframe="hom")


def test_masks_excludes_and_friction_become_groups_and_materials(tmp_path):
    text = """<worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.8 0.01 0.001"/>
    <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" condim="6" friction="0.8 0.02 0.003"/></body>
    <body name="b" pos="0 0 2"><freejoint/><geom size="0.1" contype="2" conaffinity="4"/></body>
    <body name="c" pos="0 0 3"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>
    <contact><exclude body1="a" body2="b"/></contact>"""
    model, _ = import_model(write(tmp_path, text))
    of = {name: model.materials[body.material] for name, body in model.bodies.items() if body.material}
    assert (of["a"].friction, of["a"].torsion, of["a"].rolling) == (0.8, 0.02, 0.003)
    assert model.scenery["floor"].material is not None
    assert model.bodies["c"].material is None
    apart_ = {frozenset((rule.a, rule.b)) for rule in model.no_contacts.values()}
    assert frozenset(("a", "b")) in apart_
    assert {model.bodies["b"].group} in apart_  # 2 & 4 = 0
    simulation = Simulation(model, dt=2e-3)
    simulation.run(1.0)
    assert simulation.point("a")[0][2] == pytest.approx(0.1, abs=1e-3)
    assert simulation.point("b")[0][2] < 0.0  # it falls through the floor, which it does not touch


BAD = {
    "urdf": ('<robot name="r"/>', "its root must be <mujoco>"),
    "broken": ("<mujoco><worldbody>", "is not XML"),
    "unknown": ("<mujoco>\n<worldbody><thing/></worldbody></mujoco>", "MuJoCo cannot read it.*line 2"),
    "bomb": ('<!DOCTYPE r [<!ENTITY a "b">]><mujoco model="&a;"/>', "document type"),
    "empty": ("<mujoco/>", "has no bodies"),
    "include_elsewhere": ('<mujoco>\n<include file="../secret.xml"/></mujoco>', "m.xml:2:1.*leads outside"),
    "include_nothing": ('<mujoco>\n<include file="none.xml"/></mujoco>', "m.xml:2:1.*there is no file"),
    "include_itself": ('<mujoco>\n<include file="m.xml"/></mujoco>', "includes go in a circle"),
    "mesh_elsewhere": ('<mujoco><asset>\n<mesh file="/etc/passwd"/></asset></mujoco>', "m.xml:2:1.*leads outside"),
    "mesh_by_folder": (
        '<mujoco><compiler meshdir="../"/><asset>\n<mesh file="secret.stl"/></asset></mujoco>', "leads outside",
    ),
    "texture_elsewhere": ('<mujoco><asset>\n<texture file="../secret.png"/></asset></mujoco>', "leads outside"),
    "net": ('<mujoco><asset>\n<mesh file="http://127.0.0.1/m.stl"/></asset></mujoco>', "nothing is fetched"),
    "plugin": ('<mujoco><extension>\n<plugin plugin="p"/></extension></mujoco>', "plugins are code"),
}  # fmt: skip


BODY = '<body name="a">\n<joint name="j"/><geom name="g" size="1"/></body>'
WORLD = f"<worldbody>{BODY}</worldbody>"

# Of each: what stands inside <mujoco> from line 2 on, the line of the error, what it says.
PLACED = {
    "nan": ('<worldbody>\n<body pos="nan 0 0"/></worldbody>', 3, "must be finite numbers"),
    "infinite": ('<worldbody><body>\n<geom size="inf"/></body></worldbody>', 3, "must be finite numbers"),
    "nan_in_a_keyframe": (f'{WORLD}<keyframe>\n<key qpos="NaN"/></keyframe>', 4, "must be finite numbers"),
    "singular_inertia": (
        '<worldbody><body>\n<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 0 0"/></body></worldbody>', 2,
        "inertia must satisfy A + B >= C",
    ),
    "negative_mass": ('<worldbody><body><joint/>\n<geom size="1" mass="-1"/></body></worldbody>', 3, "are negative"),
    "moves_without_mass": ('<worldbody>\n<body><joint/></body></worldbody>', 3, "must be larger than mjMINVAL"),
    "axis_of_nothing": (
        '<worldbody><body>\n<joint axis="0 0 0"/><geom size="1"/></body></worldbody>', 3, "axis too small",
    ),
    "turn_of_nothing": ('<worldbody>\n<body quat="0 0 0 0"/></worldbody>', 3, "zero quaternion"),
    "crossed_limits": (
        '<worldbody><body>\n<joint range="2 1" limited="true"/><geom size="1"/></body></worldbody>', 3,
        "range[0] should be smaller",
    ),
    "two_of_a_name": (f'<worldbody>{BODY}\n<body name="a"/></worldbody>', 4, "repeated name 'a'"),
    "two_classes_of_a_name": ('<default><default class="x"/>\n<default class="x"/></default>', 3, "repeated default"),
    "equality_of_nobody": (
        f'{WORLD}<equality>\n<connect body1="a" body2="b" anchor="0 0 0"/></equality>', 4, "unknown element 'b'",
    ),
    "distance": (
        f'{WORLD}<equality>\n<distance geom1="g" geom2="g"/></equality>', 4, "no distance equalities any more",
    ),
    "actuator_of_nobody": (f'{WORLD}<actuator>\n<motor joint="k"/></actuator>', 4, "unknown"),
    "unknown_attribute": ('<worldbody>\n<body nam="a"/></worldbody>', 3, "unrecognized attribute"),
    "key_of_another_size": (f'{WORLD}<keyframe>\n<key qpos="1 2"/></keyframe>', 4, "invalid qpos size"),
    "missing_mesh": ('<asset>\n<mesh file="none.stl"/></asset>', 3, "there is no file 'none.stl'"),
    "empty_mesh": (
        '<asset>\n<mesh name="m" file="empty.stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody>', 3,
        "is empty",
    ),
    "copies": (f'<worldbody>\n<replicate count="999999999">{BODY}</replicate></worldbody>', 3, "its copies make"),
    "copies_of_copies": (
        "<worldbody>\n" + 3 * '<replicate count="1000">' + BODY + 3 * "</replicate>" + "</worldbody>", 3,
        "its copies make",
    ),
    "huge_terrain": ('<asset>\n<hfield nrow="1000000" ncol="1000000" size="1 1 1 1"/></asset>', 3, "asks for 1e+12"),
    "huge_flexible_body": (
        '<worldbody>\n<flexcomp name="f" type="grid" count="100000 100000 10"/></worldbody>', 3, "asks for 1e+11",
    ),
    "huge_arrays": (f'<size nuserdata="2000000000"/>{WORLD}', 2, "asks for 2e+09"),
    "huge_memory": (f'<size memory="100000000G"/>{WORLD}', 2, "allocate memory"),
    "folder_of_an_include": (
        '<include file="folder.xml"/><asset>\n<mesh name="m" file="twin.stl"/></asset>', 3, "leads outside",
    ),
    "mesh_of_an_attached_model": (
        '<asset>\n<model name="m" file="part/attached.xml"/></asset>', 2, "leads outside",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACED)
def test_errors_tell_the_line(case, tmp_path):
    inside, line, what = PLACED[case]
    (tmp_path / "home" / "part").mkdir(parents=True)
    home = tmp_path / "home"
    for file in (tmp_path / "twin.stl", home / "twin.stl", home / "empty.stl"):
        file.write_text("")
    (home / "folder.xml").write_text('<mujocoinclude><compiler meshdir="../"/></mujocoinclude>')
    (home / "part" / "attached.xml").write_text(
        '<mujoco><asset>\n<mesh name="m" file="../../twin.stl"/></asset></mujoco>'
    )
    file = home / "m.xml"
    file.write_text(f"<mujoco>\n{inside}</mujoco>")
    with opened_in(tmp_path) as opened, pytest.raises(ModelError) as caught:
        import_model(file)
    assert opened == []
    found = [(one.what, one.line) for one in caught.value.problems]
    assert any(what in told and at == line for told, at in found), found


def test_meshes_of_attached_models_are_those_beside_them(tmp_path):
    """Files of the same name lie beside the model that attaches and the one that is attached."""
    (tmp_path / "part").mkdir()
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "m.stl")
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "part" / "m.stl")
    body = '<body name="b"><freejoint/><geom type="mesh" mesh="m"/></body>'
    write(
        tmp_path / "part",
        f'<asset><mesh name="m" file="m.stl"/></asset><worldbody>{body}</worldbody>',
        "p.xml",
    )
    file = write(
        tmp_path,
        '<asset><model name="p" file="part/p.xml"/></asset>'
        '<worldbody><attach model="p" body="b" prefix="x_"/></worldbody>',
    )
    (body,) = import_model(file).model.bodies.values()
    (shape,) = body.shapes
    assert body.mass == pytest.approx(6000.0)
    assert shape.mass_properties(1000.0).mass == pytest.approx(6000.0)


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_told_before_mujoco_reads_anything_elsewhere(case, tmp_path):
    text, what = BAD[case]
    (tmp_path / "home").mkdir()
    for name in ("secret.xml", "secret.stl", "secret.png"):
        (tmp_path / name).write_text("<mujoco/>")
    file = tmp_path / "home" / "m.xml"
    file.write_text(text)
    with opened_in(tmp_path) as opened, pytest.raises(ModelError, match=what):
        import_model(file)
    assert opened == []


def test_what_mujoco_opens_is_seen(tmp_path):
    """The watch itself: it sees what C code opens, where that is allowed."""
    trimesh.creation.box().export(tmp_path / "m.stl")
    body = '<body name="b"><freejoint/><geom type="mesh" mesh="m"/></body>'
    file = write(tmp_path, f'<asset><mesh name="m" file="m.stl"/></asset><worldbody>{body}</worldbody>')
    with opened_in(tmp_path) as opened:
        mujoco.MjModel.from_xml_path(str(file))
    assert {"m.stl", file.name} <= set(opened)


def test_meshes_are_kept_and_what_has_no_counterpart_is_told(tmp_path):
    text = """<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><light pos="0 0 3"/>
    <body name="a"><freejoint/><geom type="mesh" mesh="wedge" density="6000"/><site name="s" pos="0.1 0 0"/></body>
    </worldbody><tendon><spatial stiffness="5"><site site="s"/><site site="s2"/></spatial></tendon>
    <worldbody><site name="s2" pos="0 0 2"/></worldbody><sensor><gyro site="s"/></sensor>"""
    file = write(tmp_path, text)
    model, report = import_model(file)
    (shape,) = model.bodies["a"].shapes
    assert Path(shape.file).is_file()
    assert model.bodies["a"].mass == pytest.approx(1000.0)
    np.testing.assert_allclose(shape.mass_properties(6000.0).mass, 1000.0, rtol=1e-6)
    (spring,) = model.loads.values()
    assert (spring.stiffness, spring.at_a, spring.at_b) == (5.0, "s", "s2")
    told = {(entry.what, entry.line) for entry in report.of("dropped")}
    assert ("sensor 'sensor0'", 5) in told
    assert ("light 'light0'", 2) in told
