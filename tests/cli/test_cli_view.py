"""`linkwork view` and `linkwork replay` as a user starts and ends them."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from helpers import processes
from helpers.processes import IGNORED, PATIENCE, command_line
from linkwork import Simulation, scene

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

    def left(self):
        """Whether any process of the group is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


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
    assert not command.left()
    with pytest.raises(urllib.error.URLError):
        get(told["url"])


def test_a_page_in_the_background_does_not_hear_an_interrupt(begin):
    """Started where SIGINT is ignored, by nohup or in the background of a script, it is for SIGTERM to end it."""
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0, "--json", interrupt=IGNORED)
    url = json.loads(command.first)["url"]
    command.process.send_signal(signal.SIGINT)
    assert get(url)[0] == 200
    assert command.end(signal.SIGTERM) == (0, "", "")
    assert not command.left()


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
    assert b'data-scene="chain5"' in get(url)[1]
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
    assert "?token=" in told["url"]
    here = f"http://127.0.0.1:{told['port']}/"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        get(here)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        get(f"{here}?token=guess")
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with visitor.open(here + "?" + told["url"].partition("?")[2], timeout=PATIENCE) as answer:
        assert answer.status == 200
        assert "token" not in answer.url
    code, _, errors = command.end(signal.SIGINT)
    assert code == 0
    assert "warning:" in errors
    assert "0.0.0.0" in errors


def test_a_token_may_be_chosen(begin):
    command = begin("view", "a01_pendulum", "--no-open", "--port", 0, "--token", "secret", "--json")
    told = json.loads(command.first)
    assert told["url"].endswith("/?token=secret")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        get(f"http://127.0.0.1:{told['port']}/")
    assert command.end(signal.SIGTERM)[0] == 0


def test_a_record_is_replayed(begin, tmp_path):
    path = tmp_path / "swing.h5"
    Simulation(scene("a01_pendulum")).run(0.2, every=0.01, save=path)
    command = begin("replay", path, "--no-open", "--port", 0, "--json")
    url = json.loads(command.first)["url"]
    assert get(url)[0] == 200
    assert json.loads(get(url + "gallery/now")[1])["scene"] == "swing.h5"
    code, out, errors = command.end(signal.SIGINT)
    assert (code, out, errors) == (0, "", "")
    assert not command.left()


def test_what_is_no_record_is_said(tmp_path):
    text = tmp_path / "notes.h5"
    text.write_text("not a record")
    assert complains(command_line("replay", text, "--no-open", "--port", 0), "notes.h5")
    assert complains(command_line("replay", tmp_path / "none.h5", "--no-open", "--port", 0), "none.h5")
    assert complains(command_line("replay", tmp_path, "--no-open", "--port", 0), str(tmp_path))
