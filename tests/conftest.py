"""Where several workers run all tests, each compiles its share of the kernels before the first test.

Workers begin with tests that need the same kernels. With an empty cache each of them would compile all of these itself.
"""

import contextlib

import pytest

MANY = 1000
"""So many tests need every kernel; fewer compile what they need."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before a worker says that it is ready: tests are handed out when all of them are."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or len(session.items) < MANY:
        return
    from linkwork.live.warmup import PIECES, compile_piece

    busy = [0.0] * worker["workercount"]
    for name, piece in PIECES.items():  # the longest first
        least = busy.index(min(busy))
        busy[least] += piece.cost
        if worker["workerid"] == f"gw{least}":
            with contextlib.suppress(Exception):  # what fails here fails in a test
                compile_piece(name)
