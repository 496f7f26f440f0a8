"""`python -m linkwork.soak.crowd PORT`: visitors of a page, in a process of their own, which may be killed.

Each looks at the page, its picture, the operators' panel, whose levers it holds, and the diagram, and is a program that
asks for signals; and each says something to all of them that cannot be understood.

It takes words on its standard input, one line each: `come N`, `leave`, which says goodbye, and `vanish`, which does
not. Twice a second it tells a line of JSON: how many visitors are there, how many messages they have heard, whether one
was about a recording in trouble, and how late a mere sleep ended meanwhile, so that a busy machine is known for one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
from time import perf_counter
from typing import Any

_NAP, _TELL, _HOLD = 5e-3, 0.5, 0.2  # [s]
_NONSENSE = ("{", "[" * 50_000, '{"do": ["put"]}', '{"seq": 0, "put": 1}', '{"seq": 0, "outputs": [[]]}')
TROUBLE = "recording: "
"""With which messages of the page begin that tell of a recording in trouble."""


class Crowd:
    """Visitors with a channel and a canvas each, that hear what they are told and say nothing."""

    def __init__(self, port: int, protocol: str):
        self.place, self.protocol = f"127.0.0.1:{port}", protocol
        self.there: set[asyncio.Task[None]] = set()
        self.transports: list[Any] = []
        self.count = self.heard = 0
        self.troubled = False
        self.lost = 0.0
        self.levers: list[tuple[str, float, float]] = []

    async def visit(self) -> None:
        """One visitor, until it is told to leave."""
        from websockets.asyncio.client import connect
        from websockets.typing import Subprotocol

        self.count += 1
        name = f"soak{self.count}"
        options: dict[str, Any] = {"origin": f"http://{self.place}", "max_size": None, "open_timeout": 60}
        spoken = [Subprotocol(self.protocol)]
        async with contextlib.AsyncExitStack() as stack:
            links = [
                await stack.enter_async_context(connect(f"ws://{self.place}{path}", **options))
                for path in (f"/panel/{name}", f"/operate/{name}", f"/edit/{name}", "/signals")
            ]
            canvas = connect(f"ws://{self.place}/canvas/{name}", subprotocols=spoken, **options)
            picture = await stack.enter_async_context(canvas)
            self.transports += [link.transport for link in (*links, picture)]
            for link in links:
                for words in _NONSENSE:
                    await link.send(words)
            _, operator, _, program = links
            await asyncio.gather(
                *(self.hear(link) for link in (*links, picture)), self.hold(operator), self.ask(program)
            )

    async def hear(self, link: Any) -> None:
        async for message in link:
            self.heard += 1
            if isinstance(message, str):
                self.troubled = self.troubled or TROUBLE in message
                if message.startswith('[{"operate"'):
                    self.levers = _levers(json.loads(message)[0]["operate"])

    async def hold(self, link: Any) -> None:
        """Keep hold of all levers, here and there."""
        for number in itertools.count(1):
            for k, (name, low, high) in enumerate(self.levers):
                value = low + (high - low) * (number % 7) / 7
                await link.send(
                    json.dumps({"seq": number * 1000 + k, "put": [name, value, True], "at": None})
                )
            await asyncio.sleep(_HOLD)

    async def ask(self, link: Any) -> None:
        """Want to know about the energy."""
        for number in itertools.count(1):
            await link.send(json.dumps({"seq": number, "outputs": ["energy.kinetic"], "rate": 20.0}))
            await asyncio.sleep(_TELL)

    def come(self, number: int) -> None:
        for _ in range(number):
            task = asyncio.ensure_future(self.visit())
            self.there.add(task)
            task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[None]) -> None:
        self.there.discard(task)
        if not task.cancelled():
            task.exception()  # the server went, or refused: what is asked for is that the server stands it

    def leave(self) -> None:
        for task in self.there:
            task.cancel()

    def vanish(self) -> None:
        """Connections end without a word, as of a browser that crashed."""
        for transport in self.transports:
            transport.abort()
        self.transports.clear()

    async def nap(self) -> None:
        """How much longer than asked for a sleep takes: what another thread loses on this machine too."""
        while True:
            began = perf_counter()
            await asyncio.sleep(_NAP)
            self.lost += max(0.0, perf_counter() - began - 10.0 * _NAP)

    async def tell(self) -> None:
        while True:
            told = {
                "visitors": len(self.there),
                "heard": self.heard,
                "troubled": self.troubled,
                "lost": self.lost,
            }
            print(json.dumps(told), flush=True)
            await asyncio.sleep(_TELL)


def _levers(panel: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Inputs of an operators' panel: name and range."""
    return [
        (one["name"], one["low"], one["high"])
        for group in panel["groups"] for element in group["elements"] for one in element["inputs"]
    ]  # fmt: skip


async def attend(port: int, protocol: str) -> None:
    """Obey until standard input ends."""
    crowd, loop = Crowd(port, protocol), asyncio.get_running_loop()
    tasks = [asyncio.ensure_future(crowd.nap()), asyncio.ensure_future(crowd.tell())]
    while words := (await loop.run_in_executor(None, sys.stdin.readline)).split():
        match words:
            case ["come", number]:
                crowd.come(int(number))
            case ["leave"]:
                crowd.leave()
            case ["vanish"]:
                crowd.vanish()
    for task in tasks:
        task.cancel()


def main() -> None:
    """The arguments are the port and what viser's canvas speaks."""
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(attend(int(sys.argv[1]), sys.argv[2]))


if __name__ == "__main__":
    main()
