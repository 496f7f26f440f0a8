"""The suite `dynamics`: its page and its targets, from figures made up."""

from benchmarks.page import render_dynamics
from benchmarks.targets import judge_dynamics

ROW = {"linkwork_us": 0.5, "linkwork_spread": 0.01, "ratio": 2.5, "over_us": 0.8}


def result(**changes):
    """Figures that meet every target, but for changes of the rows of a table."""
    timed = {f"{name}_{part}": 1.0 for name in ("lean", "batch", "mujoco", "pinocchio", "adams", "inside")
             for part in ("us", "spread")}  # fmt: skip
    sweep = {"case": "1000 cases", "here_s": 30.0, "processes_s": 16.0, "efficiency_wall": 0.94, "here_cpu_s": 30.0,
             "processes_cpu_s": 31.5, "efficiency": 0.952}  # fmt: skip
    data = {name: [{"case": "forward"} | ROW | timed] for name in ("batches", "calls", "steps")} | {
        "sweeps": [sweep]
    }
    for table, change in changes.items():
        data[table] = [data[table][0] | change]
    made = {"machine": "a machine", "repetitions": 3, "linkwork": "1.0", "mujoco": "4", "pinocchio": None}
    targets = [target._asdict() for target in judge_dynamics(data)]
    return data | {
        "quick": True,
        "made_with": made,
        "how": {"*_us": "CPU time"},
        "notes": [],
        "targets": targets,
    }


def test_the_page_has_every_table_and_says_if_figures_are_quick():
    page = render_dynamics(result())
    assert "quick run" in page
    assert "mujoco 4" in page
    assert "| 1000 cases | 30 | 31.5 | 0.952 | 0.94 |" in page
    assert page.count("| forward | 0.5 ±2% |") == 3
    assert "| no |" not in page


def test_every_target_can_be_missed():
    assert all(target.met for target in judge_dynamics(result()))
    for table, change in (
        ("batches", {"ratio": 1.9}), ("calls", {"ratio": 0.9}), ("calls", {"over_us": 1.1}), ("steps", {"ratio": 0.9}),
        ("steps", {"over_us": 2.1}), ("sweeps", {"efficiency": 0.89}),
    ):  # fmt: skip
        missed = [target.what for target in judge_dynamics(result(**{table: change})) if not target.met]
        assert len(missed) == 1
    assert judge_dynamics(result(batches={"ratio": None}))[0].met is None
