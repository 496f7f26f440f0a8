"""What the ranks of tests/distributed/test_mpi_links.py do: `mpiexec -n N python ranks.py MODE FOLDER`."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from linkwork.distributed.launch import Ranks
from linkwork.distributed.links import TIMEOUT, LinkLost

SIZES = (0, 1, 36, 1000, 300_000)


def exchange(ranks: Ranks) -> None:
    """Everybody sends what only it can know to everybody, small and large, and messages with arrays."""
    for size in SIZES:
        for other in range(ranks.size):
            if other == ranks.rank:
                continue
            link, low = ranks.link(other), ranks.rank < other
            got = np.full(size, -1.0)
            if low:
                link.send(numbers(ranks.rank, other, size))
            link.receive(got)
            if not low:
                link.send(numbers(ranks.rank, other, size))
            np.testing.assert_array_equal(got, numbers(other, ranks.rank, size))
            assert link.waited > 0.0
    for other in range(ranks.size):
        if other != ranks.rank:
            link = ranks.link(other, channel=1)
            link.tell({"from": ranks.rank}, {"a": numbers(ranks.rank, other, 6).reshape(2, 3)})
            message, arrays = link.hear()
            assert message == {"from": other}
            np.testing.assert_array_equal(arrays["a"], numbers(other, ranks.rank, 6).reshape(2, 3))
    write("done")


def numbers(sender: int, receiver: int, size: int) -> np.ndarray:
    return np.random.default_rng([sender, receiver, size]).standard_normal(size)


def lockstep(ranks: Ranks, victim: int, way: str) -> None:
    """Rank 0 talks to all in turn, for ever; one ends in some way."""
    x = np.zeros(36)
    if ranks.rank == 0:
        links = [ranks.link(other) for other in range(1, ranks.size)]
        try:
            for step in range(10**9):
                if victim == 0 and step == 200:
                    die()
                for link in links:
                    link.send(x)
                if way != "flood":  # never looks whether an answer came
                    for link in links:
                        link.receive(x)
        except LinkLost as lost:
            time.sleep(0.5)  # others must let it save at leisure
            write("lost", {"at": time.time() - 0.5, "what": str(lost)})
            raise
    link = ranks.link(0)
    for step in range(10**9):
        link.receive(x)
        if ranks.rank == victim and step == 200:
            if way == "raise":
                raise ValueError("the shaft broke")
            die()
        link.send(x)


def die() -> None:
    write("died", {"at": time.time()})
    os.kill(os.getpid(), signal.SIGKILL)


def amiss(ranks: Ranks, way: str) -> None:
    """Two ranks that are not in step, or one that hangs: rank 1 notices, and rank 0 is told."""
    link = ranks.link(1 - ranks.rank, timeout=0.5 if way == "hang" else TIMEOUT)
    if ranks.rank == 0:
        if way == "kind":
            link.tell({"a": 1})
        elif way != "hang":
            link.send(np.zeros(3 if way == "short" else 9))
        ranks.link(1, channel=3).hear()
    elif way == "kind of numbers":
        link.hear()
    else:
        link.receive(np.zeros(5))


def write(name: str, what: object = None) -> None:
    part = FOLDER / f".{name}-{os.getpid()}"
    part.write_text(json.dumps(what))
    part.rename(FOLDER / f"{name}-{rank}")


if __name__ == "__main__":
    mode, FOLDER = sys.argv[1], Path(sys.argv[2])
    with Ranks() as ranks:
        rank = ranks.rank
        write("pids", [os.getpid(), os.getppid()])
        if mode == "exchange":
            exchange(ranks)
        elif mode == "lockstep":
            lockstep(ranks, int(sys.argv[3]), sys.argv[4])
        else:
            amiss(ranks, sys.argv[3])
