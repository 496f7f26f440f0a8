"""What the suites are held to, and whether it is met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Target(NamedTuple):
    """One promise."""

    what: str
    target: str
    measured: float | None
    """None if it could not be measured."""
    met: bool | None


def judge(data: dict[str, Any]) -> list[Target]:
    """Targets against the figures of a result (see `Result.to_dict`)."""
    chains = [row for row in data["rows"] if row["case"].startswith("chain")]
    forward = [row for row in data["rows"] if row["case"].endswith("forward dynamics")]
    starts = data["startup"] or {}
    allocated = data["allocations"]
    span = f"{chains[0]['n']} to {chains[-1]['n']} links" if chains else "no chain"
    return [
        _least("chain of 5, times faster than MuJoCo", 3.0, _column(chains[:1], "ratio_mujoco")),
        _least(f"chains of {span}, times faster than MuJoCo", 3.0, _column(chains, "ratio_mujoco")),
        _least(
            f"chains of {span}, times faster than MuJoCo with all but gravity off",
            3.0,
            _column(chains, "ratio_mujoco_lean"),
        ),
        _least(f"chains of {span}, times faster than Pinocchio", 2.0, _column(chains, "ratio_pinocchio")),
        _least(
            "PUMA 560 forward dynamics, times faster than the leanest path through MuJoCo",
            1.5,
            _column(forward, "ratio_mujoco_lean"),
        ),
        _most("growth of a step with the number of links, exponent", 1.05, [data["exponent"]]),
        _most("step of order four over a step of order one", 4.2, _column(chains, "rk4_ratio")),
        _most("import linkwork [s]", 0.2, [starts.get("import_s")]),
        _most("first step from a warm cache [s]", 1.5, [starts.get("first_step_s")]),
        _most("first run with an empty cache [s]", 20.0, [starts.get("cold_run_s")]),
        _most(
            "heap allocations in thousands of steps, every integrator",
            0.0,
            [None] if allocated is None else [row["allocations"] for row in allocated],
        ),
    ]


FASTER_THAN_EXUDYN = 5.0
RANDOM_STEP = 60.0
"""Longest step of the random mechanism [µs]."""


def judge_view(data: dict[str, Any]) -> list[Target]:
    """Targets against the figures of the suite `view`."""
    rows = data["rows"]
    watched = [row for row in rows if row["visitors"] == max(r["visitors"] for r in rows)]
    alone = {row["bodies"]: row["late_p99_ms"] for row in rows if row["visitors"] == 0}
    more = [row["late_p99_ms"] - alone[row["bodies"]] for row in watched]
    return [
        _least(
            "pictures per second at each of two visitors", 50.0, [row["pictures_per_s"] for row in watched]
        ),
        _most("serving two visitors, share of a core", 0.25, [row["serving"] for row in watched]),
        _most("steps of 1 ms begin later because of two visitors, 99th percentile [ms]", 1.0, more),
        _most(
            "steps of 1 ms begin late with two visitors, 99th percentile [ms]",
            1.0,
            _column(watched, "late_p99_ms"),
        ),
        _most("time given up by the physics [ms]", 0.0, [row["lost_ms"] for row in rows]),
        *_judge_driving(data["driving"]),
    ]


def _judge_driving(rows: Sequence[dict[str, Any]]) -> list[Target]:
    """Of the panel, and of browsers that render."""
    alone = [row for row in rows if row["who"] == "one drives"]
    rendering = [row for row in rows if row["who"] == "two render"]
    return [
        _most("from a hand to the step that obeys, 95 % [ms]", 20.0, _column(alone, "latency_p95_ms")),
        _most(
            "steps of 1 ms begin late while two browsers render, 99th percentile [ms]",
            5.0,
            _column(rendering, "late_p99_ms"),
        ),
        _most("time given up by the physics meanwhile [ms]", 0.0, _column(rendering, "lost_ms")),
    ]


def judge_loops(data: dict[str, Any]) -> list[Target]:
    """The same for the suite `loops` (see `LoopResult.to_dict`)."""
    random, growth = data["random"], data["growth"]
    return [
        _least(
            "mechanisms with loops, times faster than the fastest other engine",
            2.0,
            [row["ratio"] for row in data["rows"] if row["case"] != "chain5"],
        ),
        _most("their largest gap [m]", 1e-12, _column(data["rows"], "simgc_gap_m")),
        _most(
            f"random mechanism of {random['bodies']} bodies with {random['loops']} loops, step [µs]",
            RANDOM_STEP,
            [random["simgc_us"]],
        ),
        _most(
            "growth of a step with the number of loops, exponent",
            1.5,
            [growth["exponents"]["simgc"]["all"], growth["exponents"]["simgc"]["large"]],
        ),
    ]


def judge_dynamics(data: dict[str, Any]) -> list[Target]:
    """The same for the suite `dynamics` (see `DynamicsResult.to_dict`)."""
    calls, steps = data["calls"], data["steps"]
    return [
        _least(
            "functions of a batch, times faster than the fastest of MuJoCo and Pinocchio", 2.0,
            _column(data["batches"], "ratio"),
        ),
        _least("functions of one state, times faster than Pinocchio's calls", 1.0, _column(calls, "ratio")),
        _most("a call beside what it computes [µs]", 1.0, _column(calls, "over_us")),
        _least("a step from Python, times faster than mj_step", 1.0, _column(steps, "ratio")),
        _most("a step from Python beside the step [µs]", 2.0, _column(steps, "over_us")),
        _least("sweep on two processes, efficiency by CPU time", 0.9, _column(data["sweeps"], "efficiency")),
    ]  # fmt: skip


def judge_control(data: dict[str, Any]) -> list[Target]:
    """The same for the suite `control` (see `ControlResult.to_dict`)."""
    found = [_least("blocks, times faster than bdsim", 100.0, _column(data["rows"], "ratio_bdsim"))]
    found += [
        _least("blocks, times faster than python-control", 100.0, _column(data["rows"], "ratio_control"))
    ]
    return found + [
        _most(f"share of the diagram in a step of {row['scene']}", 0.05, [row["share"]])
        for row in data["scenes"]
    ]


def judge_contact(data: dict[str, Any]) -> list[Target]:
    """The same for the suite `contact` (see `ContactResult.to_dict`)."""
    found = {(row["case"], row["engine"]): row for row in data["rows"]}
    ours = found["gripper", "simgc"]
    coarse = "simgc_1"  # residual 1 m/s²
    pile = found.get(("pile of 200", coarse), {})

    def lead(case: str, engines: str) -> float | None:
        """How many times faster we are than the fastest of some engines."""
        ratios = [
            row["ratio"] for (name, key), row in found.items() if name == case and key.startswith(engines)
        ]
        return min((ratio for ratio in ratios if ratio is not None), default=None)

    others = ("mujoco", "bullet")
    grasping = [
        min((value for value in (lead(case, key) for key in others) if value is not None), default=None)
        for case in ("gripper", "humanoid")
    ]
    fastest = lead("pile of 200", "mujoco")
    return [
        *(_most(f"{case}, step [µs]", bound, [found.get((case, key), {}).get("us")]) for case, key, bound in (
            ("gripper", "simgc", 10.0), ("two fingers", "simgc", 5.0), ("stack of 10", "simgc", 15.0),
            ("vehicle", "simgc", 15.0), ("humanoid", "simgc", 26.0), ("pile of 200", coarse, 5000.0),
        )),
        _most("slip of the gripped box in 5.2 s [m]", 1e-5, [ours["slip_m"]]),
        _most(
            "slips of the gripped box from starts a nanometre apart, spread [m]",
            1e-6,
            [row["spread_m"] for row in data["grasps"]],
        ),
        _most("deepest penetration, gripper [m]", 2e-5, [ours["depth_m"]]),
        _most("creep of a stack of 10 [m]", 1e-6, [found["stack of 10", "simgc"]["creep_m"]]),
        _least("gripper, times faster than the fastest other engine, slipping or not", 2.0, grasping[:1]),
        _least("humanoid, times faster than the fastest other engine, slipping or not", 2.0, grasping[1:]),
        _least("stack of 10, times faster than the fastest MuJoCo", 1.0, [lead("stack of 10", "mujoco")]),
        _least(
            "pile of 200 at residual 1, times faster than the fastest MuJoCo",
            1.0,
            [None if fastest is None or not pile else fastest / pile["ratio"]],
        ),
        _most("deepest penetration of that pile [m]", 3e-4, [pile.get("depth_m")]),
        _most(
            "growth of a step at residual 1 where the floor grows, exponent",
            1.2,
            [data["floors"]["exponents"][coarse]],
        ),
        _most(
            "growth of a step at residual 1 where the height grows, exponent",
            1.5,
            [data["growth"]["exponents"][coarse]],
        ),
        _most(
            "growth of memory with the bodies that fall, exponent", 1.05, [data["falling"]["memory_exponent"]]
        ),
    ]  # fmt: skip


def judge_implicit(data: dict[str, Any]) -> list[Target]:
    """The same for the suite `implicit` (see `ImplicitResult.to_dict`)."""
    found = []
    for case in dict.fromkeys(row["case"] for row in data["rows"]):
        rows = [row for row in data["rows"] if row["case"] == case]
        others = [row for row in rows if row["engine"] != "linkwork" and row["us"] is not None]
        lost = [
            row
            for row in rows
            if row["engine"] == "linkwork" and row["way"] == row["ours"] and row["us"] is None
        ]
        found += [
            _least(
                f"{case}: times faster than any way of Exudyn, same step and integrator",
                FASTER_THAN_EXUDYN,
                _column(others, "ratio"),
            ),
            _least(
                f"{case}: times faster with an error no larger, same step (0: the error is larger)",
                FASTER_THAN_EXUDYN,
                _column(others, "ratio_no_worse"),
            ),
            _least(
                f"{case}: times faster for the same error, step of our choice, where errors overlap",
                FASTER_THAN_EXUDYN,
                [row["ratio_equal"] for row in others if row["ratio_equal"] is not None],
            ),
            _most(f"{case}: runs of our method that did not arrive", 0.0, [float(len(lost))]),
        ]
    return found


def _column(rows: Iterable[dict[str, Any]], name: str) -> list[float | None]:
    return [row[name] for row in rows]


def _least(what: str, bound: float, values: Sequence[float | None]) -> Target:
    return _target(what, f"≥ {bound:g}", values, min, lambda value: value >= bound)


def _most(what: str, bound: float, values: Sequence[float | None]) -> Target:
    return _target(what, f"≤ {bound:g}", values, max, lambda value: value <= bound)


def _target(
    what: str,
    target: str,
    values: Sequence[float | None],
    worst: Callable[[list[float]], float],
    holds: Callable[[float], bool],
) -> Target:
    """Every value counts: the worst one is what is reported."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Target(what, target, None, None)
    value = float(worst(known))
    return Target(what, target, value, bool(holds(value)))
