"""Lines over TCP: numbers and messages, frames that do not fit, peers that die or hang. Loopback only."""

import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.processes import PATIENCE, started
from linkwork.distributed.links import MAX_MESSAGE, MAX_NUMBERS, TIMEOUT, LinkLost, pack, unpack
from linkwork.distributed.tcp import TcpLink, dial
from linkwork.model.address import parse_address
from linkwork.model.errors import LinkworkError

Pair = tuple[TcpLink, TcpLink]


def connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname(), timeout=PATIENCE)
        far, _ = server.accept()
    return near, far


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = connected()
    links = TcpLink(near, "the car", timeout=PATIENCE), TcpLink(far, "the wheel", timeout=PATIENCE)
    yield links
    for link in links:
        link.close()


def raw(data: bytes, timeout: float = PATIENCE) -> TcpLink:
    """A line at whose other end somebody wrote these bytes and hung up."""
    near, far = connected()
    far.sendall(data)
    far.close()
    return TcpLink(near, "the wheel", timeout)


@pytest.mark.parametrize("size", [0, 1, 36, 1000, 3_000_000])
def test_numbers_arrive_bit_by_bit(pair: Pair, size: int) -> None:
    near, far = pair
    sent = np.random.default_rng(size).standard_normal(size)
    got, back = np.full(size, np.nan), np.full(size, np.nan)

    def echo() -> None:
        far.receive(got)
        far.send(got)

    thread = threading.Thread(target=echo)
    thread.start()
    near.send(sent)
    near.receive(back)
    thread.join(10)
    assert got.tobytes() == back.tobytes() == sent.tobytes()
    assert min(near.waited, far.waited) > 0.0


def test_rows_of_a_matrix_and_special_numbers(pair: Pair) -> None:
    near, far = pair
    matrix = np.array([[np.nan, np.inf, -0.0], [1e-310, -np.inf, 1.0]])
    got = np.zeros((2, 3))
    near.send(matrix)
    far.receive(got)
    assert got.tobytes() == matrix.tobytes()


def test_messages_carry_plain_data_and_arrays(pair: Pair) -> None:
    near, far = pair
    message = {"ask": "hello", "list": [1, 2.5, None, True, "µ"], "inner": {"a": {}}}
    arrays = {
        "D": np.arange(36.0).reshape(6, 6),
        "r": np.zeros(0),
        "one": np.array(2.0),
        "cut": np.arange(9.0)[::2],
    }
    near.tell(message, arrays)
    near.send(np.ones(2))
    heard, got = far.hear()
    assert heard == message
    assert got.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(got[name], array)
    far.receive(ones := np.zeros(2))
    assert ones.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("size", [4, 6, 0, 500])
def test_another_count_is_an_error(pair: Pair, size: int) -> None:
    near, far = pair
    near.send(np.zeros(size))
    with pytest.raises(LinkLost, match=f"the wheel: sent {size} numbers where 5 numbers were expected"):
        far.receive(np.zeros(5))


def test_another_kind_is_an_error(pair: Pair) -> None:
    near, far = pair
    near.tell({})
    with pytest.raises(LinkLost, match="sent a message where 5 numbers were expected"):
        far.receive(np.zeros(5))
    far.send(np.zeros(7))
    with pytest.raises(LinkLost, match="the car: sent 7 numbers where a message was expected"):
        near.hear()


def test_strangers_are_recognised() -> None:
    http = b"GET / HTTP/1.1\r\nHost: wheel\r\n\r\n"
    with pytest.raises(LinkLost, match="does not speak Linkwork's protocol"):
        raw(http).hear()
    with pytest.raises(LinkLost, match="does not speak Linkwork's protocol"):
        raw(http).receive(np.zeros(5))
    with pytest.raises(LinkLost, match="closed the connection"):
        raw(http[:7]).receive(np.zeros(5))


def test_oversized_frames_are_refused(pair: Pair) -> None:
    huge = struct.pack("<4sIQ", b"LWK1", 2, 1 << 60)
    with pytest.raises(LinkLost, match=f"announced a message of {1 << 60} bytes; the limit is {MAX_MESSAGE}"):
        raw(huge).hear()
    with pytest.raises(LinkworkError, match="too large"):
        pair[0].tell({}, {"a": np.zeros(MAX_MESSAGE // 8)})
    many = np.broadcast_to(0.0, MAX_NUMBERS // 8 + 1)  # takes no memory
    with pytest.raises(LinkworkError, match="too many at once"):
        pair[0].send(many)


@pytest.mark.parametrize("cut", [0, 3, 16, 20, 50])
def test_a_frame_that_breaks_off(cut: int) -> None:
    frame = struct.pack("<4sIQ", b"LWK1", 1, 40) + bytes(40)
    with pytest.raises(LinkLost, match="the wheel: closed the connection: its process has ended"):
        raw(frame[:cut]).receive(np.zeros(5))


@given(
    st.binary(max_size=200)
    | st.builds(lambda t, n: struct.pack("<I", n) + t, st.binary(max_size=99), st.integers(0, 120))
)
@settings(max_examples=300, deadline=None)
def test_no_bytes_make_a_message_fail_otherwise(data: bytes) -> None:
    try:
        message, arrays = unpack(data)
    except ValueError:
        return
    assert unpack(pack(message, arrays))[0] == message


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 5000, b'{"message": 1, "arrays": []}', b'{"message": {}, "arrays": [["a", [-1]]]}',
        b'{"message": {}, "arrays": [["a", [1000000000000, 1000000000000]]]}',
        b'{"message": {}, "arrays": [["a", [1.5]]]}',
        b'{"message": {}, "arrays": [["a", [true]]]}', b'{"message": {}, "arrays": [[["a"], [1]]]}', b"{}", b"null",
    ],
)  # fmt: skip
def test_a_message_with_a_wrong_head(head: bytes) -> None:
    body = struct.pack("<I", len(head)) + head + bytes(8)
    with pytest.raises(LinkLost, match="sent a message that cannot be read"):
        raw(struct.pack("<4sIQ", b"LWK1", 2, len(body)) + body).hear()


@pytest.mark.parametrize("waits", ["receive", "hear", "send"])
def test_a_killed_peer_is_noticed(waits: str) -> None:
    code = "import socket, sys, time; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); time.sleep(600)"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        started([sys.executable, "-c", code, server.getsockname()[1]]) as process,
    ):
        connection, _ = server.accept()
        link = TcpLink(connection, "the wheel")
        killed = time.monotonic() + 0.3
        threading.Timer(0.3, process.kill).start()
        use = {
            "receive": lambda: link.receive(np.zeros(36)),
            "hear": link.hear,
            "send": lambda: link.send(np.zeros(10_000_000)),  # more than buffers hold
        }[waits]
        with pytest.raises(LinkLost, match="the wheel: closed the connection: its process has ended"):
            use()
        assert time.monotonic() - killed < TIMEOUT  # not by its silence


def test_a_peer_that_hangs_is_named(pair: Pair) -> None:
    near, _ = pair
    with pytest.raises(LinkLost, match=r"the car: no answer for 0\.2 s: it hangs, or the network does"):
        near.hear(0.2)
    near, far = connected()
    link = TcpLink(near, "the wheel", timeout=0.2)
    with pytest.raises(LinkLost, match=r"the wheel: no answer for 0\.2 s"):
        link.receive(np.zeros(5))
    full = TcpLink(far, "the car", timeout=0.2)
    with pytest.raises(LinkLost, match=r"the car: no answer for 0\.2 s"):
        full.send(np.zeros(10_000_000))  # which nobody takes


def test_hear_keeps_the_timeout_of_the_line(pair: Pair) -> None:
    near, far = pair
    far.timeout = 0.2
    near.tell({})
    far.hear(PATIENCE)  # another one for this once
    with pytest.raises(LinkLost, match=r"no answer for 0\.2 s"):
        far.receive(np.zeros(1))


def test_a_closed_line_says_so(pair: Pair) -> None:
    near, _ = pair
    near.close()
    near.close()
    for use in (
        lambda: near.send(np.zeros(1)),
        lambda: near.receive(np.zeros(1)),
        near.hear,
        lambda: near.tell({}),
    ):
        with pytest.raises(LinkLost, match="this line was closed before"):
            use()


def test_addresses() -> None:
    assert parse_address("tcp://wheel.example:7001") == ("wheel.example", 7001)
    assert parse_address("tcp://[::1]:7001") == ("::1", 7001)
    for wrong in (
        "tcp://wheel",
        "http://wheel:80",
        "tcp://:7001",
        "tcp://wheel:99999",
        "tcp://wheel:7/x",
        "tcp://[::1",
    ):
        with pytest.raises(LinkworkError, match="is not an address; write tcp://host:port"):
            parse_address(wrong)


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(
        LinkLost, match=f"nobody listens there; start it with: linkwork serve FILE.sealed --port {port}"
    ):
        dial(f"tcp://127.0.0.1:{port}")
