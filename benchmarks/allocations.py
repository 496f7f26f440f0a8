"""Does a step allocate? Run as `python -m benchmarks.allocations`: prints JSON.

Numba counts what compiled code takes from the heap, but only in a process started with NUMBA_NRT_STATS=1,
which `allocations` sees to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

SCENES = ("chain5", "spherical_pendulum")
"""Hinges, and quaternions."""
FEW, MANY = 10, 10_000
_DT = 1e-3
# The adaptive integrator chooses its steps itself: seconds that make few and many of them.
_FEW_SECONDS, _MANY_SECONDS, _TOLERANCE = 0.01, 10.0, 1e-10


def allocations() -> list[dict[str, Any]]:
    """Heap allocations beyond those of a short run, for every integrator, counted in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.allocations"],
        env={**os.environ, "NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def _count() -> list[dict[str, Any]]:
    from linkwork.compile.compiler import compile_model
    from linkwork.scenes import scene

    from .runner import Runner

    rows = []
    for name in SCENES:
        system = compile_model(scene(name))
        for integrator in ("euler", "rk4", "adaptive"):
            runner = Runner(system, integrator, _DT)
            made = []
            for many in (False, False, True):  # the first run only compiles
                runner.reset()
                before = allocated()
                if integrator == "adaptive":
                    runner.run_until(_MANY_SECONDS if many else _FEW_SECONDS, _TOLERANCE)
                else:
                    runner.run(MANY if many else FEW)
                made.append((allocated() - before, runner.steps))
            (base, few), (total, many_steps) = made[1:]
            rows.append(
                {
                    "scene": name,
                    "integrator": integrator,
                    "steps": many_steps - few,
                    "allocations": total - base,
                }
            )
    return rows


def allocated() -> int:
    """Blocks that compiled code has taken from the heap so far in this process."""
    # Asked for by name: the rest of the package sees Numba only through linkwork.engine.kernels.jit.
    stats = import_module("numba.core.runtime").rtsys.get_allocation_stats()
    return int(stats.alloc)


if __name__ == "__main__":
    print(json.dumps(_count()))
