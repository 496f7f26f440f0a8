"""Examples and the code of the README run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(code, folder):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_runs(path, tmp_path):
    assert run(path.read_text(), tmp_path)


def test_the_readme_shows_the_example_and_its_picture_exists():
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    example = (ROOT / "examples" / "double_pendulum.py").read_text()
    assert block.strip() == example.split('"""')[2].strip()
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (ROOT / picture).is_file()


def test_links_between_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
