"""What a user waits for at first: every figure in new processes with a new folder for kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from linkwork.model.errors import LinkworkError

from .report import Section, grids, made_with, number

if TYPE_CHECKING:
    from rich.table import Table

HOW = {
    "cold_s": "wall time from the start of a process to the end of a method's first step, no kernel compiled",
    "before_s": "the same with the other version that was named by `--against`",
    "warm_s": "the same once more, with what the first process kept",
    "cpu_s": "processor time of all processes that took part in the first of them",
    "before_cpu_s": "the same with the other version",
    "longest_s": "processor time of the longest chain of kernels of which each calls the one before: no number of "
    "processes can be faster",
    "estimate": "by how much the time that compiling was foretold to take in all was off at worst, as a share of it",
    "gallery_s": "from `linkwork view` to the first answer of its gallery over HTTP, no kernel compiled",
    "moves_s": "the same to the film of the opening scene, which plays until browsers can draw",
    "live_s": "the same to a simulation of it that runs in real time, as its page is told",
    "all_s": "wall time of `linkwork warmup`, no kernel compiled",
    "all_cpu_s": "processor time of all of its processes",
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
"""What is run for each piece; pieces that others only ask for are compiled for the scenes that need them."""
_PAGE = {
    "gallery_s": "the gallery answers",
    "moves_s": "something moves",
    "live_s": "it is live",
    "all_s": "all methods are compiled",
    "all_cpu_s": "processor time of that",
}
_QUICK = ("tree",)
_STEP = """
import json, sys, time
from contextlib import nullcontext
from linkwork import Simulation, scene
try:
    from linkwork.run.warmup import telling
except ImportError:
    telling = lambda note: nullcontext()
told = []
with telling(lambda share, pieces: told.append((time.monotonic(), share))):
    simulation = Simulation(scene(sys.argv[1]), **json.loads(sys.argv[2]))
simulation.run(simulation.dt)
took = told[-1][0] - told[0][0] if told else 0.0
off = [abs((moment - told[0][0]) / share / took - 1.0) for moment, share in told if share > 0.0]
print(json.dumps(max(off, default=None)), flush=True)
"""
_CHAINS = """
import json, sys, time
from linkwork.run.pieces import parts_of
pieces, took, ends = {name: parts_of(name) for name in sys.argv[1:]}, {}, {}
for name, parts in pieces.items():
    for key, part in parts.items():
        if key not in took:
            began = time.process_time()
            part.compile()
            took[key] = time.process_time() - began
        ends[name, key] = took[key] + max((ends[name, called.name] for called in part.calls), default=0.0)
print(json.dumps({name: max(ends[name, key] for key in parts) for name, parts in pieces.items()}))
"""
_LIMIT = 900.0  # [s]


@dataclass(frozen=True)
class StartResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    page: dict[str, float | None]
    before: dict[str, float | None] | None = None
    """What `page` has, with another version."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"suite": "start", "how": HOW} | asdict(self)

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """The tables of a result."""
    before = data["before"]
    keys = {
        "before_s": "before", "cold_s": "nothing compiled", "warm_s": "compiled",
        "before_cpu_s": "processor time before", "cpu_s": "processor time", "longest_s": "longest chain",
        "estimate": "estimate off by",
    }  # fmt: skip
    shown = [key for key in keys if before is not None or not key.startswith("before")]
    yield Section(
        "First step of a method, from the start of its process [s]",
        ("method", *(keys[key] for key in shown)),
        [(name, *(number(row[key]) for key in shown)) for name, row in data["methods"].items()],
    )
    columns = [data["page"]] if before is None else [before, data["page"]]
    yield Section(
        "Nothing compiled: time until ... [s]",
        ("what", *(["before"] if before is not None else []), "seconds"),
        [
            (what, *(number(column.get(key)) for column in columns))
            for key, what in _PAGE.items()
            if key in data["page"]
        ],
    )


def run(
    *,
    quick: bool = False,
    progress: Callable[[float], object] | None = None,
    against: Path | None = None,
) -> StartResult:
    """Measure; takes 8 min on two cores that are idle, a quick run (one method, not all kernels) half a minute.

    against: another version's checkout, which is measured, too; an old one takes three times as long.
    """
    if against is not None and not (against / "src" / "linkwork").is_dir():
        raise LinkworkError(f"{against}: there is no checkout of linkwork (src/linkwork)")
    tell = progress or (lambda share: None)
    names = _QUICK if quick else tuple(_METHODS)
    versions = [None] if against is None else [None, against]
    jobs = (len(names) + 2) * len(versions) + 1
    done = iter(range(1, jobs + 1))
    methods: dict[str, dict[str, Any]] = {name: {} for name in names}
    pages: list[dict[str, float | None]] = []
    for version in versions:
        for name in names:
            methods[name] |= _first_step(name, version)
            tell(next(done) / jobs)
        page: dict[str, float | None] = dict(_page(version))
        tell(next(done) / jobs)
        if not quick:
            with tempfile.TemporaryDirectory() as folder:
                before = _processor_time()
                page["all_s"], _ = _wall(folder, version, "-m", "linkwork", "warmup", "--json")
                page["all_cpu_s"] = _processor_time() - before
        tell(next(done) / jobs)
        pages.append(page)
    with tempfile.TemporaryDirectory() as folder:
        chains = json.loads(_wall(folder, None, "-c", _CHAINS, *names)[1])
    for name in names:
        methods[name]["longest_s"] = chains[name]
    tell(1.0)
    made = made_with(1, min(row["warm_s"] for row in methods.values()))
    return StartResult(quick, made, methods, pages[0], pages[1] if against is not None else None)


def _first_step(name: str, version: Path | None) -> dict[str, Any]:
    """Of a method: without kernels and, of this version, once more with them. What a version lacks is None."""
    scene, options = _METHODS[name]
    with tempfile.TemporaryDirectory() as folder:
        before = _processor_time()
        try:
            cold, told = _wall(folder, version, "-c", _STEP, scene, json.dumps(options))
        except subprocess.CalledProcessError:
            if version is None:
                raise
            return {"before_s": None, "before_cpu_s": None}
        spent = _processor_time() - before
        if version is not None:
            return {"before_s": cold, "before_cpu_s": spent}
        warm, _ = _wall(folder, version, "-c", _STEP, scene, json.dumps(options))
    return {"cold_s": cold, "warm_s": warm, "cpu_s": spent, "estimate": json.loads(told)}


def _environment(folder: str, version: Path | None) -> dict[str, str]:
    own = {} if version is None else {"PYTHONPATH": str(version.resolve() / "src")}
    return {**os.environ, "LINKWORK_CACHE_DIR": folder, **own}


def _wall(folder: str, version: Path | None, *arguments: str) -> tuple[float, str]:
    """Wall time of a new interpreter until it prints what it has found [s], and that."""
    command = [sys.executable, *arguments]
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        env=_environment(folder, version),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        guard = threading.Timer(_LIMIT, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            printed = process.stdout.readline()
            took = time.perf_counter() - began
            printed += process.stdout.read()
        finally:
            guard.cancel()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return took, printed


def _processor_time() -> float:
    """Of all processes that were started from here and have ended, and of those that they waited for [s]."""
    times = os.times()
    return times.children_user + times.children_system


def _page(version: Path | None) -> Iterator[tuple[str, float | None]]:
    """What can be seen of `linkwork view`, and when [s]."""
    with tempfile.TemporaryDirectory() as folder, _served(folder, version) as (url, since):
        _fetch(url)
        yield "gallery_s", since()
        parts = urlsplit(url)
        film = _fetch(f"{parts.scheme}://{parts.netloc}/gallery/now/picture")
        yield "moves_s", since() if film == "image/webp" else None
        _wait_until_live(f"ws://{parts.netloc}/panel/benchmark", f"http://{parts.netloc}")
        yield "live_s", since()


@contextmanager
def _served(folder: str, version: Path | None) -> Iterator[tuple[str, Callable[[], float]]]:
    """The address of a page of its own, and a clock that was started with it."""
    began = time.perf_counter()
    command = [
        sys.executable, "-m", "linkwork", "view", "--no-open", "--port", "0", "--json", "--folder", folder,
    ]  # fmt: skip
    with subprocess.Popen(
        command, env=_environment(folder, version), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            url = str(json.loads(server.stdout.readline())["url"])
            yield url, lambda: time.perf_counter() - began
        finally:
            server.terminate()


def _fetch(url: str) -> str | None:
    """What kind of thing a page answers with, as soon as it answers; None if it has no such thing."""
    while True:
        try:
            with urllib.request.urlopen(url, timeout=_LIMIT) as answer:
                answer.read()
                return str(answer.headers.get_content_type())
        except urllib.error.HTTPError:
            return None
        except urllib.error.URLError:
            time.sleep(0.05)


def _wait_until_live(url: str, origin: str) -> None:
    """Until a page is told of a method and a time that goes on. A version without such a channel has printed its
    address when that was so."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect
    from websockets.typing import Origin

    with suppress(WebSocketException), connect(url, origin=Origin(origin), max_size=None) as page:
        times: set[str] = set()
        while len(times) < 2:
            for message in json.loads(page.recv(_LIMIT)):
                status = message.get("note", {}).get("status")
                if status and not status["badge"] and status["time"].replace(".", "").isdigit():
                    times.add(status["time"])
