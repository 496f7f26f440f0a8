"""What keeps others out of every page, those that are added later too: host, origin, token, framing, content policy."""

import contextlib
import http.client
import http.server
import re
import threading

import pytest

pytest.importorskip("viser", reason="no viser found: tests of pages were LEFT OUT; install linkwork[view]")

from helpers.browser import launched
from helpers.page import Visitor
from helpers.processes import PATIENCE, wait_until
from linkwork.view import channel, editors, operators, signals, site
from linkwork.view.page import Page
from linkwork.view.reply import Reply
from linkwork.view.server import Server

TOKEN = "open-sesame-open-sesame"
REFERENCE = re.compile(
    r"""(?:href|src)="(/[^"#?]*)|(?:from|fetch\() ?["'](\.?/[^"'?]+)|url\(["']?(\.?/[^"')]+)"""
)
browser = pytest.fixture(scope="module")(launched)


def cookie(server):
    """What a browser has that has named the token."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(link):
        link.request("GET", "/enter", headers={"Authorization": f"Bearer {TOKEN}"})
        return (link.getresponse().getheader("Set-Cookie") or "").partition(";")[0]


def get(server, path, **headers):
    """Status, headers and text of a request; with the cookie of somebody who knows the token unless told otherwise."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(link):
        link.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in {"Cookie": cookie(server), **headers}.items():
            link.putheader(name, value)
        link.endheaders()
        answer = link.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")


def directives(headers):
    """Of the content security policy, by name."""
    parts = [part.split() for part in headers["Content-Security-Policy"].split(";")]
    return {part[0]: part[1:] for part in parts}


def crawled(server):
    """All that can be reached from the page and what it names: path => (status, headers, text)."""
    found, waiting = (
        {},
        [*site._PAGES, "/canvas/someone", "/gallery/now", "/gallery/scenes", "/nothing", "/panel/x"],
    )
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = get(server, path)
        text = found[path][2] if "text/" in found[path][1]["Content-Type"] else ""
        if not path.startswith("/canvas/"):  # viser's, all in one file
            folder = path.rpartition("/")[0]
            for groups in REFERENCE.findall(text):
                name = next(filter(None, groups))
                waiting.append(f"{folder}{name[1:]}" if name.startswith("./") else name)
    return found


@pytest.fixture(scope="module")
def page():
    """A page behind a token, with a handler that came later."""
    with Page(Server(port=0, token=TOKEN)) as page:
        page.open("a01_pendulum")
        page.server.serve(lambda path, _: Reply(200, "text/html", b"<html>") if path == "/later" else None)
        yield page


def test_every_answer_has_walls(page):
    found = crawled(page.server) | {"/later": get(page.server, "/later")}
    assert {"/web/main.js", "/web/canvas.js", "/web/style.css", "/later"} <= set(found)
    assert {"/panel", "/diagram", "/web/operator_page.js", "/web/diagram.js", "/web/diagram.css"} <= set(
        found
    )
    assert len(found) > 12
    for path, (status, headers, _) in found.items():
        assert status in (200, 404), path
        policy = directives(headers)
        assert policy["frame-ancestors"] == ["'self'"], path
        assert policy["base-uri"] == policy["form-action"] == ["'none'"], path
        sources = {source for name in policy for source in policy[name]}
        assert sources <= {
            "'none'", "'self'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:", f"ws://127.0.0.1:{page.server.port}",
        }, path  # no other server  # fmt: skip
        if not path.startswith("/canvas/"):
            assert policy["script-src"] == policy["style-src"] == ["'self'"], path
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_every_answer_is_for_those_who_may(page):
    for path in [*crawled(page.server), "/later"]:
        for stranger in (
            {"Host": "evil.example"},
            {"Origin": "http://evil.example"},
            {"Cookie": ""},
            {"Cookie": f"linkwork-{page.server.port}=x"},
            {"Cookie": f"linkwork-{page.server.port}={TOKEN}"},
            {"Cookie": "", "Authorization": "Bearer guess"},
        ):
            status, headers, text = get(page.server, path, **stranger)
            assert status == 403, (path, stranger)
            assert directives(headers)["frame-ancestors"] == ["'self'"]
            assert TOKEN not in str(headers) + text
            asked = 'id="token"' in text  # pages ask for the token, all else is shut
            assert asked == (path in site._PAGES and not {"Host", "Origin"} & set(stranger)), path


@pytest.mark.parametrize(
    "where",
    [
        f"{channel.PATH}/one", f"{operators.PATH}/one", f"{editors.PATH}/one", signals.PATH,
        f"{site.CANVAS}/one", "/", "/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "stranger",
    [
        {"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Cookie": ""},
        {"Cookie": "", "Authorization": "Bearer guess"},
    ],
    ids=str,
)  # fmt: skip
def test_every_channel_is_for_those_who_may(page, where, stranger):
    """Not one websocket opens to a stranger, whatever it carries; the first status tells."""
    headers = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Origin": f"http://127.0.0.1:{page.server.port}",
    }  # fmt: skip
    assert get(page.server, where, **{**headers, **stranger})[0] == 403


def test_pages_hold_no_scripts_and_styles_of_their_own(page):
    """The policy would not let them run: they stand in files."""
    for path, (_, headers, text) in crawled(page.server).items():
        if headers["Content-Type"].startswith("text/html") and not path.startswith("/canvas/"):
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", text), path


def test_a_strange_host_does_not_get_into_the_policy():
    server = Server(host="0.0.0.0", port=0, token=TOKEN)
    try:
        _, headers, _ = get(server, "/", Host="evil; script-src *")
        assert "evil" not in headers["Content-Security-Policy"]
    finally:
        server.stop()


@pytest.mark.parametrize("path", ["", "gallery", "panel", "diagram"])
def test_a_browser_is_asked_for_the_token(browser, page, path, caplog):
    """It stands in no address: not in what is asked for, nor where the page is, nor in what the browser remembers."""
    asked, said = [], []
    context = browser.new_context(viewport={"width": 900, "height": 560})
    with contextlib.closing(context):
        one = context.new_page()
        one.set_default_timeout(1e3 * PATIENCE)
        one.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
        one.on("websocket", lambda socket: asked.append(socket.url))
        one.on("console", lambda message: said.append(message.text))
        one.goto(page.server.url + path)
        one.locator("#token").fill("not the token, but as long")
        one.locator("button").click()
        one.get_by_text("This is not the token.").wait_for()
        assert len(page.server.viser.get_clients()) == 0
        one.locator("#token").fill(f" {TOKEN} ")
        one.keyboard.press("Enter")
        one.locator("header" if path in ("panel", "diagram") else "iframe.ready").first.wait_for()
        assert one.url == page.server.url + path
        assert one.locator("#token").count() == 0
        kept = one.evaluate(
            "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])"
        )
        known = context.cookies()
        assert [(c["name"], c["httpOnly"], c["sameSite"]) for c in known] == [
            (f"linkwork-{page.server.port}", True, "Strict")
        ]
        assert len(asked) > 5
        assert TOKEN not in "".join([*asked, *said, kept, *(c["value"] for c in known), caplog.text])
        one.reload()  # who was let in once is not asked again
        one.locator("header").wait_for()
    wait_until(lambda: not page.server.viser.get_clients(), "the browser is gone")


def test_a_browser_finds_nothing_that_the_policy_forbids(browser):
    with Page(Server(port=0)) as page:
        page.open("a01_pendulum")
        visitor = Visitor(page, browser)
        visitor.browser.on("console", lambda message: visitor.complaints.append(message.text))
        visitor.browser.reload()
        visitor.browser.locator("iframe.ready").wait_for()
        visitor.browser.locator("#scenes").click()
        visitor.browser.locator("#cards img").first.wait_for()
        for path in ("panel", "diagram"):
            visitor.browser.goto(f"{page.server.url}{path}")
            visitor.browser.wait_for_load_state("networkidle")
        assert [text for text in visitor.complaints if "Content Security Policy" in text] == []


class _Foreign(http.server.BaseHTTPRequestHandler):
    """Another site, whose page frames that of its `server.target`."""

    def do_GET(self):
        body = f'<html><iframe id="covered" src="{self.server.target}"></iframe></html>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_no_other_site_can_frame_it(browser):
    with Page(Server(port=0)) as page, http.server.HTTPServer(("127.0.0.1", 0), _Foreign) as other:
        page.open("a01_pendulum")
        threading.Thread(target=other.serve_forever, daemon=True).start()
        told = []
        one = browser.new_page()
        one.on("console", lambda message: told.append(message.text))
        for path in ("", "panel", "diagram", "canvas/x"):
            told.clear()
            other.target = f"{page.server.url}{path}"
            one.goto(f"http://127.0.0.1:{other.server_port}/")
            one.wait_for_timeout(300)
            frame = one.query_selector("#covered").content_frame()
            assert frame.query_selector("body *") is None or "refused" in frame.content()
            assert any("frame-ancestors" in text for text in told), path
        one.close()
        other.shutdown()
