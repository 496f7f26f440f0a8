"""What there is to see of a model: where bodies, joints, points and springs are drawn."""

import json

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Capsule,
    Component,
    Cylinder,
    Hinge,
    LinkworkError,
    Marker,
    Model,
    Record,
    Simulation,
    Slider,
    Sphere,
    Spherical,
    Spring,
    about,
    scene,
)
from linkwork.model.rotation import frame_from_axis, matrix
from linkwork.scenes import find_scene, scene_names
from linkwork.stage.stage import Poses, Stage, stage_of

CLOSED = 1e-9
"""Gaps of loops that are closed to rounding, on mechanisms of some metres [m]."""


def poses(stage, record, sample):
    """Where the bodies are at a sample, in the order of the stage."""
    columns = {"position": "xyz", "rotation": "wxyz"}
    parts = [
        np.array([[record[f"{body.name}.{what}.{k}"][sample] for k in axes] for body in stage.bodies])
        for what, axes in columns.items()
    ]
    return Poses(*parts)


def turn(stage, at, body, rotation):
    """Axes of a frame of a body in the world, as columns."""
    index = stage.index(body)
    return (np.eye(3) if index < 0 else matrix(at.rotations[index])) @ matrix(rotation)


def short_run(name):
    """A scene that has moved a little, with its stage."""
    found = find_scene(name)
    model = scene("n_four_bar", n=4) if name == "n_four_bar" else scene(name)
    dt = min(found.dt, 1e-3)
    record = Simulation(model, method=found.method, dt=dt).run(50 * dt, every=25 * dt, reactions=False)
    return model, stage_of(model), record


def through_json(stage):
    return Stage.from_dict(json.loads(json.dumps(stage.to_dict())))


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_is_drawn_where_it_is(name):
    model, stage, record = short_run(name)
    assert through_json(stage) == stage
    assert Stage.from_dict(json.loads(json.dumps(record.info["stage"]))) == stage
    flat = model.flatten()
    assert [body.name for body in stage.bodies] == list(flat.bodies)
    assert [joint.name for joint in stage.joints] == list(flat.joints)
    assert all(body.shapes for body in stage.bodies)
    for sample in (0, -1):
        at = poses(stage, record, sample)
        for point in stage.points:
            seen = at.place(stage.index(point.body), point.at)
            told = [record[f"{point.name}.position.{axis}"][sample] for axis in "xyz"]
            np.testing.assert_allclose(seen, told, atol=CLOSED, err_msg=point.name)
        for joint in stage.joints:
            if flat.joints[joint.name].attached_at_start:  # others hold nothing yet
                check_joint(stage, at, joint, record, sample, flat.joints[joint.name].mirrored)


def check_joint(stage, at, joint, record, sample, mirrored):
    """The two frames of a joint lie as its coordinates say; translations of mirrored ones run against the axes."""
    a, b = (at.place(stage.index(body), p) for body, p in ((joint.a, joint.at_a), (joint.b, joint.at_b)))
    A, B = turn(stage, at, joint.a, joint.rotation_a), turn(stage, at, joint.b, joint.rotation_b)
    apart = A.T @ (b - a)
    if joint.kind in ("hinge", "spherical", "universal", "weld"):
        np.testing.assert_allclose(apart, 0.0, atol=CLOSED, err_msg=joint.name)
    if joint.kind == "hinge":
        angle = record[f"{joint.name}.angle"][sample]
        np.testing.assert_allclose(A.T @ B, matrix(about((0, 0, 1), angle)), atol=CLOSED, err_msg=joint.name)
    if joint.kind in ("slider", "weld"):
        np.testing.assert_allclose(A.T @ B, np.eye(3), atol=CLOSED, err_msg=joint.name)
    if joint.kind == "slider":
        travel = record[f"{joint.name}.travel"][sample] * (-1.0 if mirrored else 1.0)
        np.testing.assert_allclose(apart, [0, 0, travel], atol=CLOSED, err_msg=joint.name)
    if joint.kind == "spherical":
        q = [record[f"{joint.name}.{part}"][sample] for part in ("qw", "qx", "qy", "qz")]
        np.testing.assert_allclose(A.T @ B, matrix(q), atol=CLOSED, err_msg=joint.name)


def test_freedoms_are_named_like_coordinates_and_have_their_limits():
    stage = stage_of(scene("hitch"))
    gimbal, hitch = (next(j for j in stage.joints if j.name == name) for name in ("gimbal", "hitch"))
    assert [(f.name, f.turns) for f in gimbal.freedoms] == [("angle_x", True), ("angle_y", True)]
    assert [f.name for f in hitch.freedoms] == ["wx", "wy", "wz"]
    assert [f.axis for f in hitch.freedoms] == [0, 1, 2]
    assert hitch.freedoms[1].limits == pytest.approx((-np.radians(15.0), np.radians(15.0)))
    (rail,) = (j.freedoms for j in stage_of(scene("jaws")).joints if j.name == "right")
    assert [(f.name, f.axis, f.turns, f.limits) for f in rail] == [("travel", 2, False, (-0.03, 0.03))]


# --- components ---


def lopsided():
    """A body that is lopsided in every way, loose in space."""
    part = Component("part")
    part.add(
        Body(
            "stone",
            at=(0.3, -0.2, 0.5),
            rotation=about((1, -2, 0.5), 1.1),
            mass=2.0,
            shapes=(
                Box((0.2, 0.1, 0.3), at=(0.5, 0.1, -0.2), rotation=about((0, 1, 1), 0.3)),
                Sphere(0.1, at=(-0.2, 0.4, 0.1)),
                Cylinder(0.05, 0.6, at=(0.1, -0.3, 0.2), rotation=about((1, 0, 0), 0.8)),
            ),
        )
    )
    part.add(Marker("nose", "stone", at=(0.7, 0.7, 0.7), rotation=about((1, 1, 0), 0.4)))
    return part


@pytest.mark.parametrize("mirror", [None, (1, 0, 0), (1, 2, -1)])
def test_a_placed_component_is_drawn_where_its_mass_is(mirror):
    model = Model("sky", gravity=(0, 0, -9.81))
    placed = {"mirror": mirror, "rotation": about((0, 1, 0), 0.6), "at": (1.0, 2.0, 3.0)}
    model.add(lopsided().instance("it", **placed))
    simulation = Simulation(model, method="tree")
    simulation.v[:] = (0.1, -0.2, 3.0, 1.0, -2.0, 1.5)
    record = simulation.run(0.3, every=0.1)
    stage = simulation.stage
    (body,) = stage.bodies
    (point,) = stage.points
    assert body.component == "it"

    # As written: the mirror image, turned and moved, of what was described.
    def put(p):
        p = np.array(p)
        if mirror is not None:
            n = np.array(mirror) / np.linalg.norm(mirror)
            p = p - 2 * n * (n @ p)
        return matrix(placed["rotation"]) @ p + placed["at"]

    plain = lopsided().bodies["stone"]
    home = matrix(plain.rotation)
    start = poses(stage, record, 0)
    for shape, described in zip(body.shapes, plain.shapes, strict=True):
        centre = put(np.array(plain.at) + home @ described.at)
        np.testing.assert_allclose(start.place(0, shape.at), centre, atol=1e-12)
        # Axes of a shape may point either way, but along the image of the old ones.
        axes = matrix(start.rotations[0]) @ matrix(shape.rotation)
        image = np.stack([put(axis) - put((0, 0, 0)) for axis in (home @ matrix(described.rotation)).T])
        np.testing.assert_allclose(np.abs(image @ axes), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(start.place(0, point.at), put((0.7, 0.7, 0.7)), atol=1e-12)
    com = put(np.array(plain.at) + home @ plain.mass_properties.com)
    np.testing.assert_allclose(start.place(0, body.com), com, atol=1e-12)

    # In motion: whatever it does, its centre of mass flies along a parabola.
    at = np.array([poses(stage, record, k).place(0, body.com) for k in range(4)])
    t = record.time[:, None]
    velocity = (at[-1] - at[0] + [0, 0, 0.5 * 9.81 * 0.3**2]) / 0.3
    np.testing.assert_allclose(at, at[0] + velocity * t - [0, 0, 0.5 * 9.81] * t**2, atol=1e-9)
    assert np.abs(np.diff(record.array("rotations"), axis=0)).max() > 0.05


def test_joints_of_mirrored_components_lie_as_their_coordinates_say():
    part = Component("arm")
    part.add(Body("upper", at=(0.1, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.2, 0.1, 0.0)))
    part.add(Body("lower", at=(0.6, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.2, 0.0, 0.1)))
    part.add(Marker("elbow", "upper", at=(0.5, 0.1, 0.1), rotation=about((1, 1, 0), 0.5)))
    part.add(Hinge("shoulder", "ground", "upper", at=(0, 0, 0.1), axis=(0, 1, 1), velocity=2.0))
    part.add(Hinge("bend", "upper", "lower", at="elbow", velocity=-3.0))
    part.add(Body("tip", at=(1, 0, 0), mass=0.5, inertia=(0.1, 0.1, 0.1)))
    part.add(Spherical("wrist", "lower", "tip", at=(1, 0, 0), velocity=(1.0, 2.0, 0.5)))
    model = Model("pair")
    model.add(part.instance("left", at=(0, 1, 0)))
    model.add(part.instance("right", at=(0, -1, 0), mirror=(0, 1, 0)))
    simulation = Simulation(model)
    record = simulation.run(0.4, every=0.1)
    stage = simulation.stage
    assert through_json(stage) == stage
    for sample in range(5):
        at = poses(stage, record, sample)
        for joint in stage.joints:
            check_joint(stage, at, joint, record, sample, model.flatten().joints[joint.name].mirrored)
    # The parts move as mirror images of each other.
    at = poses(stage, record, -1)
    for left, right in ((0, 3), (1, 4), (2, 5)):
        one, other = (at.place(k, stage.bodies[k].com) for k in (left, right))
        np.testing.assert_allclose(other, one * [1, -1, 1], atol=1e-9)


def test_limits_of_a_mirrored_slide_stand_where_it_stops():
    part = Component("axis")
    part.add(Body("cart", mass=1.0, inertia=(1, 1, 1)))
    part.add(Slider("rail", "ground", "cart", axis=(1, 0, 0), limits=(-0.1, 0.4), velocity=1.0))
    part.add(Slider("open", "ground", "sled", axis=(1, 0, 0), limits=(None, 0.3)))
    part.add(Body("sled", mass=1.0, inertia=(1, 1, 1)))
    model = Model("pair", gravity=(0, 0, 0))
    model.add(part.instance("left"))
    model.add(part.instance("right", mirror=(1, 0, 0)))
    simulation = Simulation(model)
    record = simulation.run(1.0)
    stage = simulation.stage
    at = poses(stage, record, -1)
    for joint, carts in zip(stage.joints[::2], (0.4, -0.4), strict=True):
        assert record[f"{joint.name}.travel"][-1] == pytest.approx(0.4, abs=1e-6)
        cart = at.place(stage.index(joint.b), joint.at_b)
        assert cart[0] == pytest.approx(carts, abs=1e-6)
        # One of the plates that are drawn along the axis of a is where the cart is.
        along = turn(stage, at, joint.a, joint.rotation_a)[:, joint.freedoms[0].axis]
        plates = [np.array(joint.at_a) + bound * along for bound in joint.freedoms[0].limits]
        assert min(np.abs(plate - cart).max() for plate in plates) < 1e-6
    low, high = stage.joints[3].freedoms[0].limits
    assert (low, high) == (-0.3, None)


# --- rods, springs, looks ---


def bare():
    model = Model("bare")
    model.add(Body("link", at=(1, 0, 0), rotation=about((0, 0, 1), 0.5), mass=1.0, com=(0.1, 0.2, 0.3)))
    model.add(Body("other", at=(2, 0, 0), mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("near", "ground", "link"))
    model.add(Hinge("far", "link", "other", at=(2, 1, 0)))
    model.add(Marker("nose", "link", at=(1, 1, 1)))
    return model


def test_a_body_without_shapes_is_drawn_as_rods_to_its_joints_and_markers():
    stage = stage_of(bare())
    link, other = stage.bodies
    assert len(link.shapes) == 4
    ball, *rods = link.shapes
    assert isinstance(ball, Sphere)
    assert ball.at == pytest.approx((0.1, 0.2, 0.3))
    home = matrix(about((0, 0, 1), 0.5))
    ends = [home.T @ (np.array(p) - [1, 0, 0]) for p in ((2, 1, 0), (0, 0, 0), (1, 1, 1))]
    for end in ends:
        # A rod reaches from the centre of mass to it: its axis is z.
        fits = []
        for rod in rods:
            assert isinstance(rod, Capsule)
            half = matrix(rod.rotation) @ [0, 0, rod.length / 2]
            tips = (np.array(rod.at) - half, np.array(rod.at) + half)
            fits.append(np.allclose(tips[0], link.com) and np.allclose(tips[1], end))
        assert sum(fits) == 1
    assert len(other.shapes) == 2
    assert through_json(stage) == stage


def test_a_lone_point_is_a_ball():
    model = Model("dust")
    model.add(Body("speck", mass=1.0, inertia=(1, 1, 1)))
    model.add(Hinge("pin", "ground", "speck"))  # at the centre of mass: a rod would have no length
    (speck,) = stage_of(model).bodies
    (ball,) = speck.shapes
    assert isinstance(ball, Sphere)
    assert ball.radius > 0


def test_shapes_and_colors_of_a_body_are_its_own():
    model = Model("painted")
    box = Box((1, 2, 3), at=(0, 0, 1))
    model.add(Body("crate", mass=1.0, shapes=(box,), color="#c0ffee"))
    (crate,) = stage_of(model).bodies
    assert crate.shapes == (box,)
    assert crate.color == "#c0ffee"
    assert crate.mass == 1.0
    assert crate.com == pytest.approx((0, 0, 1))
    assert crate.component == ""


def test_a_spring_is_drawn_as_long_as_it_is():
    model = bare()
    model.add(Spring("coil", "link", "other", at_a="nose", at_b=(2, 0.5, 0.3), stiffness=50.0, length=0.7))
    simulation = Simulation(model, method="tree")
    simulation.v[:] = 1.0, -2.0
    record = simulation.run(0.3, every=0.1)
    (coil,) = simulation.stage.springs
    for sample in range(4):
        at = poses(simulation.stage, record, sample)
        ends = [
            at.place(simulation.stage.index(body), p)
            for body, p in ((coil.a, coil.at_a), (coil.b, coil.at_b))
        ]
        stretch = np.linalg.norm(ends[1] - ends[0]) - 0.7
        assert record["energy.strain"][sample] == pytest.approx(25.0 * stretch**2, rel=1e-9)


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (3, 0, 4), (0, 0, 0)])
def test_up_is_against_gravity(gravity):
    model = Model("world", gravity=gravity)
    model.add(Body("crate", mass=1.0, inertia=(1, 1, 1)))
    up = stage_of(model).up
    size = np.linalg.norm(gravity)
    np.testing.assert_allclose(up, -np.array(gravity) / size if size else (0, 0, 1), atol=1e-12)
    assert not any(np.signbit(part) for part in up if part == 0.0)


def test_a_stage_is_kept_in_the_file_of_a_record(tmp_path):
    simulation = Simulation(scene("peaucellier"))
    simulation.run(0.01, save=tmp_path / "run.h5")
    assert Stage.from_dict(Record.load(tmp_path / "run.h5").info["stage"]) == simulation.stage


def test_a_simulation_of_a_compiled_system_has_no_stage():
    system = Simulation(scene("chain5")).system
    simulation = Simulation(system)
    assert simulation.stage is None
    assert simulation.run(0.01).info["stage"] is None
    with pytest.raises(LinkworkError, match="has no model"):
        simulation.model  # noqa: B018


@pytest.mark.parametrize("data", [None, {}, [], {"name": "x", "gravity": [0, 0], "bodies": []}])
def test_damaged_looks_are_refused(data):
    with pytest.raises(LinkworkError, match="damaged"):
        Stage.from_dict(data)


def test_bodies_are_found_by_name():
    stage = stage_of(scene("chain5"))
    assert stage.index("ground") == -1
    assert stage.index("link3") == 2
    with pytest.raises(LinkworkError, match="no body 'link9'"):
        stage.index("link9")


def test_a_joint_takes_the_axes_of_its_marker_unless_it_has_its_own():
    tilt = about((1, 0, 0), 0.5)
    model = Model("tilted")
    model.add(Body("leaf", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 2)))
    model.add(Marker("edge", "leaf", at=(0.5, 0, 2), rotation=tilt))
    model.add(Hinge("pin", "ground", "leaf", at="edge"))
    (pin,) = stage_of(model).joints
    np.testing.assert_allclose(matrix(pin.rotation_a), matrix(tilt), atol=1e-12)
    assert pin.at_a == pytest.approx((0.5, 0, 2))
    assert pin.at_b == pytest.approx((0.5, 0, 0))
    other = Model("straight")
    other.add(Body("leaf", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 2)))
    other.add(Marker("edge", "leaf", at=(0.5, 0, 2), rotation=tilt))
    other.add(Slider("pin", "ground", "leaf", at="edge", axis=(1, 0, 0), reference=(0, 1, 1)))
    (pin,) = stage_of(other).joints
    np.testing.assert_allclose(matrix(pin.rotation_a), frame_from_axis((1, 0, 0), (0, 1, 1)), atol=1e-12)


def test_shapes_for_contact_alone_are_not_seen_and_colours_of_shapes_go_before():
    from linkwork import Body, Box, Model, Sphere
    from linkwork.stage.geometry import body_pieces

    model = Model()
    shapes = (Sphere(0.1, color="#010203"), Sphere(0.2), Box((1, 1, 1), use="contact"))
    model.add(Body("b", mass=1.0, shapes=shapes, color="#040506"))
    model.add(Body("hidden", mass=1.0, shapes=(Box((1, 1, 1), use="contact"),)))
    pieces = body_pieces(stage_of(model))
    assert [piece.color for piece in pieces[:2]] == [(1, 2, 3), (4, 5, 6)]
    assert [(piece.mesh, piece.body) for piece in pieces] == [("sphere", 0), ("sphere", 0), ("box", 1)]
