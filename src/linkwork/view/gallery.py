"""The gallery: what the page tells of every registered scene, and their pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..scenes import find_scene, gallery_names
from .channel import Message, Visitor
from .recorded import FILM
from .reply import Reply
from .thumbnails import KIND, thumbnail_of

if TYPE_CHECKING:
    from .page import Page


_EMPTY = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
_ONCE = (("Cache-Control", "no-store"),)  # another picture soon


class Gallery:
    """Answers requests for what belongs to /gallery, and opens scenes that visitors choose there."""

    def __init__(self, page: Page):
        self._page = page

    def answer(self, path: str, query: dict[str, str]) -> Reply | None:
        """A reply, or None if the request is not ours."""
        match [part for part in path.split("/") if part]:
            case ["gallery", "scenes"]:
                scenes = [find_scene(name) for name in gallery_names()]
                return _json(
                    [
                        {"name": one.name, "description": one.description, "source": one.source}
                        for one in scenes
                    ]
                )
            case ["gallery", "now"]:
                return _json({"scene": self._page.subject})
            case ["gallery", "now", "picture"]:
                return self._picture_now()
            case ["gallery", "picture", name]:
                return self._picture(name)
        return None

    def hear(self, visitor: Visitor, message: Message) -> None:
        """A visitor chooses a scene."""
        if "open" in message:
            self._page.choose(visitor, message["open"])

    def _picture_now(self) -> Reply:
        """What is shown until there is a picture in three dimensions: a film of the opening scene, or a thumbnail."""
        if self._page.player is not None and self._page.player.again:
            return Reply(200, KIND, FILM.read_bytes(), _ONCE)
        found = thumbnail_of(self._page.subject)
        return Reply(200, "image/svg+xml", _EMPTY, _ONCE) if found is None else Reply(200, KIND, found, _ONCE)

    @staticmethod
    def _picture(name: str) -> Reply:
        found = thumbnail_of(name)
        if found is None:
            return Reply(404, "text/plain", b"no such picture")
        return Reply(200, KIND, found, (("Cache-Control", "max-age=60"),))


def _json(value: object) -> Reply:
    return Reply(200, "application/json", json.dumps(value).encode())
