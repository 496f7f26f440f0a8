"""The cache of kernels where things go wrong: a full disk, a read-only folder, two processes at once."""

import subprocess
import sys

import pytest

from helpers.processes import PATIENCE, python

KERNELS = """
from linkwork.engine.kernels.jit import kernel

@kernel
def g(x):
    return 3.0 * x

@kernel
def f(x):
    return g(x) + 1.0

@kernel
def h(x):
    return g(x) + 2.0
"""
COUNT = """
import sys
from numba.core import event
class Count(event.Listener):
    compiled = []
    def on_start(self, entry): self.compiled.append(entry.data["dispatcher"].py_func.__name__)
    def on_end(self, entry): pass
event.register("numba:compile", Count())
"""
RUN = "import mine\nprint(mine.f(1.0), mine.h(1.0), *sorted(Count.compiled))\n"
FAILING = """
import errno, os, pathlib, warnings
warnings.simplefilter("always")
write, written = pathlib.Path.write_bytes, []
def fail(self, data):
    if self.name.endswith(".part"):
        written.append(self)
        if len(written) > {room}:
            with self.open("wb") as file:
                file.write(data[:50])
            raise OSError(errno.{error}, os.strerror(errno.{error}), str(self))
    return write(self, data)
pathlib.Path.write_bytes = fail
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    return tmp_path


def environment(folder):
    return {"PYTHONPATH": str(folder), "LINKWORK_CACHE_DIR": str(folder / "cache")}


def files(folder):
    return sorted(path.name for path in (folder / "cache").rglob("mine.*"))


@pytest.mark.parametrize("room", [0, 1])
def test_a_full_disk_gives_one_warning_and_leaves_nothing_broken(folder, room):
    found = subprocess.run(
        [sys.executable, "-c", FAILING.format(room=room, error="ENOSPC") + COUNT + RUN],
        capture_output=True, text=True, env=environment(folder), timeout=PATIENCE,
    )  # fmt: skip
    assert found.stdout.split() == ["4.0", "5.0", "f", "g", "h"]
    assert found.stderr.count("UserWarning") == 1
    assert "cannot be kept in" in found.stderr
    assert "No space left on device" in found.stderr
    assert len(files(folder)) == room
    compiled = python("-c", COUNT + RUN, environment=environment(folder)).split()
    assert compiled == ["4.0", "5.0", "f", *["g"] * (room == 0), "h"]


def test_a_folder_that_cannot_be_written_to_is_read(folder):
    warm = python("-c", COUNT + RUN, environment=environment(folder)).split()
    assert warm == ["4.0", "5.0", "f", "g", "h"]
    script = FAILING.format(room=0, error="EROFS") + COUNT
    found = subprocess.run(
        [sys.executable, "-c", script + RUN],
        capture_output=True, text=True, env=environment(folder), timeout=PATIENCE,
    )  # fmt: skip
    assert found.stdout.split() == ["4.0", "5.0"]
    assert found.stderr == ""
    found = subprocess.run(
        [sys.executable, "-c", script + "import mine\nprint(mine.f(1), mine.f(1.0))"],
        capture_output=True, text=True, env=environment(folder), timeout=PATIENCE,
    )  # fmt: skip
    assert found.stdout.split() == ["4.0", "4.0"]
    assert "Read-only file system" in found.stderr
    assert found.stderr.count("UserWarning") == 1


def test_of_two_processes_that_begin_at_once_each_compiles_what_the_other_does_not(folder):
    """All kinds of arguments, in either order: every signature is compiled once in all, and both get it right."""
    script = COUNT + (
        "import mine\nkinds = [1.0, 1, (1.0).real == 1.0]\n"
        "for x in kinds if sys.argv[1] == '0' else kinds[::-1]:\n"
        "    print(float(mine.f(x)), float(mine.h(x)))\n"
        "print(len(Count.compiled))\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(k)], stdout=subprocess.PIPE, text=True, env=environment(folder)
        )
        for k in range(2)
    ]
    said = [process.communicate(timeout=PATIENCE)[0].split() for process in both]
    for words in said:
        assert words[:-1] == ["4.0", "5.0"] * 3
    alone = 9  # f, g and h for numbers, integers and truth values
    total = sum(int(words[-1]) for words in said)
    assert total == alone if sys.platform != "win32" else alone <= total <= 2 * alone
    assert len([name for name in files(folder) if name.endswith(".nbc")]) == alone
