"""Kernels that are compiled when a loop first asks for them: from fresh and from cached callers, by name and type."""

import pytest

from helpers.processes import python
from linkwork.engine.kernels.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="plain Python has no machine code to ask for")

SOURCE = """
import numpy as np
from numba.core import event
from linkwork.engine.kernels.jit import apart, kernel, later, later_count

@later
def push(x, k):
    for i in range(x.shape[0]):
        x[i] += k

@later_count
def positive(x):
    n = 0
    for i in range(x.shape[0]):
        n += 1 if x[i] > 0.0 else 0
    return n

@apart
def both(x, k):
    push(x, k)
    return positive(x)

@kernel
def inner(x, k):
    if k != 0.0:
        push(x, k)
    return x[0] + x[1]

@kernel
def outer(x, k):
    return inner(x, k) - 1.0

@kernel
def counted(x, k):
    return both(x, k) + 0.5

compiled = []
class Count(event.Listener):
    def on_start(self, entry): compiled.append(entry.data["dispatcher"].py_func.__name__)
    def on_end(self, entry): pass
event.register("numba:compile", Count())
def fresh(): return np.arange(3.0)
"""
CALLS = {
    "inner(x, 0.0)": 1.0,
    "inner(x, 2.0)": 5.0,
    "outer(x, 1.0)": 2.0,
    "inner(x, 1.0) + inner(x, 1.0)": 8.0,
    "counted(x, -1.5)": 1.5,
    "inner(x[::2], 1.0)": 4.0,  # another type of array, another kernel
}


ORDERS = [list(CALLS), list(reversed(CALLS))]


def run(code, folder):
    (folder / "mine.py").write_text(SOURCE)
    paths = {"LINKWORK_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    return python("-c", "from mine import *\nx = fresh()\n" + code, environment=paths)


@pytest.mark.parametrize("order", ORDERS, ids=["forth", "back"])
def test_they_are_there_when_they_are_called(order, tmp_path):
    """The second process has all from the cache, and compiles nothing."""
    code = f"for call in {order}:\n    x = fresh()\n    print(eval(call))\nprint(len(compiled))"
    for some in (True, False):
        *found, count = map(float, run(code, tmp_path).split())
        assert found == [CALLS[what] for what in order]
        assert (count > 0) == some


def test_callers_do_not_wait_for_them(tmp_path):
    told = run("outer(x, 0.0)\nprint(*compiled)", tmp_path).split()
    assert "outer" in told
    assert "push" not in told


def test_an_interruption_meanwhile_comes_after_the_call(tmp_path):
    code = """
import signal, linkwork.engine.kernels.later as later
fill = later.Place.fill
def slowly(place):
    signal.raise_signal(signal.SIGINT)
    fill(place)
later.Place.fill = slowly
try:
    inner(x, 2.0)
    while True: pass
except KeyboardInterrupt:
    print(x[0])
"""
    assert run(code, tmp_path).split() == ["2.0"]


def test_one_that_returns_something_else_is_told(tmp_path):
    code = """
import mine, linkwork.engine.kernels.later as later
from numba import float64, types
mine.wrong = later_count(lambda x: x[0])
try:
    later.place_of(later.Spec("mine", "wrong", (float64[::1],), types.int64)).fill()
except TypeError as error:
    print(error)
"""
    assert "returns float64; its callers take int64" in run(code, tmp_path)
