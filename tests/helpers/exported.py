"""What is inside a replay in one file."""

import base64
import re

import numpy as np


def recording(path):
    """What viser embedded in a page: the duration and (time, message) pairs, with arrays."""
    import msgspec
    import zstandard

    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text("utf-8"))[1])
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(packed[8:])
    size = int.from_bytes(plain[:8], "little")
    told = msgspec.msgpack.decode(plain[8 : 8 + size])
    buffers, at = [], 8 + size
    for length in told["binaryBufferLengths"]:
        at += -at % 8
        buffers.append(plain[at : at + length])
        at += length

    def unpacked(value):
        if isinstance(value, dict):
            if "__binary_index" in value:
                return np.frombuffer(buffers[value["__binary_index"]], value["dtype"])
            return {key: unpacked(part) for key, part in value.items()}
        return [unpacked(part) for part in value] if isinstance(value, list) else value

    return told["durationSeconds"], [(time, unpacked(message)) for time, message in told["messages"]]


def updates(path, node, prop):
    """(time, array) of a property of nodes whose name begins so, from their making on."""
    return [
        (time, message[key][prop].reshape(-1, 3))
        for time, message in recording(path)[1]
        for key in ("props", "updates")
        if str(message.get("name", "")).startswith(node) and prop in message.get(key, {})
    ]
