"""How two processes begin to talk: which protocol, who may, which model; then the session takes over."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from typing import Any

from ..model.errors import LinkworkError
from ..model.header import Header
from ..version import __version__
from .links import MAX_MESSAGE
from .sealed_file import read_header_dict, read_secret
from .tcp import TcpLink, dial

PROTOCOL = 1
TOKEN_VARIABLE = "LINKWORK_TOKEN"
_PATIENCE = 10.0  # for each message of the greeting [s]
MODEL = secrets.token_hex(8)  # all sealed components of this process count as one model's


def read_token(path: str | os.PathLike[str] | None) -> bytes | None:
    """The shared secret in a file, or None."""
    return None if path is None else read_secret(path, "token")


def call(address: str) -> TcpLink:
    """A line to the server of a sealed component, ready for its session."""
    link = dial(address)
    try:
        greeting, _ = link.hear(_PATIENCE)
        if greeting.get("protocol") != PROTOCOL:
            theirs = f"protocol {greeting.get('protocol')} (Linkwork {greeting.get('linkwork')})"
            raise LinkworkError(f"{address}: speaks {theirs}, not {PROTOCOL}; update the older side")
        answer: dict[str, Any] = {"model": MODEL, "linkwork": __version__}
        if greeting.get("challenge") is not None:
            token = os.environ.get(TOKEN_VARIABLE, "").strip().encode()
            if not token:
                raise LinkworkError(f"{address}: wants to know a token; set {TOKEN_VARIABLE}")
            answer["response"] = _response(token, str(greeting["challenge"]))
        link.tell(answer)
        said, _ = link.hear(_PATIENCE)
        if "refused" in said:
            raise LinkworkError(f"{address}: refused: {said['refused']}")
        return link
    except BaseException:
        link.close()
        raise


def ask_header(address: str) -> Header:
    """What the component served at an address tells of itself."""
    link = call(address)
    try:
        link.tell({"ask": "hello"})
        return read_header_dict(link.hear(_PATIENCE)[0].get("header"), address)
    finally:
        link.close()


def welcome(link: TcpLink, token: bytes | None, busy: Callable[[str], str]) -> str:
    """The server's side: the model that calls, once it may; else LinkworkError. `busy` says why not, for a model."""
    challenge = secrets.token_hex(16) if token is not None else None
    link.tell({"linkwork": __version__, "protocol": PROTOCOL, "challenge": challenge})
    link.largest = 4096  # who has not shown a token yet must not fill the memory
    answer, _ = link.hear(_PATIENCE)
    model = str(answer.get("model"))
    why = ""
    if token is not None and challenge is not None:
        response = str(answer.get("response", ""))
        if not hmac.compare_digest(response.encode(), _response(token, challenge).encode()):
            why = "the token is not the right one"
    why = why or busy(model)
    if why:
        link.tell({"refused": why})
        raise LinkworkError(why)
    link.tell({"welcome": True})
    link.largest = MAX_MESSAGE
    return model


def _response(token: bytes, challenge: str) -> str:
    return hmac.new(token, b"linkwork " + challenge.encode(), hashlib.sha256).hexdigest()
