"""The server of the live page: who may reach it, what it answers, how it ends."""

import base64
import http.client
import json
import re
import socket
import threading

import pytest

pytest.importorskip(
    "viser", reason="no viser found: tests of the server were LEFT OUT; install linkwork[view]"
)

import viser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from helpers.processes import PATIENCE, wait_until
from linkwork import LinkworkError
from linkwork.scenes import gallery_names
from linkwork.view.page import Page
from linkwork.view.reply import Reply
from linkwork.view.server import Server, new_token

TOKEN = "open-sesame-open-sesame"
PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture
def server():
    """Begins servers, and ends them."""
    servers = []

    def begin(**options):
        servers.append(Server(**{"port": 0, **options}))
        return servers[-1]

    yield begin
    for one in servers:
        one.stop()


def get(server, path="/", **headers):
    """Status, headers and body of a request as it is, without redirects or repairs of the path."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        link.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            link.putheader(name.replace("_", "-"), value)
        link.endheaders()
        answer = link.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        link.close()


def talk(server, **options):
    """A connection as the page makes one."""
    options.setdefault("origin", f"http://127.0.0.1:{server.port}")
    path = options.pop("path", "")
    return connect(
        f"ws://127.0.0.1:{server.port}{path}",
        subprotocols=[PROTOCOL],
        open_timeout=PATIENCE,
        max_size=None,
        **options,
    )


def refused(server, **options):
    """The status with which a connection is refused."""
    with pytest.raises(InvalidStatus) as caught:
        talk(server, **options)
    return caught.value.response.status_code


def heard(link, key):
    """The next message of this kind on a channel."""
    while True:
        for message in json.loads(link.recv(PATIENCE)):
            if key in message:
                return message[key]


# --- ports ---


def test_a_busy_port_is_named(server):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LinkworkError, match=f"port {port} of 127.0.0.1 is taken.*--port {port + 1}"):
            server(port=port)


def test_two_servers_do_not_share_a_port(server):
    first = server()
    with pytest.raises(LinkworkError, match=f"port {first.port}"):
        server(port=first.port)
    assert get(first)[0] == 200


def test_addresses_of_others_are_refused(server):
    with pytest.raises(LinkworkError, match=r"203\.0\.113\.1"):
        server(host="203.0.113.1")
    with pytest.raises(LinkworkError, match="no such host"):
        server(host="no such host")


def test_a_variable_of_viser_does_not_move_the_port(server, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("_VISER_PORT_OVERRIDE", "1")
    assert server(port=port).port == port


def test_it_listens_on_loopback_alone(server):
    one = server()
    assert one.url == f"http://127.0.0.1:{one.port}/"
    outside = [found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in set(outside) - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2.0)
            if address.startswith("127."):
                continue
            assert probe.connect_ex((address, one.port)) != 0


# --- the guard ---


def test_the_page_is_served(server):
    status, headers, body = get(server())
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert b"<html" in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_other_names_are_refused(server, host):
    one = server()
    status, _, body = get(one, Host=host.format(port=one.port))
    assert status == 403
    assert b"does not go by the name" in body
    handshake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    key = base64.b64encode(bytes(16)).decode()
    assert get(one, Host=host.format(port=one.port), Sec_WebSocket_Key=key, **handshake)[0] == 403
    own = get(one, Host=f"127.0.0.1:{one.port}", Sec_WebSocket_Key=key, **handshake)
    assert own[0] == 101


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_own_names_are_known(server, host):
    one = server()
    assert get(one, Host=host.format(port=one.port))[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1", "file://", ""]
)
def test_pages_of_other_sites_are_refused(server, origin):
    one = server()
    assert get(one, Origin=origin)[0] == 403
    assert refused(one, origin=origin) == 403


def test_own_pages_may_connect(server):
    one = server()
    assert get(one, Origin=f"http://127.0.0.1:{one.port}")[0] == 200
    with talk(one) as link:
        assert link.recv(PATIENCE)


def test_a_token_is_wanted(server):
    one = server(token=TOKEN)
    assert one.url.endswith(f":{one.port}/")
    name = f"linkwork-{one.port}"
    for path in ("/", "/gallery", "/enter", f"/?token={TOKEN}", f"/enter?token={TOKEN}", "/x", "/canvas/x"):
        status, headers, body = get(one, path)
        assert status == 403
        assert "Set-Cookie" not in headers
        assert TOKEN.encode() not in body
    for cookie in (f"{name}=wrong", f"{name}=", f"{name}={TOKEN}", "\xe9=;;"):
        assert get(one, Cookie=cookie)[0] in (403, 500)
    for given in (
        TOKEN, f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xe9",
        f"Bearer x {TOKEN}",
    ):  # fmt: skip
        assert get(one, "/enter", Authorization=given)[0] == 403
    assert refused(one) == 403
    assert refused(one, additional_headers={"Authorization": "Bearer guess"}) == 403


def test_the_token_becomes_a_cookie(server):
    one = server(token=TOKEN)
    status, headers, body = get(one, "/enter", Authorization=f"Bearer {TOKEN}")
    assert (status, body) == (204, b"")
    cookie = headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    known = cookie.partition(";")[0]
    assert get(one, Cookie=known)[0] == 200
    with talk(one, additional_headers={"Cookie": known}) as link:
        assert link.recv(PATIENCE)
    # It opens no door to pages of other sites, nor does the token itself; and no other server knows it.
    evil = "http://evil.example"
    assert get(one, Cookie=known, Origin=evil)[0] == 403
    assert get(one, "/enter", Authorization=f"Bearer {TOKEN}", Origin=evil)[0] == 403
    assert refused(one, origin=evil, additional_headers={"Cookie": known}) == 403
    assert get(server(token=TOKEN), Cookie=known)[0] == 403


def test_programs_name_the_token_in_a_header(server):
    one = server(token=TOKEN)
    known = {"Authorization": f"bearer {TOKEN}"}
    assert get(one, **known)[0] == 200
    with talk(one, additional_headers=known) as link:
        assert link.recv(PATIENCE)


def test_what_asks_for_the_token_comes_with_its_files_and_no_others(server):
    one = server(token=TOKEN)
    page = get(one)[2].decode()
    files = re.findall(r'(?:href|src)="(/[^"]+)"', page)
    assert len(files) == 2
    for path in files:
        assert get(one, path)[0] == 200
    for path in (
        "/web/main.js",
        "/web/style.css",
        "/web/door.html",
        "/web/../web/door.js",
        "/gallery/scenes",
    ):
        assert get(one, path)[0] == 403


def test_tokens_are_long_and_new():
    assert new_token() != new_token()
    assert re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", new_token())


@pytest.mark.parametrize("token", ["", "short", "\xe9" * 20, "a\nb" * 10])
def test_tokens_that_are_none_are_refused(token):
    with pytest.raises(LinkworkError, match="must have 16 characters of ASCII or more"):
        Server(port=0, token=token)


def test_a_broken_handler_opens_no_door(server):
    one = server()

    def broken(path, query):
        raise RuntimeError("bug")

    one.serve(broken)
    status, _, body = get(one)
    assert status == 500
    assert b"bug" in body


def test_handlers_answer_first(server):
    one = server()
    one.serve(lambda path, query: Reply(200, "text/plain", query["q"].encode()) if path == "/own" else None)
    assert get(one, "/own?q=yes")[2] == b"yes"
    assert get(one)[0] == 200
    assert get(one, "/unknown")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2fetc/passwd",
        "/..\\..\\..\\etc\\passwd", "//etc/passwd", "/%2fetc%2fpasswd", "/../__init__.py",
        "/gallery/picture/../../server.py", "/gallery/picture/%2e%2e", "/gallery/picture/..%2fgallery.py",
    ],
)  # fmt: skip
def test_files_outside_of_the_page_are_not_served(path):
    page = Page(Server(port=0))
    try:
        status, _, body = get(page.server, path)
    finally:
        page.close()
    assert status in (400, 403, 404)
    assert b"root:" not in body
    assert b"import" not in body


def test_there_is_no_tunnel_to_the_world(server, monkeypatch, capsys):
    one = server()
    monkeypatch.setattr(
        type(one.viser), "request_share_url", lambda *_, **__: pytest.fail("a tunnel was opened")
    )
    assert one.viser.request_share_url() is None
    type(one.viser).disconnect_share_url(
        one.viser
    )  # viser's own: closes a tunnel, or says that there is none
    assert "already disconnected" in capsys.readouterr().out


# --- the gallery ---


def test_the_gallery_shows_all_scenes():
    with Page(Server(port=0)) as page:
        page.open("a01_pendulum")
        status, headers, body = get(page.server, "/gallery")
        assert status == 200
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert b"/web/main.js" in body
        told = json.loads(get(page.server, "/gallery/scenes")[2])
        assert [scene["name"] for scene in told] == gallery_names()
        assert all(scene["description"] and scene["source"] for scene in told)
        assert json.loads(get(page.server, "/gallery/now")[2])["scene"] == "a01_pendulum"
        for name in gallery_names():
            status, headers, body = get(page.server, f"/gallery/picture/{name}")
            assert status == 200
            assert headers["Content-Type"] == "image/webp"
            assert body[:4] + body[8:12] == b"RIFFWEBP"
        assert get(page.server, "/gallery/picture/nothing")[0] == 404


def test_scenes_are_opened_by_pages_of_this_server_alone():
    with Page(Server(port=0)) as page:
        page.open("a01_pendulum")
        for path in ("/gallery/open/chain5", "/panel/x", "/?open=chain5"):
            get(page.server, path)
        assert refused(page.server, path="/panel/x", origin="http://evil.example") == 403
        assert page.subject == "a01_pendulum"
        with talk(page.server, path="/panel/x") as link:
            link.send('{"open": "nothing"}')
            assert "no scene 'nothing'" in heard(link, "tell")["text"]
            link.send('{"open": "chain5"}')
            wait_until(lambda: page.subject == "chain5", "the scene is opened")


# --- life ---


def test_nothing_is_printed(capfd):
    page = Page(Server(port=0))
    page.open("a01_pendulum")
    page.start()
    get(page.server)
    get(page.server, "/nothing")
    get(page.server, Host="evil.example")
    with talk(page.server) as link:
        link.recv(PATIENCE)
    page.close()
    assert capfd.readouterr().out == ""


def test_the_end_leaves_nothing_behind():
    before = set(threading.enumerate())
    page = Page(Server(port=0))
    page.open("a01_pendulum")
    page.start()
    link = talk(page.server)
    link.recv(PATIENCE)
    names = {thread.name for thread in set(threading.enumerate()) - before}
    assert {"linkwork-physics", "linkwork-pictures"} <= names
    page.close()
    with pytest.raises(ConnectionClosed):  # noqa: PT012
        while True:
            link.recv(PATIENCE)
    left = [thread for thread in set(threading.enumerate()) - before if "linkwork" in thread.name]
    assert left == []
    again = Server(port=page.server.port)
    assert get(again)[0] == 200
    again.stop()


def test_closing_twice_does_no_harm():
    page = Page(Server(port=0))
    page.open("a01_pendulum")
    page.start()
    page.close()
    page.close()
