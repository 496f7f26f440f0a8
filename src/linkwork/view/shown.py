"""What is on the picture now: a stage, where its bodies are, and the cameras that look at it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from ..model.rotation import Array
from ..stage.bounds import extent, floor
from ..stage.stage import Poses, Stage
from .ahead import Ahead, focus
from .camera import Camera, camera
from .cameras import Cameras
from .grab import make_grabbable
from .layers import Bounds
from .nodes import Nodes, light
from .server import Server

if TYPE_CHECKING:
    from ..live.session import Session


_ROOM = 0.05  # by how much a changed model may reach out of what cameras see, in diagonals of that


class Shown:
    """The picture of all visitors. `session_now` is what bodies are pulled in."""

    def __init__(self, server: Server, lock: RLock, session_now: Callable[[], Session | None]):
        self._server, self._lock, self._session_now = server, lock, session_now
        self._nodes: Nodes | None = None
        self._bounds: Bounds | None = None
        self._count = 0
        self.by_component = False
        """True if bodies have the colours of their components."""
        self.followed: str | None = None
        """The body that stays where it is in the picture, while all else moves past it."""
        self.cameras = Cameras(server, lock, self.camera_of)

    @property
    def nodes(self) -> Nodes:
        """What is drawn."""
        assert self._nodes is not None
        return self._nodes

    def set(self, stage: Stage, poses: Poses, ahead: Ahead, aim: bool = True) -> None:
        """Set another stage, with the cameras on its whole motion if they are to `aim` at it.

        Else they stay, unless it is much larger or smaller than before. One that is there already stays as it is.
        """
        self._poses = poses
        if self._nodes is not None and self._nodes.stage == stage:
            self._nodes.restart()
            self.move(poses)
            return
        viser, old = self._server.viser, self._nodes
        corners = extent(stage, ahead.positions, ahead.rotations)
        before = self._bounds
        travelling, self._bounds = focus(stage, ahead)
        self._count += 1
        root = f"/stage{self._count}"  # the browser keeps poses by name: names must be new
        with viser.atomic():
            if old is not None:
                old.remove()
            if old is None or old.stage.up != stage.up:
                light(viser.scene, stage.up)
            self._nodes = Nodes(viser.scene, stage, corners, floor(stage, *corners), root)
            if self.by_component:
                self._nodes.color(True)
            if old is not None and not aim:
                self._nodes.carry(old.shift)
            self._nodes.place(poses)
            make_grabbable(self._nodes, self._session_now)
        self.follow(travelling)
        start = self.camera_of("best", 1.6)
        assert start is not None
        if aim or before is None:
            self.cameras.begin(start)
        elif _other_size(before, self._bounds):
            self.cameras.refit()

    def move(self, poses: Poses) -> None:
        """Bodies are here now."""
        self._poses = poses
        if self.followed is not None:
            self.nodes.carry(self._place_of(self.followed) - self._kept_at)
        self.nodes.place(poses)

    def color(self, by_component: bool) -> None:
        """Colours per body or by component."""
        with self._lock:
            self.by_component = by_component
            self.nodes.color(by_component)
            make_grabbable(self.nodes, self._session_now)

    def follow(self, body: str | None) -> None:
        """Keep a body where it is in the picture now.

        The stage is moved, not the cameras: they are the visitors', and what browsers tell of them comes late.
        """
        with self._lock:
            if body is not None:
                self._kept_at = self._place_of(body) - self.nodes.shift
            self.followed = body

    def camera_of(self, preset: str, aspect: float) -> Camera | None:
        """Where the camera of a preset stands now, in a picture of this width to height; None without a picture."""
        if self._nodes is None or self._bounds is None:
            return None
        low, high = self._bounds
        if self.followed is None:
            low, high = low - self.nodes.shift, high - self.nodes.shift
        return camera(self.nodes.stage, self._poses, low, high, preset, aspect)

    def _place_of(self, body: str) -> Array:
        stage = self.nodes.stage
        i = stage.index(body)
        return self._poses.place(i, stage.bodies[i].com)


def _other_size(before: Bounds, now: Bounds) -> bool:
    """Whether what there is to see reaches out of the picture of what was, or is lost in it."""
    was, size = (float(np.linalg.norm(high - low)) for low, high in (before, now))
    out = max(float((before[0] - now[0]).max()), float((now[1] - before[1]).max()))
    return out > _ROOM * was or size < was / 2
