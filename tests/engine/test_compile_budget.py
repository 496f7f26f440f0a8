"""How much there is to compile, counted in bytes: seconds hang on the machine and whatever else it does.

The loops of the methods are what a first step waits for at last, in one process: optimised whole, with all that they
call. Their time goes with the size of their code. Who adds to them finds out here; a budget may grow for a reason.
"""

import pickle

import pytest

from helpers.processes import python
from linkwork.engine.kernels import store
from linkwork.engine.kernels.jit import COMPILED
from linkwork.run.pieces import parts_of
from linkwork.run.warmup import PIECES, missing, warm_up

MARGIN = 1.25
"""Of bytes: other processors have other instructions, and vectors of other lengths."""
BUDGETS = {
    "steppers/impulse.py:run_impulses": (2, 842_000),  # without contact, with contact
    "contact/detect.py:detect": (1, 164_000),
    "contact/collide.py:_cores": (1, 104_000),
    "contact/heights.py:meet_heights": (1, 141_000),
    "steppers/contact.py:_solve_island": (1, 281_000),
    "steppers/implicit.py:run_implicit": (2, 985_000),  # multipliers, independent coordinates
    # Trees, the direct solver (898 kB), and with contacts as constraints; components, and with contacts, where somebody
    # asked for that: these are the largest.
    "steppers/explicit.py:_run": (5, 1_368_000, 1_140_000),
    "steppers/touch_parts.py:push_parts": (1, 479_000),
    "steppers/touch_modes.py:push_touch": (1, 478_000),
    "steppers/samples.py:write_sample": (2, 140_000),  # trees, everything else
    "steppers/impacts.py:impact": (1, 155_000),
    "steppers/impacts.py:_land": (1, 198_000),
    "steppers/projection.py:solve_firmly": (1, 127_000),
    "control/act.py:pass_between": (1, 150_000),
}
"""For how many kinds of arguments each loop is compiled, or a part of one that stands apart, and bytes of machine code
of the largest; or of the largest and of all others."""


def machine_code(file):
    """Bytes of machine code in a file of the cache; 0 if it is kept as LLVM code."""
    what, *_ = pickle.loads(file.read_bytes())[1]
    if ".inner." in file.name:
        _, is_apart, code, *_ = what[2][0]
        return len(code) if is_apart else 0
    return len(what[-1][2][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", BUDGETS)
def test_loops_of_methods_keep_their_budget(name):
    if store.cache_directory() is None:
        pytest.skip("kernels are not kept")
    lacking = missing(PIECES)
    if lacking:
        warm_up(lacking)
    path, _, function = name.partition(":")
    found = store._folder(store.PACKAGE / "engine" / path)
    assert found is not None
    sizes = [size for file in found[0].glob(f"*.{function}-*.nbc") if (size := machine_code(file))]
    kinds, *budgets = BUDGETS[name]
    assert 0 < len(sizes) <= kinds
    largest, *others = sorted(sizes, reverse=True)
    assert largest <= MARGIN * budgets[0]
    assert max(others, default=0) <= MARGIN * budgets[-1]


def test_constants_do_not_make_kernels_of_their_own(tmp_path):
    """`g` with three constants and a variable is one function."""
    (tmp_path / "mine.py").write_text(
        "from linkwork.engine.kernels.jit import kernel\n\n"
        "@kernel\ndef g(x, k, last):\n    return -x if last else k * x\n\n"
        "@kernel\ndef f(x, k):\n    return g(x, 1, True) + g(x, 2, False) + g(x, k=3, last=False) + g(x, k, False)\n"
    )
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    assert python("-c", "import mine; print(mine.f(1.0, 5))", environment=cache).split() == ["9.0"]
    assert len(list((tmp_path / "cache").rglob("mine.g*.nbc"))) == 1


PARTS = {
    "contact": (263, 179_594), "smooth": (371, 254_684),
    "hybrid": (146, 92_708), "topological": (158, 98_990), "global": (135, 80_278),
    "components": (162, 126_212),
    "direct": (191, 118_926), "impulses": (103, 53_596), "tree": (75, 45_394),
    "control": (69, 32_068), "terrain": (46, 32_598),
}  # fmt: skip
"""Of each piece: kernels, counted for each kind of arguments, and bytes of Python's code in them (Python 3.11)."""


@pytest.mark.skipif(not COMPILED, reason="a rehearsal finds out what to compile")
@pytest.mark.parametrize("name", PIECES)
def test_methods_keep_their_number_and_size_of_kernels(name):
    """Compile time goes with both. If yours is beyond: call kernels with the same types of arguments everywhere, move
    what is seldom needed out of the step, or decorate by `woven` what has one caller; else raise the
    bound and say why."""
    parts = parts_of(name).values()
    count, size = PARTS[name]
    assert len(parts) <= 1.05 * count
    assert sum(part.size for part in parts) <= 1.1 * size
