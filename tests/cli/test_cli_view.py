"""`linkwork view` and `linkwork replay` as a user starts and ends them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from helpers import processes
from helpers.processes import IGNORED, PATIENCE, command_line
from helpers.runs import rows_in
from linkwork import Record, Simulation, scene

pytest.importorskip("viser", reason="no viser found: tests of the page were LEFT OUT; install linkwork[view]")


class Command:
    """A command that runs; `first` is the line that it prints."""

    def __init__(self, *arguments, **options):
        self.process = processes.start(
            [sys.executable, "-m", "linkwork", *arguments],
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        )
        self.first = self.process.stdout.readline()

    def end(self, how):
        """Send a signal; returns exit code and what else was printed."""
        self.process.send_signal(how)
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, errors


@pytest.fixture
def begin():
    """Begins commands; those that did not end are ended."""
    commands = []

    def start(*arguments, **options):
        commands.append(Command(*arguments, **options))
        return commands[-1]

    yield start
    for command in commands:
        if command.process.poll() is None:
            command.process.kill()
            command.process.communicate()


def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.status, answer.read()


def complains(result, *words):
    """One readable message, not a traceback."""
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr
    return True


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_interrupted(begin, how):
    command = begin("view", "chain5", "--no-open", "--port", 0, "--json")
    told = json.loads(command.first)
    assert told["url"] == f"http://127.0.0.1:{told['port']}/"
    status, body = get(told["url"])
    assert status == 200
    assert b"<html" in body
    assert json.loads(get(told["url"] + "gallery/now")[1])["scene"] == "chain5"
    code, out, errors = command.end(how)
    assert code == 0
    assert out == ""
    assert errors == ""
    processes.group_ends(command.process.pid)
    with pytest.raises(urllib.error.URLError):
        get(told["url"])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_page_in_the_background_ends_by_the_same_signals(begin, how):
    """Started where SIGINT is ignored: by nohup, or in the background of a script."""
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0, "--json", interrupt=IGNORED)
    assert get(json.loads(command.first)["url"])[0] == 200
    assert command.end(how) == (0, "", "")
    processes.group_ends(command.process.pid)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_first_start_ends_while_kernels_are_compiled(tmp_path, how):
    """The page is there and says how far compiling is; it ends as it does later, with all that compiles for it."""
    environment = {**os.environ, "LINKWORK_CACHE_DIR": str(tmp_path)}
    arguments = [sys.executable, "-m", "linkwork", "view", "gripper", "--no-open", "--port", 0]
    with processes.started(
        arguments, env=environment, stderr=subprocess.PIPE, start_new_session=True, interrupt=IGNORED
    ) as process:
        assert "compiling" in process.stderr.readline()
        process.send_signal(how)
        out, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
        assert "gripper runs at http://127.0.0.1:" in " ".join(out.split())
        processes.group_ends(process.pid)


SERVES = """
import sys, time
from linkwork.cli.ending import ended_by_signals
with ended_by_signals() as closers:
    {begin}
    print("ready", flush=True)
    time.sleep(3600)
"""
RECORDS = """from linkwork import show
    page = show("a01_pendulum", port=0, folder=sys.argv[1], block=False)
    page.session.start_recording("swing")
    closers.append(page.close)
"""
HANGS = """import threading
    threading.Thread(target=time.sleep, args=(3600,)).start()  # Python would wait for it
    closers += [lambda: print("closed", flush=True), lambda: time.sleep(3600)]
"""


def serve(begin, *arguments):
    """A process that ends by signals, and has got ready to."""
    code = SERVES.format(begin=begin)
    return processes.started(
        [sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, start_new_session=True
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_recording_is_closed_at_the_end(tmp_path, how):
    with serve(RECORDS, tmp_path) as process:
        assert process.stdout.readline() == "ready\n"
        processes.wait_until(lambda: rows_in(tmp_path / "swing.h5.part"), "something is recorded")
        process.send_signal(how)
        assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["swing.h5"]
    record = Record.load(tmp_path / "swing.h5")
    assert record.complete
    assert len(record.time) > 0


def test_what_never_closes_does_not_hold_up_the_end():
    with serve(HANGS) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=PATIENCE) == ("closed\n", "")
        assert process.returncode == 0


def test_a_second_signal_ends_at_once():
    with serve(HANGS) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "closed\n"
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        assert process.returncode in (128 + signal.SIGTERM, 0)  # 0: it had waited long enough before


def test_the_address_is_told_to_people_too(begin):
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0)
    assert "a01_pendulum" in command.first
    assert "http://127.0.0.1:" in command.first
    code, _, errors = command.end(signal.SIGINT)
    assert code == 0
    assert "Traceback" not in errors


def test_the_gallery_comes_first(begin):
    command = begin("view", "--no-open", "--port", 0, "--json")
    url = json.loads(command.first)["url"]
    assert url.endswith("/gallery")
    assert b"/web/main.js" in get(url)[1]
    assert "chain5" in [scene["name"] for scene in json.loads(get(url + "/scenes")[1])]
    assert command.end(signal.SIGTERM)[0] == 0


def test_a_busy_port_is_said(begin):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = command_line("view", "chain5", "--no-open", "--port", port)
    assert complains(result, f"port {port}", "is taken", "--port")


def test_a_broken_model_is_said(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("linkwork: 1\nname: broken\nbodies:\n  box: {mass: -1}\n")
    result = command_line("view", path, "--no-open", "--port", 0, "--json")
    assert complains(result, "broken.yaml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chain6",), ("no scene 'chain6'", "did you mean")),
        (("nowhere.yaml",), ("nowhere.yaml",)),
        (("chain5", "--folder", "/nowhere/at/all"), ("no folder",)),
        (("chain5", "--speed", "0"), ("speed must be a positive number",)),
        (("crank_rocker", "--method", "tree"), ("tree",)),
        (("chain5", "--set", "colour=3"), ("no parameter 'colour'",)),
    ],
)
def test_what_cannot_be_is_said(arguments, words):
    assert complains(command_line("view", *arguments, "--no-open", "--port", 0), *words)


def test_a_page_for_others_warns_and_wants_a_token(begin):
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0, "--host", "0.0.0.0", "--json")
    told = json.loads(command.first)
    token = told["token"]
    assert token not in told["url"]
    here = f"http://127.0.0.1:{told['port']}/"
    for path in ("", f"?token={token}"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(here + path)
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    enter = urllib.request.Request(f"{here}enter", headers={"Authorization": f"Bearer {token}"})
    assert visitor.open(enter, timeout=PATIENCE).status == 204
    assert visitor.open(here, timeout=PATIENCE).status == 200
    code, out, errors = command.end(signal.SIGINT)
    assert code == 0
    assert "warning:" in errors
    assert "0.0.0.0" in errors
    assert token not in out + errors


def test_a_token_may_be_chosen_and_is_not_told(begin, tmp_path):
    secret = "a token of sufficient length"
    (tmp_path / "token").write_text(f"{secret}\n")
    command = begin(
        "view",
        "a01_pendulum",
        "--no-open",
        "--port",
        0,
        "--token-file",
        tmp_path / "token",
        "--host",
        "0.0.0.0",
    )
    assert secret not in command.first
    here = re.search(r"http://\S+", command.first)[0]
    port = here.rstrip("/").rpartition(":")[2]
    enter = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {secret}"})
    assert urllib.request.urlopen(enter, timeout=PATIENCE).status == 200
    code, out, errors = command.end(signal.SIGTERM)
    assert code == 0
    assert secret not in out + errors


def test_a_token_that_was_made_is_told_to_people(begin):
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0, "--host", "0.0.0.0")
    out = command.first + command.process.stdout.readline()
    assert re.search(r"visitors must type this token: ([a-z2-7]{4}-){3}[a-z2-7]{4}", out)
    assert command.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("content", [None, "short"])
def test_a_token_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content)
    said = command_line("view", "a01_pendulum", "--no-open", "--port", 0, "--token-file", path)
    assert complains(said, "token", "cannot be read" if content is None else "at least 16 bytes")


def test_a_record_is_replayed(begin, tmp_path):
    path = tmp_path / "swing.h5"
    Simulation(scene("a01_pendulum")).run(0.2, every=0.01, save=path)
    command = begin("replay", path, "--no-open", "--port", 0, "--json")
    url = json.loads(command.first)["url"]
    assert get(url)[0] == 200
    assert json.loads(get(url + "gallery/now")[1])["scene"] == "swing.h5"
    code, out, errors = command.end(signal.SIGINT)
    assert (code, out, errors) == (0, "", "")
    processes.group_ends(command.process.pid)


def test_what_is_no_record_is_said(tmp_path):
    text = tmp_path / "notes.h5"
    text.write_text("not a record")
    assert complains(command_line("replay", text, "--no-open", "--port", 0), "notes.h5")
    assert complains(command_line("replay", tmp_path / "none.h5", "--no-open", "--port", 0), "none.h5")
    assert complains(command_line("replay", tmp_path, "--no-open", "--port", 0), str(tmp_path))
