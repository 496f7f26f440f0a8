"""Sweeps: what varies, what is measured, what fails, and where cases run."""

import math
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.processes import all_end, started, wait_until
from helpers.studied import PENDULUMS, Slow, product, troubled
from linkwork import Body, Hinge, LinkworkError, Model, Simulation, load_model
from linkwork.studies import dataset
from linkwork.studies.design import grid
from linkwork.studies.evaluate import evaluate, failures
from linkwork.studies.sweep import sweep

TINY = {"x": [1.0, 2.0, 3.0], "y": [10.0, 20.0]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(PENDULUMS)
    return path


def test_each_case_is_the_run_that_one_would_make_by_hand(file):
    found = sweep(
        str(file),
        {"left.length": [0.4, 0.7], "b.damping": [0.0, 0.01], "length": [0.6]},
        measure=["max(a.angle_rate)", "rms(b.angle)", "b.angle"],
        duration=0.5, every=0.1, on="here",
    )  # fmt: skip
    assert dict(found.sizes) == {"left.length": 2, "b.damping": 2, "length": 1, "time": 6}
    assert found["max(a.angle_rate)"].attrs["units"] == "rad/s"
    model = load_model(file, {"left.length": 0.7, "length": 0.6})
    model.joints["b"] = Hinge(
        "b", "ground", "right.rod", at=(1, 0, 0), axis=(0, 1, 0), position=0.3, damping=0.01
    )
    record = Simulation(model).run(0.5, every=0.1)
    here = found.sel({"left.length": 0.7, "b.damping": 0.01, "length": 0.6})
    assert float(here["max(a.angle_rate)"]) == record["a.angle_rate"].max()
    np.testing.assert_array_equal(here["b.angle"], record["b.angle"])
    np.testing.assert_allclose(found["time"], record.time, rtol=1e-15)
    x = record["b.angle"]
    mean = float(((x[1:] ** 2 + x[:-1] ** 2) / 2).mean())
    assert float(here["rms(b.angle)"]) == pytest.approx(math.sqrt(mean), rel=1e-12)


def test_components_of_vectors_and_gravity_vary():
    model = Model("swing")
    model.add(Body("rod", mass=1, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5)))
    model.add(Hinge("pin", "ground", "rod", axis=(0, 1, 0), position=1e-4))
    found = sweep(
        model,
        {"rod.com.z": [-0.5, -1.0], "gravity.z": [-9.81, -1.62]},
        measure=["pin.angle"],
        duration=1.0,
        on="here",
    )
    for z in (-0.5, -1.0):
        for g in (-9.81, -1.62):
            w = math.sqrt(-g * -z / (0.1 + z * z))
            angle = found["pin.angle"].sel({"rod.com.z": z, "gravity.z": g})
            np.testing.assert_allclose(angle, 1e-4 * np.cos(w * found["time"]), atol=1e-10)  # θ³/6 and steps


@pytest.mark.parametrize(
    ("vary", "what"),
    [
        ({"lenght": [1.0]}, "no such parameter"),
        ({"left.lenght": [1.0]}, "no such parameter"),
        ({"lft.length": [1.0]}, "nothing called 'lft.length'"),
        ({"left.rodd.mass": [1.0]}, "no instance 'rodd'"),
        ({"a.dampin": [1.0]}, "did you mean 'a.damping'"),
    ],
)
def test_names_that_nothing_has_are_refused_before_anything_runs(file, vary, what):
    with pytest.raises(LinkworkError, match=what):
        sweep(str(file), vary, duration=0.1, on="here")


def test_a_name_in_a_model_gets_the_nearest_one(file):
    with pytest.raises(LinkworkError, match=r"'a.dampin' to vary \(did you mean 'a.damping'"):
        sweep(load_model(file), {"a.dampin": [1.0]}, duration=0.1, on="here")


def test_a_signal_that_nothing_has_is_refused(file):
    with pytest.raises(LinkworkError, match=r"did you mean 'a\.angle'"):
        sweep(str(file), {"length": [1.0]}, measure=["max(a.angel)"], duration=0.1, on="here")
    with pytest.raises(LinkworkError, match=r"there is no 'maxx' \(did you mean 'max'"):
        sweep(str(file), {"length": [1.0]}, measure=["maxx(a.angle)"], duration=0.1, on="here")


def test_cases_that_fail_are_kept_with_their_reasons(file):
    found = sweep(str(file), {"a.damping": [-1.0, 0.1]}, duration=0.1, on="here")
    assert np.isnan(found["final(a.angle)"].values).tolist() == [True, False]
    ((case, why),) = failures(found)
    assert case == {"a.damping": -1.0}
    assert "must not be less than 0" in why


def test_a_sweep_of_which_no_case_can_begin_says_why(file):
    with pytest.raises(LinkworkError, match="must not be less than 0"):
        sweep(str(file), {"a.damping": [-1.0, -2.0]}, duration=0.1, on="here")


def test_a_case_that_kills_its_process_fails_and_no_other(tmp_path):
    found = evaluate(troubled, grid({"x": [float(k) for k in range(1, 21)]}), on="processes:2")
    why = {case["x"]: text for case, text in failures(found)}
    assert why == {5.0: "ValueError: five is right out", 13.0: "the process that ran it died"}
    good = [x for x in range(1, 21) if x not in (5, 13)]
    assert found["square"].sel(x=good).values.tolist() == [x * x for x in good]


def test_any_executor_of_the_standard_library_gives_the_same(tmp_path):
    design = grid(TINY)
    here = evaluate(product, design, on="here")
    with ThreadPoolExecutor(2) as threads:
        assert here.identical(evaluate(product, design, on=threads))
        assert threads.submit(int, 3).result() == 3  # the user's own: still open
    assert here.identical(evaluate(product, design, on="processes:2"))
    assert here["list"].dims == ("x", "y", "list index")


@pytest.mark.parametrize(
    ("on", "what"),
    [
        ("proceses", "did you mean 'processes'"),
        ("processes:0", "at least one"),
        ("here://a", "no address"),
        (3, "not 3"),
    ],
)
def test_places_that_do_not_exist_are_refused(on, what):
    with pytest.raises(LinkworkError, match=what):
        evaluate(product, grid(TINY), on=on)


def test_results_come_back_from_disk_and_a_finished_study_is_not_run_again(tmp_path):
    path, log = tmp_path / "study.nc", tmp_path / "log"
    design = grid({"x": [1.0, 2.0, 3.0]})
    first = evaluate(Slow(log, 0.0), design, on="here", save=path, about={"study": "slow"})
    assert not path.with_name("study.nc.part").exists()
    assert first.identical(dataset.load(path))
    assert first.identical(evaluate(Slow(log, 0.0), design, on="here", save=path, about={"study": "slow"}))
    assert log.read_text().split() == ["1", "2", "3"]
    other = evaluate(Slow(log, 0.0), grid({"x": [4.0]}), on="here", save=path, about={"study": "other"})
    assert other["half"].values.tolist() == [2.0]
    assert log.read_text().split() == ["1", "2", "3", "4"]


def test_the_part_file_of_another_study_is_kept(tmp_path, caplog):
    path = tmp_path / "study.nc"
    (tmp_path / "study.nc.part").write_bytes(b"something of mine")
    evaluate(product, grid(TINY), on="here", save=path)
    assert (tmp_path / "study-1.nc.part").read_bytes() == b"something of mine"
    assert "study-1.nc.part" in caplog.text


SCRIPT = """
import sys
from helpers.studied import Slow
from linkwork.studies.design import grid
from linkwork.studies.evaluate import evaluate
if __name__ == "__main__":
    design = grid({"x": [float(k) for k in range(40)]})
    evaluate(Slow(sys.argv[1], 0.1), design, on="processes:2", save=sys.argv[2], about={"study": "killed"})
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_is_killed_goes_on_and_nothing_is_lost_or_done_twice(tmp_path, how):
    script, log, path = tmp_path / "study.py", tmp_path / "log", tmp_path / "study.nc"
    script.write_text(SCRIPT)
    part = tmp_path / "study.nc.part"
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, str(script), str(log), str(path)]
    with started(command, env=environment, start_new_session=True, stderr=subprocess.PIPE) as process:
        wait_until(
            lambda: part.exists() and log.exists() and len(log.read_text().split()) >= 10,
            "ten cases are done, and some of them kept",
        )
        children = [
            int(p)
            for p in subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True
            ).stdout.split()
        ]
        process.send_signal(how)
        process.wait()
    all_end(children)
    assert part.exists()
    assert not path.exists()
    before = log.read_text().split()
    assert len(before) < 40
    subprocess.run(command, env=environment, check=True)
    done = log.read_text().split()
    found = dataset.load(path)
    assert found["half"].values.tolist() == [0.5 * k for k in range(40)]
    # What was under way when it was killed was not kept, and no more than that was begun again: six for two workers.
    assert set(done) == {str(k) for k in range(40)}
    twice = len(done) - 40
    assert 0 <= twice <= 6
    assert not part.exists()


def test_an_outcome_that_was_cut_off_is_done_again(tmp_path):
    path, log, design = tmp_path / "s.nc", tmp_path / "log", grid({"x": [1.0, 2.0, 3.0]})

    class EnoughError(Exception):
        pass

    def stop(share):
        if share > 0.6:
            raise EnoughError

    with pytest.raises(EnoughError):
        evaluate(Slow(log, 0), design, on="here", save=path, about={"a": 1}, progress=stop)
    part = tmp_path / "s.nc.part"
    part.write_bytes(part.read_bytes()[:-5])
    found = evaluate(Slow(log, 0), design, on="here", save=path, about={"a": 1})
    assert found["half"].values.tolist() == [0.5, 1.0, 1.5]
    assert log.read_text().split() == ["1", "2", "2", "3"]


def test_two_studies_cannot_write_one_file(tmp_path):
    path = tmp_path / "s.nc"

    def second(share):
        with pytest.raises(LinkworkError, match="another study writes it"):
            evaluate(product, grid(TINY), on="here", save=path)

    evaluate(product, grid(TINY), on="here", save=path, progress=second)
