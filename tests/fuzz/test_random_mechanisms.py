"""A thousand random mechanisms: two formulations, one motion, nothing broken, open or gained.

A failure prints the plan and its seed; `linkwork fuzz --count 1 --seed <seed>` with the options of the group repeats it
and makes it smaller.
"""

import pytest

from linkwork.fuzz.fuzz import examine_plan
from linkwork.fuzz.random_mechanisms import random_plan

CHUNK = 50
GROUPS = {
    # name: first seed, chunks, of which fast, options
    "any": (0, 14, 1, {}),
    "loops": (10_000, 3, 1, {"bodies": (3, 8), "loops": (2, 3), "redundant": 0.0}),
    "redundant": (20_000, 2, 0, {"redundant": 1.0}),
    "bare": (30_000, 1, 0, {"extras": False, "loops": (1, 3)}),
    "open": (40_000, 1, 0, {"loops": (0, 0), "redundant": 0.0}),
    "offset": (50_000, 1, 0, {"offset": True, "loops": (1, 3)}),
}


def chunks():
    for name, (first, count, fast, options) in GROUPS.items():
        for k in range(count):
            start = first + k * CHUNK
            marks = () if k < fast else (pytest.mark.slow,)
            yield pytest.param(start, options, id=f"{name}-{start}-{start + CHUNK - 1}", marks=marks)


def test_there_are_a_thousand():
    assert CHUNK * sum(count for _, count, _, _ in GROUPS.values()) >= 1000


@pytest.mark.parametrize(("start", "options"), list(chunks()))
def test_random_mechanisms(start, options):
    failures = []
    for seed in range(start, start + CHUNK):
        plan = random_plan(seed, **options)
        findings, _ = examine_plan(plan)
        if findings:
            failures.append((seed, "\n".join([*map(str, findings), str(plan)])))
    seeds = ", ".join(str(seed) for seed, _ in failures)
    assert not failures, f"seeds {seeds} with {options}\n" + "\n\n".join(text for _, text in failures)
