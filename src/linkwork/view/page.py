"""The live page: a session in the browser, for any number of visitors.

The physics runs in a thread of its own, the server in another; a third takes pictures, 60 times a second, of what the
physics has left there. None of them waits for a browser: viser drops pictures that a slow one has no time for.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from ..live.session import Session
from ..model import Model
from ..model.errors import LinkworkError
from ..results.record import Record
from ..scenes import open_subject
from ..stage.bounds import extent, floor
from ..stage.stage import Poses
from .ahead import look_ahead
from .camera import Camera, camera, stands_at
from .gallery import Gallery
from .nodes import Nodes
from .panel import TABS, Tab
from .player import Player
from .server import Server

RATE = 60.0
"""Pictures per second."""
_PANEL_RATE, _TRACE_RATE = 5.0, 12.0
TRIAL = 5.0  # how long to wait for what a visitor asked for [s]
_SLOWEST = 25.0  # pictures per second below which it is said
_SWITCH = 5e-4  # how long a thread may keep the interpreter from the physics [s]
_OTHER_SHAPE = 0.01  # relative change of a picture's shape
_GOODBYE = 0.1  # for last words to reach the browsers [s]


class Page:
    """What visitors see. `folder` takes recordings; `options` are those of `Simulation`."""

    def __init__(self, server: Server, *, folder: Path | str = ".", speed: float = 1.0, paused: bool = False,
                 **options: Any):  # fmt: skip
        self.server, self.folder = server, Path(folder)
        self._options, self._speed, self._paused = options, speed, paused
        self.settings: dict[str, Any] = {}
        """Parameters of the scene that runs."""
        self.followed: str | None = None
        self.rate = 0.0
        """Pictures taken per second."""
        self.troubles: list[str] = []
        self.session: Session | None = None
        self.player: Player | None = None
        self._nodes: Nodes | None = None
        self._last_followed: Any = None
        self._subject: str | Model | None = None
        self.tabs: list[Tab] = []
        """Of the panel, in the order of `TABS`; none while there is no simulation."""
        self._stage_lock = threading.RLock()
        self._ending = threading.Event()
        self._moments: deque[float] = deque(maxlen=int(RATE))
        self._seen_run = -1
        self._seen_contacts: Any = None
        gui, stage = server.viser.gui, server.viser.scene
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium",
                            brand_color=(38, 110, 210))  # fmt: skip
        stage.world_axes.visible = False
        self.gallery = Gallery(self)
        server.serve(self.gallery.answer)
        self._aimed: dict[int, tuple[str, float, Camera]] = {}
        server.viser.on_client_connect(self._welcome)
        server.viser.on_client_disconnect(lambda client: self._aimed.pop(client.client_id, None))
        self._thread = threading.Thread(target=self._show, name="linkwork-pictures", daemon=True)

    # Life

    def start(self) -> None:
        """Begin to take pictures."""
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch, _SWITCH))
        self._thread.start()

    def close(self) -> None:
        """End everything: pictures, physics, server."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
            sys.setswitchinterval(self._switch)
        with self._stage_lock:
            if self.session is not None:
                self.session.stop()
        self.gallery.stop()
        self._say_goodbye()
        self.server.stop()

    def _say_goodbye(self) -> None:
        """Tell visitors that nothing will move any more: a browser only shows that it tries to reconnect."""
        clients = self.server.viser.get_clients().values()
        for client in clients:
            client.add_notification(
                "The simulation has ended", "You see its last moment.", color="red", auto_close_seconds=None
            )
            client.flush()
        if clients:
            time.sleep(_GOODBYE)

    def __enter__(self) -> Page:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def nodes(self) -> Nodes:
        """What is drawn."""
        assert self._nodes is not None
        return self._nodes

    # What runs

    def open(self, subject: str | Model, settings: dict[str, Any] | None = None, **options: Any) -> None:
        """Run a scene, a model file or a model instead of what runs now."""
        settings = settings or {}
        model, found = open_subject(subject, settings)
        fresh = Session(
            model, scene=found, folder=self.folder, speed=self._speed, paused=self._paused,
            **{**self._options, **options},
        )  # fmt: skip
        fresh.warm()
        with self._stage_lock:
            self._subject, self.settings, self.followed = subject, settings, None
            self._replace(fresh)

    def reopen(self, method: str, solver: str | None) -> None:
        """Run the same with another method, from the start."""
        assert self._subject is not None
        self.open(self._subject, self.settings, method=method, solver=solver)

    def replay(self, path: Path) -> None:
        """Play a recording instead of what runs now."""
        record = Record.load(path)
        player = Player(record, path.name)
        with self._stage_lock:
            if self.session is not None:
                self.session.stop()
                self.session = None
            moving = player.motion
            self._set_stage(player.stage, moving.poses(0), moving.positions, moving.rotations)
            self.player = player
            player.build(self)

    def back(self) -> None:
        """Run again what ran before a replay."""
        if self._subject is None:
            raise LinkworkError("nothing ran before: choose a scene in the gallery")
        self.open(self._subject, self.settings)

    @property
    def subject(self) -> str:
        """Name of what runs."""
        if self.player is not None:
            return self.player.name
        session = self.session
        if session is None:
            return ""
        return session.scene.name if session.scene is not None else session.written.name

    def _replace(self, fresh: Session) -> None:
        if self.session is not None:
            self.session.stop()
        self.player = None
        self.session = fresh
        fresh.trace(fresh.markers)
        positions, rotations = look_ahead(fresh)
        self._set_stage(fresh.stage, fresh.view.poses, positions, rotations)
        gui = self.server.viser.gui
        self.tabs = [tab(self, fresh) for tab in TABS]
        with self.server.viser.atomic():
            group = gui.add_tab_group()
            for tab in self.tabs:
                with group.add_tab(tab.title, tab.icon):
                    tab.build()
        self._grabbable()
        fresh.start()

    def _set_stage(self, stage: Any, poses: Poses, positions: Any, rotations: Any) -> None:
        """Clear the page and set another stage, with the camera on its whole motion."""
        viser = self.server.viser
        self.tabs = []
        viser.gui.reset()
        viser.gui.set_panel_label("Linkwork")
        viser.gui.main_panel.dock_right()
        if self._nodes is not None:
            self._nodes.remove()
        low, high = extent(stage, np.array(positions), np.array(rotations))
        self._bounds = low, high
        self._nodes = Nodes(viser.scene, stage, (low, high), floor(stage, poses, low, high))
        self._poses = poses
        self.nodes.place(poses)
        self._seen_run = -1
        self._start = start = self.camera_of("best", 1.6)
        for name in ("position", "look_at", "up", "fov"):
            setattr(viser.initial_camera, name, getattr(start, name))
        for client in viser.get_clients().values():
            self.aim("best", client)

    # What visitors do

    def attempt(self, client: Any, action: Callable[[], object]) -> None:
        """Do what a visitor asks for; tell that visitor what is wrong with it, at once or when it is tried."""
        try:
            outcome = action()
            if isinstance(outcome, Future):
                outcome.result(timeout=TRIAL)
        except TimeoutError:
            pass  # the physics is busy: it will be done
        except LinkworkError as error:
            _tell(client, str(error))
        except Exception as error:
            traceback.print_exc()
            _tell(client, f"{type(error).__name__}: {error}")

    def _welcome(self, client: Any) -> None:
        client.camera.on_update(lambda _: self._keep_fitted(client))
        self.aim("best", client)
        self._keep_fitted(client)  # what came while the camera was aimed

    def _keep_fitted(self, client: Any) -> None:
        """Aim anew if the picture has another shape, as when the panel takes its place, unless a visitor moved it.

        Also if the browser has gone back to where it began, which it does on its own when another model has other axes.
        """
        with self._stage_lock:
            preset, aspect, wanted = self._aimed.get(client.client_id, ("", 0.0, None))
            if wanted is None:
                return
            reshaped = abs(client.camera.aspect / aspect - 1.0) > _OTHER_SHAPE
            if stands_at(client.camera, wanted):
                if reshaped:
                    self.aim(preset, client)
            elif stands_at(client.camera, self._start):
                self.aim("best", client)

    def aim(self, preset: str, client: Any) -> None:
        """Turn a visitor's camera."""
        if self._nodes is None:
            return
        with (
            self._stage_lock,
            contextlib.suppress(AssertionError),
        ):  # no size is known before the first picture
            aspect = float(client.camera.aspect) or 1.6
            wanted = self.camera_of(preset, aspect)
            self._aimed[client.client_id] = preset, aspect, wanted
            with client.atomic():
                client.camera.up_direction = wanted.up
                client.camera.position = wanted.position
                client.camera.look_at = wanted.look_at
                client.camera.fov = wanted.fov

    def follow(self, body: str | None) -> None:
        """Let cameras move along with a body."""
        self.followed = body
        self._last_followed = None if body is None else self._place_of(body)

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer of the picture."""
        with self._stage_lock:
            self.nodes.show(layer, visible)
            if layer == "reactions" and self.session is not None:
                self.session.reactions = visible
            if layer == "contacts" and self.session is not None:
                self.session.watch_contacts(visible)

    def color(self, by_component: bool) -> None:
        """Colours per body or by component."""
        with self._stage_lock:
            self.nodes.color(by_component)
            self._grabbable()

    def draw_traces(self) -> None:
        """Draw the traces anew."""
        with self._stage_lock:
            if self.session is not None:
                self.nodes.trace(self.session.traces)

    def _grabbable(self) -> None:
        """Bodies can be dragged."""
        for instances in self.nodes.bodies:

            async def dragged(event: Any, instances: Any = instances) -> None:  # async: phases stay in order
                session = self.session
                body = self.nodes.body_at(instances, event.instance_index)
                if session is None or body is None:
                    return
                with contextlib.suppress(LinkworkError):
                    if event.phase == "start":
                        session.grab(body, event.start_position)
                    if event.phase == "end":
                        session.let_go()
                    else:
                        session.drag(event.end_position)

            instances.handle.on_drag("left")(dragged)

    # Pictures

    def _show(self) -> None:
        """Take pictures until the end."""
        period, due = 1.0 / RATE, time.perf_counter()
        panel = trace = 0.0  # when they are to be shown next
        while not self._ending.is_set():
            due = max(due + period, time.perf_counter() - period)
            try:
                with self._stage_lock:
                    now = time.perf_counter()
                    self._picture(now > panel, now > trace)
                    panel = now + 1.0 / _PANEL_RATE if now > panel else panel
                    trace = now + 1.0 / _TRACE_RATE if now > trace else trace
                self._count(now)
            except Exception:
                self.troubles = ["pictures failed; see the terminal"]
                traceback.print_exc()
                self._ending.wait(1.0)
            self._ending.wait(max(0.0, due - time.perf_counter()))

    def _picture(self, panel: bool, trace: bool) -> None:
        if self.player is not None:
            poses = self.player.look(panel)
            if poses is not None:
                with self.server.viser.atomic():
                    self._move(poses)
                    if trace:
                        self.nodes.trace(self.player.traces())
            return
        session = self.session
        if session is None:
            return
        view = session.look()
        with self.server.viser.atomic():
            if view is not None:
                if view.run != self._seen_run:
                    self._seen_run = view.run
                    self.nodes.restart()
                self._move(view.poses)
                if self.nodes.shows("reactions"):
                    self.nodes.react(view.poses, view.values)
            contacts = session.contacts
            if contacts is not self._seen_contacts:
                self._seen_contacts = contacts
                if contacts is not None:
                    self.nodes.touch(contacts.points, contacts.forces, contacts.slides)
            if trace and self.nodes.shows("traces"):
                self.nodes.trace(session.traces)
            if panel:
                for tab in self.tabs:
                    tab.refresh(session.view)

    def _move(self, poses: Poses) -> None:
        self._poses = poses
        self.nodes.place(poses)
        if self.followed is not None:
            here, last = self._place_of(self.followed), self._last_followed
            if last is None or float(np.abs(here - last).max()) > 1e-3:
                self._last_followed = here
                for client in self.server.viser.get_clients().values():
                    with contextlib.suppress(AssertionError):
                        client.camera.look_at = here

    def _place_of(self, body: str) -> Any:
        stage = self.nodes.stage
        i = stage.index(body)
        return self._poses.place(i, stage.bodies[i].com)

    def camera_of(self, preset: str, aspect: float) -> Camera:
        """Where the camera of a preset stands now, in a picture of this width to height."""
        return camera(self.nodes.stage, self._poses, *self._bounds, preset, aspect)

    def _count(self, now: float) -> None:
        self._moments.append(now)
        span = now - self._moments[0]
        if span > 0.5:
            self.rate = (len(self._moments) - 1) / span
            slow = f"only {self.rate:.0f} pictures per second: this machine is too busy"
            self.troubles = [slow] if self.rate < _SLOWEST else []


def _tell(client: Any, text: str) -> None:
    client.add_notification("Not possible", text, color="red", auto_close_seconds=12.0)
