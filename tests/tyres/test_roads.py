"""Roads: what tyres feel of scenery against formulas, and random profiles against ISO 8608."""

import math

import numpy as np
import pytest
from scipy.special import k1

from linkwork import (
    Body,
    Box,
    BrushTyre,
    Free,
    HeightField,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    about,
)
from linkwork.engine.tyres.road import SURFACE, feel_road, sample_road
from linkwork.model.errors import LinkworkError
from linkwork.vehicle import roads


def felt(*scenery, materials=("road",)):
    """A function of x and y: what a tyre feels there, and the model's notes."""
    model = Model("road")
    for k, name in enumerate(materials):
        model.add(Material(name, friction=1.0 - 0.5 * k))
    for thing in scenery:
        model.add(thing)
    model.add(Body("wheel", at=(0, 0, 50), mass=1.0, inertia=(1, 1, 1)))
    model.add(Free("way", "ground", "wheel", at=(0, 0, 50)))
    model.add(BrushTyre("tyre", "wheel", radius=0.3, load=10.0))
    system = Simulation(model).method.system
    rows = system.row_table.constraints.rows
    numbers = system.tables.numbers
    own = int(rows["alpha"][rows["beta"] == 1][0]) + 94
    first, count = int(numbers[own + 13]), int(numbers[own + 14])
    assert (len(numbers) - first) // SURFACE >= count
    return lambda x, y: sample_road(numbers, first, count, x, y), (numbers, first, count), system.notes


def slopes_fit(at, x, y, step=1e-6):
    """Slopes are those of the height, by differences."""
    _, _, zx, zy, _ = at(x, y)
    dx = (at(x + step, y)[1] - at(x - step, y)[1]) / (2 * step)
    dy = (at(x, y + step)[1] - at(x, y - step)[1]) / (2 * step)
    assert (zx, zy) == pytest.approx((dx, dy), abs=1e-6)


def test_a_tilted_plane_is_felt_along_the_vertical():
    at, _, _ = felt(roads.slope_road("road", up=0.3, side=-0.2))
    found, z, zx, zy, friction = at(2.0, 3.0)
    assert (found, friction) == (True, 1.0)
    assert (zx, zy) == pytest.approx((math.tan(0.3), -math.tan(0.2)), rel=1e-12)
    assert z == pytest.approx(2 * math.tan(0.3) - 3 * math.tan(0.2), rel=1e-12)


def test_height_fields_are_smooth_whatever_contact_makes_of_them():
    """The spline through z = sin x cos y: of order four in the cell inside, (cell/2)^4/24 some; slopes of order
    three."""
    cell = 0.1

    def hills(x, y):
        return np.sin(x) * np.cos(y)

    road = roads.function_road("road", hills, (8.0, 8.0), cell=cell)
    facets = HeightField((8.0, 8.0), heights=road.shapes[0].heights)
    for scenery in (road, Scenery("road", shapes=(facets,), material="road")):
        at, _, _ = felt(scenery)
        for x, y in ((0.3, 0.2), (-1.23, 1.51), (1.87, -0.66)):
            _, z, zx, zy, _ = at(x, y)
            assert z == pytest.approx(math.sin(x) * math.cos(y), abs=cell**4)
            assert (zx, zy) == pytest.approx(
                (math.cos(x) * math.cos(y), -math.sin(x) * math.sin(y)), abs=cell**3
            )
            slopes_fit(at, x, y)
        assert not at(5.0, 0.0)[0]


def test_a_tilted_field_is_the_same_surface_turned():
    """Points of the surface in its own frame, turned into the world, are met from above."""
    road = roads.function_road("road", lambda x, y: 0.2 * np.sin(2 * x) + 0.1 * y**2, (6.0, 6.0), cell=0.05)
    level, _, _ = felt(road)
    turn = about((0.3, 1.0, 0.2), 0.4)
    tilted, _, _ = felt(
        Scenery("road", at=(1.0, 2.0, 3.0), rotation=turn, shapes=road.shapes, material="road")
    )
    from linkwork.model.rotation import matrix

    R = matrix(turn)
    for u, v in ((0.4, 0.3), (-1.0, 0.8), (1.2, -1.1)):
        _, h, hu, hv, _ = level(u, v)
        x, y, z = np.array([1.0, 2.0, 3.0]) + R @ np.array([u, v, h])
        found, height, zx, zy, _ = tilted(x, y)
        assert found
        assert height == pytest.approx(z, abs=1e-12)
        n = R @ np.array([-hu, -hv, 1.0])
        assert (zx, zy) == pytest.approx((-n[0] / n[2], -n[1] / n[2]), abs=1e-10)


def test_a_kerb_has_flanks_as_wide_as_it_is_high():
    at, _, _ = felt(
        Scenery("floor", shapes=(Plane(),), material="road"),
        roads.kerb("kerb", start=1.0, length=2.0, height=0.1),
    )
    assert at(2.0, 0.0)[1] == pytest.approx(0.1)
    assert at(0.89, 0.0)[1] == 0.0
    assert at(0.95, 0.0)[1] == pytest.approx(0.05)  # half of the way, half of the height
    for x, y in ((0.93, 0.05), (2.0, 0.2), (0.96, 0.17), (3.04, -0.19)):
        slopes_fit(at, x, y)


def test_a_ramp_stands_on_the_ground():
    at, _, _ = felt(
        Scenery("floor", shapes=(Plane(),), material="road"),
        roads.ramp("ramp", start=2.0, length=4.0, height=1.0),
    )
    for x in (2.5, 4.0, 5.9):
        _, z, zx, zy, _ = at(x, 0.3)
        assert (z, zx, zy) == pytest.approx(((x - 2.0) / 4.0, 0.25, 0.0), abs=1e-12)
    assert at(1.5, 0.0)[1] == 0.0
    slopes_fit(at, 3.0, 2.1)


def test_friction_varies_over_the_road_and_paint_is_not_felt():
    at, _, _ = felt(
        Scenery("floor", shapes=(Plane(),), material="road"),
        roads.patch("ice", start=5.0, length=10.0, width=2.0, material="ice"),
        roads.paint("line", [(0, 0), (20, 0)], dash=1.0),
        materials=("road", "ice"),
    )
    assert [at(x, y)[4] for x, y in ((4.0, 0.0), (6.0, 0.9), (6.0, 1.1), (15.5, 0.0))] == [1.0, 0.5, 1.0, 1.0]
    assert at(6.0, 0.0)[1:4] == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


def test_a_footprint_feels_the_mean_of_one_surface():
    """Height and slopes are means over the same places: the slope of the mean is the mean of the slopes."""
    road = roads.function_road("road", lambda x, y: 0.1 * np.sin(5 * x + 2 * y), (6.0, 6.0), cell=0.05)
    _, (numbers, first, count), _ = felt(road)
    along, across = (0.1, 0.03), (-0.02, 0.06)

    def mean(x, y):
        return feel_road(numbers, first, count, x, y, along, across)

    slopes_fit(mean, 0.3, 0.4)
    slopes_fit(mean, -0.7, 0.1)


def test_what_is_no_road_is_told():
    from linkwork import Sphere

    _, _, notes = felt(
        Scenery("floor", shapes=(Plane(),), material="road"),
        Scenery("ball", shapes=(Sphere(1.0),), material="road"),
        Scenery("wall", shapes=(Plane(rotation=about((0, 1, 0), math.pi / 2)),), material="road"),
        Scenery(
            "bridge", shapes=(Box((1.0, 1.0, 0.1), rotation=about((1, 0, 0), math.pi / 2)),), material="road"
        ),
    )
    assert any("sphere of scenery 'ball'" in note for note in notes)


def test_coherence_is_the_bessel_function():
    x = np.array([1e-3, 0.05, 0.7, 2.0, 9.0])
    assert roads.coherence(x / (2 * math.pi), 1.0) == pytest.approx(x * k1(x), rel=1e-6)
    assert roads.coherence(0.0, 1.0) == 1.0


@pytest.mark.parametrize("iso_class", ["A", "C", "E"])
def test_random_profiles_have_the_spectrum_of_their_class(iso_class):
    """Periodograms of all tracks of 60 roads, in octaves: of N independent waves the mean is right to 1/√N. Tracks of
    one road are alike in long waves, so that only roads count as independent there; five deviations are allowed."""
    length, cell, count = 200.0, 0.1, 60
    total, both, single = 0.0, 0.0, 0.0
    for seed in range(count):
        z = roads.random_heights(iso_class, length, 1.5, cell=cell, across=0.5, seed=seed)
        waves = np.fft.rfft(z, axis=1) / z.shape[1]
        total = total + 2.0 * (abs(waves) ** 2).mean(axis=0) * length
        both = both + (waves[0] * waves[-1].conj()).real
        single = single + 0.5 * (abs(waves[0]) ** 2 + abs(waves[-1]) ** 2)
    n = np.fft.rfftfreq(z.shape[1], cell)
    found, wanted = total / count, np.r_[0.0, roads.roughness(iso_class, n[1:])]
    edge = 0.02
    while edge < 3.0:
        band = (n >= edge) & (n < 2 * edge)
        share = (found[band] / wanted[band]).mean()
        assert share == pytest.approx(1.0, abs=5.0 / math.sqrt(count * band.sum()))
        alike = both[band].sum() / single[band].sum()
        expected = (roads.coherence(n[band], 1.5) * wanted[band]).sum() / wanted[band].sum()
        assert alike == pytest.approx(expected, abs=5.0 / math.sqrt(count * band.sum()))
        edge *= 2


def test_a_random_road_begins_flat_and_softly():
    road = roads.random_road("road", "D", length=20.0, lead=3.0, width=2.0, seed=4)
    at, _, _ = felt(road)
    assert at(-2.0, 0.5)[1] == pytest.approx(0.0, abs=1e-12)
    assert max(abs(at(x, 0.0)[1]) for x in np.linspace(5, 15, 50)) > 1e-3
    again = roads.random_road("road", "D", length=20.0, lead=3.0, width=2.0, seed=4)
    assert road == again


def test_images_are_roads(tmp_path):
    image = pytest.importorskip("PIL.Image")
    grey = np.zeros((5, 9), np.uint8)
    grey[0] = 255  # the top of the image is the far side, +y
    path = tmp_path / "hill.png"
    image.fromarray(grey).save(path)
    road = roads.image_road("road", str(path), (8.0, 4.0), 2.0)
    assert np.allclose(road.shapes[0].grid()[-1], 2.0)
    assert not road.shapes[0].grid()[:-1].any()
    with pytest.raises(LinkworkError, match="cannot be read"):
        roads.image_road("road", str(tmp_path / "none.png"), (8.0, 4.0), 2.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: roads.roughness("I", 1.0), "no road class 'I'"),
        (lambda: roads.kerb("k", start=0, length=0.0, height=0.1), "length must be greater than 0"),
        (lambda: roads.function_road("f", lambda x, y: x / 0 * 0, (1.0, 1.0)), "not finite"),
        (lambda: roads.slope_road("s", up=2.0), "less than a right angle"),
        (lambda: roads.paint("p", [(0, 0)]), "at least two points"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_roads_are_named(make, said):
    with pytest.raises(LinkworkError, match=said):
        make()
