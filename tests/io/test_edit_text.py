"""Changes of the text of a model file: what is not touched stays, comments included."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from linkwork.io.edit_text import TextEditor
from linkwork.model.errors import LinkworkError

TEXT = """\
# the top
linkwork: 1   # version
control:
  # a wish
  stick: {type: lever, low: -1.5}  # of the operator
  error:   # block style
    type: sum
    inputs: [stick, -pivot.angle]   # two

  # the law
  law: {type: gain, input: error, gain: 30, unit: "N m"}

panel:
  arm: {label: Arm}
# the end
"""


def changed(text, *edits):
    editor = TextEditor(text)
    for name, *arguments in edits:
        getattr(editor, name)(*arguments)
    return editor.text


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (("put", ("control", "law", "gain"), 42.5), "gain: 30,", "gain: 42.5,"),
        (
            ("put", ("control", "error", "inputs"), ["stick", "x"]),
            "[stick, -pivot.angle]   #",
            "[stick, x]   #",
        ),
        (("put", ("control", "error", "inputs", 0), "other"), "[stick, -", "[other, -"),
        (("put", ("control", "error", "note"), "a: b"), "   # two\n", '   # two\n    note: "a: b"\n'),
        (("put", ("control", "stick", "high"), 2), "low: -1.5}", "low: -1.5, high: 2}"),
        (("put", ("control", "new"), {"type": "clock"}), '"N m"}\n', '"N m"}\n  new: {type: clock}\n'),
        (("put", ("gravity",), [0, 0, -1]), "{label: Arm}\n", "{label: Arm}\ngravity: [0, 0, -1]\n"),
        (("remove", ("control", "law", "unit")), ', unit: "N m"', ""),
        (("remove", ("control", "law", "type")), "type: gain, ", ""),
        (("remove", ("control", "stick")), "  stick: {type: lever, low: -1.5}  # of the operator\n", ""),
        (("remove", ("control", "error", "inputs")), "    inputs: [stick, -pivot.angle]   # two\n", ""),
        (("rename_key", ("control", "law"), "rule"), "  law: {", "  rule: {"),
        (("remove", ("panel", "arm")), "panel:\n  arm: {label: Arm}\n", ""),
    ],
)
def test_one_change_is_all_that_changes(edit, old, new):
    assert TEXT.count(old) == 1
    assert changed(TEXT, edit) == TEXT.replace(old, new)


def test_what_was_put_can_be_taken_out_again():
    added = changed(TEXT, ("put", ("control", "a b"), {"type": "gain", "input": 0, "note": "# no comment"}))
    assert yaml.safe_load(added)["control"]["a b"]["note"] == "# no comment"
    assert changed(added, ("remove", ("control", "a b"))) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "linkwork: 1\n", "linkwork: 1", "linkwork: 1\ncontrol:\n", "linkwork: 1\ncontrol: {}\n",
        "linkwork: 1\ncontrol:   # nothing yet\n", "linkwork: 1\ncontrol: null\n",
    ],
)  # fmt: skip
def test_the_first_entry_of_a_section(text):
    made = changed(
        text, ("put", ("control", "a"), {"type": "clock"}), ("put", ("control", "b"), {"type": "clock"})
    )
    assert yaml.safe_load(made) == {
        "linkwork": 1,
        "control": {"a": {"type": "clock"}, "b": {"type": "clock"}},
    }
    assert ("# nothing yet" in made) == ("# nothing yet" in text)


def test_windows_line_ends_and_missing_ends_of_lines_stay_readable():
    made = changed(TEXT.replace("\n", "\r\n"), ("put", ("control", "law", "gain"), 1))
    assert made == TEXT.replace("\n", "\r\n").replace("gain: 30", "gain: 1")


def test_what_is_written_at_an_anchor_is_not_changed_behind_its_back():
    text = "a: &one {x: 1}\nb: *one\n"
    with pytest.raises(LinkworkError, match="at an anchor"):
        TextEditor(text).put(("b", "x"), 2)
    assert changed(text, ("put", ("a", "x"), 2)) == "a: &one {x: 2}\nb: *one\n"


@pytest.mark.parametrize("path", [("control", "nothing"), ("nothing", "a"), ("control", "law", "none")])
def test_what_is_not_there_cannot_be_taken_out(path):
    with pytest.raises(LinkworkError, match="there is no"):
        TextEditor(TEXT).remove(path)


KEYS = st.from_regex(r"[a-z]{1,3}", fullmatch=True)
LETTERS = st.characters(min_codepoint=32, max_codepoint=1000)
VALUES = st.recursive(
    st.one_of(st.integers(-1000, 1000), st.booleans(), st.text(LETTERS, max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["control", "panel", "extra"]),
        st.sampled_from(["stick", "law", "a", "b"]),
        VALUES | st.none(),
    ),
    max_size=8,
)


@given(EDITS)
def test_any_changes_mean_what_they_say_and_keep_comments_of_others(edits):
    editor, wanted = TextEditor(TEXT), yaml.safe_load(TEXT)
    for section, name, value in edits:
        if value is None:
            if name in wanted.get(section, {}):
                editor.remove((section, name))
                del wanted[section][name]
                if not wanted[section]:
                    del wanted[section]
        else:
            editor.put((section, name), value)
            wanted.setdefault(section, {})[name] = value
    assert yaml.safe_load(editor.text) == wanted
    for comment in ("# the top", "# version", "# two", "# a wish", "# the end"):
        assert comment in editor.text or not wanted.get("control")
