"""The live page: a session in the browser, for any number of visitors.

The physics runs in a thread of its own, the server in another; a third takes pictures, 60 times a second, of what the
physics has left there. None of them waits for a browser: viser drops pictures that a slow one has no time for, and the
channel of the panel replaces what is old. The page is there before any session is: it shows how far compiling is.
"""

from __future__ import annotations

import html
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Model
from ..model.errors import LinkworkError
from ..scenes import gallery_names, is_scene
from ..stage.stage import Poses, Stage
from . import recorded
from .ahead import Ahead, look_ahead
from .channel import Visitor
from .gallery import Gallery
from .gui import Gui
from .nodes import Nodes
from .panel import TABS, Tab
from .pictures import Pictures
from .player import Player
from .server import Server
from .shown import Shown
from .status import status_of

if TYPE_CHECKING:
    from ..live.session import Session
    from .opening import Opening

TRIAL = 5.0  # how long to wait for what a visitor asked for [s]
_GOODBYE = 0.1  # for last words to reach the browsers [s]


class Page:
    """What visitors see. `folder` takes recordings; `options` are those of `Simulation`."""

    def __init__(self, server: Server, *, folder: Path | str = ".", speed: float = 1.0, paused: bool = False,
                 **options: Any):  # fmt: skip
        self.server, self.folder = server, Path(folder)
        self._options = {"folder": self.folder, "speed": speed, "paused": paused, **options}
        self._plain = speed > 0.0 and all(value is None for value in options.values())  # nothing can be wrong
        self.settings: dict[str, Any] = {}
        """Parameters of the scene that runs."""
        self.own: dict[str, tuple[str | Model, dict[str, Any]]] = {}
        """What was opened and is no scene, with its parameters, by how a selector names it."""
        self.session: Session | None = None
        self.player: Player | None = None
        self._subject: str | Model | None = None
        self._name = self.about = ""
        self._opening: Opening | None = None
        self._errands: list[threading.Thread] = []
        self.tabs: list[Tab] = []
        """Of the panel, in the order of `TABS`; none while there is no simulation."""
        self._stage_lock = threading.RLock()
        self._ending = threading.Event()
        self._seen_run = -1
        self._staged: Stage | None = None
        self._seen_contacts: Any = None
        server.viser.gui.configure_theme(show_logo=False, show_share_button=False)
        server.viser.scene.world_axes.visible = False
        self.gui = Gui(server.channel)
        self.shown = Shown(server, self._stage_lock, lambda: self.session)
        self.gallery = Gallery(self)
        server.serve(self.gallery.answer)
        server.channel.listeners.append(self.gallery.hear)
        self.pictures = Pictures(self._picture)

    # Life

    def start(self) -> None:
        """Begin to take pictures."""
        self.pictures.start()

    def close(self) -> None:
        """End everything: what is being opened, pictures, physics, server."""
        self._ending.set()
        with self._stage_lock:
            if self._opening is not None:
                self._opening.cancel()
        self.pictures.stop()
        for errand in self._errands:
            errand.join()
        with self._stage_lock:
            if self.session is not None:
                self.session.stop()
        self.server.note("ended", True)  # the connection is not just lost
        if self.server.channel.visitors:
            time.sleep(_GOODBYE)
        self.server.stop()

    def __enter__(self) -> Page:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What is told beside the panel

    def progress(self, share: float | None, text: str) -> None:
        """Show how far something is above the picture, None if that is not known; without a text, nothing more."""
        self.server.note("progress", {"share": share, "text": text} if text else None)

    def trouble(self, text: str | None) -> None:
        """Show an error until None clears it: what is wrong with a file, while the last good model runs."""
        self.server.note("trouble", text)

    def news(self, text: str) -> None:
        """Tell everybody something."""
        self.server.channel.send({"tell": {"text": text, "kind": "info"}})

    # What runs

    def open(self, subject: str | Model, settings: dict[str, Any] | None = None, **options: Any) -> None:
        """Run a scene, a model file or a model instead of what runs now; returns when it runs.

        What is not compiled yet is compiled in other processes, while the page shows the model and how far it is.
        """
        from .opening import Opening

        self._open(Opening(subject, settings or {}, {**self._options, **options}))

    def begin(self, subject: str | Model | None, settings: dict[str, Any] | None = None) -> None:
        """As `open`, but returns as soon as it must be compiled first; what goes wrong later is shown on the page.

        None for the scene that comes first: a recording of it moves before anything is simulated, or imported that can.
        """
        begun, failed = threading.Event(), list[Exception]()
        before = self._opening, self.session
        if subject is None and not settings:
            stage, moving = recorded.load()
            text = "A recording, until the simulation itself is ready."
            player = Player(recorded.SCENE, stage, moving, title=text, again=True)
            self.preview(recorded.SCENE, stage, moving.poses(0), player)
            self.progress(None, "Loading the simulator ...")
            if self._plain:
                begun.set()

        def run() -> None:
            from .opening import Opening

            try:
                opening = Opening(subject or recorded.SCENE, settings or {}, self._options, begun.set)
                if (self._opening, self.session) == before:  # else a visitor has chosen something meanwhile
                    self._open(opening)
            except Exception as error:
                failed.append(error)
                if begun.is_set():
                    self.trouble(str(error))
                    traceback.print_exception(error, limit=0 if isinstance(error, LinkworkError) else None)
            finally:
                self.progress(None, "")
                begun.set()

        self._errand(run)
        begun.wait()
        if failed:
            raise failed[0]

    def choose(self, visitor: Visitor, name: str, **options: Any) -> None:
        """What a visitor wants to see, by its name in the gallery or in `own`; goes on behind the page."""
        subject, settings = self.own.get(name, (name, {}))
        settings = options.pop("settings", settings)
        self.later(visitor, lambda: self.open(subject, settings, **options))

    def later(self, visitor: Visitor, action: Callable[[], object]) -> None:
        """As `attempt`, behind the page: for what may take long."""
        self._errand(lambda: self.attempt(visitor, action))

    def reopen(self, method: str, solver: str | None) -> None:
        """Run the same with another method, from the start, with the numbers that were changed while it moved."""
        assert self._subject is not None
        changed = {} if self.session is None else self.session.changed
        self.open(self._subject, self.settings, method=method, solver=solver, changed=changed)
        kept = "".join(f"; {name} stays {value:g}" for name, value in changed.items())
        way = ", ".join(part for part in (method, solver) if part)
        self.news(f"{way}: begins again at 0 s{kept}")

    def replay(self, path: Path) -> None:
        """Play a recording instead of what runs now."""
        from ..results.record import Record
        from .motion import motion, stage_in

        record = Record.load(path)
        stage = stage_in(record)
        player = Player(path.name, stage, motion(record, stage), title=record.title)
        self.preview(path.name, stage, player.motion.poses(0), player)

    def back(self) -> None:
        """Run again what ran before a replay."""
        if self._subject is None:
            raise LinkworkError("nothing ran before: choose a scene in the gallery")
        self.open(self._subject, self.settings)

    def preview(self, name: str, stage: Stage, poses: Poses, player: Player | None) -> None:
        """Show something that is not simulated: where a model starts, or a recording of it."""
        with self._stage_lock:
            if self.session is not None:
                self.session.stop()
                self.session = None
            self._name, self.about, self.tabs = name, "", []
            self._seen_run = -1
            seen = (
                Poses(poses.positions[None], poses.rotations[None]) if player is None else player.motion.every
            )
            self.shown.set(stage, poses, Ahead(*seen, 1.0))
            with self.gui.rebuilt():
                if player is not None:
                    player.build(self, self.gui)
                else:
                    text = "It stands where it starts, and moves as soon as its solver is compiled."
                    self.gui.add_html(f"<h2>{html.escape(name)}</h2><div class='soft'>{text}</div>")
            self.player = player
            self._tell_status()

    @property
    def label(self) -> str:
        """How a selector names what is shown: see `names`."""
        return self._name if is_scene(self._subject) else f"{self._name} (file)"

    @property
    def compiling(self) -> bool:
        """Whether what is shown does not run yet."""
        return self.session is None and any(errand.is_alive() for errand in self._errands)

    @property
    def subject(self) -> str:
        """Name of what is shown."""
        return self._name

    def _open(self, opening: Opening) -> None:
        from .opening import Overtaken

        with self._stage_lock:
            previous, self._opening = self._opening, opening
        if previous is not None:
            previous.cancel()
        try:
            fresh = opening.session(self)
            ahead = look_ahead(fresh)
            with self._stage_lock:
                if self._opening is opening and not self._ending.is_set():
                    self._replace(opening, fresh, ahead)
        except Overtaken:
            pass
        finally:
            with self._stage_lock:
                if self._opening is opening:
                    self._opening = None

    def _replace(self, opening: Opening, fresh: Session, ahead: Ahead) -> None:
        from ..live.reload import follow_files

        if self.session is not None:
            self.session.stop()
        self.player = None
        self._subject, self.settings = opening.subject, opening.settings
        self._name = opening.name
        self.about = "" if opening.scene is None else opening.scene.description
        if not is_scene(self.label):
            self.own[self.label] = opening.subject, opening.settings
        self.session = fresh
        fresh.trace(fresh.markers)
        self._seen_run, self._staged, self._ahead = -1, fresh.stage, ahead
        self.shown.set(fresh.stage, fresh.view.poses, ahead)
        fresh.reactions = self.nodes.shows("reactions")
        fresh.watch_contacts(self.nodes.shows("contacts"))
        self._build(fresh)
        self.trouble(None)
        fresh.start()
        self._tell_status()
        if isinstance(opening.subject, str) and opening.model.files:
            follow_files(fresh, opening.subject, opening.settings, trouble=self.trouble, news=self.news)

    def _build(self, session: Session) -> None:
        """The panel of a session."""
        self.tabs = [tab(self, session) for tab in TABS]
        with self.gui.rebuilt():
            group = self.gui.add_tabs()
            for tab in self.tabs:
                with self.gui.add_tab(group, tab.title):
                    tab.build()

    def _restage(self, session: Session) -> None:
        """The model was written anew: show it in place of the old one, with cameras as they are."""
        session.trace(session.markers)
        poses, before = session.view.poses, self._ahead
        here = poses.positions[None], poses.rotations[None]
        if before.positions.shape[1:] == poses.positions.shape:  # what was looked at before stays in view
            here = np.concatenate([before.positions, here[0]]), np.concatenate([before.rotations, here[1]])
        self._seen_run, self._staged, self._ahead = -1, session.stage, Ahead(*here, before.share)
        self.shown.set(session.stage, poses, self._ahead, aim=False)
        self._build(session)

    # What visitors do

    def attempt(self, visitor: Visitor, action: Callable[[], object]) -> None:
        """Do what a visitor asks for; tell that visitor what is wrong with it, at once or when it is tried."""
        try:
            outcome = action()
            if isinstance(outcome, Future):
                outcome.result(timeout=TRIAL)
        except TimeoutError:
            pass  # the physics is busy: it will be done
        except LinkworkError as error:
            visitor.tell(str(error))
        except Exception as error:
            traceback.print_exc()
            visitor.tell(f"{type(error).__name__}: {error}")

    def _errand(self, run: Callable[[], object]) -> None:
        """Do something that takes long."""
        errand = threading.Thread(target=run, name="linkwork-open", daemon=True)
        self._errands = [*(one for one in self._errands if one.is_alive()), errand]
        errand.start()

    def names(self) -> list[str]:
        """All that can be chosen: what was opened and is no scene, and all scenes."""
        return [*self.own, *gallery_names()]

    @property
    def nodes(self) -> Nodes:
        """What is drawn."""
        return self.shown.nodes

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer of the picture."""
        with self._stage_lock:
            self.nodes.show(layer, visible)
            if layer == "reactions" and self.session is not None:
                self.session.reactions = visible
            if layer == "contacts" and self.session is not None:
                self.session.watch_contacts(visible)

    def draw_traces(self) -> None:
        """Draw the traces anew."""
        with self._stage_lock:
            if self.session is not None:
                self.nodes.trace(self.session.traced())

    # Pictures

    def _picture(self, panel: bool, trace: bool) -> None:
        with self._stage_lock:
            self._show(panel, trace)

    def _show(self, panel: bool, trace: bool) -> None:
        if panel:
            self._tell_status()
        self.server.operators.follow(self.session)
        self.server.editors.follow(self.session, self.settings)
        if self.player is not None:
            poses = self.player.look(panel)
            if poses is not None:
                with self.server.viser.atomic():
                    self.shown.move(poses)
                    if trace:
                        self.nodes.trace(self.player.traces())
            return
        session = self.session
        if session is None:
            return
        view = session.look()
        if session.stage is not self._staged:
            self._restage(session)
        with self.server.viser.atomic():
            if view is not None:
                if view.run != self._seen_run:
                    self._seen_run = view.run
                    self.nodes.restart()
                self.shown.move(view.poses)
                if self.nodes.shows("reactions"):
                    self.nodes.react(view.poses, view.values)
            contacts = session.contacts
            if contacts is not self._seen_contacts:
                self._seen_contacts = contacts
                if contacts is not None:
                    self.nodes.touch(contacts.points, contacts.forces, contacts.slides)
            if trace and self.nodes.shows("traces"):
                self.nodes.trace(session.traced())
        if panel:
            for tab in self.tabs:
                tab.refresh(session.view)

    def _tell_status(self) -> None:
        self.server.note("status", status_of(self))
