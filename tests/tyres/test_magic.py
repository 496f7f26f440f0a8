"""The Magic Formula against one written from the book, its properties, and tyre property files."""

import math

import numpy as np
import pytest

from helpers.published_tyre import LOAD, book, tir
from linkwork import MagicTyre
from linkwork.model.errors import ModelError
from linkwork.model.tyre_files import read_tyre
from linkwork.vehicle.tyre_rig import forces


def written(tmp_path, name="tyre.tir", **changes):
    path = tmp_path / name
    path.write_text(tir(**changes))
    return path


def tyre(tmp_path, side="left", **changes):
    return MagicTyre("tyre", "wheel", file=str(written(tmp_path, **changes)), side=side)


SLIPS = [
    (0.0, 0.0),
    (0.05, 0.0),
    (-0.3, 0.0),
    (0.0, 0.1),
    (0.0, -0.4),
    (0.08, -0.06),
    (-0.2, 0.3),
    (1e-4, 1e-4),
]


@pytest.mark.parametrize("load", [1500.0, LOAD, 7000.0])
@pytest.mark.parametrize("camber", [0.0, 0.05, -0.08])
def test_forces_are_those_of_the_book(tmp_path, load, camber):
    """Two implementations of the same equations: apart by rounding alone."""
    made = tyre(tmp_path)
    for kappa, tangent in SLIPS:
        found = forces(made, load=load, kappa=kappa, tangent=tangent, camber=camber, speed=20.0)
        wanted = book(load, kappa, tangent, camber)
        assert found.x == pytest.approx(wanted["x"], rel=1e-11, abs=1e-8)
        assert found.y == pytest.approx(wanted["y"], rel=1e-11, abs=1e-8)
        assert found.moment == pytest.approx(wanted["z"], rel=1e-10, abs=1e-8)


def test_stiffness_at_the_origin_is_that_of_the_coefficients(tmp_path):
    made = tyre(tmp_path)
    step = 1e-6

    def slope(**slip):
        ((name, _),) = slip.items()
        axis = "x" if name == "kappa" else "y"
        up, down = (
            getattr(
                forces(made, load=LOAD, speed=20.0, **{"kappa": 0.0, "tangent": 0.0, name: sign * step}), axis
            )
            for sign in (1.0, -1.0)
        )
        return (up - down) / (2 * step)

    # 21.51 Fz and -14.95 Fz sin(2 atan(1/2.13)); shifts of 0.002 and 0.003, where slopes are less by some 1e-3 and the
    # weights of combined slip, cos at an argument of 0.1, by 1e-2.
    assert slope(kappa=1) == pytest.approx(21.51 * LOAD, rel=1e-2)
    assert slope(tangent=1) == pytest.approx(-14.95 * LOAD * math.sin(2 * math.atan(1 / 2.13)), rel=1e-2)


def test_mirrored_it_is_the_mirror_image(tmp_path):
    """Side slip and camber reversed: the same forward force, lateral force and moment reversed, to the last bit."""
    left, right = tyre(tmp_path), tyre(tmp_path, side="right")
    for kappa, tangent in SLIPS:
        one = forces(left, load=3000.0, kappa=kappa, tangent=tangent, camber=0.03, speed=20.0)
        other = forces(right, load=3000.0, kappa=kappa, tangent=-tangent, camber=-0.03, speed=20.0)
        assert (one.x, one.y, one.moment) == (other.x, -other.y, -other.moment)


def test_a_file_in_axes_of_sae_is_the_same_tyre(tmp_path):
    """Lateral forces and moments point the other way there: PKY, PDY, PVY, RVY and moments change their signs."""
    flipped = {
        "PKY1": 14.95, "PDY1": 0.990, "PDY2": -0.145, "PVY1": -0.045, "PVY2": 0.024, "PVY3": 0.532, "PVY4": -0.039,
        "PKY6": 0.92, "PKY7": 0.24, "QDZ6": 0.008, "QDZ8": 0.296, "QDZ9": 0.009, "SSZ1": -0.043, "SSZ3": -0.731,
        "SSZ4": 0.238, "QSX1": 0,
    }  # fmt: skip
    iso, sae = tyre(tmp_path), tyre(tmp_path, name="sae.tir", **flipped)
    assert (iso.read.convention, sae.read.convention) == ("ISO", "SAE")
    assert any("SAE" in line for line in sae.read.left_out)
    for kappa, tangent in SLIPS:
        one, other = (
            forces(made, load=3500.0, kappa=kappa, tangent=tangent, camber=0.02, speed=20.0)
            for made in (iso, sae)
        )
        assert np.allclose(one, other, rtol=1e-12, atol=1e-9)


def test_units_of_the_file_are_heeded(tmp_path):
    one = read_tyre(str(written(tmp_path)))
    other = read_tyre(
        str(
            written(
                tmp_path, "mm.tir", LENGTH="'mm'", FORCE="'kN'", UNLOADED_RADIUS=313, WIDTH=205, FNOMIN=4,
                FZMIN=0.1, FZMAX=10, VERTICAL_STIFFNESS=0.209651, VERTICAL_DAMPING=5e-5,
                LONGITUDINAL_STIFFNESS=0.358066, LATERAL_STIFFNESS=0.102673, LONGVL=16670,
            )
        )
    )  # fmt: skip
    for name in ("radius", "width", "load", "stiffness", "damping", "carcass", "numbers"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12)


def test_what_is_not_taken_is_told(tmp_path):
    found = read_tyre(
        str(written(tmp_path, FITTYP=62, PPMX1=0.3, BREFF=8.4, DREFF=0.27, FREFF=0.07, KPUMIN=-1))
    )
    told = " ".join(found.left_out)
    for word in ("62", "PPMX1", "KPUMIN", "BREFF"):
        assert word in told
    assert found.rolling_share == pytest.approx(0.27 * math.atan(8.4) + 0.07)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"LENGTH": None}, "LENGTH: is missing from"),
        ({"LENGTH": "'newton'", "FORCE": "'meter'"}, "are units swapped"),
        ({"ANGLE": "'degrees'"}, "ANGLE: must be one of"),
        ({"FNOMIN": -4000}, "FNOMIN: must be greater than 0"),
        ({"FZMIN": 5000, "FZMAX": 1000}, "the range of loads"),
        ({"FZMIN": -100}, "the range of loads"),
        ({"VERTICAL_STIFFNESS": 209.651}, "are units swapped"),
        ({"PKY1": None}, "PKY1: is missing"),
        ({"PDX1": "'high'"}, "PDX1: must be a finite number"),
        ({"FITTYP": 89}, "89 is not known"),
    ],
)
def test_bad_files_are_named_with_their_lines(tmp_path, changes, said):
    path = written(tmp_path, "bad.tir", **changes)
    with pytest.raises(ModelError) as caught:
        read_tyre(str(path))
    assert said in str(caught.value)
    assert "bad.tir" in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        MagicTyre("tyre", "wheel", file=str(tmp_path / "none.tir")).common()
