"""A visitor of the live page without a window: `python -m benchmarks.visitor URL SECONDS`.

It takes part as a browser does, reads every message, and prints `ready` and then how many pictures came, as JSON.
Rendering is left out: it is the visitor's machine that renders.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

_MOVED = "batched_positions"


async def visit(url: str, seconds: float) -> dict[str, float]:
    """Watch for a while; the first second is not counted."""
    import msgspec.msgpack
    import viser
    import websockets
    import zstandard

    parts = urlsplit(url)
    unpack = zstandard.ZstdDecompressor()
    pictures, size, moments = 0, 0, []
    async with websockets.connect(
        f"ws://{parts.netloc}/", subprotocols=[websockets.Subprotocol(f"viser-v{viser.__version__}")],
        origin=websockets.Origin(f"http://{parts.netloc}"), max_size=None, compression=None,
    ) as link:  # fmt: skip
        await link.recv()
        print("ready", flush=True)
        begin = time.perf_counter() + 1.0
        end = begin + seconds
        while time.perf_counter() < end:
            message: Any = await link.recv()
            now = time.perf_counter()
            if now < begin:
                continue
            size += len(message)
            packed = int.from_bytes(message[8:16], "little")
            window = msgspec.msgpack.decode(unpack.decompress(message[16 : 16 + packed]))
            if any(_MOVED in part.get("updates", ()) for part in window["messages"]):
                pictures += 1
                moments.append(now)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    return {
        "pictures_per_s": pictures / seconds,
        "longest_gap_ms": 1e3 * max(gaps, default=seconds),
        "kB_per_s": 1e-3 * size / seconds,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(visit(sys.argv[1], float(sys.argv[2])))))
