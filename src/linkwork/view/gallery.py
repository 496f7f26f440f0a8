"""The gallery: what the page tells of every registered scene, and their pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..scenes import find_scene, scene_names
from .channel import Message, Visitor
from .reply import Reply
from .thumbnails import KIND, thumbnail_of

if TYPE_CHECKING:
    from .page import Page


class Gallery:
    """Answers requests for what belongs to /gallery, and opens scenes that visitors choose there."""

    def __init__(self, page: Page):
        self._page = page

    def answer(self, path: str, query: dict[str, str]) -> Reply | None:
        """A reply, or None if the request is not ours."""
        match [part for part in path.split("/") if part]:
            case ["gallery", "scenes"]:
                scenes = [find_scene(name) for name in scene_names()]
                return _json(
                    [
                        {"name": one.name, "description": one.description, "source": one.source}
                        for one in scenes
                    ]
                )
            case ["gallery", "now"]:
                return _json({"scene": self._page.subject})
            case ["gallery", "picture", name]:
                return self._picture(name)
        return None

    def hear(self, visitor: Visitor, message: Message) -> None:
        """A visitor chooses a scene."""
        if "open" in message:
            self._page.choose(visitor, message["open"])

    @staticmethod
    def _picture(name: str) -> Reply:
        found = thumbnail_of(name)
        if found is None:
            return Reply(404, "text/plain", b"no such picture")
        return Reply(200, KIND, found, (("Cache-Control", "max-age=60"),))


def _json(value: object) -> Reply:
    return Reply(200, "application/json", json.dumps(value).encode())
