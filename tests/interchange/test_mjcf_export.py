"""Models to MJCF: MuJoCo finds the same mechanics, Linkwork finds the same model."""

import numpy as np
import pytest
import trimesh

mujoco = pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
pytestmark = pytest.mark.peers

from helpers.alike import differences  # noqa: E402
from helpers.command import document  # noqa: E402
from interchange.test_mjcf import MIXED, RODS, SHIPPED, write  # noqa: E402
from interchange.test_urdf_export import arm  # noqa: E402
from linkwork import (  # noqa: E402
    Body,
    Component,
    Cylinder,
    Cylindrical,
    DCMotor,
    Free,
    HeightField,
    Hinge,
    LinkworkError,
    Material,
    Mesh,
    Model,
    ModelError,
    NoContact,
    Plane,
    PositionServo,
    Scenery,
    Screw,
    Simulation,
    Slider,
    Sphere,
    Spherical,
    Spring,
    TorqueSource,
    Torus,
    Universal,
    VelocityServo,
    Weld,
    export_model,
    import_model,
    scene,
)  # fmt: skip
from linkwork.interchange.tree import undotted  # noqa: E402
from linkwork.model.rotation import matrix  # noqa: E402

GRIPPER = """<default><geom size="0.1" mass="1"/></default><worldbody>
<body name="l"><joint name="l" type="slide" axis="1 0 0" range="-1 1"/><geom rgba="1 0 0 1"/></body>
<body name="r" pos="1 0 0"><joint name="r" type="slide" axis="1 0 0"/><geom friction="0.7" contype="2"/></body>
<site name="s" pos="0 0 1"/><body name="box" pos="0 0 2"><freejoint/><site name="t" pos="0.1 0 0"/>
<geom type="box" size="0.1 0.2 0.3" condim="6"/><geom group="4" pos="0 0 0.1"/>
<geom contype="0" conaffinity="0"/></body>
<geom type="plane" size="1 1 1"/></worldbody>
<tendon><spatial stiffness="5" damping="2" springlength="0.3"><site site="s"/><site site="t"/></spatial></tendon>
<contact><exclude body1="l" body2="r"/></contact>
<equality><joint joint1="r" joint2="l" polycoef="0.02 -0.5 0 0 0"/></equality>
<actuator><motor joint="l" gear="3"/><position joint="l" kp="3" kv="1" forcerange="-4 4"/>
<general joint="r" dyntype="filterexact" dynprm="0.2" gainprm="2"/></actuator>"""


@pytest.mark.parametrize(
    "text", [MIXED, RODS, GRIPPER, SHIPPED / "model.xml"], ids=["mixed", "rods", "gripper", "model"]
)
@pytest.mark.parametrize("contact", [True, False])
def test_a_file_is_the_same_model_after_the_way_there_and_back(text, contact, tmp_path):
    file = write(tmp_path, text) if isinstance(text, str) else text
    model, _ = import_model(file, contact=contact)
    export_model(model, tmp_path / "out.xml")
    found, _ = import_model(tmp_path / "out.xml", contact=contact)
    assert differences(model, found) == []
    mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))


def in_mujoco(model, folder):
    """MuJoCo's model and data of a model at its start."""
    export_model(model, folder / "m.xml")
    m = mujoco.MjModel.from_xml_path(str(folder / "m.xml"))
    d = mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    mujoco.mj_forward(m, d)
    return m, d


def far(simulation, d):
    """Largest distance of frames of bodies in both."""
    worst = 0.0
    for body in simulation.model.flatten().bodies:
        own = d.body(body.replace(".", "_"))
        worst = max(worst, np.abs(own.xpos - simulation[f"{body}.position"]).max())
        turned = matrix(tuple(simulation[f"{body}.rotation"]))
        worst = max(worst, np.abs(own.xmat.reshape(3, 3) - turned).max())
    return worst


@pytest.mark.parametrize(
    "name",
    ["bennett", "slidercrank3d", "n_four_bar", "stewart", "gripper", "car", "top", "mass_ratio_four_bar"],
)
def test_mujoco_starts_where_linkwork_does(name, tmp_path):
    """Positions and rates of every joint come through the keyframe, of loops from the assembled start."""
    model = scene(name)
    simulation = Simulation(model)
    _, d = in_mujoco(model, tmp_path)
    assert far(simulation, d) < 1e-13 * 50  # metres, after some tens of frames
    assert d.energy[1] == pytest.approx(simulation["energy.kinetic"], rel=1e-11)
    found, _ = import_model(tmp_path / "m.xml")
    flat = Model(gravity=model.gravity)
    flat.take_from(undotted(model.flatten()))
    # Bodies weigh what their shapes did, and shapes have their colours: they are not compared here.
    assert [one for one in differences(flat, found) if not isinstance(one[1], Body)] == []


def serial():
    """One of every joint that a tree may have, forwards and backwards, resisting, driven, moving."""
    model = Model("serial", gravity=(1.0, 0.5, -9.0))
    heavy = {"mass": 2.0, "com": (0.1, 0.02, 0.03), "inertia": (0.3, 0.4, 0.5, 0.01, 0.02, -0.03)}
    kinds = [
        Hinge("hinge", "ground", "b0", at=(0, 0, 0), axis=(0, 1, 0), spring=3.0, rest=0.2, damping=0.2, armature=0.1,
              velocity=1.0),
        Slider("slider", "b1", "b0", at=(0.5, 0, 0), axis=(0, 0, 1), spring=90.0, position=0.1, velocity=0.3),
        Universal("universal", "b1", "b2", at=(1, 0, 0), axis=(1, 0, 1), position=(0.3, -0.2), velocity=(0.5, 1.0),
                  damping=(0.1, 0.3)),
        Cylindrical("cylindrical", "b3", "b2", at=(1.5, 0, 0), axis=(1, 2, 0), position=(0.1, 0.3), velocity=(0.2, 0.4),
                    spring=(80.0, 0.0)),
        Spherical("ball", "b3", "b4", at=(2, 0, 0), axis=(0, 1, 1), position=(0.9, 0.1, 0.2, 0.3), velocity=(1, 2, 3)),
        Spherical("back", "b5", "b4", at=(2.5, 0, 0), axis=(0, 1, 1), position=(0.9, 0.1, 0.2, 0.3),
                  velocity=(1, 2, 3)),
        Screw("screw", "b5", "b6", at=(3, 0, 0), axis=(0, 0, 1), pitch=0.2, velocity=2.0),
    ]  # fmt: skip
    for k, joint in enumerate(kinds):
        model.add(
            Body(f"b{k}", at=(0.5 * k, 0.1, 0.2), rotation={"axis": (1, k, 2), "angle": 0.3 * k}, **heavy)
        )
        model.add(joint)
    model.add(Body("flies", at=(9, 0, 0), rotation={"axis": (1, 0, 0), "angle": 1.0}, **heavy))
    model.add(Free("free", "flies", "ground", at=(9, 1, 0), axis=(1, 1, 0), position=(1, 2, 3, 0.9, 0.3, 0.1, 0.2),
                   velocity=(0.1, 0.2, 0.3, 1, 2, 3)))  # fmt: skip
    model.add(
        Spring("pull", "b6", "flies", at_a=(3, 0, 0), at_b=(9, 0, 0), stiffness=5.0, damping=0.5, length=2.0)
    )
    model.add(TorqueSource("motor", "hinge", command=2.0))
    model.add(PositionServo("servo", "slider", stiffness=50.0, damping=2.0, command=0.2))
    model.add(DCMotor("dc", "universal", coordinate="angle_y", stall_torque=1.0, idle_speed=5.0, time_constant=0.2,
                      gear=2.0, command=0.5))  # fmt: skip
    return model


def test_mujoco_moves_every_joint_as_linkwork_does(tmp_path):
    model = serial()
    del (
        model.joints["screw"],
        model.bodies["b6"],
        model.loads["pull"],
    )  # a screw is an equality there, which is soft
    model.add(
        Spring("pull", "b5", "flies", at_a=(3, 0, 0), at_b=(9, 0, 0), stiffness=5.0, damping=0.5, length=2.0)
    )
    m, d = in_mujoco(model, tmp_path)
    simulation = Simulation(model, dt=1e-3, integrator="rk4")
    assert far(simulation, d) < 1e-12
    assert d.energy[1] == pytest.approx(simulation["energy.kinetic"], rel=1e-11)
    simulation.run(0.3)
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 2e-4
    mujoco.mj_step(m, d, 1500)
    mujoco.mj_forward(m, d)
    # Both are of fourth order: with rates of some 1/s, (1e-3)^4 times a constant below 1e3.
    assert far(simulation, d) < 1e-8


def test_what_mujoco_does_not_know_comes_back_by_the_texts(tmp_path):
    for model in (serial(), arm()):
        ring = model.add(Body("ring", at=(0, 5, 0), mass=1.0, inertia=(1, 1, 1)))  # floats without a joint
        report = export_model(model, tmp_path / "m.xml")
        (found, _) = import_model(tmp_path / "m.xml")
        told = [one for one in differences(model, found) if not isinstance(one[1], Body)]
        assert told == []
        assert f"body '{ring.name}'" in {entry.what for entry in report.of("mapped")}
        assert '<text name="linkwork_1" data=' in (tmp_path / "m.xml").read_text()


def touching():
    model = Model("touching")
    for name, friction in (("ice", 0.0), ("wood", 0.5), ("rubber", 0.9)):
        model.add(Material(name, friction=friction, rolling=0.01 if name == "rubber" else 0.0))
    model.add(Scenery("floor", shapes=[Plane()], material="wood"))
    rows = [[0.0, 0.1, 0.2], [0.3, 0.0, 0.1], [0.0, 0.5, 0.0]]
    model.add(Scenery("hills", at=(5, 0, 0), shapes=[HeightField((2, 3), heights=rows)], material="ice"))
    ball = {"shapes": [Sphere(0.1)], "density": 500}
    model.add(Body("a", at=(0, 0, 1), material="wood", group="left", **ball))
    model.add(Body("b", at=(0, 0, 2), material="rubber", group="right", **ball))
    model.add(Body("c", at=(0, 0, 3), material="ice", group="left", **ball))
    model.add(Body("d", at=(0, 0, 4), **ball))
    model.add(NoContact("sides", "left", "right"))
    model.add(NoContact("pair", "a", "c"))
    model.add(NoContact("ground_too", "b", "floor"))
    return model


def test_who_touches_whom_is_the_same_in_mujoco(tmp_path):
    model = touching()
    export_model(model, tmp_path / "m.xml")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    found, _ = import_model(tmp_path / "m.xml")
    assert [
        one for one in differences(model, found) if not isinstance(one[1], Body) and one[0] != "joints"
    ] == []
    excluded = {tuple(sorted(divmod(int(s), 1 << 16))) for s in m.exclude_signature}
    kind, other = m.geom_contype, m.geom_conaffinity
    names = ["floor", "hills", "a", "b", "c", "d"]

    def place(name):
        return m.geom(name).id if name in ("floor", "hills") else int(m.body(name).geomadr[0])

    def meet(one, two):
        i, j = place(one), place(two)
        bodies = tuple(sorted((int(m.geom_bodyid[i]), int(m.geom_bodyid[j]))))
        return bool(kind[i] & other[j] or kind[j] & other[i]) and bodies not in excluded

    apart = {("a", "b"), ("b", "c"), ("a", "c"), ("floor", "b")} | {(name, "d") for name in names}
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            if {one, two} != {"floor", "hills"}:  # neither moves
                assert meet(one, two) == (not {(one, two), (two, one)} & apart), (one, two)
    heights = m.hfield_data.reshape(3, 3) * m.hfield_size[0][2] + m.geom("hills").pos[2]
    np.testing.assert_allclose(
        heights, model.scenery["hills"].shapes[0].heights, atol=1e-7
    )  # single precision


def test_meshes_are_the_same_files_in_the_same_places(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    solid = trimesh.creation.cone(0.1, 0.3)
    solid.apply_translation((0.1, 0.2, 0.3))
    for ending in ("stl", "obj", "ply"):
        solid.export(tmp_path / "elsewhere" / f"part.{ending}")
    model = Model("meshes")
    for k, ending in enumerate(("stl", "obj", "ply")):
        file = str(tmp_path / "elsewhere" / f"part.{ending}")
        turned = {"axis": (1, 2, 3), "angle": 0.5 + k}
        scale = (0.5, 2.0, 1.5) if k else 1.0
        part = Mesh(file, scale=scale, inverted=k == 2, at=(0.1 * k, 0, 0), rotation=turned)
        model.add(
            Body(f"b{k}", at=(k, 0, 0), shapes=(part,), mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1, 0, 0, 0))
        )
    (tmp_path / "out").mkdir()
    report = export_model(model, tmp_path / "out" / "m.xml")
    assert {file.name for file in (tmp_path / "out" / "m_meshes").iterdir()} == {
        "part.stl",
        "part.obj",
        "part_2.obj",
    }
    assert any("written as OBJ" in entry.how for entry in report.of("mapped"))
    found, _ = import_model(tmp_path / "out" / "m.xml")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "m.xml"))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    for k in range(3):
        (was,), (now,) = model.bodies[f"b{k}"].shapes, found.bodies[f"b{k}"].shapes
        # What MuJoCo has of it, in single precision, is where our own moments say the solid is.
        (g,) = range(int(m.body(f"b{k}").geomadr[0]), int(m.body(f"b{k}").geomadr[0]) + 1)
        i = int(m.geom_dataid[g])
        points = m.mesh_vert[m.mesh_vertadr[i] :][: int(m.mesh_vertnum[i])] @ d.geom_xmat[g].reshape(3, 3).T
        low, high = (points + d.geom_xpos[g]).min(axis=0), (points + d.geom_xpos[g]).max(axis=0)
        for shape in (was, now):
            R, sign = matrix(shape.rotation), -1.0 if shape.inverted else 1.0
            ours = (solid.vertices * sign * np.array(shape.scales)) @ R.T + np.array(shape.at) + (k, 0, 0)
            np.testing.assert_allclose(ours.min(axis=0), low, atol=1e-6)
            np.testing.assert_allclose(ours.max(axis=0), high, atol=1e-6)


def test_instances_are_spelled_out_without_dots(tmp_path):
    leg = Component("leg")
    leg.add(Body("foot", at=(0, 0, -1), mass=1.0, inertia=(1, 1, 1)))
    leg.add(Hinge("hip", "ground", "foot", at=(0, 0, 0), axis=(0, 1, 0), limits=(None, 1.0)))
    leg.add(TorqueSource("motor", "hip", command=1.0))
    model = Model("legs")
    model.add(leg.instance("left", at=(0, 1, 0)))
    model.add(leg.instance("right", at=(0, -1, 0)))
    for file in ("m.xml", "m.urdf"):
        export_model(model, tmp_path / file)
        found, _ = import_model(tmp_path / file)
        assert set(found.joints) == {"left_hip", "right_hip"}
        assert found.drives["left_motor"].joint == "left_hip"
        assert found.drives["left_motor"].command == 1.0
        assert found.joints["right_hip"].limits == (None, 1.0)
    model.add(Body("left_foot", mass=1.0))
    with pytest.raises(ModelError, match="would be called 'left_foot'"):
        export_model(model, tmp_path / "m.xml")


def test_losses_are_told_one_by_one(tmp_path):
    model = scene("crank_rocker")
    model.add(Material("glass", restitution=0.5))
    model.add(
        Body("ring", at=(3, 0, 0), mass=1.0, shapes=[Torus(0.3, 0.1), Cylinder(0.1, 0.1)], material="glass")
    )
    model.add(Weld("holds", "ground", "ring", at=(3, 0, 0)))
    joint = next(iter(model.joints))
    model.joints[joint] = type(model.joints[joint])(**{**vars(model.joints[joint]), "restitution": 0.3})
    model.add(VelocityServo("servo", joint, strength=3.0))
    report = export_model(model, tmp_path / "m.xml")
    told = {fate: {entry.what for entry in report.of(fate)} for fate in ("approximated", "dropped")}
    assert {
        "torus of body 'ring'",
        "restitution of material 'glass'",
        f"restitution of joint '{joint}'",
    } <= told["dropped"]
    assert {"velocity_servo 'servo'", "contact"} <= told["approximated"]
    assert all(entry.how for entry in report.of("approximated") + report.of("dropped"))


def test_what_cannot_be_written_is_refused(tmp_path):
    model = Model()
    model.add(Body("world", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(ModelError, match="MuJoCo calls the ground so"):
        export_model(model, tmp_path / "m.xml")
    with pytest.raises(LinkworkError, match="hangs on 401 others"):
        export_model(scene("chain", links=450), tmp_path / "m.xml")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_and_tells(tmp_path):
    told = document("export", "crank_rocker", "-o", tmp_path / "m.xml")
    assert told["report"]["approximated"]
    assert (tmp_path / "m.xml").is_file()
