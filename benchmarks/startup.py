"""What a user waits for: import, first step from a warm cache, first run ever. Each in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

_IMPORT = "import linkwork"
_FIRST_STEP = """
import time; began = time.perf_counter()
from linkwork import Simulation, scene
Simulation(scene("chain5")).step()
print(time.perf_counter() - began)
"""
_RUN = "from linkwork.cli import main; main()"
_RUN_ARGUMENTS = ("run", "chain5", "--time", "0.1", "--json")

HOW = {
    "import_s": "wall time of `python -c 'import linkwork'`, interpreter included; best of the processes",
    "interpreter_s": "wall time of `python -c ''`, for comparison; best of the processes",
    "first_step_s": "wall time of a process that builds chain5 and takes one step, kernels cached; best",
    "first_step_inside_s": "the same, measured inside the process after the interpreter has started",
    "cold_run_s": f"wall time of `linkwork {' '.join(_RUN_ARGUMENTS)}` with an empty kernel cache",
    "warm_run_s": "wall time of the same command, kernels cached; best of the processes",
}


def startup(*, processes: int, cold: bool) -> dict[str, Any]:
    """Seconds of each figure; the cold run takes long and is left out (None) unless `cold`."""
    figures: dict[str, Any] = dict.fromkeys(HOW)
    figures["interpreter_s"] = min(_wall("")[0] for _ in range(processes))
    figures["import_s"] = min(_wall(_IMPORT)[0] for _ in range(processes))
    _wall(_FIRST_STEP)  # fills the cache if it is not
    steps = [_wall(_FIRST_STEP) for _ in range(processes)]
    figures["first_step_s"] = min(seconds for seconds, _ in steps)
    figures["first_step_inside_s"] = min(float(text) for _, text in steps)
    _wall(_RUN, *_RUN_ARGUMENTS)
    figures["warm_run_s"] = min(_wall(_RUN, *_RUN_ARGUMENTS)[0] for _ in range(processes))
    if cold:
        with tempfile.TemporaryDirectory() as folder:
            figures["cold_run_s"] = _wall(_RUN, *_RUN_ARGUMENTS, LINKWORK_CACHE_DIR=folder)[0]
    return figures


def _wall(code: str, *arguments: str, **environment: str) -> tuple[float, str]:
    """Wall time [s] and output of a fresh interpreter that runs `code`."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - began, done.stdout
