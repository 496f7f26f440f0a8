"""Where several workers run all tests, one of them has the kernels compiled, on all cores, before the first test.

Workers begin with tests that need the same kernels, and would wait for each other on an empty cache.
"""

import contextlib

import pytest

from linkwork.model.errors import LinkworkError

MANY = 1000
"""So many tests need every kernel; fewer compile what they need."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before a worker says that it is ready: tests are handed out when all of them are."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or worker["workerid"] != "gw0" or len(session.items) < MANY:
        return
    from linkwork.run.warmup import PIECES, missing, warm_up

    with contextlib.suppress(LinkworkError):  # what fails here fails in a test
        warm_up(missing(PIECES))
