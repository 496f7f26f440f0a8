"""The command line as a user meets it."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from helpers import processes
from helpers.command import call, document
from helpers.energy import pushed_about
from helpers.processes import command_line, run
from helpers.runs import SETTLED, SLOP, rows_in, touches
from linkwork.cli import common
from linkwork.methods.capabilities import LACKS
from linkwork.methods.features import features
from linkwork.methods.registry import WAYS
from linkwork.results.record import Record
from linkwork.scenes import find_scene, gallery_names, scene, scene_names


def test_scenes_are_listed_with_what_they_are():
    rows = document("scenes")
    assert [row["scene"] for row in rows] == gallery_names()
    assert all(row["description"] and row["source"] for row in rows)
    assert "chain5" in call("scenes").output


TOUCHING = [name for name in scene_names() if touches(scene(name))]


def in_play(record):
    """Energy that comes and goes in a run [J]."""
    return sum(np.ptp(record[f"energy.{kind}"]) for kind in ("kinetic", "gravity", "strain", "supplied"))


SPINNING = {"eulers_disc", "rattleback"}
"""Rigid bodies on a point that runs round or rattles at 30 to 100 rad/s, with nothing that damps them."""


def short(name):
    """A time in which something happens in a scene and a test stays short [s]."""
    return 0.2 if name in TOUCHING and len(scene(name).flatten().bodies) > 100 else 0.5


def first_order(name, record):
    """Energy that a run with contact may gain or lose from nowhere [J].

    At 1 ms rates of some 10 rad/s leave 1 % of the energy in play; at rest, what forces are off when they settle. Where
    forces go round with the body all the time, what each step is off by adds up instead.
    """
    if name in SPINNING:
        power = pushed_about(scene(name), record)[
            1:
        ]  # accelerations are those of the last step: at the start, none
        return 0.5 * find_scene(name).dt * power.mean() * record.time[-1]
    mass = sum(body.mass_properties.mass for body in scene(name).flatten().bodies.values())
    return 0.01 * in_play(record) + 0.5 * mass * (SETTLED * record.time[-1]) ** 2


@pytest.mark.parametrize("name", TOUCHING)
def test_impulses_keep_the_energy_of_scenes_with_contact_or_say_that_they_were_cut_short(name, tmp_path):
    path = tmp_path / "run.h5"
    report = document("run", name, "--time", short(name), "--solver", "impulses", "--save", path)
    assert report["worst_gap_m"] < 1e-3
    told = [text for text in report["warnings"] if "before impulses settled" in text]
    assert bool(told) == (report["steps_cut_short"] > 0)
    assert told or report["energy_drift_J"] < first_order(name, Record.load(path))


@pytest.mark.parametrize("name", TOUCHING)
def test_every_scene_with_contact_runs_and_keeps_its_energy_to_first_order(name, tmp_path):
    duration, path = short(name), tmp_path / "run.h5"
    report = document("run", name, "--time", duration, "--save", path, "--plot", tmp_path / "p.png")
    assert report["steps"] == round(duration / report["dt"])
    assert report["integrator"] == "euler"
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    record = Record.load(path)
    for group in ("positions", "rates", "energy"):
        assert np.isfinite(record.array(group)).all()
    assert report["energy_drift_J"] < first_order(name, record)
    assert report["worst_gap_m"] < 1e-8
    # Things that fly at each other pass no more than their way of one step, beyond the slop that is left alone.
    places = record.array("positions").reshape(len(record), -1, 3)
    way = np.linalg.norm(np.diff(places, axis=0), axis=2) / np.diff(record.time)[:, None] * report["dt"]
    assert report["deepest_m"] < 1.1 * SLOP + 2 * way.max()


@pytest.mark.parametrize("name", [name for name in scene_names() if name not in TOUCHING])
def test_every_scene_runs_and_keeps_its_energy(name, tmp_path):
    report = document("run", name, "--time", 0.5, "--save", tmp_path / "run.h5")
    assert report["steps"] == round(0.5 / report["dt"])
    if report["method"] == "tree":
        assert report["warnings"] == []
        # RK4 at 1 ms: rates of at most some 10 rad/s give (h w)⁴ = 1e-8 of the energy in play.
        assert report["energy_drift_J"] < 1e-5
    else:
        # Every step ends on the constraints. Steps are of fourth order too, unless events crowd, as the hitch's do.
        assert report["worst_gap_m"] < 1e-12
        record = Record.load(tmp_path / "run.h5")
        # What waits for an operator stands still: rounding of its weight is left.
        rounding = 1e-14 * np.abs(record["energy.gravity"]).max()
        assert report["energy_drift_J"] <= 1e-5 * in_play(record) + rounding


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in scene_names()
        if name not in TOUCHING
        and (find_scene(name).method or features(scene(name).flatten(), LACKS["tree"]))
    ],
)
def test_impulses_keep_energy_to_first_order(name):
    # Half the step, about half the drift.
    report = document("run", name, "--time", 0.5, "--solver", "impulses")
    assert report["worst_gap_m"] < 1e-3
    finer = document("run", name, "--time", 0.5, "--solver", "impulses", "--dt", report["dt"] / 2)
    assert finer["energy_drift_J"] < 0.75 * report["energy_drift_J"] + 1e-6


def test_a_report_has_what_programs_need():
    report = document("run", "chain5", "--time", 0.2, "--integrator", "euler", "--dt", 0.002)
    assert report["scene"] == "chain5"
    assert report["integrator"] == "euler"
    assert report["steps"] == 100
    assert {"wall_s", "us_per_step", "energy_drift_J", "warnings"} <= report.keys()


def test_a_run_writes_its_record_and_its_plot(tmp_path):
    result = call("run", "puma560", "--time", 0.2, "--save", tmp_path / "r.h5", "--plot", tmp_path / "p.png")
    assert result.exit_code == 0, result.output
    assert len(Record.load(tmp_path / "r.h5")) == 21
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "energy drift" in result.output


def test_parameters_of_a_scene_can_be_set():
    report = document("run", "chain", "--set", "links=3", "--set", "damping=0.5", "--time", 0.1)
    assert report["scene"] == "chain"
    result = command_line("run", "chain", "--set", "lenght=3")
    assert result.returncode == 1
    assert "did you mean 'length'?" in result.stderr


def test_check_tells_what_a_mechanism_is():
    report = document("check", "puma560")
    assert report["dof"] == 6
    assert report["cuts"] == []
    assert report["ok"]
    assert any("triangle" in finding["what"] for finding in report["findings"])


MODEL = """
linkwork: 1
name: door
units: SI
bodies:
  door: {mass: 20, shapes: [{shape: box, size: [0.8, 0.04, 2.0], at: [0.4, 0, 0]}]}
joints:
  hinges: {type: hinge, a: ground, b: door, axis: [0, 0, 1], velocity: 1.0, damping: 0.5}
"""


def test_large_steps_and_their_damping_can_be_chosen():
    for method in ("hybrid", "global", "topological"):
        told = document("run", "crank_rocker", "--time", 0.1, "--dt", 0.01, "--method", method, "--rho", 0.5)
        assert (told["method"], told["integrator"], told["rho"], told["steps"]) == (method, "alpha", 0.5, 10)
        assert told["worst_gap_m"] < 1e-12
        assert told["steps_halved"] == 0
    result = call("run", "crank_rocker", "--rho", 0.5)
    assert result.exit_code != 0
    assert "rho: no option of method 'simgc'" in str(result.exception)
    assert "rho belongs to hybrid, global and topological" in str(result.exception)


def test_a_model_file_can_be_run_and_checked(tmp_path):
    path = tmp_path / "door.yaml"
    path.write_text(MODEL)
    assert document("run", path, "--time", 1)["steps"] == 1000
    assert document("check", path)["dof"] == 1


def test_all_problems_of_a_file_come_at_once(tmp_path):
    path = tmp_path / "door.yaml"
    path.write_text(MODEL.replace("mass: 20", "mas: 20").replace("b: door", "b: dor"))
    result = command_line("run", path)
    assert result.returncode == 1
    assert "did you mean 'mass'?" in result.stderr
    assert "did you mean 'door'?" in result.stderr
    assert f"{path}:6" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "chian5"), "did you mean 'chain5'?"),
        (("run", "missing.yaml"), "missing.yaml"),
        (("run", "chain5", "--integrator", "rk9"), "rk4, adams, adaptive, euler"),
        (("run", "chain5", "--dt", "-1"), "dt must be a positive number"),
        (("run", "chain5", "--plot", "nowhere/p.png"), "no folder"),
    ],
)
def test_mistakes_give_one_line_and_exit_code_one(arguments, message):
    result = command_line(*arguments)
    assert result.returncode == 1
    assert message in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr


def test_help_and_version():
    assert "warmup" in call("--help").output
    assert command_line("--version").stdout.strip() == "0.1.0"
    for name in ("run", "check", "scenes", "warmup", "schema"):
        assert call(name, "--help").exit_code == 0


def test_warmup_says_where_the_kernels_are_kept():
    report = document("warmup")
    assert report["seconds"] > 0
    assert report["cache"] is not None


def test_the_table_of_the_paper_is_reproduced(tmp_path):
    result = call("reproduce", "simgc", "--json", "--plot", tmp_path / "table.png")
    assert result.exit_code == 0, result.output
    rows = {(row["scene"], row["method"]): row for row in json.loads(result.stdout)["rows"]}
    assert len(rows) == 9
    for name in ("chain5", "peaucellier"):
        assert rows[name, "direct"]["worst_gap_m"] <= 1e-12
        # The paper's SIMGC needs 6 and 40 iterations a step; ours must not need more.
        assert rows[name, "simgc"]["iterations"] <= rows[name, "simgc"]["paper_iterations"]
        assert rows[name, "simmc"]["iterations"] > rows[name, "simgc"]["iterations"]
    # Few steps of the grip take hundreds of iterations; most keep to the paper's 10.
    grip, floating = rows["gripper", "simgc"], rows["gripper", "simmc"]
    assert grip["iterations_median"] <= grip["paper_iterations"] < floating["iterations_median"]
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    assert "no paper 'simgx'" in command_line("reproduce", "simgx").stderr


def test_the_schema_is_printed():
    assert json.loads(call("schema").stdout)["properties"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_has_recorded(tmp_path, how):
    part = tmp_path / "long.h5.part"
    command = [sys.executable, "-m", "linkwork", "run", "chain5", "--time", 1e6, "--every", 0.1]
    with processes.started([*command, "--save", tmp_path / "long.h5"], stderr=subprocess.PIPE) as process:
        seen = processes.wait_until(lambda: max(rows_in(part) - 1, 0), "rows are recorded")
        process.send_signal(how)
        _, errors = process.communicate(timeout=processes.PATIENCE)
    assert process.returncode != 0
    if how == signal.SIGINT:
        assert str(part) in errors.replace("\n", "")
        assert "Traceback" not in errors
    record = Record.load(part)
    assert not record.complete
    assert len(record.time) >= seen


def test_help_names_every_method():
    told = " ".join(call("run", "--help").output.split())
    listed = {entry["method"] for entry in document("methods")}
    assert listed == {way.method for way in WAYS}
    for name in listed:
        assert re.search(rf"\b{name}\b", told)


def test_an_interruption_while_the_command_line_loads_leaves_no_traceback():
    code = (
        "import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'linkwork.cli':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from linkwork.__main__ import main\n"
        "main()\n"
    )
    done = run([sys.executable, "-c", code])
    assert done.returncode == 130
    assert done.stderr == ""


@pytest.mark.parametrize(("seconds", "told"), [(0.5, True), (0.0, False)])
def test_what_takes_long_to_prepare_is_told(seconds, told, monkeypatch, capsys):
    monkeypatch.setattr(common, "_PATIENCE", 0.1)
    with common.compiling(quiet=False):
        time.sleep(seconds)
    assert ("still preparing" in capsys.readouterr().err) is told
