"""The gallery: a page with a card for every registered scene, and the simulation that runs on top of it."""

from __future__ import annotations

import html
import json
import secrets
import threading
from typing import TYPE_CHECKING

from ..model.errors import LinkworkError
from ..scenes import Scene, find_scene, scene_names
from .server import Reply
from .thumbnails import Thumbnails

if TYPE_CHECKING:
    from .page import Page

_HTML, _JSON, _PNG = "text/html; charset=utf-8", "application/json", "image/png"


class Gallery:
    """Answers requests for /gallery and what belongs to it.

    Opening a scene changes something, so it wants a key that only pages of this server know.
    """

    def __init__(self, page: Page):
        self._page = page
        self._key = secrets.token_urlsafe(12)
        self._thumbnails = Thumbnails()
        self._trouble = ""

    def answer(self, path: str, query: dict[str, str]) -> Reply | None:
        """A reply, or None if the request is not ours."""
        match [part for part in path.split("/") if part]:
            case ["gallery"]:
                cards = "\n".join(_card(find_scene(name)) for name in scene_names())
                page = _PAGE.replace("@CARDS@", cards).replace("@KEY@", self._key)
                return Reply(200, _HTML, page.encode())
            case ["gallery", "now"]:
                return _json(200, {"scene": self._page.subject, "trouble": self._trouble})
            case ["gallery", "picture", name]:
                return self._picture(name)
            case ["gallery", "open", name]:
                return self._open(name, query)
        return None

    def _open(self, name: str, query: dict[str, str]) -> Reply:
        if not secrets.compare_digest(query.get("key", "").encode(), self._key.encode()):
            return _json(403, {"error": "this address works from the gallery only"})
        if name not in scene_names():
            return _json(404, {"error": f"there is no scene '{name}'"})

        # Compiling may take long; the thread of the server must not wait.
        def run() -> None:
            try:
                self._page.open(name)
            except LinkworkError as error:
                self._trouble = f"{name}: {error}"
            else:
                self._trouble = ""

        threading.Thread(target=run, name="linkwork-open", daemon=True).start()
        return _json(200, {"scene": name})

    def _picture(self, name: str) -> Reply:
        if name not in scene_names():
            return Reply(404, "text/plain", b"no such picture")
        found = self._thumbnails.get(name)
        if found is None:  # not yet
            return Reply(204, "text/plain", b"", (("Cache-Control", "no-store"),))
        return Reply(200, _PNG, found, (("Cache-Control", "max-age=60"),))

    def stop(self) -> None:
        """End what goes on behind the page."""
        self._thumbnails.stop()


def _card(scene: Scene) -> str:
    name = html.escape(scene.name)
    picture = (
        f'<img src="/gallery/picture/{name}" alt="{name}" width="320" height="200" onerror="later(this)">'
    )
    return (
        f'<a class="card" href="/" data-scene="{name}">{picture}<div class="text"><h2>{name}</h2>'
        f"<p>{html.escape(scene.description)}</p>"
        f'<p class="source">{html.escape(scene.source)}</p></div></a>'
    )


def _json(status: int, value: object) -> Reply:
    return Reply(status, _JSON, json.dumps(value).encode())


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Linkwork: gallery</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>
  :root { color-scheme: light; }
  body { margin: 0; font: 15px/1.45 system-ui, sans-serif; color: #1d2733; background: #f3f5f8; }
  header { display: flex; align-items: baseline; gap: 1em; padding: 18px 28px 10px; }
  h1 { font-size: 24px; margin: 0; } header p { margin: 0; color: #5a6675; }
  .live { margin: 0 28px 22px; border-radius: 10px; overflow: hidden; background: #fff;
          box-shadow: 0 1px 6px #0002; }
  .live iframe { display: block; width: 100%; height: 58vh; min-height: 380px; border: 0; }
  .live .bar { display: flex; justify-content: space-between; padding: 8px 14px; font-size: 14px; }
  main { display: grid; gap: 18px; padding: 0 28px 40px;
         grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); }
  .card { display: block; background: #fff; border-radius: 10px; overflow: hidden; color: inherit;
          text-decoration: none; box-shadow: 0 1px 4px #0002; border: 2px solid transparent; }
  .card:hover { box-shadow: 0 3px 12px #0003; } .card.now { border-color: #266ed2; }
  .card img { display: block; width: 100%; height: auto; aspect-ratio: 8/5; background: #e8ecf1; }
  .text { padding: 8px 14px 12px; } h2 { font-size: 16px; margin: 2px 0; }
  .text p { margin: 2px 0; font-size: 13.5px; } .text .source { color: #6b7685; font-size: 12px; }
  a { color: #266ed2; } #trouble { color: #c62828; }
</style></head><body>
<script>  // a picture that is still being drawn
function later(picture) { setTimeout(() => picture.src = picture.src.split("?")[0] + "?" + Date.now(), 1500); }
</script>
<header><h1>Linkwork</h1>
<p>Choose a scene: it starts above. Drag bodies, move levers, change what you like.</p></header>
<section class="live"><div class="bar"><span>running: <b id="now"></b> <span id="trouble"></span></span>
<a href="/">full page</a></div><iframe src="/" title="the simulation"></iframe></section>
<main>
@CARDS@
</main>
<script>
const key = "@KEY@", now = document.getElementById("now"), trouble = document.getElementById("trouble");
function mark(name) {
  now.textContent = name;
  for (const card of document.querySelectorAll(".card")) card.classList.toggle("now", card.dataset.scene === name);
}
async function ask() {
  try {
    const state = await (await fetch("/gallery/now")).json();
    mark(state.scene); trouble.textContent = state.trouble;
  }
  catch (error) { trouble.textContent = "(the simulator has ended)"; }
}
for (const card of document.querySelectorAll(".card")) card.addEventListener("click", async event => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  window.scrollTo({top: 0, behavior: "smooth"});
  const reply = await fetch(`/gallery/open/${card.dataset.scene}?key=${key}`);
  if (!reply.ok) trouble.textContent = (await reply.json()).error; else setTimeout(ask, 300);
});
ask(); setInterval(ask, 3000);
</script></body></html>
"""
