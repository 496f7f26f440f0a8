"""Markers: named points of bodies, recorded wherever their bodies go."""

import math

import numpy as np
import pytest

from helpers.runs import end_of, way_of
from linkwork import Body, Component, Hinge, Marker, Model, Record, Simulation, about, scene
from linkwork.scenes import peaucellier

WAYS = {
    "tree": {"method": "tree"},
    "simgc": {"method": "simgc"},
    "simmc": {"method": "simmc"},
    "impulses": {"method": "simgc", "solver": "impulses"},
    "maximal impulses": {"method": "simmc", "solver": "impulses"},
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def swing():
    """A pendulum about y whose frame stands askew, as a component."""
    part = Component("swing")
    part.add(
        Body("bob", at=(0.1, 0.0, -0.2), rotation=about((1, 2, 3), 0.7), mass=1.0, inertia=(0.1, 0.1, 0.1))
    )
    part.add(Hinge("pivot", "ground", "bob", at=(0.3, 0.2, 1.0), axis=(0, 1, 0), position=0.4, velocity=2.0))
    part.add(Marker("tip", "bob", at=(0.5, 0.1, 0.0)))
    part.add(Marker("post", "ground", at=(1.0, 2.0, 3.0)))
    return part


def turned(angle):
    """Where the tip is at an angle of the pivot."""
    x, z = 0.5 - 0.3, 0.0 - 1.0
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([0.3 + c * x + s * z, np.full_like(angle, 0.1), 1.0 - s * x + c * z], axis=1)


@ways
def test_the_tip_of_a_pendulum_is_where_geometry_says(way):
    model = Model("two")
    part = swing()
    model.add(part.instance("plain"))
    model.add(
        part.instance("image", mirror=(1, 0, 0), rotation=about((0, 0, 1), math.pi / 2), at=(0, 0, 5.0))
    )
    record = Simulation(model, **way).run(0.5)
    assert np.ptp(record["plain.pivot.angle"]) > 0.3
    # In maximal coordinates impulses let joints gape a little.
    near = 1e-3 if way in (WAYS["maximal impulses"],) else 1e-11
    np.testing.assert_allclose(way_of(record, "plain.tip"), turned(record["plain.pivot.angle"]), atol=near)
    # Mirrored x → -x, then x → y and y → -x, then lifted.
    x, y, z = turned(record["image.pivot.angle"]).T
    image = np.stack([-y, -x, z + 5.0], axis=1)
    np.testing.assert_allclose(way_of(record, "image.tip"), image, atol=near)
    np.testing.assert_array_equal(way_of(record, "plain.post"), np.tile([1.0, 2.0, 3.0], (len(record), 1)))
    np.testing.assert_allclose(
        way_of(record, "image.post"), np.tile([-2.0, -1.0, 8.0], (len(record), 1)), atol=1e-12
    )


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_the_tip_of_the_peaucellier_linkage_keeps_its_line(method):
    record = Simulation(scene("peaucellier"), method=method).run(1.0)
    tip = way_of(record, "tip")
    # Loops are closed to rounding; the linkage folds to within a factor of ten of a singular position.
    np.testing.assert_allclose(tip[:, 0], peaucellier.LINE, atol=1e-9)
    np.testing.assert_allclose(tip[:, 2], 0.0, atol=1e-9)
    assert np.ptp(tip[:, 1]) > 0.1


@ways
def test_the_tip_of_a_chain_is_the_end_of_its_last_link(way):
    record = Simulation(scene("chain5"), **way).run(0.3)
    x, y = end_of(record, "link5", 0.5)
    np.testing.assert_allclose(way_of(record, "tip")[:, :2], np.stack([x, y], axis=1), atol=1e-12)
    assert record.unit("tip.position.x") == "m"
    assert record.find("tip.position.*") == ["tip.position.x", "tip.position.y", "tip.position.z"]


def test_markers_are_written_and_read(tmp_path):
    record = Simulation(scene("chain5")).run(0.1, save=tmp_path / "run.h5")
    loaded = Record.load(tmp_path / "run.h5")
    assert loaded.array("markers").tobytes() == record.array("markers").tobytes()
    assert len(record.array("markers")) == len(record.time)


def test_a_model_without_markers_has_no_such_columns():
    record = Simulation(scene("a01_pendulum")).run(0.01)
    assert "markers" not in record.groups


@ways
def test_a_marker_with_the_name_of_a_body_is_left_out_with_a_warning(way):
    model = scene("chain5")
    model.add(Marker("link2", "link1", at=(9.0, 9.0, 9.0)))
    plain = Simulation(scene("chain5"), **way).run(0.05)
    record = Simulation(model, **way).run(0.05)
    warnings = [text for text in record.info["warnings"] if "link2" in text]
    assert len(warnings) == 1
    assert "marker 'link2' is not recorded" in warnings[0]
    assert "link2.position.x" in record.names
    assert record.groups["markers"].columns == plain.groups["markers"].columns
    for axis in "xyz":
        assert record[f"link2.position.{axis}"].tobytes() == plain[f"link2.position.{axis}"].tobytes()


def test_a_marker_on_a_body_that_is_welded_moves_with_it():
    model = scene("scissor_lift", stages=1)
    height = model.bodies["load"].at[2]
    model.add(Marker("lid", "load", at=(0.3, 0.2, height + 1.0)))
    record = Simulation(model).run(0.05)
    for axis, away in zip("xyz", (0.3, 0.2, 1.0), strict=True):
        np.testing.assert_allclose(
            record[f"lid.position.{axis}"] - record[f"platform.position.{axis}"], away, atol=1e-9
        )
