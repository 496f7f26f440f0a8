"""Cameras of all visitors: where they stand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from threading import RLock
from typing import Any

from .camera import Camera, stands_at
from .channel import Visitor
from .server import Server

_OTHER_SHAPE = 0.01  # relative change of a picture's shape


class Cameras:
    """`camera_of(preset, aspect)` says where a camera is to stand, or nothing if there is nothing to see."""

    def __init__(self, server: Server, lock: RLock, camera_of: Callable[[str, float], Camera | None]):
        self._server, self._lock, self._camera_of = server, lock, camera_of
        self._clients: dict[str, Any] = {}  # by the names of visitors
        self._aimed: dict[int, tuple[str, float, Camera]] = {}
        self._start: Camera | None = None
        server.viser.on_client_connect(self._connected)
        server.viser.on_client_disconnect(self._left)
        server.channel.welcomes.append(self._joined)

    # Who looks

    async def _connected(self, client: Any) -> None:
        name = self._server.visitor_of_connection().partition(".")[0]
        await asyncio.to_thread(self._welcome, name, client)

    def _welcome(self, name: str, client: Any) -> None:
        client.camera.on_update(lambda _: self._keep_fitted(client))
        self.aim("best", client)
        self._keep_fitted(client)  # what came while the camera was aimed
        with self._lock:
            self._clients[name] = client
            visitor = self._server.channel.visitor(name)
            if visitor is not None:
                self._joined(visitor)

    def _joined(self, visitor: Visitor) -> None:
        if visitor.name in self._clients and self._start is not None:
            visitor.send({"canvas": True})

    def _left(self, client: Any) -> None:
        with self._lock:
            self._aimed.pop(client.client_id, None)
            for name, known in list(self._clients.items()):
                if known is client:  # not by a fresh one that has taken its place
                    del self._clients[name]
                    visitor = self._server.channel.visitor(name)
                    if visitor is not None:
                        visitor.send({"canvas": False})

    # Where they stand

    def begin(self, start: Camera) -> None:
        """Another stage: all look at it from here."""
        first, self._start = self._start is None, start
        for name in ("position", "look_at", "up", "fov"):
            setattr(self._server.viser.initial_camera, name, getattr(start, name))
        for client in self._server.viser.get_clients().values():
            self.aim("best", client)
        if first:
            for visitor in self._server.channel.visitors:
                self._joined(visitor)

    def refit(self) -> None:
        """What there is to see has another size: cameras that stand where they were aimed are aimed anew."""
        for client in self._server.viser.get_clients().values():
            preset, _, wanted = self._aimed.get(client.client_id, ("", 0.0, None))
            if wanted is not None and stands_at(client.camera, wanted):
                self.aim(preset, client)

    def turn(self, preset: str, visitor: Visitor) -> None:
        """Turn the camera of a visitor."""
        client = self._clients.get(visitor.name)
        if client is not None:
            self.aim(preset, client)

    def aim(self, preset: str, client: Any) -> None:
        """Turn a camera."""
        with self._lock, contextlib.suppress(AssertionError):  # no size is known before the first picture
            aspect = float(client.camera.aspect) or 1.6
            wanted = self._camera_of(preset, aspect)
            if wanted is None:
                return
            self._aimed[client.client_id] = preset, aspect, wanted
            with client.atomic():
                client.camera.up_direction = wanted.up
                client.camera.position = wanted.position
                client.camera.look_at = wanted.look_at
                client.camera.fov = wanted.fov

    def _keep_fitted(self, client: Any) -> None:
        """Aim anew if the picture has another shape, as when a window is resized, unless a visitor moved it.

        Also if the browser has gone back to where it began, which it does on its own when another model has other axes.
        """
        with self._lock:
            preset, aspect, wanted = self._aimed.get(client.client_id, ("", 0.0, None))
            if wanted is None or self._start is None:
                return
            reshaped = abs(client.camera.aspect / aspect - 1.0) > _OTHER_SHAPE
            if stands_at(client.camera, wanted):
                if reshaped:
                    self.aim(preset, client)
            elif stands_at(client.camera, self._start):
                self.aim("best", client)
