"""What a user waits for at first: every figure in new processes with a new folder for kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .report import Section, grids, made_with, number

if TYPE_CHECKING:
    from rich.table import Table

HOW = {
    "cold_s": "wall time from the start of a process to the end of a method's first step, no kernel compiled",
    "warm_s": "the same once more",
    "cpu_s": "processor time of all processes that took part in the first of them",
    "estimate": "by how much the time that was foretold was off at worst, as a share of what it took in all",
    "gallery_s": "from `linkwork view` to the first answer of its gallery over HTTP, no kernel compiled",
    "live_s": "until the address of a page that moves is printed by `linkwork view SCENE`, no kernel compiled",
    "all_s": "wall time of `linkwork warmup`, no kernel compiled",
}
_METHODS = {
    "tree": ("chain5", {"method": "tree"}),
    "direct": ("double_four_bar", {"method": "simgc", "solver": "direct"}),
    "impulses": ("double_four_bar", {"method": "simgc", "solver": "impulses"}),
    "components": ("double_four_bar", {"method": "components"}),
    "hybrid": ("double_four_bar", {"method": "hybrid"}),
    "global": ("double_four_bar", {"method": "global"}),
    "topological": ("double_four_bar", {"method": "topological"}),
    "contact": ("gripper", {}),
    "smooth": ("rolling", {"integrator": "rk4"}),
}
_UNTIL = {"gallery_s": "the gallery answers", "live_s": "a scene is live", "all_s": "all is compiled"}
_QUICK = ("tree",)
_STEP = """
import json, sys, time
from linkwork import Simulation, scene
from linkwork.run.warmup import telling
told, began = [], time.monotonic()
def note(share, pieces):
    if share > 0.0:
        told.append((time.monotonic() - began) / share)
with telling(note):
    simulation = Simulation(scene(sys.argv[1]), **json.loads(sys.argv[2]))
took = time.monotonic() - began
simulation.run(simulation.dt)
print(json.dumps(max((abs(whole / took - 1.0) for whole in told), default=None)))
"""
_LIMIT = 900.0  # [s]
_MOVING = "crank_rocker"


@dataclass(frozen=True)
class StartResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    page: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"suite": "start", "how": HOW} | asdict(self)

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """The tables of a result."""
    yield Section(
        "First step of a method, from the start of its process [s]",
        ("method", "nothing compiled", "compiled", "processor time", "estimate off by"),
        [
            (name, *(number(row[key]) for key in ("cold_s", "warm_s", "cpu_s", "estimate")))
            for name, row in data["methods"].items()
        ],
    )
    yield Section(
        "Nothing compiled: time until ... [s]",
        ("what", "seconds"),
        [
            (what, number(data["page"][key]))
            for key, what in _UNTIL.items()
            if key in data["page"]
        ],
    )  # fmt: skip


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> StartResult:
    """Measure; takes several minutes on two cores, a quick run (one method, no warm-up of all) half a minute."""
    tell = progress or (lambda share: None)
    names = _QUICK if quick else tuple(_METHODS)
    methods: dict[str, dict[str, Any]] = {}
    for k, name in enumerate(names):
        tell(k / (len(names) + 3))
        scene, options = _METHODS[name]
        with tempfile.TemporaryDirectory() as folder:
            before = _processor_time()
            cold, told = _wall(folder, "-c", _STEP, scene, json.dumps(options))
            spent = _processor_time() - before
            warm, _ = _wall(folder, "-c", _STEP, scene, json.dumps(options))
        methods[name] = {"cold_s": cold, "warm_s": warm, "cpu_s": spent, "estimate": json.loads(told)}
    with tempfile.TemporaryDirectory() as folder:
        page = {"gallery_s": _until_served(folder, gallery=True)}
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            page["live_s"] = _until_served(folder, _MOVING)
        with tempfile.TemporaryDirectory() as folder:
            page["all_s"], _ = _wall(folder, "-m", "linkwork", "warmup", "--json")
    tell(1.0)
    return StartResult(quick, made_with(1, min(row["warm_s"] for row in methods.values())), methods, page)


def _environment(folder: str) -> dict[str, str]:
    return {**os.environ, "LINKWORK_CACHE_DIR": folder}


def _wall(folder: str, *arguments: str) -> tuple[float, str]:
    """Wall time of a new interpreter [s], and what it prints."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=True,
        timeout=_LIMIT,
    )
    return time.perf_counter() - began, done.stdout


def _processor_time() -> float:
    """Of all processes that were started from here and have ended, and of those that they waited for [s]."""
    times = os.times()
    return times.children_user + times.children_system


def _until_served(folder: str, *subject: str, gallery: bool = False) -> float:
    """Time until a page is there [s]: until it has printed its address, and answers."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "linkwork", "view", *subject, "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, env=_environment(folder), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = str(json.loads(server.stdout.readline())["url"])
            if gallery:
                start, mark, query = url.partition("?")
                url = start.rstrip("/").removesuffix("/gallery") + "/gallery" + mark + query
            while True:
                with suppress(urllib.error.URLError), urllib.request.urlopen(url, timeout=_LIMIT) as answer:
                    answer.read()
                    return time.perf_counter() - began
                time.sleep(0.05)
        finally:
            server.terminate()
