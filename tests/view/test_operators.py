"""The channel of the operator's panel, without a browser."""

import pytest

pytest.importorskip("viser", reason="no viser found: tests of the page were LEFT OUT; install linkwork[view]")

import json
from http.client import HTTPConnection

from websockets.exceptions import InvalidStatus

from helpers.operated import Operator, driven_cart
from helpers.processes import PATIENCE, wait_until
from helpers.visits import live_pages

live = pytest.fixture(live_pages)


def get(server, path, **headers):
    link = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    link.request("GET", path, headers=headers)
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer


def test_the_panel_has_a_page_of_its_own_with_the_same_guard(live):
    page = live(driven_cart())
    answers = [get(page.server, path) for path in ("/", "/panel")]
    assert [answer.status for answer in answers] == [200, 200]
    one, other = (
        {name: value for name, value in answer.getheaders() if name not in ("Content-Length", "Date")}
        for answer in answers
    )
    assert one == other
    for foreign in ({"Origin": "http://elsewhere.example"}, {"Host": "elsewhere.example"}):
        assert get(page.server, "/panel", **foreign).status == 403
    with pytest.raises(InvalidStatus, match="403"):
        Operator(page.server, origin="http://elsewhere.example")


def test_a_lever_is_moved_held_and_let_go(live):
    page = live(driven_cart())
    one = Operator(page.server)
    wait_until(lambda: "operate" in one.heard, "the panel is told")
    ((lever,),) = [group["elements"] for group in one.heard["operate"]["groups"]]
    (told,) = lever["inputs"]
    assert (lever["kind"], told["name"], told["rest"]) == ("lever", "motor", 0.0)
    one.send(put=["motor", 2.0, True], at=None)
    wait_until(lambda: page.session.view.values["rail.travel_rate"] > 1.9, "the motor obeys")
    wait_until(lambda: one.now["held"] == {"motor": one.heard["you"]}, "it is told who holds it")
    one.send(release="motor", at=None)
    wait_until(lambda: abs(page.session.view.values["rail.travel_rate"]) < 1e-3, "it springs back")
    wait_until(lambda: one.now["values"] == {"motor": 0.0}, "the page is told")


def test_of_two_operators_the_first_owns_the_lever(live):
    page = live(driven_cart())
    one, two = Operator(page.server), Operator(page.server, "two")
    wait_until(lambda: one.heard.get("you") and two.heard.get("you"), "both are there")
    one.send(put=["motor", 1.0, True])
    wait_until(lambda: page.session.desk.owners, "it is held")
    two.send(put=["motor", -1.0, True])
    wait_until(lambda: two.refused, "it is refused")
    assert two.refused == [{"input": "motor", "why": f"'motor' is held by {one.heard['you']}"}]
    assert page.session.desk.values["motor"] == 1.0
    one.send(release="motor")
    wait_until(lambda: not page.session.desk.owners, "it is free")
    two.send(put=["motor", -1.0, True])
    wait_until(lambda: page.session.desk.values["motor"] == -1.0, "the other may have it")


def test_a_connection_that_ends_lets_go(live):
    page = live(driven_cart())
    one = Operator(page.server)
    one.send(put=["motor", 1.0, True])
    wait_until(lambda: page.session.view.values["rail.travel_rate"] > 0.9, "it moves")
    one.vanish()
    wait_until(lambda: not page.session.desk.owners, "the lever is let go")
    wait_until(lambda: abs(page.session.view.values["rail.travel_rate"]) < 1e-3, "it stands")


def test_an_operator_who_says_nothing_lets_go(live):
    page = live(driven_cart())
    one = Operator(page.server)
    one.send(put=["motor", 1.0, True])
    wait_until(lambda: page.session.view.values["rail.travel_rate"] > 0.9, "it moves")
    wait_until(lambda: not page.session.desk.owners, "the lever is let go")
    wait_until(lambda: abs(page.session.view.values["rail.travel_rate"]) < 1e-3, "it stands")
    one.send(put=["motor", 1.0, True])  # the connection is still there
    wait_until(lambda: page.session.desk.owners, "it is held again")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused_by_name(live, value):
    page = live(driven_cart())
    one = Operator(page.server)
    one.link.send(f'{{"put": ["motor", {value}, true], "seq": 1}}')
    wait_until(lambda: one.refused, "it is refused")
    assert "'motor' must be a finite number" in one.refused[0]["why"]
    assert page.session.desk.owners == {}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"put": ["motor", "1", true], "seq": 1}', '{"put": ["motor", 1.0, true]}', '{"seq": 1}'],
)
def test_what_is_not_understood_is_said_and_not_obeyed(live, text):
    page = live(driven_cart())
    one = Operator(page.server)
    one.link.send(text)
    wait_until(lambda: "tell" in one.heard, "it is said")
    assert "do not understand each other" in one.heard["tell"]["text"]
    assert page.session.desk.values == {"motor": 0.0}


def test_clocks_are_compared_and_latency_is_told(live):
    page = live(driven_cart())
    one = Operator(page.server)
    one.send(ping=12.5)
    wait_until(lambda: "pong" in one.heard, "the clock is told")
    sent, clock = one.heard["pong"]
    assert sent == 12.5
    one.send(put=["motor", 1.0, True], at=page.session.desk.clock())
    wait_until(lambda: one.now.get("latency", [0, 0, 0])[2] == 1, "the latency is told")
    assert 0.0 < one.now["latency"][0] < page.session.desk.clock() - clock


def test_actions_are_done(live):
    page = live("crank_rocker")
    one = Operator(page.server)
    wait_until(lambda: "operate" in one.heard, "the panel is told")
    assert one.heard["operate"]["actions"] == ["Pause", "Reset", *page.session.buttons]
    one.send(act="Reverse")
    wait_until(lambda: page.session.commands.get("motor") == -1.0, "the button is pressed")
    wait_until(lambda: one.now["values"].get("motor") == -1.0, "its lever follows")
    one.send(act="Pause")
    wait_until(lambda: page.session.status.paused, "it pauses")
    wait_until(lambda: one.now["on"] == ["Pause"], "it is told")
    one.send(act="Explode")
    wait_until(lambda: "tell" in one.heard, "it is said")
    assert "no button 'Explode'" in one.heard["tell"]["text"]


def test_another_model_brings_another_panel_and_holds_nothing(live):
    page = live(driven_cart())
    one = Operator(page.server)
    one.send(put=["motor", 1.0, True])
    wait_until(lambda: page.session.desk.owners, "it is held")
    page.open("chain5")
    wait_until(lambda: one.heard["operate"]["groups"] == [], "there is nothing to drive")
    assert page.session.desk.owners == {}


def test_a_program_drives_by_a_websocket_behind_the_same_guard(live):
    from websockets.sync.client import connect

    page = live(driven_cart())
    url = f"ws://127.0.0.1:{page.server.port}/signals"
    with pytest.raises(InvalidStatus, match="403"):
        connect(url, origin="http://elsewhere.example")
    with connect(url, open_timeout=PATIENCE) as link:
        link.send('{"seq": 1, "put": {"motor": 1.0}, "outputs": ["rail.travel_rate"], "rate": 500}')
        heard = json.loads(link.recv())
        while not heard["values"]["rail.travel_rate"] > 0.9:
            heard = json.loads(link.recv())
        assert heard["held"] == ["motor"]
        link.send('{"seq": 2, "put": {"motor": NaN}}')
        while "error" not in heard:
            heard = json.loads(link.recv())
        assert "'motor' must be a finite number" in heard["error"]
    wait_until(lambda: not page.session.desk.owners, "the program has left")
