"""Time signals: smooth tables in Python and in the kernel."""

import math

import numpy as np
import pytest

from linkwork import Body, Force, Model, Slider, Table
from linkwork.compile.compiler import compile_model
from linkwork.engine.kernels.signal import signal_slope, signal_value


def sampled(count, span=2.0):
    times = np.linspace(0.0, span, count)
    return Table(tuple(times), tuple(np.sin(3.0 * times)), smooth=True)


def tables_of(signal):
    model = Model("pushed")
    model.add(Body("block", mass=1.0))
    model.add(Slider("rail", "ground", "block"))
    model.add(Force("push", "block", force=(0.0, 0.0, 1.0), signal=signal))
    return compile_model(model).fresh_tables()


STEPPED = Table(
    (0.0, 0.1, 0.25, 0.4, 0.4, 0.5, 0.7, 1.0), (0.0, 1.0, 0.5, 2.0, -1.0, -1.5, 0.0, 3.0), smooth=True
)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("smooth", [False, True])
def test_kernel_and_description_agree(smooth, repeats):
    signal = Table(STEPPED.times, STEPPED.values, smooth=smooth, repeats=repeats)
    tables = tables_of(signal)
    for t in np.linspace(-0.2, 2.3, 251):
        value, rate, _ = signal.derivatives(float(t))
        assert signal_value(tables, 0, t) == pytest.approx(value, abs=1e-13)
        assert signal_slope(tables, 0, t) == pytest.approx(rate, abs=1e-11)


def test_smooth_tables_are_of_fourth_order():
    off = []
    for count in (41, 81):
        signal = sampled(count)
        off.append(max(abs(signal.value(t) - math.sin(3.0 * t)) for t in np.linspace(0.0, 2.0, 1001)))
    assert 13.0 < off[0] / off[1] < 40.0  # 2⁴ inside, 2⁵ near the ends
    # h⁴/384 of the fourth derivative, which is 81; near the ends slopes are poorer.
    assert off[1] < 5 * 0.025**4 / 384 * 81


def test_a_smooth_table_passes_its_points_and_keeps_its_steps():
    for t, value in zip(STEPPED.times, STEPPED.values, strict=True):
        if t != 0.4:
            assert STEPPED.value(t) == pytest.approx(value)
    assert STEPPED.value(math.nextafter(0.4, 0.0)) == pytest.approx(2.0)
    assert STEPPED.value(0.4) == pytest.approx(-1.0)


def test_polynomials_come_out_exactly():
    """Cubics through slopes of fourth order: whatever is a cubic, on any grid."""
    times = (0.0, 0.13, 0.2, 0.51, 0.6, 1.0)
    signal = Table(times, tuple(t**3 - 2 * t for t in times), smooth=True)
    for t in np.linspace(0.0, 0.999, 50):
        value, rate, bend = signal.derivatives(float(t))
        assert (value, rate, bend) == pytest.approx((t**3 - 2 * t, 3 * t**2 - 2, 6 * t), abs=1e-12)


def test_few_points_are_enough():
    assert Table((0.0,), (2.0,), smooth=True).value(1.0) == 2.0
    assert Table((0.0, 1.0), (0.0, 2.0), smooth=True).value(0.25) == pytest.approx(0.5)
