"""Broken model files: every one is refused with the line at fault and words that help.

In the texts, `# here` marks the line that the message must name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.broken_joints import JOINTS
from helpers.broken_parts import PARTS
from helpers.broken_values import ARM, VALUES
from helpers.model_files import HEAD
from linkwork.io import load_model
from linkwork.io.yaml_source import MAX_BYTES, read_source
from linkwork.io.yaml_text import flow
from linkwork.model.errors import ModelError, Problem

MODELS = VALUES | JOINTS | PARTS


def problems_of(folder: Path, file: str = "model.yaml") -> tuple[Problem, ...]:
    with pytest.raises(ModelError) as caught:
        load_model(folder / file)
    return caught.value.problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a model, with a mesh, a component, and things beside it that a model must not reach."""
    inside = tmp_path / "models"
    inside.mkdir()
    (inside / "part.stl").write_text("solid part\nendsolid part\n")
    (inside / "corner.yaml").write_text(HEAD + "bodies: {hub: {mass: 1}}\n")
    (tmp_path / "outside.yaml").write_text(HEAD + "bodies: {hub: {mass: 1}}\n")
    (tmp_path / "outside.stl").write_text("solid part\nendsolid part\n")
    (inside / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    return inside


@pytest.mark.parametrize("name", MODELS)
def test_broken_model(name: str, folder: Path) -> None:
    text, words = MODELS[name]
    text = HEAD + text
    (folder / "model.yaml").write_text(text, encoding="utf-8")
    line = next(i for i, content in enumerate(text.splitlines(), 1) if "# here" in content)
    problems = problems_of(folder)
    assert [problem.line for problem in problems] == [line], problems
    for word in words:
        assert word in str(problems[0])
    assert problems[0].file == folder / "model.yaml"
    assert problems[0].column


# Whole files, with the line of the message, if it has one.
FILES: dict[str, tuple[bytes, int | None, tuple[str, ...]]] = {
    "empty": (b"", 1, ("is empty",)),
    "only a comment": (b"# nothing\n", 1, ("is empty",)),
    "plain text": (b"Dear reader,\nthis is a letter.\n", 1, ("must be a mapping", "linkwork: 1")),
    "a list": (b"- 1\n- 2\n", 1, ("must be a mapping", "[1, 2]")),
    "binary": (b"\x7fELF\n\x00\x01\x02", 2, ("binary",)),
    "Latin-1": ("linkwork: 1\nunits: SI\nname: Türe\n".encode("latin-1"), 3, ("not UTF-8", "0xfc")),
    "UTF-16": ("linkwork: 1\n".encode("utf-16"), 1, ("UTF-16", "save it as UTF-8")),
    "another format": (b"version: 3\nunits: SI\n" + ARM.encode(), 1, ("linkwork", "is required")),
    "no version": (b"units: SI\n" + ARM.encode(), 1, ("linkwork", "is required", "linkwork: 1")),
    "later version": (b"units: SI\nlinkwork: 2\n" + ARM.encode(), 2, ("linkwork", "a version", "got 2")),
    "version as text": (b"linkwork: '1'\nunits: SI\n" + ARM.encode(), 1, ("linkwork", "got '1'")),
    "no units": (b"linkwork: 1\n" + ARM.encode(), 1, ("units", "is required", "units: SI")),
    "other units": (b"linkwork: 1\nunits: mm\n" + ARM.encode(), 2, ("units", "must be SI", "'mm'")),
    "huge": (b"#" * (MAX_BYTES + 1), None, ("larger than 20 MB",)),
}


@pytest.mark.parametrize("name", FILES)
def test_broken_file(name: str, tmp_path: Path) -> None:
    data, line, words = FILES[name]
    (tmp_path / "model.yaml").write_bytes(data)
    problem = problems_of(tmp_path)[0]
    assert problem.line == line
    for word in words:
        assert word in str(problem)


def test_missing_file_has_a_clear_error(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, "none.yaml")
    assert str(problem) == f"{tmp_path / 'none.yaml'}: there is no such file"


def test_folder_has_a_clear_error(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, ".")
    assert "is a folder" in str(problem)


def test_problems_in_included_files_name_those_files(folder: Path) -> None:
    top = HEAD + ARM + "components: {c: {include: corner.yaml}}\ninstances: {l: {component: c}}\n"
    (folder / "model.yaml").write_text(top)
    (folder / "corner.yaml").write_text(HEAD + "gravity: [0, 0, 0]\nbodies:\n  hub: {mass: -1}\n")
    gravity, mass = problems_of(folder)
    assert (gravity.file, gravity.line) == (folder / "corner.yaml", 3)
    assert "belongs to the model" in gravity.what
    assert (mass.file, mass.line, mass.where) == (folder / "corner.yaml", 5, "bodies.hub.mass")


def test_includes_in_a_circle_are_refused(folder: Path) -> None:
    (folder / "model.yaml").write_text(HEAD + ARM + "components: {b: {include: b.yaml}}\n")
    (folder / "b.yaml").write_text(HEAD + "components: {c: {include: c.yaml}}\n")
    (folder / "c.yaml").write_text(HEAD + "components:\n  b: {include: b.yaml}\n")
    (problem,) = problems_of(folder)
    assert (problem.file, problem.line) == (folder / "c.yaml", 4)
    assert "b.yaml > c.yaml > b.yaml" in problem.what


def test_endless_nesting_of_includes_is_refused(folder: Path) -> None:
    (folder / "model.yaml").write_text(HEAD + ARM + "components: {c: {include: c0.yaml}}\n")
    for i in range(100):
        (folder / f"c{i}.yaml").write_text(HEAD + f"components: {{c: {{include: c{i + 1}.yaml}}}}\n")
    (problem,) = problems_of(folder)
    assert "nested deeper" in problem.what


def test_instances_cannot_ask_for_billions(folder: Path) -> None:
    levels = "".join(
        f"  c{i}: {{instances: {{{', '.join(f'i{k}: {{component: c{i + 1}}}' for k in range(10))}}}}}\n"
        for i in range(12)
    )
    text = HEAD + ARM + "components:\n" + levels + "  c12: {}\ninstances: {top: {component: c0}}\n"
    (folder / "model.yaml").write_text(text)
    (problem,) = problems_of(folder)
    assert "the limit is 1000000" in problem.what


def test_parameters_cannot_ask_for_billions(folder: Path) -> None:
    levels = "".join(
        f"  c{i}:\n    parameters: {{x: 1}}\n    instances:\n"
        f"      a: {{component: c{i + 1}, parameters: {{x: =2*x}}}}\n"
        f"      b: {{component: c{i + 1}, parameters: {{x: =2*x+1}}}}\n"
        for i in range(15)
    )
    last = "  c15: {parameters: {x: 1}}\ninstances: {top: {component: c0}}\n"
    text = HEAD + ARM + "components:\n" + levels + last
    (folder / "model.yaml").write_text(text)
    (problem,) = problems_of(folder)
    assert "more than 10000 components" in problem.what


def test_all_problems_come_at_once_in_order(folder: Path) -> None:
    text = HEAD + (
        "bodies:\n"
        "  arm: {mass: -1}\n"  # line 4
        "  leg: {mass: 1, colour: red}\n"
        "joints:\n"
        "  hip: {type: hinge, a: arm, b: lge}\n"  # line 7; that arm is wrong is told once, above
        "  knee: {type: hing, a: arm, b: leg}\n"
        "  toe: {type: slider, a: leg, b: foot, axis: [0, 0, 0], damping: slow}\n"
        "loads:\n"
        "  push: {type: force, body: arm, force: [1, 0, '=nothing']}\n"
        "instances:\n"
        "  left: {component: wheel, at: [0]}\n"
        "extra: 1\n"
        "drives:\n"
        "  m: {type: dc_motor, joint: toe, gear: 0, stall_torque: 1, idle_speed: 1}\n"  # toe is told above
        "  n: {type: velocity_servo, joint: hipp}\n"
        "couplings:\n"
        "  r: {type: repeater, a: hip, b: hip.x, ratio: 0}\n"
    )
    (folder / "model.yaml").write_text(text)
    found = [(problem.line, problem.where) for problem in problems_of(folder)]
    assert found == [
        (4, "bodies.arm.mass"),
        (5, "bodies.leg.colour"),
        (7, "joints.hip.b"),
        (8, "joints.knee.type"),
        (9, "joints.toe.b"),
        (9, "joints.toe.axis"),
        (9, "joints.toe.damping"),
        (11, "loads.push.force.2"),
        (13, "instances.left.component"),
        (13, "instances.left.at"),
        (14, "extra"),
        (16, "drives.m.time_constant"),
        (16, "drives.m.gear"),
        (17, "drives.n.joint"),
        (19, "couplings.r.b"),
        (19, "couplings.r.ratio"),
    ]


WORKING = HEAD + (
    "parameters: {L: 0.5}\n"
    "bodies:\n  arm: &a {mass: 1, inertia: [1, 1, 1], shapes: [{shape: box, size: [1, =L, 1]}]}\n  leg: *a\n"
    "markers: {tip: {body: arm, rotation: {axis: [0, 0, 1], angle: =pi/2}}}\n"
    "joints: {hip: {type: hinge, a: ground, b: arm, at: tip, damping: [=L], limits: [=-L, null]}}\n"
    "drives: {m: {type: position_servo, joint: hip, stiffness: 1, signal: {signal: sine, frequency: =L}}}\n"
    "couplings: {r: {type: repeater, a: hip, b: hip, ratio: 2, coordinate_a: angle}}\n"
    "loads: {f: {type: force, body: arm, force: [1, 0, 0], signal: {signal: sine, frequency: 1}}}\n"
    "components: {c: {parameters: {r: 1}, bodies: {rim: {mass: =r}}}, d: {include: corner.yaml}}\n"
    "instances: {l: {component: c, parameters: {r: 2}}, r: {component: d, mirror: [0, 1, 0]}}\n"
)
WORDS = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "=",
    "&a ",
    "*a",
    "!!x ",
    "- ",
    "\n",
    "'",
    "1e999",
    "null",
    "",
    ".nan",
    "..",
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=6,
)


def refused_or_read(file: Path) -> None:
    """Whatever a file holds, the only error is a ModelError, and it names the file."""
    problems: tuple[Problem, ...] = ()
    try:
        load_model(file)
    except ModelError as error:
        problems = error.problems
    assert all(problem.file and problem.line for problem in problems)


def test_the_text_to_be_damaged_works(folder: Path) -> None:
    (folder / "model.yaml").write_text(WORKING)
    assert len(load_model(folder / "model.yaml").flatten().bodies) == 4


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.tuples(st.integers(0, len(WORKING)), st.integers(0, 6)), word=st.sampled_from(WORDS))
def test_damaged_text_is_refused_or_read(folder: Path, cut: tuple[int, int], word: str) -> None:
    start, length = cut
    (folder / "model.yaml").write_text(WORKING[:start] + word + WORKING[start + length :], encoding="utf-8")
    refused_or_read(folder / "model.yaml")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_value_anywhere_is_refused_or_read(folder: Path, data: st.DataObject) -> None:
    (folder / "model.yaml").write_text(WORKING, encoding="utf-8")
    document = read_source(folder / "model.yaml")[0].plain()
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list) or not place[key]:
            break
        place = place[key]
    place[key] = data.draw(ANYTHING)
    (folder / "model.yaml").write_text(flow(document), encoding="utf-8")
    refused_or_read(folder / "model.yaml")


def test_the_message_lists_every_problem(folder: Path) -> None:
    (folder / "model.yaml").write_text(HEAD + "bodies:\n  arm: {mass: -1}\n  leg: {mass: x}\n")
    with pytest.raises(ModelError) as caught:
        load_model(folder / "model.yaml")
    text = str(caught.value)
    assert text.startswith("2 problems")
    assert f"{folder / 'model.yaml'}:4:15: bodies.arm.mass: must not be less than 0 (got -1)" in text
    assert f"{folder / 'model.yaml'}:5:15: bodies.leg.mass: must be a number (got 'x')" in text


def test_a_parameter_without_value_is_told_once(folder: Path) -> None:
    text = "parameters: {a: =x, b: =a*2}\nbodies:\n  arm: {mass: =b, at: [=a, 0, 0]}\n"
    (folder / "model.yaml").write_text(HEAD + text)
    (problem,) = problems_of(folder)
    assert problem.where == "parameters.a"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"lenght": 1.0}, ("no such parameter", "'length'?")), ({"length": float("nan")}, ("finite",))],
)
def test_parameters_from_outside_are_checked(
    folder: Path, parameters: dict[str, float], words: tuple[str, ...]
) -> None:
    (folder / "model.yaml").write_text(HEAD + "parameters: {length: 1}\n" + ARM)
    with pytest.raises(ModelError) as caught:
        load_model(folder / "model.yaml", parameters)
    assert all(word in str(caught.value) for word in words)
    assert caught.value.problems[0].line == 3
