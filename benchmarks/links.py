"""Lines between two processes of this machine: how long numbers take there and back."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.distributed.launch import Ranks, mpiexec
from linkwork.distributed.links import Link
from linkwork.distributed.tcp import TcpLink

from .report import Section, grids, made_with, number

if TYPE_CHECKING:
    from rich.table import Table

SIZES = (1, 42, 1000, 30_000)
"""Numbers in a frame; 42 are a 6 × 6 matrix and a vector of six, what a subsystem with one bordering body tells."""
TRIPS, TRIPS_QUICK = 20_000, 200
HOW = {
    "min_us": "shortest of all trips: one process sends numbers, the other one takes them and sends them back [µs]",
    "median_us": "median of all trips [µs]",
    "p99_us": "99th percentile [µs]",
}
_LIMIT = 300.0  # after which a partner counts as lost [s]


@dataclass(frozen=True)
class LinkResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"suite": "links", "how": HOW} | asdict(self)

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """The table of a result."""
    yield Section(
        "Round trips between two processes on this machine [µs]",
        ("line", "numbers", "shortest", "median", "99 of 100"),
        [
            (row["line"], str(row["numbers"]), *(number(row[key]) for key in HOW))
            for row in data["rows"]
        ],
    )  # fmt: skip


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> LinkResult:
    """Measure both kinds of lines; takes some seconds."""
    trips = TRIPS_QUICK if quick else TRIPS
    tell = progress or (lambda share: None)
    tcp = _over_tcp(trips)
    tell(0.5)
    mpi = _over_mpi(trips)
    tell(1.0)
    return LinkResult(quick, made_with(trips, min(row["min_us"] for row in mpi) * 1e-6), [*tcp, *mpi])


def measure(link: Link, line: str, trips: int) -> list[dict[str, Any]]:
    """This side of all trips."""
    rows = []
    for size in SIZES:
        x = np.arange(float(size))
        times = np.empty(max(trips * 42 // max(size, 42), 100))
        for i in range(times.size):
            began = perf_counter()
            link.send(x)
            link.receive(x)
            times[i] = perf_counter() - began
        shortest, median, late = 1e6 * np.percentile(times, (0, 50, 99))
        rows.append({"line": line, "numbers": size, "min_us": shortest, "median_us": median, "p99_us": late})
    return rows


def echo(link: Link, trips: int) -> None:
    """The other side."""
    for size in SIZES:
        x = np.empty(size)
        for _ in range(max(trips * 42 // max(size, 42), 100)):
            link.receive(x)
            link.send(x)


def _over_tcp(trips: int) -> list[dict[str, Any]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(_LIMIT)
        command = [sys.executable, "-m", __name__, "tcp", str(trips), str(server.getsockname()[1])]
        with subprocess.Popen(command):
            link = TcpLink(server.accept()[0], "the echo", _LIMIT)
            try:
                return measure(link, "TCP", trips)
            finally:
                link.close()


def _over_mpi(trips: int) -> list[dict[str, Any]]:
    command = mpiexec(2, ["-m", __name__, "mpi", str(trips)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def _main(line: str, trips: int, *port: str) -> None:
    """A partner process."""
    if line == "tcp":
        echo(TcpLink(socket.create_connection(("127.0.0.1", int(port[0])), _LIMIT), "the bench"), trips)
        return
    with Ranks() as ranks:
        if ranks.rank == 0:
            print(json.dumps(measure(ranks.link(1), "MPI", trips)))
        else:
            echo(ranks.link(0), trips)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
