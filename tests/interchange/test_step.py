"""STEP assemblies: parts weigh what formulas say, joints are found by shapes, names or a file beside, and they move."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.command import call, document

pytest.importorskip("OCP", reason="needs the extra `cad`")
cad = pytest.importorskip("build123d", reason="needs build123d, which makes assemblies")
pytestmark = pytest.mark.peers

from helpers.assembly import box, four_bar, rod, solid  # noqa: E402
from linkwork import LinkworkError, Model, ModelError, Simulation, import_model  # noqa: E402
from linkwork.interchange import step_read  # noqa: E402
from linkwork.interchange.step_read import suggest_joints  # noqa: E402
from linkwork.model.rotation import matrix  # noqa: E402

JOINTS = """ground: base
densities:
  "*_pin": 7850
  "*": 2700
joints:
  guide: {type: slider, a: base, b: block, damping: 0.5}
  left: {type: weld, a: base, b: left_pin}
  right: {type: weld, a: base, b: right_pin}
  crank_turn: {type: hinge, a: base, b: crank, limits: [-9, 9]}
  lever_turn: {type: hinge, a: right_pin, b: lever}
  crank_end: {type: weld, a: crank, b: crank_pin}
  lever_end: {type: weld, a: lever, b: lever_pin}
  coupler_turn: {type: hinge, a: crank_pin, b: coupler}
  closing: {type: hinge, a: coupler, b: lever_pin}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The assembly of ten parts, and what formulas say of them."""
    file = tmp_path_factory.mktemp("step") / "four_bar.step"
    return file, four_bar(file)


@pytest.fixture(scope="module", autouse=True)
def kernel_asked_once():
    """Each file here is read by the CAD kernel once, whatever is said beside it: it takes seconds to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_read, "read_parts", cache(step_read.read_parts))
        yield


@pytest.fixture(scope="module")
def linkage(made):
    file, _ = made
    sidecar = file.with_name("given.yaml")
    sidecar.write_text(JOINTS)
    return import_model(file, joints=sidecar)


def test_ten_parts_weigh_what_formulas_say(made, linkage):
    """Cylinders and planes are integrated to rounding; the coupler stands askew, and STEP has 15 digits of that."""
    _, solids = made
    model = linkage.model
    assert set(model.bodies) == set(solids)
    assert len(solids) == 10
    for name, wanted in solids.items():
        rho = 7850.0 if name.endswith("_pin") else 2700.0
        body = model.bodies[name]
        mass, com, inertia = body.mass_properties
        R = matrix(body.rotation)
        assert mass == pytest.approx(rho * wanted.volume, rel=1e-11)
        np.testing.assert_allclose(np.array(body.at) + R @ com, wanted.centre, atol=1e-12)
        scale = rho * np.abs(wanted.inertia).max()
        np.testing.assert_allclose(R @ inertia @ R.T, rho * wanted.inertia, atol=1e-11 * scale)
        # Triangles lie inside of round surfaces and outside of round holes, up to 0.2 % of the part's size.
        (mesh,) = body.shapes
        assert mesh.mass_properties(rho).mass == pytest.approx(mass, rel=2e-2)


def test_hinges_are_found_where_the_holes_are(linkage):
    joints = linkage.model.joints
    for name, x, z in (
        ("crank_turn", -0.15, 0.0),
        ("lever_turn", 0.15, 0.0),
        ("coupler_turn", -0.15, 0.1),
        ("closing", 0.15, 0.16),
    ):
        at, axis = joints[name].at, joints[name].axis
        assert (at[0], at[2]) == pytest.approx((x, z), abs=1e-12)
        np.testing.assert_allclose(axis, (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(joints["guide"].axis, (0, 1, 0), atol=1e-12)
    assert joints["guide"].damping == 0.5
    assert joints["crank_turn"].limits == (-9.0, 9.0)
    assert {entry.what for entry in linkage.report.of("mapped")} >= {"hinge 'closing'", "slider 'guide'"}


def test_it_moves_as_the_same_linkage_of_bars_does(made, linkage):
    """Against the law of cosines: the lever's angle is a function of the crank's; energy stays, loops stay closed."""
    model = linkage.model
    model.gravity = (3.0, 0.0, -9.81)
    record = Simulation(model, dt=2e-4).run(0.5)
    assert np.ptp(record["crank_turn.angle"]) > 0.3
    assert record.info["worst_gap_m"] < 1e-13
    ends = []
    for crank, lever in zip(record["crank_turn.angle"], record["lever_turn.angle"], strict=True):
        one = np.array([-0.15 + 0.1 * np.sin(crank), 0.1 * np.cos(crank)])
        other = np.array([0.15 + 0.16 * np.sin(lever), 0.16 * np.cos(lever)])
        ends.append(np.linalg.norm(one - other))
    np.testing.assert_allclose(ends, np.hypot(0.3, 0.06), atol=1e-12)
    energy = record["energy.kinetic"] + record["energy.gravity"] + record["energy.dissipated"]
    assert np.ptp(energy) < 1e-6 * np.ptp(
        record["energy.gravity"]
    )  # fourth order: 2e-4 of it at five times the step


def test_without_a_word_on_joints_it_is_rigid_and_says_so(made):
    file, _ = made
    model, report = import_model(file, density=1000)
    assert not [joint for joint in model.joints.values() if joint.coordinates]
    told = {entry.what: entry.how for entry in report.of("approximated") + report.of("mapped")}
    assert "it is the first part" in told["part 'base'"]
    assert "of its assembly" in told["part 'weight'"]  # the coupler's
    free, _ = import_model(file, free_base=True, density=1000)
    assert [joint.kind for joint in free.joints.values() if joint.coordinates] == ["free"]


def test_shapes_suggest_the_joints_of_the_linkage(made, tmp_path):
    file, _ = made
    found = suggest_joints(file)
    kinds = {frozenset((one.a, one.b)): one.kind for one in found.candidates}
    assert kinds == {
        frozenset(("base", "block")): "slider",
        frozenset(("base", "left_pin")): "weld", frozenset(("left_pin", "crank")): "hinge",
        frozenset(("base", "right_pin")): "weld", frozenset(("right_pin", "lever")): "hinge",
        frozenset(("crank", "crank_pin")): "weld", frozenset(("crank_pin", "coupler")): "hinge",
        frozenset(("lever", "lever_pin")): "weld", frozenset(("lever_pin", "coupler")): "hinge",
        frozenset(("coupler", "weight")): "planar",
    }  # fmt: skip
    told = document("import", file, "--suggest", "-o", tmp_path / "four_bar.joints.yaml")
    assert len(told["joints"]) == len(told["pictures"]) == 10
    assert all(Path(picture).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for picture in told["pictures"])
    # What was written makes the mechanism: two degrees of freedom, the crank's and the block's.
    model, _ = import_model(file, joints=tmp_path / "four_bar.joints.yaml")
    assert len(Simulation(model, dt=1e-3).run(0.01)) > 1
    assert {"base_block", "left_pin_crank", "crank_left_pin"} & set(model.joints)
    listed = call("import", file, "--suggest").stdout
    assert "hinge: crank_pin, coupler at -0.15, -0.025, 0.1 m" in listed


def test_names_colours_and_the_tree(made):
    file, _ = made
    model, _ = import_model(file, density=1000)
    assert list(model.bodies)[-2:] == ["coupler", "weight"]
    colors = {name: body.shapes[0].color for name, body in model.bodies.items()}
    assert (colors["crank"], colors["left_pin"], colors["base"]) == ("#ff0000", "#0000ff", "#808080")
    assert Model.from_file(file, density=1000) == model


@pytest.mark.parametrize(("unit", "long"), [("IN", 25.4), ("M", 1000.0), ("CM", 10.0), ("MM", 1.0)])
def test_units_are_converted_once(unit, long, tmp_path):
    """A solid of 10 x 20 x 30 units with a hole, turned and moved."""
    body = (
        cad.Pos(100, 200, 300)
        * cad.Rot(10, 20, 30)
        * (cad.Box(10, 20, 30) - cad.Rot(90, 0, 0) * cad.Cylinder(2, 20))
    )
    body.label = "block"
    file = tmp_path / "one.step"
    cad.export_step(body, str(file), unit=getattr(cad.Unit, unit))
    wanted = solid((0, 0, 0), (1.0, box(10, 20, 30), (0, 0, 0)), (-1.0, rod(2, 20), (0, 0, 0)))
    model, _ = import_model(file, density=1000)
    (found,) = model.bodies.values()
    mass, com, inertia = found.mass_properties
    assert mass == pytest.approx(1000 * long**3 * wanted.volume, rel=1e-11)
    centre = np.array(found.at) + matrix(found.rotation) @ com
    np.testing.assert_allclose(centre, long * np.array((0.1, 0.2, 0.3)), rtol=1e-12)
    moments = np.linalg.eigvalsh(1000 * long**5 * wanted.inertia)
    np.testing.assert_allclose(np.linalg.eigvalsh(inertia), moments, rtol=1e-9)


def test_free_surfaces_are_integrated_until_they_converge(tmp_path):
    """A solid of revolution of a spline has no formula; Pappus' theorem on a fine polygon of its profile has one."""
    profile = cad.Spline((10, 0, 0), (14, 0, 8), (9, 0, 16), (12, 0, 24), tangents=[(0, 0, 1), (0, 0, 1)])
    outline = cad.Wire(
        [
            profile,
            cad.Line((12, 0, 24), (0, 0, 24)),
            cad.Line((0, 0, 24), (0, 0, 0)),
            cad.Line((0, 0, 0), (10, 0, 0)),
        ]
    )
    cad.export_step(cad.revolve(cad.Face(outline), cad.Axis.Z), str(tmp_path / "vase.step"))
    edge = profile.edges()[0] if hasattr(profile, "edges") else profile
    points = np.array([tuple(edge.position_at(t)) for t in np.linspace(0, 1, 200_001)])
    r, z = points[:, 0], points[:, 2]
    wanted = np.pi * np.sum((r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2) / 3 * np.diff(z))
    model, _ = import_model(tmp_path / "vase.step", density=1000)
    (body,) = model.bodies.values()
    assert body.mass == pytest.approx(1e-6 * wanted, rel=1e-9)


def assembly(file, parts):
    """An assembly of named shapes."""
    for name, shape in parts.items():
        shape.label = name.partition("#")[0]
    cad.export_step(cad.Compound(label="whole", children=list(parts.values())), str(file))
    return file


def test_parts_whose_names_are_joints_are_joints(tmp_path):
    pivot = cad.Pos(50, 0, 0) * cad.Rot(90, 0, 0) * cad.Cylinder(1, 5)
    file = assembly(
        tmp_path / "named.step",
        {"base": cad.Box(20, 20, 20), "arm": cad.Pos(100, 0, 0) * cad.Box(90, 10, 10),
         "ball": cad.Pos(0, 0, 90) * cad.Box(5, 5, 5), "hinge:elbow:base:arm": pivot,
         "spherical:wrist:arm:ball": cad.Pos(145, 0, 0) * cad.Sphere(2)},
    )  # fmt: skip
    model, report = import_model(file, density=1000)
    assert set(model.bodies) == {"base", "arm", "ball"}
    assert model.joints["elbow"].at == pytest.approx((0.05, 0, 0), abs=1e-12)
    np.testing.assert_allclose(np.abs(model.joints["elbow"].axis), (0, 1, 0), atol=1e-12)
    assert model.joints["wrist"].at == pytest.approx((0.145, 0, 0), abs=1e-12)
    assert "part 'hinge:elbow:base:arm'" in {entry.what for entry in report.of("mapped")}


def test_parts_of_one_name_are_told_apart(tmp_path):
    file = assembly(
        tmp_path / "twice.step", {f"bolt#{k}": cad.Pos(20 * k, 0, 0) * cad.Cylinder(2, 9) for k in range(3)}
    )
    model, report = import_model(file, density=1000)
    assert list(model.bodies) == ["bolt", "bolt_2", "bolt_3"]
    assert {entry.how for entry in report.of("mapped") if "bolt" in entry.how} >= {
        "it is called 'bolt_2' here"
    }


def test_bolts_balls_and_guides(tmp_path):
    """Several parallel axes hold a part like bolts do; a ball in its socket turns; a rail guides."""
    plate = cad.Box(100, 100, 10)
    cover = cad.Pos(0, 0, 10) * cad.Box(100, 100, 10)
    for x in (-40, 40):
        plate -= cad.Pos(x, 0, 0) * cad.Cylinder(3, 10)
        cover -= cad.Pos(x, 0, 10) * cad.Cylinder(3, 10)
    cover -= cad.Pos(0, 0, 20) * cad.Sphere(8)
    ball = cad.Pos(0, 0, 20) * cad.Sphere(8)
    file = assembly(tmp_path / "bolted.step", {"plate": plate, "cover": cover, "ball": ball})
    kinds = {(one.a, one.b): one.kind for one in suggest_joints(file).candidates}
    assert kinds == {("plate", "cover"): "weld", ("cover", "ball"): "spherical"}


BAD = {
    "tag": ("joints: {j: {type: hing, a: base, b: crank}}", 1, "did you mean 'hinge'"),
    "key": ("joint: {}", 1, "did you mean 'joints'"),
    "part": ("\njoints:\n  j: {type: hinge, a: base, b: cranc}", 3, "there is no part 'cranc' (did you mean 'crank'?)"),
    "nothing": ("joints:\n  j: {type: hinge, a: base, b: weight}", 2, "do not tell where a hinge is: give at and axis"),
    "field": ("joints:\n  j: {type: hinge, a: base, b: crank, dampign: 1}", 2, "did you mean 'damping'"),
    "value": ("joints:\n  j: {type: hinge, a: base, b: crank, damping: -1}", 2, "damping"),
    "ground": ("ground: bass", 1, "did you mean 'base'"),
    "density": ('densities: {"*": steel}', 1, "must be a density"),
    "pattern": ('densities: {"bolt*": 1}', 1, "no part has a name like that"),
    "list": ("- a", 1, "must be a mapping"),
    "yaml": ("joints: {", 2, "is not valid YAML"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_the_file_of_joints_is_told_with_its_line(case, made, tmp_path):
    file, _ = made
    text, line, what = BAD[case]
    (tmp_path / "j.yaml").write_text(text)
    with pytest.raises(ModelError) as caught:
        import_model(file, joints=tmp_path / "j.yaml", density=1000)
    assert any(what in problem.what and problem.line == line for problem in caught.value.problems), (
        caught.value
    )


def test_options_are_for_their_formats(made, tmp_path):
    file, _ = made
    (tmp_path / "r.urdf").write_text("<robot/>")
    for wrong, options, what in (
        (file, {"keyframe": "home"}, "'keyframe' is for other formats than STEP"),
        (tmp_path / "r.urdf", {"density": 1000.0}, "'density' is for other formats than URDF"),
        (file, {"density": -1.0}, "must be a positive number"),
        (file, {"joints": tmp_path / "none.yaml"}, "there is no such file"),
    ):
        with pytest.raises(LinkworkError, match=what):
            import_model(wrong, **options)
