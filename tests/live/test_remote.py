"""Programs that drive a session by datagrams."""

import json
import socket
import time

import pytest

from helpers.operated import driven_cart
from helpers.processes import PATIENCE, wait_until
from helpers.sessions import begun
from linkwork.live.remote import UdpPort
from linkwork.model.errors import LinkworkError

begin = pytest.fixture(begun)


class Program:
    """A controller at the other end of a port."""

    def __init__(self, port, token=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE)
        self.to, self.token, self.seq = ("127.0.0.1", port.port), token, 0

    def send(self, **message):
        self.seq += 1
        known = {} if self.token is None else {"token": self.token}
        self.raw(json.dumps({"seq": self.seq, **known, **message}))

    def raw(self, text):
        self.socket.sendto(text.encode(), self.to)

    def hear(self):
        return json.loads(self.socket.recv(65536))

    def error(self):
        while "error" not in (heard := self.hear()):
            pass
        return heard["error"]


@pytest.fixture
def serve(begin):
    ports, programs = [], []

    def start(token=None, known=None, **options):
        session = begin(driven_cart(), **options)
        port = UdpPort(session, token=token)
        ports.append(port)
        program = Program(port, known)
        programs.append(program)
        return session, program

    yield start
    for program in programs:
        program.socket.close()
    for port in ports:
        port.close()


def test_a_controller_outside_closes_the_loop(serve):
    """A program holds the box at a place with a rate of -(x - 1)/T, which decays as exp(-t/T) [T = 0.2 s]."""
    _, program = serve(paused=False)
    program.send(outputs=["rail.travel"], rate=200.0)
    heard, end = [], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        heard.append(program.hear())
        travel = heard[-1]["values"]["rail.travel"]
        if abs(travel - 1.0) < 1e-2:
            break
        program.send(put={"motor": (1.0 - travel) / 0.2})
    # Nothing about how fast: the machine may be busy. That it gets there is the program's doing alone.
    assert abs(travel - 1.0) < 1e-2
    assert [message["seq"] for message in heard] == sorted({message["seq"] for message in heard})
    times = [message["time"] for message in heard]
    assert times == sorted(set(times))
    assert heard[-1]["held"] == ["motor"]


def test_silence_is_a_dead_mans_switch(serve):
    session, program = serve(paused=False)
    program.send(put={"motor": 1.0})
    wait_until(lambda: session.desk.owners, "it is held")
    wait_until(lambda: not session.desk.owners, "it is let go")
    wait_until(lambda: session.commands == {"motor": 0.0}, "it springs back")


def test_signs_of_life_keep_hold(serve):
    session, program = serve(paused=False)
    program.send(put={"motor": 1.0})
    wait_until(lambda: session.desk.owners, "it is held")
    then = session.status.time

    def lasts():
        program.send()
        return session.status.time > then + 1.0  # twice as long as silence may last

    wait_until(lasts, "it goes on")
    assert list(session.desk.owners) == ["motor"]
    program.send(release=["motor"])
    wait_until(lambda: not session.desk.owners, "it is let go")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"seq": 1, "put": {"motor": NaN}}', "'motor' must be a finite number, not nan"),
        ('{"seq": 1, "put": {"motor": -Infinity}}', "'motor' must be a finite number, not -inf"),
        ('{"seq": 1, "put": {"motor": "1"}}', "'motor' must be a number"),
        ('{"seq": 1, "put": {"moter": 1}}', "no input 'moter' (did you mean 'motor'?)"),
        ('{"seq": 1, "put": 3}', "`put` must name inputs"),
        ('{"seq": 1, "release": "motor"}', "`release` must be a list"),
        ('{"seq": 1, "outputs": ["rail.travle"]}', "no signal 'rail.travle' (did you mean 'rail.travel'?)"),
        ('{"seq": 1, "outputs": "rail.travel"}', "`outputs` must be a list"),
        ('{"seq": 1, "outputs": [], "rate": 0}', "`rate` must be a number from 0.1 to 10000"),
        ('{"put": {"motor": 1}}', 'whole number "seq"'),
        ("[1, 2]", 'whole number "seq"'),
        ("{", "object of JSON"),
    ],
)
def test_what_is_wrong_is_said_and_not_obeyed(serve, text, why):
    session, program = serve()
    program.raw(text)
    assert why in program.error()
    assert session.desk.values == {"motor": 0.0}
    assert session.desk.owners == {}


@pytest.mark.parametrize("token", [None, "secret"])
@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000, '{"a":' * 9000, '{"seq": 1, "token": "\\ud800"}', '{"seq": 1, "outputs": [["rail.travel"]]}',
        '{"seq": 1, "put": {"motor": 1%s}}' % ("0" * 400), '{"seq": 1, "rate": 1%s}' % ("0" * 400), "\x00", "1" * 5000,
        '{"seq": 1, "release": [{}]}', '{"seq": 1, "token": []}', "", "x" * 61_000,
    ],
    ids=range(12),
)  # fmt: skip
def test_no_datagram_ends_the_port_for_others(serve, token, text, caplog):
    """A stranger's brackets within brackets ended the thread that hears everybody."""
    session, program = serve(token=token, known=token)
    stranger = Program(type("Port", (), {"port": program.to[1]}))
    stranger.raw(text)
    program.send(put={"motor": 0.5})
    wait_until(lambda: session.desk.owners, "the others are heard")
    assert session.desk.values == {"motor": 0.5}
    assert "datagrams:" not in caplog.text
    stranger.socket.close()


def test_of_a_message_with_one_bad_value_nothing_is_obeyed(serve):
    session, program = serve()
    program.raw('{"seq": 1, "put": {"motor": 1.0, "other": 1.0}}')
    assert "no input 'other'" in program.error()
    assert session.desk.owners == {}


def test_late_datagrams_are_not_obeyed(serve):
    session, program = serve()
    program.raw('{"seq": 5, "put": {"motor": 1.0}}')
    program.raw('{"seq": 4, "put": {"motor": -1.0}}')
    program.raw('{"seq": 5, "put": {"motor": -1.0}}')
    wait_until(lambda: session.desk.stale == 2, "they arrive")
    assert session.desk.values == {"motor": 1.0}


def test_a_program_without_the_token_is_not_heard(serve):
    session, program = serve(token="secret", known="guessed")
    program.send(put={"motor": 1.0})
    program.raw('{"seq": 9, "put": {"motor": 1.0}}')
    program.token = "secret"
    program.send(outputs=["rail.travel"], put={"motor": 0.5})
    wait_until(lambda: session.desk.owners, "the one that knows it is heard")
    assert session.desk.values == {"motor": 0.5}


def test_beyond_this_machine_a_token_is_wanted(begin):
    with pytest.raises(LinkworkError, match="want a token"):
        UdpPort(begin(driven_cart()), host="0.0.0.0")


def test_of_two_programs_the_first_owns_the_input(serve):
    session, one = serve()
    one.send(put={"motor": 1.0})
    wait_until(lambda: session.desk.owners, "it is held")
    two = Program(type("Port", (), {"port": one.to[1]}))
    two.send(put={"motor": -1.0})
    assert f"'motor' is held by {session.desk.owner('motor')}" in two.error()
    two.socket.close()


def test_what_a_closed_port_held_is_let_go(begin):
    session = begin(driven_cart())
    with UdpPort(session) as port:
        program = Program(port)
        program.send(put={"motor": 1.0})
        wait_until(lambda: session.desk.owners, "it is held")
    assert session.desk.owners == {}
    program.socket.close()
