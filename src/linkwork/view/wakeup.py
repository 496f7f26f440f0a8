"""Viser's buffers of messages wake who sends them by an event that is no affair of other threads.

`asyncio.Event.set` goes through its waiters, which the thread of the server changes meanwhile: a picture then fails
with "deque mutated during iteration", or a visitor is never woken. Viser says it twice, once more within its own
thread, so the first time is left out.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any


class OwnThread(asyncio.Event):
    """An event that is set by the thread of its loop alone; others are not heard."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        super().__init__()
        self._own = loop

    def set(self) -> None:
        """Wake those that wait, if this is their thread."""
        with contextlib.suppress(RuntimeError):  # there is no loop in other threads
            if asyncio.get_running_loop() is self._own:
                super().set()


def wake_by_own_thread() -> None:
    """From now on buffers of viser's servers and clients have such events."""
    from viser.infra import _infra
    from viser.infra._async_message_buffer import AsyncMessageBuffer

    class Buffer(AsyncMessageBuffer):
        def __init__(self, *arguments: Any, **options: Any):
            super().__init__(*arguments, **options)
            self.message_event = OwnThread(self.event_loop)

    setattr(_infra, "AsyncMessageBuffer", Buffer)  # noqa: B010
