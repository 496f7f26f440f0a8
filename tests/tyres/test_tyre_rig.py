"""The tyre rig as a command: table, JSON, plot, and what is refused."""

import pytest

from helpers.command import call, document
from helpers.published_tyre import tir


def test_a_brush_tyre_has_the_stiffnesses_that_were_asked_for(tmp_path):
    plot = tmp_path / "tyre.png"
    found = document(
        "rig",
        "tyre",
        "brush",
        "--set",
        "load=2000",
        "--set",
        "degression=0",
        "--count",
        "5",
        "--plot",
        str(plot),
    )
    assert found["slip_stiffness"] == pytest.approx([20e3, 40e3, 60e3], rel=1e-4)
    assert found["cornering_stiffness"] == pytest.approx([15e3, 30e3, 45e3], rel=1e-4)
    assert len(found["curves"]["braking"][0]) == 5
    assert plot.read_bytes()[:4] == b"\x89PNG"


def test_a_file_tells_what_is_left_out(tmp_path):
    path = tmp_path / "tyre.tir"
    path.write_text(tir(KPUMIN=-1.5))
    result = call("rig", "tyre", str(path), "--count", "3")
    assert result.exit_code == 0
    assert "KPUMIN" in result.output
    assert "cornering stiffness" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rig", "tyre", "brsh"], "there is no tyre 'brsh' (did you mean 'brush'?)"),
        (["rig", "tyre", "none.tir"], "cannot be read"),
        (["rig", "tyre", "brush", "--set", "load=-1"], "load: must be greater than 0"),
        (["rig", "tyre", "brush", "--count", "2"], "at least 3 places"),
    ],
)
def test_what_is_wrong_is_named(arguments, said):
    result = call(*arguments)
    assert result.exit_code != 0
    assert said in str(result.exception)
