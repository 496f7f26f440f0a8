"""What strangers, or broken programs, may send to the channels of the page: each goes on as if nothing had come."""

import json
import random

import pytest

pytest.importorskip("viser", reason="no viser found: tests of pages were LEFT OUT; install linkwork[view]")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from helpers.processes import PATIENCE
from helpers.visits import live_pages

live = pytest.fixture(live_pages)

TEXT = """\
linkwork: 1
units: SI
bodies:
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  axle: {type: hinge, a: ground, b: wheel, axis: [0, 1, 0]}
drives:
  motor: {type: torque_source, joint: axle}
control:
  wish: {type: constant, value: 2}
  error: {type: sum, inputs: [wish, -axle.angle_rate]}
  law: {type: gain, input: error, gain: 3}
  push: {type: drive, drive: motor, input: law}
"""
DEEP, HUGE = "[" * 50_000, 10**400
VALUES = [
    None, True, -1, 2.5, HUGE, "", "wish", "motor", "\ud800", "../../x", "&a [*a]",
    "!!python/name:os.system", [], [[]], {}, {"a": 1}, "x" * 9000,
]  # fmt: skip
DEEDS = [
    "connect",
    "cut",
    "negate",
    "delete",
    "put",
    "move",
    "rename",
    "add",
    "group",
    "undo",
    "redo",
    "nonsense",
]
WORDS = ["{", "null", "[]", "\x00", DEEP, '{"a":' * 9000, "{}", "1" * 5000]


def nonsense(rng):
    """Messages that are nearly right, or not at all."""
    some = rng.choice(VALUES)
    return [
        *WORDS,
        {"do": some}, {"do": [rng.choice(DEEDS), *rng.choices(VALUES, k=rng.randrange(5))]}, {"open": some},
        {"form": some}, {"seq": some, "put": some}, {"seq": 1, "put": [some, some, some]},
        {"seq": 2, "put": ["motor", some, True]},
        {"seq": 3, "put": {"motor": some}}, {"seq": 4, "outputs": [some]}, {"seq": 5, "outputs": [], "rate": some},
        {"seq": 6, "release": some}, {"seq": 7, "put": ["motor", 1.0, True], "at": some}, {"ping": some, "seq": 8},
        {"act": some}, {"set": [some, some]}, {"set": some}, {"click": some},
        {some if isinstance(some, str) else "x": some},
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["panel", "operate", "edit", "signals"])
def test_no_message_breaks_a_channel(live, tmp_path, capfd, place):
    path = tmp_path / "wheel.yaml"
    path.write_text(TEXT)
    page = live(str(path))
    where = f"ws://127.0.0.1:{page.server.port}/{place}" + ("" if place == "signals" else "/one")
    options = {"origin": f"http://127.0.0.1:{page.server.port}", "open_timeout": PATIENCE, "max_size": None}
    rng = random.Random(place)
    with connect(where, **options) as link:
        for _ in range(12):
            for message in rng.sample(found := nonsense(rng), len(found)):
                if "open" in message and place == "panel":
                    continue  # a scene
                link.send(message if isinstance(message, str) else json.dumps(message))
                if rng.random() < 0.1:
                    link.send(message.encode() if isinstance(message, str) else b"\xff\x00")
        link.send(
            json.dumps({"seq": 10 * HUGE, "ping": 1, "put": {"nobody": 1}})
        )  # the last: everybody answers to it
        text = ""
        while "nobody" not in text and '"pong"' not in text and "load the page anew" not in text:
            text = link.recv(PATIENCE)
    assert page.session.status.failure is None
    with connect(where, **options) as link:  # and somebody else is welcome
        link.send(json.dumps({"seq": 1, "put": {"nobody": 1}}))
        try:
            assert link.recv(PATIENCE)
        except ConnectionClosed:
            pytest.fail("the channel is closed")
    assert path.read_text() == TEXT
    told = capfd.readouterr().err
    assert "Traceback" not in told, told[-3000:]
