"""Lines between the ranks of an MPI run.

A call of MPI that waits for a rank that was killed waits for ever (mpich 5.0 tells nobody), and so does sending once
its buffers are full. So nothing here blocks: a request is made and tried until it is done, and `lifeline` says
whether waiting still makes sense. Trying is no slower than blocking calls are (`python -m benchmarks links`).
"""

from __future__ import annotations

import os
import time
from time import perf_counter
from typing import Any

import numpy as np

from ..model.rotation import Array
from .lifeline import Lifeline
from .links import MAX_MESSAGE, MESSAGE, NUMBERS, TIMEOUT, Link, LinkLost, mismatch, pack

# How to wait, by trial on two cores, idle and crowded. An answer that is on its way comes within a few tries. Then the
# processor is offered to others, for ranks may be more than cores. Where somebody keeps it for long (a program that
# has nothing to do with this run, 2 ms a round trip), a nap is better: who slept is preferred (0.3 ms).
_SPINS = 20
_YIELDING = 0.002  # so long the processor is offered [s]; after that it sleeps between tries
_NAP, _LONG_NAP = 50e-6, 1e-3  # between tries [s]; shorter naps make all worse; the long one after 0.1 s
_KEPT, _NAPPING = 0.3e-3, 100  # an offer that was taken for so long [s] makes so many waits nap at once
_yield = getattr(os, "sched_yield", lambda: time.sleep(0))


class MpiLink(Link):
    """A line to one rank. `channel` tells several lines between the same two ranks apart."""

    def __init__(self, lifeline: Lifeline, rank: int, channel: int = 0, timeout: float | None = TIMEOUT):
        super().__init__(f"rank {rank}", timeout)
        from mpi4py import MPI

        self.rank = rank
        self._lifeline = lifeline
        self._world = MPI.COMM_WORLD
        self._tags = {NUMBERS: 4 * channel + NUMBERS, MESSAGE: 4 * channel + MESSAGE}
        self._status = MPI.Status()
        self._double, self._byte = MPI.DOUBLE, MPI.BYTE
        self._truncated = MPI.ERR_TRUNCATE
        self._error = MPI.Exception
        self._closed = False
        self._crowded = 0  # waits that nap at once
        # A request that was given up: its buffer must live on, for MPI may still write there.
        self._pending: Any = None

    def send(self, numbers: Array) -> None:
        began = perf_counter()
        self._finish(self._world.Isend([numbers, self._double], self.rank, self._tags[NUMBERS]), began, None)

    def receive(self, into: Array) -> None:
        began = perf_counter()
        self._finish(
            self._world.Irecv([into, self._double], self.rank, self._tags[NUMBERS]), began, NUMBERS, into
        )
        got = self._status.Get_count(self._byte)
        if got != into.nbytes:
            raise self._lost(mismatch(NUMBERS, into.nbytes, NUMBERS, got))

    def tell(self, message: dict[str, Any], arrays: dict[str, Array] | None = None) -> None:
        began = perf_counter()
        packed = np.frombuffer(pack(message, arrays), np.uint8)
        self._finish(self._world.Isend([packed, self._byte], self.rank, self._tags[MESSAGE]), began, None)

    def hear(self, timeout: float | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
        began = perf_counter()
        arrived = _Arrival(self._world, self.rank, self._tags[MESSAGE])
        self._finish(arrived, began, MESSAGE, timeout=timeout)
        length = self._status.Get_count(self._byte)
        if length > MAX_MESSAGE:
            raise self._lost(f"sent a message of {length} bytes; the limit is {MAX_MESSAGE}")
        packed = bytearray(length)
        self._finish(arrived.message.Irecv([packed, self._byte]), perf_counter(), None, timeout=timeout)
        return self._read(packed)

    def close(self) -> None:
        self._closed = True

    def _finish(
        self,
        request: Any,
        began: float,
        kind: int | None,
        into: Array | None = None,
        timeout: float | None = None,
    ) -> None:
        """Try until a request is done; `kind` is what it waits for, None if it sends."""
        if self._closed:
            self._pending = request
            raise self._lost("this line was closed before")
        test, status = request.Test, self._status
        try:
            for _ in range(_SPINS):
                if test(status):
                    return
            self._wait(test, kind, into, self.timeout if timeout is None else timeout)
        except self._error as error:
            self._pending = request
            if error.Get_error_class() == self._truncated and into is not None:
                what = f"sent more than the {into.size} numbers that were expected: the two sides are not in step"
                raise self._lost(what) from None
            raise self._lost(f"the connection failed: {error.Get_error_string()}") from None
        except BaseException:
            self._pending = request
            raise
        finally:
            self.waited += perf_counter() - began

    def _wait(self, test: Any, kind: int | None, into: Array | None, timeout: float | None) -> None:
        status, began = self._status, perf_counter()
        self._crowded = max(0, self._crowded - 1)
        while not test(status):
            now = perf_counter()
            waited = now - began
            if waited < _YIELDING and not self._crowded:
                _yield()
                if perf_counter() - now > _KEPT:
                    self._crowded = _NAPPING
                continue
            if lost := self._lifeline.lost():
                if test(status):  # what it sent before it ended may just have arrived
                    return
                raise LinkLost(*lost)
            if kind is not None and self._look_for_other(test, kind, into):
                return
            if timeout is not None and waited > timeout:
                raise self._silent(timeout)
            time.sleep(_LONG_NAP if waited > 100 * _LONG_NAP else _NAP)

    def _look_for_other(self, test: Any, kind: int, into: Array | None) -> bool:
        """Nothing came: was something of the other kind sent instead? True if what is waited for came meanwhile.

        A request that was found done must not be tried again: MPI then tells of an empty one.
        """
        other = MESSAGE if kind == NUMBERS else NUMBERS
        found = type(self._status)()
        if not self._world.Iprobe(self.rank, self._tags[other], found):
            return False
        if test(self._status):
            return True
        raise self._lost(
            mismatch(kind, None if into is None else into.nbytes, other, found.Get_count(self._byte))
        )


class _Arrival:
    """Waiting for a message of unknown length, tried like a request."""

    def __init__(self, world: Any, rank: int, tag: int):
        self._world, self._rank, self._tag = world, rank, tag
        self.message: Any = None

    def Test(self, status: Any) -> bool:  # noqa: N802 - as MPI calls it
        if self.message is None:
            self.message = self._world.Improbe(self._rank, self._tag, status)
        return self.message is not None
