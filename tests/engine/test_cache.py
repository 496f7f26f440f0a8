"""The cache of compiled kernels: never stale, never in the way."""

import os
import shutil
from pathlib import Path

import pytest

import linkwork
from helpers.processes import python
from linkwork.engine.kernels.store import COMPILED_PARTS, PACKAGE

SCRIPT = """
from linkwork.engine.kernels.spatial import cross_motion
print(cross_motion((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))[2])
print(sum(cross_motion.stats.cache_hits.values()))
"""


def run(folder, script=SCRIPT, **environment):
    paths = os.pathsep.join(
        [str(folder), str(PACKAGE.parent)]
    )  # a copy of the package, or else the one under test
    return python("-c", script, environment={"PYTHONPATH": paths, **environment}, cwd=folder).split()


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that a test may edit."""
    shutil.copytree(PACKAGE, tmp_path / "linkwork", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edited_callee_in_another_file_is_noticed(copy, tmp_path):
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache")}
    assert run(copy, **cache) == ["1.0", "0"]
    assert run(copy, **cache) == ["1.0", "1"]
    callee = copy / "linkwork" / "engine" / "kernels" / "math3.py"
    text = callee.read_text()
    edited = text.replace("a[0] * b[1] - a[1] * b[0]\n", "30.0 + a[0] * b[1] - a[1] * b[0]\n")
    assert edited != text
    callee.write_text(edited)
    assert run(copy, **cache) == ["31.0", "0"]


def test_an_edit_leaves_kernels_alone_that_do_not_depend_on_it(copy, tmp_path):
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache")}
    assert run(copy, **cache) == ["1.0", "0"]
    other = copy / "linkwork" / "engine" / "kernels" / "signal.py"
    other.write_text(other.read_text() + "\n# a comment\n")
    assert run(copy, **cache) == ["1.0", "1"]


def test_the_stamp_of_a_source_covers_what_it_imports_at_run_time():
    """Against the modules that Python itself has loaded after an import of one source."""
    script = """
import importlib, sys
from pathlib import Path
from linkwork.engine.kernels.store import COMPILED_PARTS, PACKAGE, closure
known = closure([PACKAGE / sys.argv[1]])
before = set(sys.modules)
importlib.import_module("linkwork." + ".".join(Path(sys.argv[1]).with_suffix("").parts))
loaded = {Path(sys.modules[name].__file__) for name in set(sys.modules) - before if name.startswith("linkwork.")}
compiled = {path for part in COMPILED_PARTS for path in PACKAGE.glob(part)}
print(sorted(str(path) for path in (loaded & compiled) - known))
"""
    for source in (
        "engine/steppers/contact.py",
        "engine/steppers/explicit.py",
        "engine/steppers/implicit.py",
    ):
        assert python("-c", script, source).strip() == "[]"


def test_how_kernels_are_compiled_belongs_to_every_stamp(copy):
    """Laws of elements are plain functions, compiled elsewhere: their files import no decorator."""
    script = """
from linkwork.engine.kernels.store import PACKAGE, source_stamp
print(source_stamp(PACKAGE / "engine/elements/spring.py"))
"""
    before = run(copy, script)
    compiler = copy / "linkwork" / "engine" / "kernels" / "inner.py"
    compiler.write_text(compiler.read_text() + "\n# a comment\n")
    assert run(copy, script) != before


def test_every_file_with_kernels_is_watched():
    watched = {path for part in COMPILED_PARTS for path in PACKAGE.glob(part)}
    with_kernels = {
        path
        for path in PACKAGE.rglob("*.py")
        if "@kernel" in path.read_text() or "@exact_kernel" in path.read_text()
    }
    assert with_kernels <= watched


def test_a_users_kernel_is_compiled_anew_when_its_file_changes(tmp_path):
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache")}
    mine = tmp_path / "mine.py"
    source = "from linkwork.engine.kernels.jit import kernel\n\n@kernel\ndef f(x):\n    return {} * x\n"
    script = "from mine import f; print(f(1.0), sum(f.stats.cache_hits.values()))"
    mine.write_text(source.format(2.0))
    assert run(tmp_path, script, **cache) == ["2.0", "0"]
    assert run(tmp_path, script, **cache) == ["2.0", "1"]
    mine.write_text(source.format(3.0))
    assert run(tmp_path, script, **cache) == ["3.0", "0"]


def test_code_for_a_type_that_has_moved_is_made_anew(tmp_path):
    """A kernel does not import the types that are passed to it: its stamp is the same when one of them moves."""
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "mine.py").write_text(
        "from linkwork.engine.kernels.jit import kernel\n\n@kernel\ndef f(p):\n    return 2.0 * p.x\n"
    )
    types = tmp_path / "here.py"
    types.write_text("from typing import NamedTuple\n\nclass P(NamedTuple):\n    x: float\n")
    script = "from mine import f; from {} import P; print(f(P(1.0)), sum(f.stats.cache_hits.values()))"
    assert run(tmp_path, script.format("here"), **cache) == ["2.0", "0"]
    assert run(tmp_path, script.format("here"), **cache) == ["2.0", "1"]
    types.rename(tmp_path / "there.py")
    assert run(tmp_path, script.format("there"), **cache) == ["2.0", "0"]
    assert run(tmp_path, script.format("there"), **cache) == ["2.0", "1"]
    for code in (tmp_path / "cache").rglob("*.nbc"):
        code.write_bytes(code.read_bytes()[:100])  # cut short
    assert run(tmp_path, script.format("there"), **cache) == ["2.0", "0"]


def test_without_a_writable_folder_kernels_still_work(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    assert run(tmp_path, LINKWORK_CACHE_DIR=str(blocker / "cache")) == ["1.0", "0"]
    assert run(tmp_path, LINKWORK_CACHE="0", LINKWORK_CACHE_DIR=str(tmp_path / "unused")) == ["1.0", "0"]
    assert not (tmp_path / "unused").exists()


def test_caches_of_old_sources_are_removed(tmp_path):
    kernels = tmp_path / "cache" / "kernels"
    for k in range(20):
        (kernels / f"engine.kernels.spatial-{k:016d}").mkdir(parents=True)
    (kernels / "engine.kernels.spatial-other-0000000000000000").mkdir()
    run(tmp_path, LINKWORK_CACHE_DIR=str(tmp_path / "cache"))
    left = [path for path in kernels.iterdir() if path.name.rpartition("-")[0] == "engine.kernels.spatial"]
    assert len(left) == 8
    assert (kernels / "engine.kernels.spatial-other-0000000000000000").exists()


def test_importing_the_package_or_asking_for_help_loads_no_numba():
    script = (
        "import sys, linkwork, linkwork.cli; dir(linkwork); linkwork.Model, linkwork.Hinge, linkwork.Record;"
        "print([m for m in ('numba', 'matplotlib', 'xarray', 'pandas', 'scipy') if m in sys.modules])"
    )
    assert run(Path.cwd(), script) == ["[]"]


def test_every_public_name_exists():
    for name in linkwork.__all__:
        assert getattr(linkwork, name) is not None


def test_what_kernels_call_is_kept_without_machine_code_and_compiled_once(tmp_path):
    """`g` is called by two kernels and from Python: one piece of LLVM code to link, one entry of machine code."""
    head = "from linkwork.engine.kernels.jit import kernel\n\n@kernel\ndef g(x):\n    return 3.0 * x\n"
    callers = "".join(f"\n@kernel\ndef f{k}(x):\n    return g(x) + {k}.0\n" for k in (1, 2))
    (tmp_path / "mine.py").write_text(head + callers)
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path / "cache")}
    begin = """
import mine, sys
from numba.core import event
class Count(event.Listener):
    compiled = []
    def on_start(self, entry): self.compiled.append(entry.data["dispatcher"].py_func.__name__)
    def on_end(self, entry): pass
event.register("numba:compile", Count())
"""
    script = begin + "print(mine.f1(1.0), mine.f2(1.0), *Count.compiled)"
    assert run(tmp_path, script, **cache) == ["4.0", "5.0", "f1", "g", "f2"]
    kept = sorted(path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.inner*.nbc"))
    assert kept == ["mine.g"]
    assert run(tmp_path, begin + "print(mine.g(1.0), *Count.compiled)", **cache) == ["3.0", "g"]
    (tmp_path / "more.py").write_text(
        "from mine import g, kernel\n\n@kernel\ndef f3(x):\n    return g(x) + 3.0\n"
    )
    assert run(tmp_path, begin + "from more import f3; print(f3(1.0), *Count.compiled)", **cache) == [
        "6.0",
        "f3",
    ]
    assert run(tmp_path, begin + "from more import f3; print(f3(1.0), *Count.compiled)", **cache) == ["6.0"]
