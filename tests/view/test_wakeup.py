"""Messages of viser wake their senders from any thread, and break nothing there."""

import asyncio
import threading

import pytest

pytest.importorskip("viser", reason="no viser found: tests of pages were LEFT OUT; install linkwork[view]")

from helpers.processes import PATIENCE, wait_until
from linkwork.view.server import Server
from linkwork.view.wakeup import OwnThread


class Waiters:
    """Of an event, that change while somebody goes through them."""

    def __iter__(self):
        raise RuntimeError("deque mutated during iteration")


def test_other_threads_do_not_touch_those_that_wait():
    async def tried():
        event = OwnThread(asyncio.get_running_loop())
        waiters, event._waiters = event._waiters, Waiters()
        other = threading.Thread(target=event.set)
        other.start()
        other.join()
        assert not event.is_set()
        event._waiters = waiters
        waiting = asyncio.create_task(event.wait())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon_threadsafe(event.set)
        await asyncio.wait_for(waiting, PATIENCE)

    asyncio.run(tried())


def test_all_buffers_of_a_server_have_such_events():
    for _ in range(2):
        server = Server(port=0)
        try:
            buffer = server.viser._websock_server._broadcast_buffer
            assert isinstance(buffer.message_event, OwnThread)
            assert len(type(buffer).__mro__) == 3  # once, however many servers there were
            heard = threading.Event()
            server.viser.scene.add_frame("/one")
            buffer.event_loop.call_soon_threadsafe(heard.set)
            wait_until(heard.is_set, "the server goes on")
        finally:
            server.stop()
