"""Panels of live pages in pages of their own, with a stand-in for a gamepad."""

from helpers.processes import PATIENCE

# Tests push its sticks and pull its plug. Connections are kept, to be cut.
STUBS = """() => {
    window.pad = { id: "Stub pad (test)", connected: true, timestamp: 0, axes: [0, 0, 0, 0],
                   buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })) };
    window.plugged = true;
    navigator.getGamepads = () => [window.plugged ? window.pad : null];
    window.sockets = [];
    window.WebSocket = class extends WebSocket { constructor(url) { super(url); window.sockets.push(this); } };
}"""


def panels(browser):
    """Opens the panel of a live page in a page of its own; to be made a fixture: `panel = pytest.fixture(panels)`."""
    opened, complaints = [], []

    def begin(page, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(1e3 * PATIENCE)
        one = context.new_page()
        one.on("pageerror", lambda error: complaints.append(str(error)))
        one.add_init_script(f"({STUBS})()")
        one.goto(f"{page.server.url}panel")
        one.locator(".widget").first.wait_for()
        opened.append(context)
        return one

    yield begin
    for context in opened:
        context.close()
    assert complaints == []
