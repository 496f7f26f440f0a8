"""Things to drive, and operators without a browser."""

import contextlib
import json
import socket
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from helpers.processes import PATIENCE
from helpers.sessions import cart
from linkwork import VelocityServo


def driven_cart():
    """A box on a rail with a motor, whose lever springs back."""
    model = cart()
    model.add(VelocityServo("motor", joint="rail"))
    return model


class Operator:
    """A panel without a screen: keeps what it is told."""

    def __init__(self, server, name="one", origin=None):
        self.link = connect(
            f"ws://127.0.0.1:{server.port}/operate/{name}",
            origin=origin or f"http://127.0.0.1:{server.port}",
            open_timeout=PATIENCE,
        )
        self.heard, self.seq = {}, 0
        self.refused = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        with contextlib.suppress(ConnectionClosed):
            for text in self.link:
                for message in json.loads(text):
                    self.heard.update(message)
                    if "refused" in message:
                        self.refused.append(message["refused"])

    def send(self, **message):
        self.seq += 1
        self.link.send(json.dumps({"seq": self.seq, **message}))

    def vanish(self):
        """Cut the connection without a farewell."""
        self.link.socket.shutdown(socket.SHUT_RDWR)

    @property
    def now(self):
        return self.heard.get("now", {"values": {}, "held": {}})
