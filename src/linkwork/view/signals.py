"""Programs that drive what the page runs, by a websocket at /signals: messages as in `live.remote`, behind the guard of
the page; they name its token in the header `Authorization`."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..live.remote import Remote

if TYPE_CHECKING:
    from ..live.session import Session

PATH = "/signals"
_KEPT = 100  # messages for a program that is slow; older ones are lost


async def receive(connection: Any, session: Callable[[], Session | None]) -> None:
    """Look after a program until it leaves."""
    from websockets.exceptions import ConnectionClosed

    loop, news = asyncio.get_running_loop(), asyncio.Event()
    waiting: deque[str] = deque(maxlen=_KEPT)

    def send(text: str) -> None:
        waiting.append(text)
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(news.set)

    async def deliver() -> None:
        while True:
            await news.wait()
            news.clear()
            while waiting:
                await connection.send(waiting.popleft())

    program = Remote(session, send, "program")
    sender = asyncio.create_task(deliver())
    try:
        with contextlib.suppress(ConnectionClosed):
            async for text in connection:
                program.hear(text)
    finally:
        sender.cancel()
        program.leave()
