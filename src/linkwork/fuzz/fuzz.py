"""Random mechanisms through the oracle, as many as one likes; a failure is made small and written down.

for seed in ...: plan => model => findings; if any: shrink the plan while the finding stays, save model and text
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..io import save_model
from ..model.errors import LinkworkError
from .oracle import Examination, Facts, examine
from .random_mechanisms import build
from .random_plan import (
    DRIVES,
    FEATURES,
    LOADS,
    LOOP_KEYS,
    ON_GROUND,
    RUBBER,
    STATEFUL,
    SWITCHED,
    Link,
    Loop,
    Plan,
    random_plan,
)
from .runner import Finding, Runner, bounds_of

__all__ = ["Failure", "Finding", "Report", "examine", "examine_plan", "fuzz", "shrink"]

TRIALS = 500
"""Plans that shrinking may try for one failure."""


@dataclass
class Failure:
    """A mechanism with findings, and the smallest one found that has a finding of the same kind."""

    seed: int
    plan: Plan
    findings: list[Finding]
    small: Plan
    small_findings: list[Finding]
    command: str = ""
    """What repeats it."""
    files: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Of the finding that was kept while shrinking."""
        return self.findings[0].kind

    def text(self) -> str:
        """What went wrong, how to repeat it, and both plans."""
        lines = [f"seed {self.seed}: {self.kind}", "", "Repeat it with", f"    {self.command}", ""]
        lines += ["It found", *(f"    {finding}" for finding in self.findings), ""]
        lines += ["Made smaller, it shows", *(f"    {finding}" for finding in self.small_findings), ""]
        lines += ["from linkwork.fuzz.fuzz import examine"]
        lines += ["from linkwork.fuzz.random_mechanisms import Extra, Link, Loop, Plan, build", ""]
        lines += [f"small = {self.small}", "print(*examine(build(small)), sep='\\n')", ""]
        return "\n".join([*lines, f"drawn = {self.plan}", ""])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [dataclasses.asdict(finding) for finding in self.findings]
        return {
            "seed": self.seed, "command": self.command, "kind": self.kind, "findings": findings,
            "plan": str(self.plan), "small": str(self.small), "files": self.files,
        }  # fmt: skip


@dataclass
class Report:
    """What a run has seen."""

    seed: int
    mechanisms: int = 0
    seconds: float = 0.0
    """Of examining alone, without shrinking."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many mechanisms had what."""
    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False
    """The time was up before all mechanisms were seen."""

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.failures

    def text(self) -> str:
        """For people."""
        pace = 1e3 * self.seconds / max(self.mechanisms, 1)
        early = ", then the time was up" if self.stopped else ""
        lines = [f"{self.mechanisms} mechanisms from seed {self.seed}, {pace:.0f} ms each{early}"]
        lines += [f"  {number:6} {name}" for name, number in self.counts.most_common()]
        for failure in self.failures:
            lines.append(f"seed {failure.seed} failed:")
            lines += [f"  {finding}" for finding in failure.findings]
            lines += [f"  {line}" for line in str(failure.small).splitlines()]
            lines += [f"  written: {file}" for file in failure.files]
        return "\n".join([*lines, f"{len(self.failures)} failed" if self.failures else "all is well"])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ok": self.ok, "seed": self.seed, "mechanisms": self.mechanisms, "stopped": self.stopped,
            "ms_per_mechanism": 1e3 * self.seconds / max(self.mechanisms, 1), "counts": dict(self.counts),
            "failures": [failure.to_dict() for failure in self.failures],
        }  # fmt: skip


def fuzz(
    count: int,
    seed: int = 0,
    *,
    solver: str = "direct",
    time_limit: float | None = None,
    small: bool = True,
    progress: Callable[[float], object] | None = None,
    failed: Callable[[Failure, Report], object] | None = None,
    **options: Any,
) -> Report:
    """Examine the mechanisms of `count` seeds from `seed` on; options as for `random_plan`.

    `time_limit` [s] ends it early; `small` shrinks failures; `progress` is told the share done, `failed` each failure
    and what was seen until then.
    """
    report = Report(seed)
    began = time.perf_counter()
    for number in range(seed, seed + count):
        if time_limit is not None and time.perf_counter() - began > time_limit:
            report.stopped = True
            break
        plan = random_plan(number, **options)
        start = time.perf_counter()
        findings, facts = examine_plan(plan, solver)
        report.seconds += time.perf_counter() - start
        report.mechanisms += 1
        report.counts.update(traits(plan, facts))
        if findings:
            command = _command(number, solver, options)
            failure = Failure(number, plan, findings, plan, findings, command)
            if small:
                failure.small = shrink(plan, lambda p, kind=failure.kind: _shows(p, kind, solver))  # type: ignore[misc]
                failure.small_findings = examine_plan(failure.small, solver)[0]
            report.failures.append(failure)
            if failed is not None:
                failed(failure, report)
        if progress is not None:
            progress((number - seed + 1) / count)
    return report


def examine_plan(plan: Plan, solver: str = "direct") -> tuple[list[Finding], Facts]:
    """Findings on the mechanism of a plan, and what it is; a plan that cannot be built is a finding too."""
    try:
        model = build(plan)
    except Exception as error:  # no plan that was drawn may fail; a shrunk one that does is none of interest
        return [Finding("error", "build", f"{type(error).__name__}: {error}")], Facts()
    examination = Examination(Runner(model, bounds_of(solver, model)))
    return examination.findings(), examination.facts


def _shows(plan: Plan, kind: str, solver: str) -> bool:
    """The mechanism of a plan has a finding of this kind; one that was made impossible to build has none."""
    return any(f.kind == kind and f.method != "build" for f in examine_plan(plan, solver)[0])


def traits(plan: Plan, facts: Facts) -> list[str]:
    """What a mechanism has, for the summary."""
    kinds = {extra.kind for extra in plan.extras}
    found = {
        "loops": bool(plan.loops),
        "redundant": facts.redundant > 0,
        "locked": facts.mobility == 0,
        "floating": any(link.joint is None for link in plan.links),
        "moving at the start": plan.speed > 0.0,
        "mass ratio above 1000": plan.decades > 3.0,
        "mirrored": plan.placed in ("mirrored", "nested"),
        "drives": bool(kinds & set(DRIVES)),
        "loads": bool(kinds & {*LOADS, RUBBER}),
        "contact": plan.touching,
        "divided among components": plan.parts > 1,
    }
    names = [name for name, is_so in found.items() if is_so]
    names += [name for name in (*FEATURES, *STATEFUL, *SWITCHED, RUBBER) if name in kinds]
    names += sorted({f"{link.joint} in the tree" for link in plan.links if link.joint})
    return names + sorted({f"{loop.joint} closes a loop" for loop in plan.loops})


def _command(seed: int, solver: str, options: dict[str, Any]) -> str:
    """The command line that repeats one mechanism."""
    words = ["linkwork fuzz --count 1", f"--seed {seed}"]
    if solver != "direct":
        words.append(f"--solver {solver}")
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, tuple):
            words.append(f"--{name} {value[0]}-{value[1]}")
        elif value is not False:
            words.append(f"--{name} {value:g}")
    return " ".join(words)


def span(name: str, text: str) -> tuple[int, int]:
    """`5` or `1-8` as (fewest, most)."""
    fewest, dash, most = text.partition("-")
    try:
        return int(fewest), int(most if dash else fewest)
    except ValueError:
        raise LinkworkError(f"--{name} {text}: write a number, or FEWEST-MOST") from None


def write_report(report: Report, folder: Path) -> None:
    """What was seen, as JSON."""
    (folder / "report.json").write_text(json.dumps(report.to_dict(), indent=1), encoding="utf-8")


def write_failure(failure: Failure, folder: Path, report: Report) -> None:
    """The small mechanism as a model file, and a text with what went wrong; their names go into the failure.

    The report is written, too, as it is by then.
    """
    _write_plans(failure, folder)
    write_report(report, folder)


def _write_plans(failure: Failure, folder: Path) -> None:
    text = folder / f"fuzz-{failure.seed}.txt"
    text.write_text(failure.text(), encoding="utf-8")
    failure.files.append(str(text))
    try:
        model = build(failure.small)
    except LinkworkError:
        return
    save_model(model, folder / f"fuzz-{failure.seed}.yaml")
    failure.files.append(str(folder / f"fuzz-{failure.seed}.yaml"))


# --- shrinking ---

_SIMPLE: tuple[tuple[str, Any], ...] = (
    ("touching", False), ("parts", 1), ("placed", "here"), ("offset", 0.0), ("speed", 0.0), ("gravity", False),
    ("restitution", 0.0), ("decades", 0.0), ("plain", True), ("digits", 1), ("digits", 2), ("digits", 3),
)  # fmt: skip


def shrink(plan: Plan, fails: Callable[[Plan], bool], trials: int = TRIALS) -> Plan:
    """The smallest plan found by greedy steps that still fails."""
    tried: set[Plan] = {plan}
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(plan):
            if candidate in tried:
                continue
            if len(tried) > trials:
                return plan
            tried.add(candidate)
            if fails(candidate):
                plan, progress = candidate, True
                break
    return plan


def _smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with less in them, those that take away most first."""
    for name in ("extras", "loops"):
        items = getattr(plan, name)
        size = len(items)
        while size:
            for first in range(0, len(items), size):
                kept = items[:first] + items[first + size :]
                yield tidy(dataclasses.replace(plan, **{name: kept}))
            size //= 2
    for link in reversed(plan.links):
        yield _without_link(plan, link, spliced=False)
        yield _without_link(plan, link, spliced=True)
    for name, value in _SIMPLE:
        if name != "digits" or plan.digits is None:
            yield dataclasses.replace(plan, **{name: value})
    for link in plan.links:
        if link.joint is not None:
            yield _with(plan, "links", link, joint="hinge")
            yield _with(plan, "links", link, parent=ON_GROUND)
            yield _with(plan, "links", link, backwards=False)
            yield _with(plan, "links", link, parallel=False)
    for extra in plan.extras:
        for link in plan.links:
            if extra.on >= LOOP_KEYS and link.joint not in (None, "weld"):
                yield _with(plan, "extras", extra, on=link.key)
    for loop in plan.loops:
        yield _with(plan, "loops", loop, a=ON_GROUND)
        yield _with(plan, "loops", loop, b=ON_GROUND)
        yield _with(plan, "loops", loop, how="anywhere", like=ON_GROUND)


def _with(plan: Plan, shelf: str, item: Any, **fields: Any) -> Plan:
    """The plan with other fields of one item."""
    items = [
        dataclasses.replace(other, **fields) if other is item else other for other in getattr(plan, shelf)
    ]
    changed: dict[str, Any] = {shelf: tuple(items)}
    return tidy(dataclasses.replace(plan, **changed))


def _without_link(plan: Plan, gone: Link, spliced: bool) -> Plan:
    """Without a link and all that hangs on it, or with that hanging on its parent instead."""
    links = [link for link in plan.links if link.key != gone.key]
    if not links:
        return plan
    loops = plan.loops
    if spliced:
        swap = {gone.key: gone.parent}
        links = [dataclasses.replace(link, parent=swap.get(link.parent, link.parent)) for link in links]
        loops = tuple(
            dataclasses.replace(loop, a=swap.get(loop.a, loop.a), b=swap.get(loop.b, loop.b))
            for loop in loops
        )
    shorter = tidy(dataclasses.replace(plan, links=tuple(links), loops=loops))
    return shorter if shorter.links else plan


def tidy(plan: Plan) -> Plan:
    """Without what refers to items that are not there any more."""
    links = list(plan.links)
    while True:
        known = {ON_GROUND, *(link.key for link in links)}
        kept = [link for link in links if link.joint is None or link.parent in known]
        if len(kept) == len(links):
            break
        links = kept
    jointed = {link.key for link in links if link.joint is not None}
    loops: list[Loop] = []
    for loop in plan.loops:
        if {loop.a, loop.b} <= known and loop.a != loop.b:
            lonely = loop.like not in jointed | {other.key for other in loops}
            loops.append(dataclasses.replace(loop, how="anywhere", like=ON_GROUND) if lonely else loop)
    movable = {link.key for link in links if link.joint not in (None, "weld")}
    movable |= {loop.key for loop in loops if loop.joint != "weld"}
    jointed_now = jointed | {loop.key for loop in loops}
    extras = []
    for extra in plan.extras:
        where = (
            known if extra.kind in (*LOADS, RUBBER) else jointed_now if extra.kind in SWITCHED else movable
        )
        if extra.on in where and (extra.other in where or extra.other == ON_GROUND):
            extras.append(extra)
    return dataclasses.replace(plan, links=tuple(links), loops=tuple(loops), extras=tuple(extras))
