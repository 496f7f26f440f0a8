"""The same study on Dask, on Ray and in ranks of MPI: the same data set, and nothing runs on afterwards."""

import os
import sys

import pytest

from helpers.processes import all_end, run
from helpers.studied import PENDULUMS
from linkwork import LinkworkError, sweep
from linkwork.distributed.launch import mpiexec
from linkwork.studies import dataset
from linkwork.studies.design import grid
from linkwork.studies.evaluate import evaluate

pytestmark = [pytest.mark.slow, pytest.mark.peers]
VARY = {"left.length": [0.4, 0.7], "a.damping": [-1.0, 0.0, 0.01]}
MEASURE = ["max(a.angle_rate)", "b.angle"]


def own_process(case):
    """Which process runs it."""
    return {"pid": os.getpid()}


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # for workers that start anew
    path = tmp_path / "two.yaml"
    path.write_text(PENDULUMS)
    return str(path)


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_local_cluster_gives_the_same_data_set(file, kind):
    pytest.importorskip("distributed" if kind == "dask" else "ray")
    here = sweep(file, VARY, measure=MEASURE, duration=0.2, on="here")
    assert here.identical(sweep(file, VARY, measure=MEASURE, duration=0.2, on=f"{kind}:2"))
    pids = {int(p) for p in evaluate(own_process, grid({"x": range(8)}), on=f"{kind}:2")["pid"]}
    assert os.getpid() not in pids
    all_end(list(pids))


def test_a_dask_scheduler_that_runs_is_used_and_left_alone():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        on = cluster.scheduler_address.replace("tcp", "dask")
        assert len({int(p) for p in evaluate(own_process, grid({"x": range(4)}), on=on)["pid"]}) == 1
        with distributed.Client(cluster) as client:
            assert client.submit(int, 3).result() == 3


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    distributed = pytest.importorskip("distributed")
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda *a, timeout: real(*a, timeout="1s"))
    with pytest.raises(LinkworkError, match=r"answers at '127\.0\.0\.1:1'"):
        evaluate(own_process, grid({"x": [1.0]}), on="dask://127.0.0.1:1")


RANKS = """
import sys
from linkwork import sweep
if __name__ == "__main__":
    sweep(sys.argv[1], {VARY}, measure={MEASURE}, duration=0.2, on="mpi", save=sys.argv[2])
"""


def test_ranks_of_mpi_give_the_same_data_set(file, tmp_path):
    pytest.importorskip("mpi4py")
    script, path = tmp_path / "study.py", tmp_path / "study.nc"
    script.write_text(RANKS.replace("{VARY}", repr(VARY)).replace("{MEASURE}", repr(MEASURE)))
    here = sweep(file, VARY, measure=MEASURE, duration=0.2, on="here", save=tmp_path / "here.nc")
    assert here.sizes
    done = run(mpiexec(3, ["-m", "mpi4py.futures", str(script), file, str(path)]))
    assert done.returncode == 0, done.stderr
    assert dataset.load(tmp_path / "here.nc").identical(dataset.load(path))
