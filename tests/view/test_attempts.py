"""What a visitor asks for and cannot have is told to that visitor."""

from concurrent.futures import Future

import pytest

pytest.importorskip("viser", reason="no viser found: tests of the page were LEFT OUT; install linkwork[view]")

from linkwork.model.errors import LinkworkError
from linkwork.view import page as pages
from linkwork.view.page import Page
from linkwork.view.server import Server


class Client:
    """Keeps what it is told."""

    def __init__(self):
        self.told = []

    def tell(self, text):
        self.told.append(text)


@pytest.fixture
def page(tmp_path):
    made = Page(Server(port=0), folder=tmp_path)
    yield made
    made.close()


def refuse():
    raise LinkworkError("there is no drive 'x'")


def later(error):
    future = Future()
    future.set_exception(error)
    return future


def test_errors_are_told_at_once_and_later(page, capsys):
    client = Client()
    page.attempt(client, refuse)
    page.attempt(client, lambda: later(LinkworkError("must not be negative")))
    page.attempt(client, lambda: later(ZeroDivisionError("oops")))
    assert client.told == ["there is no drive 'x'", "must not be negative", "ZeroDivisionError: oops"]
    assert "ZeroDivisionError" in capsys.readouterr().err  # a bug of ours is seen in the terminal too


def test_what_works_or_takes_long_is_not_complained_about(page, monkeypatch):
    monkeypatch.setattr(pages, "TRIAL", 0.01)
    client, done = Client(), Future()
    done.set_result(None)
    page.attempt(client, lambda: done)
    page.attempt(client, lambda: Future())  # the physics is busy
    page.attempt(client, lambda: 3)
    assert client.told == []
