"""The code of docs/dynamics.md runs as it stands."""

import re
from pathlib import Path

from helpers.processes import python

PAGE = Path(__file__).parents[2] / "docs" / "dynamics.md"


def test_the_code_of_the_page_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert python("-c", "\n".join(blocks), cwd=tmp_path)
