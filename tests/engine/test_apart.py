"""Kernels with machine code of their own: called by name, from whatever calls them, out of the cache, too."""

import pytest

from helpers.processes import python
from linkwork.engine.kernels.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="plain Python knows no machine code")

SOURCE = """
import numpy as np
from linkwork.engine.kernels.jit import apart, kernel, shared_kernel

@apart
def deepest(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total

@apart
def deeper(x, k):
    return k * deepest(x)

@kernel
def between(x, y):
    "Too large to be inlined."
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            a, b = x[i], y[j]
            if a > b:
                total += a * b - b / (1.0 + a * a) + abs(a - b) ** 1.5
            elif a < -b:
                total -= a / (2.0 + b * b) + abs(a + b) ** 2.5 - a * b
            else:
                total += (a + b) * (a - b) / (1.0 + abs(a * b)) ** 0.5
    return total + deeper(x, 2.0)

@kernel
def first(x):
    return between(x, x) - between(x, x) + deepest(x)

@shared_kernel
def second(x):
    return deeper(x, 3.0)

x = np.arange(4.0)
"""
CALLS = {
    "first(x)": 6.0,
    "second(x)": 18.0,
    "between(x, x) - between(x, x)": 0.0,
    "deeper(x, 1.0)": 6.0,
    "deepest(x)": 6.0,
}


def call(what, folder):
    (folder / "mine.py").write_text(SOURCE)
    paths = {"LINKWORK_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    return float(python("-c", f"from mine import *\nprint({what})", environment=paths))


@pytest.mark.parametrize("order", [list(CALLS), list(reversed(CALLS))], ids=["whole first", "parts first"])
def test_they_are_found_whoever_was_compiled_first(order, tmp_path):
    """Each call is a process of its own: the second round has all from the cache."""
    for _ in range(2):
        assert {what: call(what, tmp_path) for what in order} == CALLS


def test_their_code_is_in_none_of_their_callers(tmp_path):
    """By the sizes of what is kept: the callers of a large function are small."""
    body = "\n".join(f"    total += x[{i}] ** {i}.5 / (1.0 + x[{i + 1}] * total)" for i in range(300))
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nfrom linkwork.engine.kernels.jit import apart, kernel\n\n"
        f"@apart\ndef large(x):\n    total = 0.0\n{body}\n    return total\n\n"
        "@kernel\ndef caller(x):\n    return 2.0 * large(x)\n"
    )
    paths = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    code = (
        "import mine, numpy as np\nx = np.ones(400)\nmine.caller(x)\n"
        "library = next(iter(mine.caller.overloads.values())).library\n"
        "whole = next(iter(mine.large.inner.overloads.values())).library\n"
        "print(len(library._get_compiled_object()), len(whole.code))"
    )
    caller, large = map(int, python("-c", code, environment=paths).split())
    assert caller < 0.5 * large
