"""A soak in words: docs/soak.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .soak import Report

_HEAD = """# Soaking

Written by `linkwork soak --time {seconds:.0f} --seed {seed} --markdown > docs/soak.md`.

A page that an operator leaves on for days must neither grow nor fall behind, whatever its visitors do.
`linkwork soak` serves one on this machine and lets everything happen to it (Linux; the extra `view`):

```sh
linkwork soak --time 3600                      # an hour
linkwork soak excavator car --time 600 --report soak.json
```

Visitors come from a process of their own: they leave, their connections break, the process is killed. Each looks at
the page, at the operators' panel, whose levers it holds, and at the diagram, is a program that asks for signals, and
sends all of them what cannot be understood. Parameters change while the model moves, bodies are pushed, the model is
reset, another scene is chosen. Recordings are made and read again: no row may be missing. A disk is full while
something is recorded (a small tmpfs, where this machine lets us mount one; else a limit on the size of files): the
motion must go on, visitors must be told, and when there is room again the recording must be whole. A run beside it is
killed while it writes, and what it had written is recovered. No picture may fail.

Every twenty seconds nobody is there and nothing happens, and it is measured what the process holds. Exit code 1 means
that one of these does not hold:

| verdict | what must be |
|---|---|
| nothing went wrong | none of what is said above |
| memory is flat | resident memory of the last third of these moments is at most 3 % above the first third's (*) |
| file handles, threads are flat | the last third holds no more of them than the first |
| steps keep time | steps fall behind the clock by less than 1 % of the time, beyond what a mere sleep loses (**) |

(*) Medians; the first 30 % of all moments are not judged: caches fill. (**) Of a process beside it that does nothing.

## What was measured
"""
_NAMES = {
    "come": "comings of one to three visitors",
    "leave": "leavings of all of them",
    "vanish": "times that all their connections broke",
    "kill_visitors": "times that their process was killed",
    "change": "changes of a parameter and back",
    "push": "pushes of a body",
    "reset": "resets",
    "another": "changes of the scene",
    "record": "recordings",
    "fill": "full disks",
    "kill_run": "killed runs",
}
_ROWS = 12  # of moments, at most


def page(report: Report) -> str:
    """The whole page, with what was measured."""
    return "\n".join(_lines(report)).rstrip("\n") + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield _HEAD.format(seconds=60 * (report.seconds // 60), seed=report.seed)
    yield (
        f"{report.seconds:.0f} s, {report.steps} steps, {report.heard} messages to visitors; disks: {report.disk}; "
        f"{report.cores} cores, on which {report.load:.1f} threads ran or waited on average, those of other programs "
        "included."
    )
    yield "\n| deed | times |\n|---|---|"
    for name, count in sorted(report.deeds.items(), key=lambda deed: -deed[1]):
        yield f"| {_NAMES.get(name, name)} | {count} |"
    yield "\n| after [s] | memory [MB] | handles | threads | lateness of steps, 99th percentile [ms] |"
    yield "|---|---|---|---|---|"
    for moment in report.moments[:: max(1, len(report.moments) // _ROWS)]:
        yield (
            f"| {moment.time:.0f} | {moment.memory:.1f} | {moment.handles} | {moment.threads} | "
            f"{1e3 * moment.lateness:.2f} |"
        )
    yield f"\nSteps lost {report.lost:.2f} s to the clock; a mere sleep lost {report.elsewhere:.2f} s.\n"
    yield "| verdict | holds |\n|---|---|"
    for what, so in report.verdicts.items():
        yield f"| {what} | {'yes' if so else '**no**'} |"
    yield ""
    for what in report.wrong:
        yield f"* Wrong: {what}"
