"""Serving sealed components: over loopback, in processes that end by themselves."""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.processes import IGNORED, PATIENCE, alive, all_end, run, started, wait_until
from linkwork import Body, Component, Model, Sealed, Weld
from linkwork.cli import app
from linkwork.distributed import handshake
from linkwork.distributed.handshake import ask_header, call
from linkwork.distributed.launch import Servant
from linkwork.distributed.links import LinkLost
from linkwork.distributed.sealed_file import read_header, seal, unseal
from linkwork.distributed.server import Server, is_loopback
from linkwork.model.errors import LinkworkError, ModelError

KEY = b"correct horse battery staple"
TOKEN = "a token of sufficient length"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    part = Component("strut")
    part.add(Body("top", mass=1.0, at=(0.0, 0.0, 0.5)))
    part.add(Body("bottom", mass=2.0))
    part.add(Weld("rod", "top", "bottom"))
    seal(part, tmp_path / "strut.sealed", ["top"])
    return tmp_path / "strut.sealed"


class Running:
    """A server in a thread, and what it said."""

    def __init__(self, file: Path, token: bytes | None = None):
        self.said: list[str] = []
        self.server = Server(*unseal(file), "127.0.0.1", 0, token, self.said.append)
        self.address = self.server.address
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # closed by the test
            self.server.run()

    def hears(self, text: str, times: int | None = None) -> None:
        """Wait until it has said something, or so many times."""

        def heard() -> bool:
            count = sum(text in line for line in self.said)
            return count > 0 if times is None else count == times

        wait_until(heard, f"'{text}' is said")


@pytest.fixture
def running(file: Path) -> Iterator[Running]:
    made = Running(file)
    yield made
    made.server.close()


def command(*arguments: object) -> list[object]:
    return [sys.executable, "-m", "linkwork", "serve", *arguments]


# --- talking ---


def test_a_model_asks_an_address_for_its_ports(running: Running, file: Path) -> None:
    assert ask_header(running.address) == read_header(file)
    model = Model("car")
    model.add(Sealed("front", running.address, at=(1.0, 0.0, 0.0)))
    model.add(Body("chassis", mass=900.0))
    model.add(Weld("hold", "chassis", "front.top"))
    flat = model.flatten()
    assert flat.bodies["front.top"].at == (1.0, 0.0, 0.5)
    assert not list(flat.problems())
    running.hears("joined")
    running.hears("left")


def test_an_address_is_asked_once(running: Running) -> None:
    sealed = Sealed("front", running.address)
    assert not any("joined" in line for line in running.said)
    for _ in range(3):
        assert sealed.header.name == "strut"
    running.hears("left", 1)


def test_one_model_at_a_time(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model may hold several lines; another one is sent away until it has left."""
    first, second = call(running.address), call(running.address)
    monkeypatch.setattr(handshake, "MODEL", "another")
    with pytest.raises(LinkworkError, match=r"refused: busy with the model of 127\.0\.0\.1"):
        call(running.address)
    first.close()
    second.close()
    running.hears("left", 2)
    call(running.address).close()


def test_strangers_do_no_harm(running: Running) -> None:
    where = ("127.0.0.1", running.server.port)
    for data in (
        b"",
        b"GET / HTTP/1.0\r\n\r\n",
        b"LWK1" + b"\xff" * 12,
        b"LWK1\x02\0\0\0\x08" + bytes(15),
        os.urandom(99),
    ):
        with socket.create_connection(where, timeout=PATIENCE) as stranger:
            stranger.sendall(data)
    running.hears("was not understood", 5)
    assert ask_header(running.address).name == "strut"


def test_who_has_not_said_hello_sends_little(running: Running) -> None:
    link = handshake.dial(running.address)
    link.hear()
    link.tell({"model": "x" * 5000})
    with pytest.raises(LinkLost, match="closed the connection"):
        link.hear()
    running.hears("announced a message")


def test_tokens(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Running(file, TOKEN.encode())
    try:
        monkeypatch.delenv("LINKWORK_TOKEN", raising=False)
        with pytest.raises(LinkworkError, match="wants to know a token; set LINKWORK_TOKEN"):
            ask_header(made.address)
        monkeypatch.setenv("LINKWORK_TOKEN", "another token of some length")
        with pytest.raises(LinkworkError, match="refused: the token is not the right one"):
            ask_header(made.address)
        monkeypatch.setenv("LINKWORK_TOKEN", TOKEN)
        assert ask_header(made.address).name == "strut"
    finally:
        made.server.close()


def test_another_protocol_is_named(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "PROTOCOL", 2)
    link = handshake.dial(running.address)
    assert link.hear()[0]["protocol"] == 2  # server and test share the module
    link.close()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def old() -> None:
            from linkwork.distributed.tcp import TcpLink

            TcpLink(server.accept()[0], "caller").tell({"protocol": 1, "linkwork": "0.0.1"})

        threading.Thread(target=old, daemon=True).start()
        with pytest.raises(LinkworkError, match=r"speaks protocol 1 \(Linkwork 0\.0\.1\), not 2; update"):
            call(f"tcp://127.0.0.1:{server.getsockname()[1]}")


def test_a_header_that_lies_is_refused() -> None:
    """Whoever serves may send anything: ports must be ports."""
    from linkwork.distributed.tcp import TcpLink

    with socket.create_server(("127.0.0.1", 0)) as server:

        def liar() -> None:
            link = TcpLink(server.accept()[0], "caller")
            handshake.welcome(link, None, lambda model: "")
            link.hear()
            port = {"name": "../x", "at": [0, 0, 0], "rotation": [1, 0, 0, 0]}
            link.tell({"header": {"format": 1, "name": "a", "linkwork": "1", "ports": [port]}})

        threading.Thread(target=liar, daemon=True).start()
        with pytest.raises(LinkworkError, match=r"its header is damaged: ports\.0\.name"):
            ask_header(f"tcp://127.0.0.1:{server.getsockname()[1]}")


# --- processes ---


def test_a_servant_serves_and_ends_with_its_owner(file: Path) -> None:
    with Servant(file) as servant:
        assert ask_header(servant.address).name == "strut"
        pid = servant.pid
        assert alive(pid)
    assert not alive(pid)
    servant.close()


def test_a_servant_ends_when_its_owner_is_killed(file: Path) -> None:
    code = (
        "import sys, time; from linkwork.distributed.launch import Servant\n"
        "servant = Servant(sys.argv[1]); print(servant.pid, flush=True); time.sleep(600)"
    )
    with started([sys.executable, "-c", code, file]) as owner:
        pid = int(owner.stdout.readline())
        assert alive(pid)
        owner.send_signal(signal.SIGKILL)
        owner.wait(PATIENCE)
    all_end([pid])


def test_a_servant_says_why_it_cannot_serve(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LINKWORK_SEAL_KEY", raising=False)
    with pytest.raises(LinkworkError, match=r"nothing\.sealed: there is no such file"):
        Servant(tmp_path / "nothing.sealed")
    keyed = tmp_path / "keyed.sealed"
    seal(unseal(file)[0], keyed, ["top"], KEY)
    with pytest.raises(LinkworkError, match="only its owner's key opens it"):
        Servant(keyed)
    (tmp_path / "key").write_bytes(KEY)
    with Servant(keyed, tmp_path / "key") as servant:
        assert ask_header(servant.address).keyed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_in_order(file: Path, number: signal.Signals) -> None:
    with started(command(file, "--port", 0)) as server:
        address = server.stdout.readline().split()[-1]
        link = call(address)  # a model is joined when it ends
        assert "joined" in server.stdout.readline()
        server.send_signal(number)
        rest = server.stdout.read()
        assert server.wait(PATIENCE) == 0
    assert "stopped" in rest
    with pytest.raises(LinkLost, match="closed the connection: its process has ended"):
        link.hear(PATIENCE)


def test_a_server_in_the_background_does_not_hear_an_interrupt(file: Path) -> None:
    """Started where SIGINT is ignored, by nohup or in the background of a script, it is for SIGTERM to end it."""
    with started(command(file, "--port", 0), interrupt=IGNORED) as server:
        address = server.stdout.readline().split()[-1]
        server.send_signal(signal.SIGINT)
        assert ask_header(address).name == "strut"
        server.send_signal(signal.SIGTERM)
        assert "stopped" in server.stdout.read()
        assert server.wait(PATIENCE) == 0


def test_listening_elsewhere_is_warned_of(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Deaf:
        def __init__(self, component: object, header: object, host: str, *rest: object):
            asked.append(host)

        def run(self, once: bool) -> None:
            pass

    monkeypatch.setattr("linkwork.distributed.server.Server", Deaf)
    monkeypatch.setattr("linkwork.distributed.server.stop_on_signals", lambda: None)
    (tmp_path / "token").write_text(TOKEN)
    for more, warned in ((), True), (("--token-file", str(tmp_path / "token")), False):
        said = CliRunner().invoke(app, ["serve", str(file), "--host", "0.0.0.0", *more])
        assert said.exit_code == 0, said.output
        assert ("there is no access control without --token-file" in said.output) is warned
    CliRunner().invoke(app, ["serve", str(file)])
    assert asked == ["0.0.0.0", "0.0.0.0", "127.0.0.1"]


def test_a_port_in_use_is_named(running: Running, file: Path) -> None:
    done = run(command(file, "--port", running.server.port))
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{running.server.port}" in done.stderr


def test_a_dead_address_is_named_where_it_is_written(tmp_path: Path) -> None:
    sealed = Sealed("front", "tcp://127.0.0.1:1")
    model = Model("car")
    model.add(sealed)
    with pytest.raises(
        LinkworkError, match=r"tcp://127\.0\.0\.1:1: nobody listens there"
    ):  # not: no answer for 5 s
        model.flatten()
    with pytest.raises(ModelError, match="is not an address"):
        Sealed("front", "tcp://127.0.0.1")


def test_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "localhost", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "", "::", "192.168.0.7", "127.evil.example")))
