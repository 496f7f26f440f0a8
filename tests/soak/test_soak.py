"""A page that runs for long: what a soak does, and that it would tell."""

import dataclasses
import json
import sys
import time

import pytest

from helpers.processes import python, start, wait_until

pytest.importorskip("viser", reason="no viser found: soaking was LEFT OUT; install linkwork[view]")

from linkwork.soak.deeds import DEEDS, WrongError, wait, worked
from linkwork.soak.describe import page
from linkwork.soak.soak import Moment, Report

MOMENT = Moment(0.0, 200.0, 12, 5, 1e-3)


def soaked(**changes):
    """A report whose later moments differ by so much."""
    moments = [MOMENT] * 10 + [
        dataclasses.replace(MOMENT, **{name: getattr(MOMENT, name) + by for name, by in changes.items()})
    ] * 5
    return Report(seconds=300.0, moments=moments, lost=2.0)


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({}, None),
        ({"memory": 10.0}, "memory is flat"),
        ({"handles": 1}, "file handles are flat"),
        ({"threads": 1}, "threads are flat"),
    ],
)
def test_what_grows_is_told(changes, fails):
    report = soaked(**changes)
    assert [name for name, so in report.verdicts.items() if not so] == ([fails] if fails else [])
    assert report.ok is (fails is None)
    assert "yes" in report.text()


def test_the_page_of_the_docs_tells_all_that_was_measured():
    report = dataclasses.replace(soaked(handles=1), deeds={"fill": 7}, wrong=["at 3 s, fill: no"])
    text = page(report)
    assert "| full disks | 7 |" in text
    assert "| file handles are flat | **no** |" in text
    assert "| threads are flat | yes |" in text
    assert "* Wrong: at 3 s, fill: no" in text
    assert "| 0 | 200.0 | 12 | 5 | 1.00 |" in text


@pytest.mark.parametrize(
    ("code", "works"), [("import time; time.sleep(60)", False), ("while True: pass", True)]
)
def test_who_waits_for_a_busy_process_counts_its_work(code, works):
    """A process that sleeps does not work, however long it takes; one that computes does."""
    process = start([sys.executable, "-c", code])
    try:
        time.sleep(0.5)
        if works:
            wait_until(lambda: worked(process.pid) > 0.5, "it works")
        else:
            assert worked(process.pid) < 0.5
    finally:
        process.kill()
        process.wait()
    assert worked(process.pid) == 0.0  # it is gone


def test_patience_ends():
    with pytest.raises(WrongError, match=r"not after 0\.1 s: never"):
        wait("never", lambda: False, patience=0.1)


def test_what_went_wrong_and_what_is_late_is_told():
    late = dataclasses.replace(soaked(), lost=10.0)
    assert not late.verdicts["steps keep time"]
    assert dataclasses.replace(late, elsewhere=8.0).verdicts["steps keep time"]  # so did everything else
    wrong = dataclasses.replace(soaked(), wrong=["at 3 s, fill: no"])
    assert not wrong.ok
    assert "WRONG: at 3 s, fill: no" in wrong.text()
    assert not Report().ok


@pytest.mark.slow
def test_a_page_soaks_for_a_minute():
    """Ten minutes and more: `linkwork soak --time 600`. In a process of its own: handles and threads are counted, and
    other tests leave some of theirs to the collector."""
    code = (
        "import json; from linkwork.soak.soak import soak; report = soak(60.0, seed=1); "
        "print(json.dumps([report.verdicts, report.deeds, report.heard, report.text()]))"
    )
    verdicts, deeds, heard, text = json.loads(python("-c", code).splitlines()[-1])
    # Memory has not come to rest after a minute, and whether steps keep time is a matter of the machine.
    wanted = ("nothing went wrong", "file handles are flat", "threads are flat")
    assert {name: verdicts[name] for name in wanted} == dict.fromkeys(wanted, True), text
    assert len(deeds) > len(DEEDS) // 2
    assert heard > 100
