"""What is wrong with a STEP file is told with its line, before a CAD kernel reads it; no other file is read."""

import random
import re
import subprocess
import sys

import pytest

pytest.importorskip("OCP", reason="needs the extra `cad`")
cad = pytest.importorskip("build123d", reason="needs build123d, which makes assemblies")
pytestmark = pytest.mark.peers

from helpers.opened import opened_in  # noqa: E402
from linkwork import LinkworkError, ModelError, import_model  # noqa: E402

HEAD = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION((''),'2;1');
FILE_NAME('','',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));
ENDSEC;
DATA;
"""
END = "ENDSEC;\nEND-ISO-10303-21;\n"
POINT = "#1 = CARTESIAN_POINT('',(0.,0.,0.));\n"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Text of a part that can be read."""
    file = tmp_path_factory.mktemp("good") / "part.step"
    part = cad.Box(10, 20, 30) - cad.Cylinder(3, 30)
    part.label = "part"
    cad.export_step(part, str(file))
    return file.read_text()


# Of each: the text, the line of the error, what it says.
CASES = {
    "empty": ("", 1, "is not STEP"),
    "text": ("hello\n", 1, "is not STEP"),
    "xml": ("<robot name='r'/>", 1, "is not STEP"),
    "binary": ("\0\1\2", 1, "is not STEP"),
    "stl": ("solid cube\nendsolid", 1, "is not STEP"),
    "no_data": ("ISO-10303-21;\nHEADER;\nENDSEC;\nEND-ISO-10303-21;\n", None, "has no section DATA"),
    "nothing_in_it": (HEAD + END, 7, "has no entities"),
    "cut_off": (HEAD + POINT + "#2 = DIRECTION('',(1.,0.", 9, "is cut off"),
    "cut_off_at_an_entity": (HEAD + POINT, 9, "is cut off"),
    "nothing_there": (HEAD + POINT + "#2 = VERTEX_POINT('',#7);\n" + END, 9, "#2 needs #7, which is not there"),
    "twice": (HEAD + POINT + POINT + END, 9, "#1 is there twice, first in line 8"),
    "nan": (HEAD + "#1 = CARTESIAN_POINT('',(nan,0.,0.));\n" + END, 8, "#1 has the number nan"),
    "infinite": (HEAD + "#1 = CARTESIAN_POINT('',(0.,-INF,0.));\n" + END, 8, "#1 has the number -INF"),
    "infinity": (HEAD + "#1 = DIRECTION('',(0.,Infinity,0.));\n" + END, 8, "has the number Infinity"),
    "other_file": (HEAD + "#1 = DOCUMENT_FILE('../secret.step','','',#1,'',$);\n" + END, 8, "names another file"),
    "outside": (HEAD + "#1 = EXTERNAL_SOURCE(IDENTIFIER('/etc/passwd'));\n" + END, 8, "names another file"),
    "net": (HEAD + "#1 = EXTERNALLY_DEFINED_ITEM('http://127.0.0.1/x.step');\n" + END, 8, "names another file"),
    "reference": (
        "ISO-10303-21;\nREFERENCE;\n#5 = <http://127.0.0.1/a.step#b>;\nENDSEC;\nDATA;\n#6 = FACE('',#5);\n" + END,
        6,
        "#6 needs #5, which is not there",
    ),
    "itself": (
        HEAD + "#1 = PD('',$);\n#2 = NEXT_ASSEMBLY_USAGE_OCCURRENCE('1','','',#1,#1,$);\n" + END,
        9,
        "an assembly contains itself",
    ),
    "circle": (
        HEAD + "#1 = PD('',$);\n#2 = PD('',$);\n#3 = NEXT_ASSEMBLY_USAGE_OCCURRENCE('1','','',#1,#2,$);\n"
        "#4 = NEXT_ASSEMBLY_USAGE_OCCURRENCE('2','','',#2,#1,$);\n" + END,
        11,
        "an assembly contains itself",
    ),
    "wires_alone": (HEAD + POINT + END, None, "finds no shapes|has no solids"),
    "unknown_entities": (HEAD + "#1 = NO_SUCH_THING('',1.);\n" + END, None, "finds no shapes|has no solids"),
    "text_with_marks": (HEAD + "#1 = PD('it''s; #9 = nan',$);\n" + END, None, "finds no shapes|has no solids"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_errors_tell_the_line(case, tmp_path):
    text, line, what = CASES[case]
    (tmp_path / "home").mkdir()
    (tmp_path / "secret.step").write_text("ISO-10303-21;")
    file = tmp_path / "home" / "a.step"
    file.write_text(text)
    with opened_in(tmp_path) as opened, pytest.raises(ModelError, match=what) as caught:
        import_model(file)
    assert opened == []  # by the process of the kernel neither
    assert caught.value.problems[0].line == line
    assert caught.value.problems[0].file == file


def test_files_that_are_no_files(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="there is no such file"):
        import_model(tmp_path / "none.step")
    (tmp_path / "folder.step").mkdir()
    with pytest.raises(ModelError, match="is not a file"):
        import_model(tmp_path / "folder.step")
    monkeypatch.setattr("linkwork.interchange.step_scan.MAX_BYTES", 1000)
    (tmp_path / "huge.step").write_text(HEAD + POINT * 100 + END)
    with pytest.raises(ModelError, match="is larger than"):
        import_model(tmp_path / "huge.step")


def test_the_file_of_joints_is_read_from_its_folder_alone(good, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "secret.yaml").write_text("ground: nothing")
    file = tmp_path / "home" / "a.step"
    file.write_text(good)
    file.with_name("a.joints.yaml").symlink_to(tmp_path / "secret.yaml")
    with opened_in(tmp_path) as opened, pytest.raises(LinkworkError, match="leads outside the folders"):
        import_model(file)
    assert opened == []


def test_what_the_kernel_opens_is_seen(good, tmp_path):
    """The watch itself: it sees what the process of the kernel opens, where that is allowed."""
    file = tmp_path / "a.step"
    file.write_text(good)
    with opened_in(tmp_path) as opened:
        kernel = [sys.executable, "-m", "linkwork.interchange.step_kernel", str(file)]
        subprocess.run(kernel, check=True, capture_output=True)
    assert "a.step" in opened


READ = """
import sys
from linkwork import LinkworkError, import_model
for file in sys.argv[1:]:
    try:
        import_model(file, density=1000)
    except LinkworkError:
        pass
print("all")
"""


@pytest.mark.slow
def test_damaged_files_end_in_errors_not_in_crashes(good, tmp_path):
    """A CAD kernel is much C++: characters that are changed, lines that are lost, numbers that are others."""
    rng = random.Random(4)
    files = []
    lines = good.splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if line.startswith("DATA"))
    for number in range(12):
        made = list(lines)
        for _ in range(1 + number % 5):
            k = rng.randrange(first + 1, len(made) - 2)
            kind = rng.randrange(4)
            if kind == 0:
                del made[k]
            elif kind == 1:
                at = rng.randrange(len(made[k]))
                made[k] = made[k][:at] + rng.choice("#0(),.$*'") + made[k][at + 1 :]
            elif kind == 2:
                made[k] = re.sub(
                    r"#\d+(?=[,)])", lambda _: f"#{rng.randrange(1, len(lines))}", made[k], count=1
                )
            else:
                made[k] = re.sub(
                    r"-?\d+\.\d*(?=[,)])", lambda _: f"{rng.choice(['1.E300', '-1.', '0.'])}", made[k]
                )
        file = tmp_path / f"{number}.step"
        file.write_text("".join(made))
        files.append(str(file))
    done = subprocess.run([sys.executable, "-c", READ, *files], capture_output=True, text=True, timeout=300)
    assert done.stdout.endswith("all\n"), (done.returncode, done.stderr[-2000:])
