"""What is on the picture now: a stage, where its bodies are, and the cameras that look at it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING

from ..model.rotation import Array
from ..stage.bounds import extent, floor
from ..stage.stage import Poses, Stage
from .ahead import Ahead, focus
from .camera import Camera, camera
from .cameras import Cameras
from .grab import make_grabbable
from .nodes import Nodes
from .server import Server

if TYPE_CHECKING:
    from ..live.session import Session


class Shown:
    """The picture of all visitors. `session_now` is what bodies are pulled in."""

    def __init__(self, server: Server, lock: RLock, session_now: Callable[[], Session | None]):
        self._server, self._lock, self._session_now = server, lock, session_now
        self._nodes: Nodes | None = None
        self._count = 0
        self.by_component = False
        """True if bodies have the colours of their components."""
        self.cameras = Cameras(server, lock, self.camera_of)

    @property
    def nodes(self) -> Nodes:
        """What is drawn."""
        assert self._nodes is not None
        return self._nodes

    def set(self, stage: Stage, poses: Poses, ahead: Ahead, aim: bool = True) -> None:
        """Set another stage, with the cameras on its whole motion if they are to `aim` at it.

        One that is there already stays as it is.
        """
        self._poses = poses
        if self._nodes is not None and self._nodes.stage == stage:
            self._nodes.restart()
            self._nodes.place(poses)
            return
        viser, old = self._server.viser, self._nodes
        corners = extent(stage, ahead.positions, ahead.rotations)
        travelling, self._bounds = focus(stage, ahead)
        self._count += 1
        root = f"/stage{self._count}"  # the browser keeps poses by name: names must be new
        with viser.atomic():
            if old is not None:
                old.remove()
            self._nodes = Nodes(viser.scene, stage, corners, floor(stage, *corners), root)
            if self.by_component:
                self._nodes.color(True)
            self._nodes.place(poses)
            make_grabbable(self._nodes, self._session_now)
        start = self.camera_of("best", 1.6)
        assert start is not None
        self.follow(travelling)
        if aim:
            self.cameras.begin(start)

    def move(self, poses: Poses) -> None:
        """Bodies are here now."""
        self._poses = poses
        self.nodes.place(poses)
        if self.cameras.followed is not None:
            self.cameras.move(self._place_of(self.cameras.followed))

    def color(self, by_component: bool) -> None:
        """Colours per body or by component."""
        with self._lock:
            self.by_component = by_component
            self.nodes.color(by_component)
            make_grabbable(self.nodes, self._session_now)

    def follow(self, body: str | None) -> None:
        """Let cameras move along with a body."""
        self.cameras.follow(body, None if body is None else self._place_of(body))

    def camera_of(self, preset: str, aspect: float) -> Camera | None:
        """Where the camera of a preset stands now, in a picture of this width to height; None without a picture."""
        if self._nodes is None:
            return None
        return camera(self.nodes.stage, self._poses, *self._bounds, preset, aspect)

    def _place_of(self, body: str) -> Array:
        stage = self.nodes.stage
        i = stage.index(body)
        return self._poses.place(i, stage.bodies[i].com)
