"""Where several workers run all tests, each compiles its share of the kernels before the first test.

Workers begin with tests that need the same kernels. With an empty cache each of them would compile all of these itself.
"""

import contextlib

import pytest

MANY = 1000
"""So many tests need every kernel; fewer compile what they need."""
WAYS = (
    # CPU time of compiling [s], scene, options; the longest first
    (100.0, "slope", {"method": "simgc"}),
    (50.0, "peaucellier", {"method": "hybrid"}),
    (40.0, "peaucellier", {"method": "simgc", "solver": "direct"}),
    (30.0, "peaucellier", {"method": "components"}),
    (25.0, "peaucellier", {"method": "topological"}),
    (7.0, "peaucellier", {"method": "simgc", "solver": "impulses"}),
    (6.0, "chain5", {"method": "tree"}),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before a worker says that it is ready: tests are handed out when all of them are."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or len(session.items) < MANY:
        return
    from linkwork import Simulation, scene

    busy = [0.0] * worker["workercount"]
    for cost, name, options in WAYS:
        least = busy.index(min(busy))
        busy[least] += cost
        if worker["workerid"] == f"gw{least}":
            with contextlib.suppress(Exception):  # what fails here fails in a test
                Simulation(scene(name), **options).step()
