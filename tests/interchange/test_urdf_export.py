"""Models to URDF: other readers find the same mechanics, Linkwork finds the same model."""

import numpy as np
import pytest
import trimesh

from helpers.alike import differences
from helpers.command import call, document
from helpers.robots import DESCRIPTIONS, ROBOTS, Twin, apart
from linkwork import (
    Body,
    Box,
    DCMotor,
    Ellipsoid,
    Free,
    Hinge,
    LinkworkError,
    Marker,
    Material,
    Mesh,
    Model,
    ModelError,
    PositionServo,
    Repeater,
    Simulation,
    Slider,
    Sphere,
    Spherical,
    Spring,
    TorqueSource,
    VelocityServo,
    Weld,
    export_model,
    import_model,
    scene,
)  # fmt: skip


def there_and_back(model, folder):
    report = export_model(model, folder / "out.urdf")
    return import_model(folder / "out.urdf"), report


def arm():
    """Something of everything that URDF can say, and of much that it cannot."""
    model = Model("arm", gravity=(0.0, 1.0, -5.0))
    model.add(Material("wood", friction=0.3))
    box = Box((0.1, 0.2, 0.3), at=(0.1, 0.0, 0.0), color="#ff0000")
    heavy = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.3, 0.4, 0.5, 0.01, 0.02, -0.03)}
    tilted = {"axis": (0.6, 0.0, 0.8), "angle": 0.4}
    model.add(
        Body(
            "base",
            at=(1, 2, 3),
            rotation=tilted,
            **heavy,
            shapes=(box, Sphere(0.1, use="contact")),
            material="wood",
        )
    )
    model.add(Body("upper", at=(1, 2, 4), rotation=tilted, **heavy, shapes=(box,)))
    model.add(Body("rod", at=(2, 2, 4), **heavy))
    model.add(Body("hand", at=(2, 2, 5), mass=0.5, com=(0, 0, 0), inertia=(0, 0, 0), color="#00ff00"))
    model.add(Body("ball", at=(0, 0, 0), mass=0.1, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1, 0, 0, 0)))
    model.add(Weld("feet", "ground", "base", at=(1, 2, 3)))
    model.add(Hinge("shoulder", "base", "upper", at=(1, 2, 4), axis=(0.0, 1.0, 0.0), limits=(-1.0, 2.0), damping=0.2,
                    armature=0.1, position=0.5, spring=3.0))  # fmt: skip
    model.add(Slider("reach", "upper", "rod", at=(1.5, 2, 4), axis=(1.0, 0.0, 0.0), friction=0.1))
    model.add(Hinge("wrist", "rod", "hand", at=(2, 2, 4.5), axis=(0.0, 0.0, 1.0), limits=(None, 1.0)))
    model.add(Free("flies", "ground", "ball", at=(0, 0, 0), velocity=(1.0, 0, 0, 0, 0, 0)))
    model.add(Spherical("loop", "ground", "hand", at=(2, 2, 5)))
    model.add(Spring("pull", "ball", "hand", at_a=(0, 0, 0), at_b="tip", stiffness=4.0))
    model.add(Marker("tip", "hand", at=(2, 2, 5.1), rotation=tilted))
    model.add(Repeater("wrist_mimic", "wrist", "reach", ratio=0.5))
    model.add(TorqueSource("motor", "shoulder", command=2.0))
    model.add(VelocityServo("push", "reach", strength=9.0))
    model.add(PositionServo("hold", "wrist", stiffness=5.0))
    model.add(DCMotor("second", "shoulder", stall_torque=1.0, idle_speed=2.0, time_constant=0.1))
    return model


def test_what_urdf_cannot_say_comes_back_by_the_extension(tmp_path):
    model = arm()
    (found, _), report = there_and_back(model, tmp_path)
    assert [one for one in differences(model, found) if one[0] != "joints"] == []
    # Axes and frames are spelled out, all else is the same.
    for name, joint in model.joints.items():
        for field in (
            "a",
            "b",
            "at",
            "limits",
            "damping",
            "friction",
            "armature",
            "spring",
            "position",
            "velocity",
        ):
            assert getattr(found.joints[name], field) == pytest.approx(getattr(joint, field)), (name, field)
    told = {entry.what for entry in report.of("dropped")}
    assert {"spherical 'loop'", "spring 'pull'", "position_servo 'hold'", "dc_motor 'second'"} <= told
    assert "marker 'tip'" in {entry.what for entry in report.of("mapped")}


@pytest.mark.parametrize("name", ["crank_rocker", "stewart", "slidercrank3d"])
def test_mechanisms_with_loops_move_the_same_after_the_way_there_and_back(name, tmp_path):
    model = scene(name)
    (found, _), _ = there_and_back(model, tmp_path)
    records = [Simulation(one, dt=1e-3).run(0.2) for one in (model, found)]
    for body in model.bodies:
        for axis in "xyz":
            one, other = (record[f"{body}.position.{axis}"] for record in records)
            assert np.abs(one - other).max() < 1e-9


@pytest.mark.peers
def test_pinocchio_reads_the_same_mechanics(tmp_path):
    pin = pytest.importorskip("pinocchio", reason="needs the extra `peers`")
    model = scene("puma560")
    for name, joint in list(model.joints.items()):
        model.joints[name] = type(joint)(name, joint.a, joint.b, at=joint.at, axis=joint.axis)
    for shelf in (model.drives, model.loads, model.couplings):
        shelf.clear()
    export_model(model, tmp_path / "puma.urdf")
    peer = pin.buildModelFromUrdf(str(tmp_path / "puma.urdf"))
    data = peer.createData()
    twin = Twin(model, {peer.names[i]: peer.joints[i].idx_v for i in range(1, peer.njoints)})
    angles, rates = np.random.default_rng(3).uniform(-1.0, 1.0, (2, peer.nv))
    q = pin.neutral(peer)
    for joint in list(peer.joints)[1:]:
        a = angles[joint.idx_v]
        q[joint.idx_q : joint.idx_q + joint.nq] = a if joint.nq == 1 else (np.cos(a), np.sin(a))
    H, _, accelerations = twin.dynamics(angles, rates)
    M = pin.crba(peer, data, q)
    assert apart(H, np.triu(M) + np.triu(M, 1).T) < 1e-12
    assert apart(accelerations, pin.aba(peer, data, q, rates, np.zeros(peer.nv))) < 1e-9


@pytest.mark.peers
@pytest.mark.skipif(not DESCRIPTIONS, reason="needs the package example-robot-data")
def test_every_robot_is_the_same_model_after_the_way_there_and_back(tmp_path):
    seen = 0
    for name in DESCRIPTIONS:
        try:
            model, _ = import_model(ROBOTS / name, meshes=seen % 8 == 0)  # copies of all of them take long
        except ModelError:
            continue
        (tmp_path / str(seen)).mkdir()
        (found, _), _ = there_and_back(model, tmp_path / str(seen))
        assert differences(model, found) == [], name
        seen += 1
    assert seen > 50


def test_meshes_and_shapes(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "elsewhere" / "part.stl")
    model = Model("shapes")
    part = Mesh(str(tmp_path / "elsewhere" / "part.stl"), scale=(0.1, 0.2, 0.3), inverted=True, use="picture")
    model.add(Body("b", mass=1.0, inertia=(1, 1, 1), shapes=(part, Ellipsoid((1, 2, 3)))))
    model.add(Weld("w", "ground", "b", at=(0, 0, 0)))
    (tmp_path / "out").mkdir()
    (found, _), report = there_and_back(model, tmp_path / "out")
    (shape,) = found.bodies["b"].shapes
    assert shape.file == str(tmp_path / "out" / "out_meshes" / "part.stl")
    assert (shape.scale, shape.inverted) == ((0.1, 0.2, 0.3), True)
    assert [entry.what for entry in report.of("dropped")] == ["ellipsoid of body 'b'"]


def test_what_floats_without_a_joint_still_does(tmp_path):
    model = Model()
    model.add(Body("b", mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1, 0, 0, 0)))
    (found, _), report = there_and_back(model, tmp_path)
    assert differences(model, found) == []
    assert 'type="floating"' in (tmp_path / "out.urdf").read_text()
    assert [entry.what for entry in report.of("mapped")] == ["body 'b'"]


def test_what_cannot_be_written_is_refused(tmp_path):
    model = Model()
    model.add(Body("b", mass=1.0))
    with pytest.raises(LinkworkError, match="not written as 'sdf'"):
        export_model(model, tmp_path / "m.urdf", to="sdf")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_and_tells(tmp_path):
    told = document("export", "crank_rocker", "-o", tmp_path / "m.urdf")
    assert told["report"]["dropped"]
    assert (tmp_path / "m.urdf").is_file()
    result = call("export", "crank_rocker", "-o", tmp_path / "m.urdf")
    assert "URDF has no loops" in result.stdout.replace("\n", "")
