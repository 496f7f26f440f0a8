"""Diagrams that are wrong: each is told before the run, at its file, line and column, in words that help."""

from __future__ import annotations

import pytest

from helpers.diagrams import FIRST, written
from linkwork import ModelError

CONTROL = "control:\n"
PD = """components:
  pd:
    control:
      target: {type: inlet, unit: rad}
      error: {type: sum, inputs: [target, 1.5]}
"""
# What is wrong | what is written | line behind the head | a part of what is told
CASES: dict[str, tuple[str, int, str]] = {
    # --- names ---
    "unknown block": (CONTROL + "  a: {type: gain, input: levver}\n  lever: {type: lever}", 1, "did you mean 'lever'"),
    "unknown signal": (CONTROL + "  a: {type: gain, input: pivot.angel}", 1, "did you mean 'pivot.angle'"),
    "unknown output": (CONTROL + "  s: {type: joystick}\n  a: {type: gain, input: s.z}", 2, "has no output 'z'"),
    "which output": (CONTROL + "  s: {type: joystick}\n  a: {type: gain, input: s}", 2, "s.x, s.y"),
    "no output": (CONTROL + "  l: {type: lamp, input: 1}\n  a: {type: gain, input: l}", 2, "which has no output"),
    "unknown drive": (CONTROL + "  d: {type: drive, drive: moter, input: 1}", 1, "did you mean 'motor'"),
    "unknown load": (CONTROL + "  d: {type: force_command, load: wid, input: 1}", 1, "did you mean 'wind'"),
    "unknown joint": (CONTROL + "  d: {type: attach, joint: pivo, when: 1}", 1, "did you mean 'pivot'"),
    "unknown body of a sensor": (CONTROL + "  i: {type: imu, body: amr}", 1, "did you mean 'arm'"),
    "unknown group": (CONTROL + "  s: {type: lever, group: left}", 1, "there is no panel group 'left'"),
    "unknown type": (CONTROL + "  a: {type: gian, input: 1}", 1, "did you mean 'gain'"),
    "type of another section": (CONTROL + "  a: {type: torque_source, joint: pivot}", 1, "under 'drives'"),
    "no type": (CONTROL + "  a: {input: 1}", 1, "needs a type"),
    "unknown field": (CONTROL + "  a: {type: gain, input: 1, gian: 2}", 1, "did you mean 'gain'"),
    "name of a body": (CONTROL + "  arm: {type: constant, value: 1}", 1, "has the name of a body"),
    "name of a drive": (CONTROL + "  motor: {type: constant, value: 1}", 1, "has the name of a drive"),
    "a function": (CONTROL + "  f: {type: python_function, sample_time: 1}", 1, "never runs code"),
    # --- inputs ---
    "missing input": (CONTROL + "  a: {type: gain, gain: 2}", 1, "is required"),
    "no wire": (CONTROL + '  a: {type: gain, input: "two words"}', 1, "must be the name of a block"),
    "empty list": (CONTROL + "  a: {type: sum, inputs: []}", 1, "must not be empty"),
    "inlet without a source": (PD + "instances:\n  law: {component: pd}", 6, "inlet 'law.target' takes nothing"),
    "no such inlet": (
        PD + "instances:\n  law: {component: pd, inputs: {target: 1, tagret: 2}}", 6, "did you mean 'target'"
    ),
    "unknown wire into a component": (
        PD + "instances:\n  law: {component: pd, inputs: {target: stik}}", 6,
        "there is no block, output or signal 'stik'",
    ),
    "unit into a component": (
        PD + "instances:\n  law: {component: pd, inputs: {target: rail.travel}}", 6, "[rad] is wanted here"
    ),
    # --- loops ---
    "loop of one": (CONTROL + "  a: {type: gain, input: a}", 1, "a → a"),
    "loop of three": (
        CONTROL + "  a: {type: gain, input: c}\n  b: {type: sum, inputs: [a, 1]}\n  c: {type: gain, input: b}", 1,
        "a → b → c → a",
    ),
    "loop through a formula": (
        CONTROL + "  f: {type: formula, formula: 2*g + 1}\n  g: {type: saturation, input: f}", 1, "f → g → f"
    ),
    "loop through a direct transfer function": (
        CONTROL + "  h: {type: transfer_function, input: a, numerator: [1, 2], denominator: [1, 3]}\n"
        "  a: {type: gain, input: h}", 1, "h → a → h",
    ),
    # --- units ---
    "metres to radians": (
        CONTROL + "  e: {type: sum, inputs: [pivot.angle, rail.travel]}", 1,
        "'rail.travel' is in [m]",
    ),
    "angle to a torque": (CONTROL + "  d: {type: drive, drive: motor, input: pivot.angle}", 1, "[N m] is wanted here"),
    "stated unit": (
        CONTROL + "  g: {type: gain, input: 1, unit: N}\n  d: {type: drive, drive: motor, input: g}", 2,
        "'g.out' is in [N], but [N m]",
    ),
    "unit through a sum": (
        CONTROL + "  s: {type: saturation, input: rail.travel_rate}\n  d: {type: drive, drive: ram, input: s}", 2,
        "'s.out' is in [m/s]",
    ),
    "speed as a fact": (CONTROL + "  l: {type: lamp, input: rail.travel_rate}", 1, "[1], a plain number, is wanted"),
    "compared units": (
        CONTROL + '  c: {type: compare, input: pivot.angle, relation: ">", other: rail.travel}', 1, "put a gain"
    ),
    # --- writers ---
    "two writers": (
        CONTROL + "  a: {type: drive, drive: motor, input: 1}\n  b: {type: drive, drive: motor, input: 2}", 2,
        "as block 'a' does",
    ),
    "a signal writes too": (CONTROL + "  a: {type: drive, drive: timed, input: 1}", 1, "as its own `signal` does"),
    "two factors of a force": (
        CONTROL + "  a: {type: force_command, load: wind, input: 1}\n  b: {type: force_command, load: wind, input: 0}",
        2, "as block 'a' does",
    ),
    "a spring is no force": (CONTROL + "  a: {type: force_command, load: coil, input: 1}", 1, "not a spring"),
    "a joint that always holds": (CONTROL + "  a: {type: attach, joint: pivot, when: 1}", 1, "give it `attached`"),
    # --- values ---
    "bounds the wrong way round": (
        CONTROL + "  s: {type: saturation, input: 1, low: 2, high: 1}", 1,
        "low below its high",
    ),
    "start outside the range": (CONTROL + "  s: {type: lever, low: 0, high: 1, start: 2}", 1, "outside its range"),
    "a relay the wrong way round": (
        CONTROL + "  r: {type: relay, input: 1, on_above: 0, off_below: 1}", 1, "switches off below 1"
    ),
    "more zeros than poles": (
        CONTROL + "  h: {type: transfer_function, input: 1, numerator: [1, 0, 0], denominator: [1, 1]}", 1,
        "would differentiate",
    ),
    "matrices that do not fit": (
        CONTROL + "  x: {type: state_space, inputs: [1], A: [[0, 1], [0, 0]], B: [[0], [1]], C: [[1]]}", 1,
        "C must be 1 × 2",
    ),
    "times that decrease": (
        CONTROL + "  t: {type: time_table, times: [0, 2, 1], values: [0, 1, 2]}", 1,
        "must not decrease",
    ),
    "a table with places that stand still": (
        CONTROL + "  t: {type: lookup, input: 1, x: [0, 1, 1], y: [0, 1, 2]}", 1, "must increase"
    ),
    "no sample time": (CONTROL + "  d: {type: delay, input: 1}", 1, "is required"),
    "a negative sample time": (CONTROL + "  d: {type: hold, input: 1, sample_time: -1}", 1, "greater than 0"),
    "a formula with a gap": (CONTROL + "  f: {type: formula, formula: 2*}", 1, "cannot be read as a formula"),
    "a formula that calls": (
        CONTROL + "  f: {type: formula, formula: open(pivot.angle)}", 1,
        "there is no function 'open'",
    ),
    "a formula with an unknown name": (
        CONTROL + "  f: {type: formula, formula: sin(pivot.angel)}", 1, "did you mean 'pivot.angle'"
    ),
    "an unknown state": (
        CONTROL + "  m: {type: state_machine, states: [up, down], sample_time: 0.1, transitions: "
        "[{source: up, target: dwn, when: 1}]}", 1, "did you mean 'down'",
    ),
    "an unknown fact of a state machine": (
        CONTROL + "  m: {type: state_machine, states: [up, down], sample_time: 0.1, transitions: "
        "[{source: up, target: down, when: done}]}", 1, "there is no block, output or signal 'done'",
    ),
    "an unknown relation": (CONTROL + "  c: {type: compare, input: 1, relation: '=', other: 2}", 1, "must be one of"),
    "a choice that is not there": (
        CONTROL + "  s: {type: selector, choices: [a, b], chosen: 2}", 1, "there is no choice 2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_mistake_is_told_where_it_is(case):
    text, line, told = CASES[case]
    with pytest.raises(ModelError) as raised:
        written(text)
    problem = next((p for p in raised.value.problems if told in p.what), None)
    assert problem is not None, str(raised.value)
    assert str(problem.file) == "diagram.yaml"
    assert problem.line == FIRST + line
    assert problem.column is not None
    assert len(raised.value.problems) == 1, str(raised.value)


def test_there_are_forty():
    assert len(CASES) >= 40


def test_all_mistakes_come_at_once():
    with pytest.raises(ModelError) as raised:
        written(
            CONTROL + "  a: {type: gain, input: pivot.angel}\n  b: {type: gain, input: b}\n"
            "  d: {type: drive, drive: motor, input: rail.travel}"
        )
    assert [problem.line for problem in raised.value.problems] == [FIRST + 1, FIRST + 2, FIRST + 3]
