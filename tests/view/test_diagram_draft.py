"""Changes of a diagram, as an editor makes them, in the text of a model file."""

import pytest
import yaml

from linkwork.control.blocks import BLOCKS
from linkwork.model.errors import LinkworkError
from linkwork.view.diagram import edits
from linkwork.view.diagram.draft import Draft
from linkwork.view.diagram.form import form_of, palette

TEXT = """\
linkwork: 1
units: SI
# An arm that an operator moves
bodies:
  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}   # of steel
joints:
  pivot: {type: hinge, a: ground, b: arm, axis: [0, 1, 0]}
  hand: {type: hinge, a: ground, b: fist, axis: [0, 1, 0], attached: [[0, null]]}
drives:
  motor: {type: torque_source, joint: pivot}
loads:
  wind: {type: force, body: arm, force: [1, 0, 0]}
control:
  # the operator's wish
  stick: {type: lever, high: 1.5, low: -1.5, unit: rad}  # a lever
  error: {type: sum, inputs: [stick, -pivot.angle]}
  law: {type: gain, input: error, gain: 30, unit: N m}
  both:
    type: formula   # of two
    formula: law + 0.1*error
    unit: N m
  push: {type: drive, drive: motor, input: both}
""".replace("    # of steel", "  # of steel").replace(
    "bodies:\n", "bodies:\n  fist: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
)


@pytest.fixture
def draft(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(TEXT)
    return Draft(path)


def control(draft):
    return yaml.safe_load(draft.text)["control"]


def comments(text):
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


def faults(draft):
    return {fault.block for fault in draft.diagram.faults}


def test_a_small_diagram_is_built_saved_and_read_again(draft):
    name = edits.add(draft, "", "sine_wave")
    edits.connect(draft, "error", "inputs/+", f"{name}.out")
    edits.put(draft, name, "frequency", "2.5")
    assert edits.rename(draft, name, "wobble") == "wobble"
    edits.negate(draft, "error", "inputs/2")
    assert control(draft)["error"]["inputs"] == ["stick", "-pivot.angle", "-wobble"]
    assert control(draft)["wobble"] == {"type": "sine_wave", "frequency": 2.5}
    assert draft.dirty
    draft.save()
    assert not draft.dirty
    again = Draft(draft.path)
    assert again.text == draft.text
    assert again.diagram.faults == []
    assert comments(again.text) == comments(TEXT)


@pytest.mark.parametrize("kind", [block["kind"] for family in palette() for block in family["blocks"]])
def test_every_block_of_the_palette_can_be_added_and_has_a_form(draft, kind):
    if kind == "inlet":  # of a model itself it has no one to take from
        edits.add(draft, "", kind)
        assert faults(draft) == {"inlet"}
        return
    name = edits.add(draft, "", kind)
    form = form_of(draft, name)
    assert form["kind"] == kind
    assert form["fields"] or kind == "clock"
    assert faults(draft) <= {name}  # two writers of the only motor, at most
    edits.delete(draft, [name])
    assert draft.text == TEXT


def test_all_blocks_that_a_file_can_hold_are_in_the_palette():
    told = {block["kind"] for family in palette() for block in family["blocks"]}
    assert set(BLOCKS) - told == {"compiled_function", "python_function"}


def test_what_took_a_deleted_block_is_told_and_undo_brings_it_back(draft):
    edits.delete(draft, ["law"])
    assert faults(draft) == {"both"}
    draft.undo()
    assert draft.text == TEXT
    draft.redo()
    assert faults(draft) == {"both"}
    with pytest.raises(LinkworkError, match="nothing to redo"):
        draft.redo()


def test_loops_are_told_and_may_be_mended(draft):
    edits.connect(draft, "error", "inputs/1", "law.out")
    assert any("algebraic loop" in fault.what for fault in draft.diagram.faults)
    edits.cut(draft, "error", "inputs/1")
    assert draft.diagram.faults == []
    assert control(draft)["error"]["inputs"] == ["stick"]


def test_cut_inputs_take_their_default_or_nothing(draft):
    edits.cut(draft, "law", "input")
    edits.cut(draft, "error", "inputs/0")
    edits.cut(draft, "error", "inputs/0")
    assert control(draft)["law"]["input"] == 0
    assert control(draft)["error"]["inputs"] == [0]


def test_a_change_that_could_not_be_read_is_refused_and_leaves_all_as_it_was(draft):
    for field, text in (("gain", "[1, 2]"), ("gain", "high"), ("unknown", "1"), ("gain", "{")):
        with pytest.raises(LinkworkError):
            edits.put(draft, "law", field, text)
    with pytest.raises(LinkworkError, match="no name"):
        edits.rename(draft, "law", "a.b")
    with pytest.raises(LinkworkError, match="there is a block 'error' already"):
        edits.rename(draft, "law", "error")
    with pytest.raises(LinkworkError, match="written in its formula"):
        edits.connect(draft, "both", "formula", "stick.out")
    assert draft.text == TEXT
    assert not draft.can_undo


def test_renaming_follows_into_formulas_lists_and_signs(draft):
    edits.rename(draft, "error", "gap")
    edits.rename(draft, "law", "rule")
    made = control(draft)
    assert made["rule"]["input"] == "gap"
    assert made["both"]["formula"].replace(" ", "") in ("rule+0.1*gap",)
    assert draft.diagram.faults == []
    assert comments(draft.text) == comments(TEXT)


def test_blocks_are_placed_and_go_back_to_the_layout(draft):
    edits.move(draft, "law", (3.21, 1.5))
    assert draft.diagram.blocks["law"].spot == (3.21, 1.5)
    edits.move(draft, "law", None)
    assert draft.text == TEXT


def test_grouped_blocks_become_a_component_that_does_the_same(draft):
    before = {(w.block, w.source, w.negative) for w in draft.diagram.wires if w.block == "push"}
    name = edits.group(draft, "", ["error", "law"], "")
    assert draft.diagram.faults == []
    made = yaml.safe_load(draft.text)
    assert set(made["components"][name]["control"]) == {"error", "law", "stick", "pivot_angle"}
    assert made["instances"][name]["inputs"] == {"stick": "stick", "pivot_angle": "pivot.angle"}
    assert made["control"]["both"]["formula"].replace(" ", "") == f"{name}.law+0.1*{name}.error"
    assert {(w.block, w.source, w.negative) for w in draft.diagram.wires if w.block == "push"} == before
    (angle,) = [w for w in draft.diagram.wires if w.block == f"{name}.error" and w.negative]
    assert angle.source == f"{name}.pivot_angle.out"
    # Inside, changes go into the component.
    edits.put(draft, f"{name}.law", "gain", "7")
    assert yaml.safe_load(draft.text)["components"][name]["control"]["law"]["gain"] == 7
    inner = edits.add(draft, name, "constant")
    edits.connect(draft, f"{name}.law", "input", f"{inner}.out")
    assert yaml.safe_load(draft.text)["components"][name]["control"]["law"]["input"] == "constant"
    with pytest.raises(LinkworkError, match="not within reach"):
        edits.connect(draft, f"{name}.law", "input", "both.out")


def test_a_file_that_somebody_else_changed_is_not_overwritten(draft):
    edits.put(draft, "law", "gain", "31")
    draft.path.write_text(TEXT + "# from outside\n")
    with pytest.raises(LinkworkError, match="changed by somebody else"):
        draft.save()
    assert draft.path.read_text().endswith("# from outside\n")
    draft.reload()
    edits.put(draft, "law", "gain", "32")
    draft.save()
    assert draft.path.read_text() == TEXT.replace("gain: 30", "gain: 32") + "# from outside\n"
