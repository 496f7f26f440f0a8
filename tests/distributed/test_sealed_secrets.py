"""What a sealed server tells strangers, those who ask for more than ports, and in a conversation that it permits."""

import contextlib
import socket
import threading
import time

import numpy as np
import pytest

from helpers.processes import wait_until
from linkwork import Body, Component, Hinge, Model, Sealed, Simulation, Spring, Weld
from linkwork.distributed import server as serving
from linkwork.distributed.handshake import ask_header, call
from linkwork.distributed.links import LinkLost
from linkwork.distributed.sealed_file import seal, unseal
from linkwork.distributed.server import Server
from linkwork.distributed.tcp import TcpLink
from linkwork.engine.steppers.motion import VOTE
from linkwork.model.errors import LinkworkError

TOKEN = "a token of sufficient length"
JOIN = {
    "ask": "join", "gravity": [0.0, 0.0, -9.81], "at": [0.0, 0.0, 0.0], "rotation": [1.0, 0.0, 0.0, 0.0],
    "mirror": None, "integrator": "rk4", "dt": 1e-3, "tolerance": 1e-8,
}  # fmt: skip


def strut(split=False, spring=800.0):
    """A port on a hinge whose mass is inside: in one body, or in two that are welded and weigh the same together."""
    part = Component("strut")
    part.add(Body("top", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, 0.0, 0.5)))
    part.add(Body("inner", mass=1.5 if split else 2.0, inertia=(0.2, 0.2, 0.2), at=(0.0, 0.0, 0.1)))
    part.add(Hinge("knee", "top", "inner", at=(0.0, 0.0, 0.3), axis=(0.0, 1.0, 0.0)))
    if split:
        part.add(Body("secret", mass=0.5, inertia=(0.05, 0.05, 0.05), at=(0.1, 0.0, 0.0)))
        part.add(Weld("rod", "inner", "secret"))
    part.add(
        Spring(
            "coil", "top", "inner", at_a=(0.1, 0.0, 0.0), at_b=(0.3, 0.0, 0.0), stiffness=spring, length=0.4
        )
    )
    return part


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Serves components behind a token that the caller has; gives addresses and what servers said."""
    monkeypatch.setenv("LINKWORK_TOKEN", TOKEN)
    servers = []

    def serve(component, ports=("top",)):
        path = tmp_path / f"{len(servers)}.sealed"
        seal(component, path, list(ports))
        said = []
        server = Server(*unseal(path), "127.0.0.1", 0, TOKEN.encode(), said.append)
        servers.append(server)

        def run():
            with contextlib.suppress(OSError):
                server.run()

        threading.Thread(target=run, daemon=True).start()
        return server, said

    yield serve
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    "ports",
    [["b0"], ["top", "b1"], ["b1", "top"], ["top", "top"], ["inner"], [], None, "top", [0], {"top": 1}],
)
def test_nobody_but_the_header_chooses_the_ports(served, ports):
    """By names that hidden bodies have in a sealed file, their joints and inertias could be read off."""
    server, _ = served(strut(split=True))
    link = call(server.address)
    link.tell({**JOIN, "ports": ports})
    answer, arrays = link.hear()
    assert answer == {"error": "its ports are top, all of them and no others"}
    assert arrays == {}
    link.close()


@pytest.mark.parametrize(
    "change",
    [
        {"gravity": None}, {"gravity": [0, 0]}, {"at": ["x", 0, 0]}, {"rotation": [1, 0, 0]}, {"mirror": [1]},
        {"dt": 0.0}, {"dt": "soon"}, {"tolerance": -1}, {"integrator": "magic"}, {"integrator": ["rk4"]}, {"dt": True},
    ],
)  # fmt: skip
def test_a_malformed_wish_to_join_is_refused_with_a_line(served, change, capfd):
    server, said = served(strut())
    link = call(server.address)
    link.tell({**JOIN, "ports": ["top"], **change})
    assert "must be" in link.hear()[0]["error"]
    with pytest.raises(LinkLost):
        link.hear()
    link.close()
    wait_until(lambda: any("asked to join by mistake" in line for line in said), "it is logged")
    assert "Traceback" not in capfd.readouterr().err
    assert ask_header(server.address).name == "strut"


@pytest.mark.parametrize(
    "message",
    [
        {"do": "advance"}, {"do": "load"}, {"do": "advance", "dt": "x"}, {"do": ["advance"]}, {"do": "force"},
        {"do": "_secret"}, {},
    ],
)  # fmt: skip
def test_nonsense_after_joining_leaves_a_line_and_no_traceback(served, message, capfd):
    server, said = served(strut())
    link = call(server.address)
    link.timeout = 120.0
    link.tell({**JOIN, "ports": ["top"]})
    assert "joined" in link.hear()[0]
    link.tell(message)
    with contextlib.suppress(LinkLost):
        assert "does not understand" in link.hear()[0]["error"]
    link.close()
    wait_until(lambda: any(line.endswith("left") for line in said), "it leaves")
    assert "Traceback" not in capfd.readouterr().err
    assert len(said) <= 4
    assert ask_header(server.address).name == "strut"


def test_slow_strangers_keep_nobody_out(served):
    server, _ = served(strut())
    where = ("127.0.0.1", server.port)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(where)) for _ in range(70)]
        for one in slow:
            with contextlib.suppress(OSError):  # those that came first are sent away
                one.send(b"L")
        began = time.monotonic()
        assert ask_header(server.address).name == "strut"
        assert time.monotonic() - began < serving._GREETING
        assert len(server._waiting) <= serving._MAX_WAITING


def test_who_says_nothing_is_sent_away_in_time(served, monkeypatch):
    """However slowly it says it: the time is that of the whole greeting."""
    monkeypatch.setattr(serving, "_GREETING", 0.5)
    server, said = served(strut())
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.settimeout(60.0)

        def drip():
            with contextlib.suppress(OSError):
                while True:
                    slow.send(b"L")
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        with contextlib.suppress(ConnectionError):
            while slow.recv(4096):
                pass
    wait_until(lambda: any("was not understood" in line for line in said), "it is told")
    wait_until(lambda: not server._waiting, "its place is free")


def test_probes_leave_a_line_each_and_no_traceback(served, capfd):
    server, said = served(strut())
    for _ in range(20):
        probe = socket.create_connection(("127.0.0.1", server.port))
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
        )  # a reset instead of a farewell
        probe.close()
    assert ask_header(server.address).name == "strut"
    wait_until(lambda: not server._waiting, "all are gone")
    assert len([line for line in said if "not understood" in line]) <= 20
    assert "Traceback" not in capfd.readouterr().err


def test_tokens_are_never_logged_or_sent(served, monkeypatch):
    sent = []
    send = TcpLink._send
    monkeypatch.setattr(
        TcpLink, "_send", lambda self, *rest: (sent.append(bytes(rest[2])), send(self, *rest))[1]
    )
    server, said = served(strut())
    ask_header(server.address)
    monkeypatch.setenv("LINKWORK_TOKEN", "another token of some length")
    with pytest.raises(LinkworkError, match="refused: the token is not the right one"):
        ask_header(server.address)
    assert sent
    told = b"".join(sent).decode(errors="ignore") + "".join(said) + server.address
    assert TOKEN not in told
    assert "another token" not in told


# --- what a permitted conversation tells ---


def conversation(served, component, monkeypatch):
    """All that a server says while a model uses it: messages, and frames of numbers."""
    server, _ = served(component)
    messages, numbers = [], []
    hear, receive = TcpLink.hear, TcpLink.receive

    def heard(self, timeout=None):
        answer = hear(self, timeout)
        if self.peer.startswith(("'part'", "tcp:")):  # what the server hears is not what it tells
            messages.append(answer)
        return answer

    def received(self, into):
        receive(self, into)
        if self.peer.startswith("'part'"):
            numbers.append(into.copy())

    with monkeypatch.context() as patch:
        patch.setattr(TcpLink, "hear", heard)
        patch.setattr(TcpLink, "receive", received)
        model = Model("attacker")
        model.add(Body("cart", mass=5.0, inertia=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.5)))
        rail = {"axis": (0.0, 1.0, 0.0), "at": (0.0, 0.0, 1.0), "velocity": 0.5}
        model.add(Hinge("rail", "ground", "cart", **rail))
        model.add(Sealed("part", server.address))
        model.add(Weld("hold", "cart", "part.top"))
        sim = Simulation(model, method="components", dt=1e-3)
        record = sim.run(0.05)
        state = sim._snapshot()["sealed_part"]
        sim.close()
    return messages, numbers, record, state


def test_bodies_welded_inside_cannot_be_told_apart(served, monkeypatch):
    """Force and acceleration at the ports tell what the ports feel, and no more: two bodies that are one thing to them
    give the same numbers. What is told in words has no place for anything else."""
    one = strut()
    two = strut(split=True)
    # The one body inside is made what the two are together.
    inner, secret = two.bodies["inner"], two.bodies["secret"]
    mass = inner.mass + secret.mass
    arm = np.array(secret.at) - np.array(inner.at)
    com = secret.mass / mass * arm
    moments = np.diag(inner.inertia).astype(float) + np.diag(secret.inertia)
    for m, r in ((inner.mass, -com), (secret.mass, arm - com)):
        moments += m * (r @ r * np.eye(3) - np.outer(r, r))
    one.bodies["inner"] = Body(
        "inner", mass=mass, com=tuple(com), at=inner.at,
        inertia=(moments[0, 0], moments[1, 1], moments[2, 2], moments[0, 1], moments[0, 2], moments[1, 2]),
    )  # fmt: skip
    whole, split = (conversation(served, part, monkeypatch) for part in (one, two))
    # Two steps. Gaps of the inside are closed to 1e-8; later, one that has such gaps may ask for more corrections.
    first = min(len(whole[1]), len(split[1]), 16)
    assert first == 16
    for a, b in zip(whole[1][:first], split[1][:first], strict=True):
        assert a.shape == b.shape
        if len(a) != len(VOTE.names):  # what an inside votes on a step is its own, and said in docs/sealed.md
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-7 * max(1.0, np.abs(a).max()))
    for name in ("rail.angle", "rail.angle_rate"):
        np.testing.assert_allclose(whole[2][name], split[2][name], rtol=0, atol=1e-7)
    assert whole[3].shape == split[3].shape  # nor by how long a state is
    for messages, *_ in (whole, split):
        for answer, arrays in messages:
            assert set(answer) <= {
                "linkwork", "protocol", "challenge", "welcome", "header", "joined", "done", "status", "bad", "reset",
                "saved", "loaded", "computed", "waited", "process",
            }  # fmt: skip
            assert set(arrays) <= {"state"}
            if "header" in answer:
                assert set(answer["header"]) == {
                    "format", "name", "linkwork", "ports", "features", "keyed", "salt", "checksum",
                }  # fmt: skip
                assert "secret" not in str(answer) and "inner" not in str(answer)  # noqa: PT018


def shifted(body, mass, at):
    """A body with a point of some mass more (or less), at a place of the assembled pose."""
    place, known = np.array(at) - np.array(body.at), body.mass_properties
    whole = known.mass + mass
    com = (known.mass * known.com + mass * place) / whole
    moments = known.inertia.copy()
    for m, r in ((known.mass, known.com - com), (mass, place - com)):
        moments += m * (r @ r * np.eye(3) - np.outer(r, r))
    return Body(
        body.name, mass=whole, com=tuple(com), at=body.at,
        inertia=(moments[0, 0], moments[1, 1], moments[2, 2], moments[0, 1], moments[0, 2], moments[1, 2]),
    )  # fmt: skip


def test_an_attacker_cannot_tell_on_which_side_of_a_hinge_a_mass_is(served, monkeypatch):
    """Points on the axis of a hinge belong to both sides: of the ten numbers of a body behind one, three are told only
    in sums with those of the port (the theory of identification calls the sums base parameters)."""
    one, other = strut(), strut()
    for mass, at in ((0.4, (0.0, 0.0, 0.3)), (0.25, (0.0, 0.3, 0.3)), (-0.1, (0.0, -0.2, 0.3))):
        other.bodies["top"] = shifted(other.bodies["top"], mass, at)
        other.bodies["inner"] = shifted(other.bodies["inner"], -mass, at)
    assert other.bodies["inner"].mass == pytest.approx(1.45)
    beside = strut()  # as much mass, a centimetre off the axis
    beside.bodies["top"] = shifted(beside.bodies["top"], 0.4, (0.01, 0.0, 0.3))
    beside.bodies["inner"] = shifted(beside.bodies["inner"], -0.4, (0.01, 0.0, 0.3))
    first, second, third = (conversation(served, part, monkeypatch)[1] for part in (one, other, beside))
    # Gaps of the inside, closed to 1e-8 m, are its own.
    assert apart(first, second) < 1e-3 * apart(first, third)


def apart(one, other):
    """By what share two conversations differ in numbers that are not votes: those are said in docs/sealed.md."""
    assert [len(a) for a in one] == [len(b) for b in other]
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if len(a) != len(VOTE.names)]
    return max(np.abs(a - b).max() / max(1.0, np.abs(a).max()) for a, b in pairs)


def test_an_attacker_who_guesses_the_structure_fits_its_numbers(served, monkeypatch):
    """What no wall keeps in, and docs/sealed.md says: who knows of what kind the inside is finds its stiffness by
    comparing a model of his own with what he sees."""

    def told(stiffness):
        """What a test rig shows of a component: the attacker seals and serves his guesses himself."""
        return conversation(served, strut(spring=stiffness), monkeypatch)[2]["rail.angle"]

    seen, own = told(800.0), told
    low, high = 500.0, 1200.0
    misfits = [own(low) - seen, own(high) - seen]
    for _ in range(3):  # secants of the misfit, along its own direction
        slope = (misfits[1] - misfits[0]) / (high - low)
        low, high = high, high - float(misfits[1] @ slope / (slope @ slope))
        misfits = [misfits[1], own(high) - seen]
    assert high == pytest.approx(800.0, rel=1e-4)


def test_what_identification_at_the_ports_reveals(served, monkeypatch):
    """Said in docs/sealed.md: who may push a port and sees how it moves learns how heavy and how stiff it is."""
    _, soft, record, _ = conversation(served, strut(spring=800.0), monkeypatch)
    _, stiff, other, _ = conversation(served, strut(spring=1600.0), monkeypatch)
    assert np.abs(record["rail.angle"] - other["rail.angle"]).max() > 1e-6
    assert any(not np.allclose(a, b) for a, b in zip(soft, stiff, strict=True))


def test_states_are_the_servers_alone(served, monkeypatch):
    *_, state = conversation(served, strut(), monkeypatch)
    packed = np.ascontiguousarray(state).astype(np.uint8).tobytes()
    assert len(packed) % (1 << 16) == 12 + 16  # blocks, number used once, and what AES-GCM adds
    counts = np.bincount(np.frombuffer(packed, np.uint8), minlength=256)
    # Encrypted: bytes are spread evenly; chi² of 255 degrees of freedom is below 400 but for one of 1e8.
    expected = len(packed) / 256
    assert ((counts - expected) ** 2 / expected).sum() < 400.0
