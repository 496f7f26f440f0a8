"""What the process of a part and the one that holds the rest of the model say to each other between steps.

A part answers questions: `advance` through targets (in step with all others, see `exchange`), `save` and `load`
its state, `reset`, `report` how long it computed and waited. The part of a sealed component tells nothing else,
and the state that it hands out for safekeeping is encrypted: only its own process can read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import time as wall
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.partition import refine
from ..compile.subsystems import hierarchy, ties
from ..engine.steppers.integrators import INTEGRATORS
from ..engine.steppers.samples import Samples
from ..methods.capabilities import WITH_SEALED_PARTS, require
from ..methods.part import Crossing, Steps
from ..methods.rows import Start
from ..model import Component, Model
from ..model.errors import LinkworkError
from ..model.header import Header
from ..model.rotation import Array
from ..results.files import need
from .exchange import Above
from .links import Link, LinkLost
from .share import Share

_PADDING = 1 << 16  # of states that are handed out [bytes]
INNER = "inside"
"""Name of the instance that a sealed component is in its own process."""


class Attendant(ABC):
    """Answers for a share of a model."""

    def __init__(self, link: Link, share: Share, tops: Sequence[str], q: Array, v: Array):
        link.timeout = None  # whoever holds the model may think for as long as he likes
        self._link, self.share = link, share
        self._above = Above(link, Crossing(share.part, tops))
        self._start = q, v
        self._busy = self._waited = 0.0
        share.begin(q, v)

    def serve(self) -> None:
        """Answer until told to end, or until nobody is there any more."""
        while True:
            message, arrays = self._link.hear()
            what = message.get("do")
            if what == "end":
                return
            answer = getattr(self, f"_{what}", None) if what in _DOES else None
            if answer is None:
                self._link.tell({"error": f"does not understand {what!r}"})
                continue
            answer(message, arrays)

    def _advance(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        part = self.share.part
        self._take(message, arrays)
        targets = arrays["targets"]
        out = self.share.room(len(targets))
        began, waited = wall.perf_counter(), self._link.waited
        done, status = part.advance(np.array(targets, float), out, self._above)
        waited = self._link.waited - waited
        self._waited += waited
        self._busy += wall.perf_counter() - began - waited
        told = {"done": int(done), "status": int(status), "bad": self._above.bad}
        self._link.tell({**told, **self._details()}, self._samples(out))

    def _take(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        """What the others were told while nobody stepped: time, step size, that something has changed."""
        part = self.share.part
        part.dt = float(message["dt"])
        part.state.set_times(arrays["clock"])
        if message.get("disturbed"):
            part.disturb()

    def _details(self) -> dict[str, Any]:
        """What may be told of a step that failed."""
        return {}

    def _samples(self, out: Samples) -> dict[str, Array]:
        """What may be shown of the samples."""
        return {}

    def _reset(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        self.share.begin(*self._start)
        self._link.tell({"reset": True})

    def _report(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        self._link.tell({"computed": self._busy, "waited": self._waited, "process": os.getpid()})

    @abstractmethod
    def _save(self, message: dict[str, Any], arrays: dict[str, Array]) -> None: ...

    @abstractmethod
    def _load(self, message: dict[str, Any], arrays: dict[str, Array]) -> None: ...


_DOES = ("advance", "reset", "report", "save", "load", "force")


def as_numbers(packed: bytes) -> Array:
    """Bytes as an array of numbers, for lines carry nothing else: one each."""
    return np.frombuffer(packed, np.uint8).astype(np.float64)


def as_bytes(numbers: Array) -> bytes:
    """The bytes again."""
    return np.ascontiguousarray(numbers).astype(np.uint8).tobytes()


class SealedAttendant(Attendant):
    """Answers for a sealed component: nothing of its inside is told."""

    def __init__(self, link: Link, component: Component, header: Header, asked: dict[str, Any]):
        model = Model(component.name, gravity=asked["gravity"])
        model.add(
            component.instance(INNER, at=asked["at"], rotation=asked["rotation"], mirror=asked["mirror"])
        )
        compiled = Compiled(model)
        flat = compiled.flat
        require(["components", WITH_SEALED_PARTS], flat, compiled.spanning)
        # Those that everybody may know, whatever the caller names: other bodies would tell of the inside.
        ports = [f"{INNER}.{port.name}" for port in header.ports]
        points = {port: flat.bodies[port].at for port in ports}
        tied = ties(flat)
        top = refine(hierarchy(model), tied)
        steps = Steps(asked["integrator"], float(asked["dt"]), float(asked["tolerance"]))
        share = Share(compiled, [top], tied, steps, {top.name: ports}, points=points)
        start = Start(compiled, True, lambda _: share.system)
        aead = need("cryptography.hazmat.primitives.ciphers.aead", "seal", "a sealed component")
        self._cipher = aead.AESGCM(_secret(component))
        super().__init__(link, share, [top.name], start.q, start.v)

    def _save(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        nonce = os.urandom(12)
        self._link.tell(
            {"saved": True},
            {"state": as_numbers(nonce + self._cipher.encrypt(nonce, _padded(self.share.pack()), None))},
        )

    def _load(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        invalid = need("cryptography.exceptions", "seal", "a sealed component").InvalidTag
        packed = as_bytes(arrays["state"])
        try:
            self.share.unpack(_unpadded(self._cipher.decrypt(packed[:12], packed[12:], None)))
        except (invalid, LinkworkError, ValueError):
            self._link.tell({"error": "cannot take up that state: it was saved by another component"})
            return
        self._link.tell({"loaded": True})


def serve(link: Link, component: Component, header: Header) -> bool:
    """Answer a model until it hangs up; whether it did more than to ask what there is."""
    while True:
        message, _ = link.hear()
        if message.get("ask") == "hello":
            link.tell({"header": header.as_dict()})
        elif message.get("ask") == "join":
            if wrong := misasked(message, header):
                link.tell({"error": wrong})
                raise LinkworkError(f"asked to join by mistake: {wrong}")
            try:
                attendant = SealedAttendant(link, component, header, message)
            except LinkworkError as error:
                # Of an error inside its kind may be told, no more.
                why = f"its inside cannot be simulated by method 'components' ({type(error).__name__})"
                link.tell({"error": f"{why}; ask whoever made it"})
                return False
            link.tell({"joined": os.getpid()})
            with contextlib.suppress(LinkLost):  # a model may leave without a word
                attendant.serve()
            return True
        else:
            link.tell({"error": f"does not understand {message.get('ask')!r}"})


def misasked(message: dict[str, Any], header: Header) -> str:
    """What is wrong with how a caller asks to join, or nothing."""
    ports = [port.name for port in header.ports]
    if message.get("ports") != ports:
        return f"its ports are {', '.join(ports)}, all of them and no others"
    for key, count in (("gravity", 3), ("at", 3), ("rotation", 4), ("mirror", 3)):
        value = message.get(key)
        if not (_numbers(value, count) or (key == "mirror" and value is None)):
            return f"'{key}' must be {count} numbers"
    for key in ("dt", "tolerance"):
        if not (_numbers([message.get(key)], 1) and message[key] > 0.0):
            return f"'{key}' must be a positive number"
    if message.get("integrator") not in list(INTEGRATORS):
        return f"'integrator' must be one of {', '.join(INTEGRATORS)}"
    return ""


def _numbers(value: Any, count: int) -> bool:
    """Whether a message has so many finite numbers there."""
    numbers = isinstance(value, list) and len(value) == count
    return numbers and all(type(number) in (int, float) and math.isfinite(number) for number in value)


def _padded(packed: bytes) -> bytes:
    """Bytes whose length tells no more than in how many blocks they fit: else it would count what is inside."""
    told = len(packed).to_bytes(8, "little") + packed
    return told + bytes(-len(told) % _PADDING)


def _unpadded(told: bytes) -> bytes:
    return told[8 : 8 + int.from_bytes(told[:8], "little")]


def _secret(component: Component) -> bytes:
    """A key that only who knows the inside can make, the same in every process that serves it."""
    described = "\n".join(repr(thing) for thing in component.flatten().items())
    return hashlib.sha256(b"linkwork state " + described.encode()).digest()
