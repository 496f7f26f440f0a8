"""A sweep in this process and in two others: which share of two cores goes into cases."""

from __future__ import annotations

import resource
import time
from multiprocessing import forkserver
from typing import Any

WORKERS = 2
CASES, CASES_QUICK = 1000, 40
DURATION = 10.0
HOW = (
    f"linkwork.sweep of chain5 over gravity and damping, {DURATION:g} s each (the default), in this process (`here`) "
    f"and in {WORKERS} others, their start included; efficiency: time here over {WORKERS} times the time there. By CPU "
    "time, of all processes together, what else the machine does counts little; by the clock, only on an idle machine"
)


def measure(quick: bool) -> dict[str, Any]:
    """Times and efficiencies, and whether both data sets are the same."""
    from linkwork import sweep

    count = CASES_QUICK if quick else CASES
    vary = {"gravity.z": f"-10:-9:{count // 10}", "joint5.damping": "0.001:0.01:10"}

    def run(on: str) -> tuple[Any, float, float]:
        began, used = time.perf_counter(), _cpu()
        found = sweep("chain5", vary, measure=["max(joint5.angle_rate)"], duration=DURATION, on=on)
        return found, time.perf_counter() - began, _cpu() - used

    sweep("chain5", {"joint5.damping": [0.01]}, duration=0.1, on="here")  # kernels are compiled
    here, wall, cpu = run("here")
    began = _cpu()
    there, wall_there, _ = run(f"processes:{WORKERS}")
    server: Any = forkserver
    server._forkserver._stop()  # what its processes took counts when they have ended
    cpu_there = _cpu() - began
    return {
        "case": f"{count} cases", "cases": count, "same": bool(here.identical(there)),
        "here_s": wall, "here_cpu_s": cpu, "processes_s": wall_there, "processes_cpu_s": cpu_there,
        "efficiency_wall": wall / (WORKERS * wall_there), "efficiency": cpu / cpu_there,
    }  # fmt: skip


def _cpu() -> float:
    """CPU time of this process and of those that it started and that have ended [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
