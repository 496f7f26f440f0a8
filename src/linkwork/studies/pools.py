"""Where cases run: in this process, in others, on Dask or Ray, in ranks of MPI: `concurrent.futures` executors, all."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..model.errors import LinkworkError, nearest
from ..results.files import need
from ..run.crew import cores

_WORD = re.compile(r"([a-z]+)(?::(\d+)|://(.+))?")
_UNKNOWN = 16  # workers of an executor that does not tell how many it has
_AHEAD = 3  # cases under way for each worker


@dataclass(frozen=True)
class Pool:
    """An executor, how many cases it is given at once, and how to make another one if its processes have died."""

    executor: Executor
    under_way: int
    """So many cases are handed to it at once: the next one waits where it will run."""
    renew: Callable[[], Pool] | None = None
    abandon: Callable[[], None] = lambda: None
    """End it now, whatever it does."""


@contextmanager
def pool_of(on: str | Executor | None) -> Iterator[Callable[[], Pool]]:
    """A function that gives the pool that is meant, first and after a loss; what was started for it ends here.

    `on` is an executor, which stays as it is, or a word: `processes` (the default; `processes:4`), `here` (this
    process, case by case), `dask` or `ray` (on this machine, `dask:4`), `dask://host:port`, `ray://host:port` (a
    cluster that runs), `mpi` (the ranks of this program, see mpi4py.futures).
    """
    if isinstance(on, Executor):
        executor = on
        workers = int(getattr(on, "_max_workers", 0) or _UNKNOWN)
        yield lambda: Pool(executor, _AHEAD * workers)
        return
    if on is not None and not isinstance(on, str):
        raise LinkworkError(f"`on` must be an executor of concurrent.futures or a word, not {on!r}")
    kind, count, address = _read(on or "processes")
    with _KINDS[kind](count, address) as get:
        yield get


def _read(word: str) -> tuple[str, int, str | None]:
    match = _WORD.fullmatch(word)
    if match is None or match[1] not in _KINDS:
        raise LinkworkError(f"cases cannot run on '{word}'{nearest(word.partition(':')[0], _KINDS)}")
    if match[3] is not None and match[1] not in _ADDRESSED:
        raise LinkworkError(f"'{word}': {match[1]} has no address; write {match[1]}:4 for four of them")
    count = int(match[2]) if match[2] else cores()
    if count < 1:
        raise LinkworkError(f"'{word}': at least one process is needed")
    return match[1], count, match[3]


class _Here(Executor):
    """Runs what is submitted at once, in the process and thread that submits it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def _here(count: int, address: str | None) -> Iterator[Callable[[], Pool]]:
    yield lambda: Pool(_Here(), 1)


# --- processes ---


def _begin(lifeline: Any) -> None:
    """A worker's first act: Ctrl-C is the parent's business, and the parent's end its own end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: Any) -> None:
    lifeline.poll(None)  # readable when its other end is closed, or closed by the end of the parent
    os._exit(1)


def _context() -> Any:
    """How processes begin: never as a fork of this one, whose threads would not survive that.

    Where it is safe they are forks of a server without threads, which has read in all that a case needs: that takes two
    seconds of CPU time, once instead of for every worker of every study. The server ends with this process.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["linkwork.studies.trial"])
    return context


@contextmanager
def _processes(count: int, address: str | None) -> Iterator[Callable[[], Pool]]:
    context = _context()
    made: list[tuple[ProcessPoolExecutor, Any, Any]] = []

    def end(k: int) -> None:
        made[k][2].close()  # workers that still compute end with it

    def get(workers: int = count) -> Pool:
        reader, writer = context.Pipe(duplex=False)
        executor = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(reader,))
        made.append((executor, reader, writer))
        k = len(made) - 1
        return Pool(executor, _AHEAD * workers, lambda: get(1), lambda: end(k))

    try:
        yield get
    finally:
        for k, (executor, reader, _) in enumerate(made):
            end(k)
            executor.shutdown(wait=True, cancel_futures=True)
            reader.close()


# --- clusters ---


@contextmanager
def _dask(count: int, address: str | None) -> Iterator[Callable[[], Pool]]:
    distributed = need("distributed", "cluster", "running cases on Dask")
    cluster = None
    if address is None:
        cluster = distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None
        )
    try:
        try:
            client = distributed.Client(cluster if cluster is not None else f"tcp://{address}", timeout="10s")
        except OSError as error:
            raise LinkworkError(f"no Dask scheduler answers at '{address}': {error}") from None
        try:
            workers = sum(client.nthreads().values()) or _UNKNOWN
            executor = client.get_executor(pure=False)
            yield lambda: Pool(executor, _AHEAD * workers)
        finally:
            client.close()
    finally:
        if cluster is not None:
            cluster.close()


class _RayExecutor(Executor):
    """Tasks of Ray as futures."""

    def __init__(self, ray: Any):
        self._run = ray.remote(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._run.remote(fn, args, kwargs).future()
        return future


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


@contextmanager
def _ray(count: int, address: str | None) -> Iterator[Callable[[], Pool]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    ray = need("ray", "cluster", "running cases on Ray")
    mine = not ray.is_initialized()
    if mine:
        where: dict[str, Any] = (
            {"address": f"ray://{address}"} if address else {"num_cpus": count, "include_dashboard": False}
        )
        try:
            ray.init(log_to_driver=False, logging_level="error", **where)
        except ConnectionError as error:
            raise LinkworkError(f"no Ray cluster answers at '{address}': {error}") from None
    try:
        workers = int(ray.cluster_resources().get("CPU", count))
        yield lambda: Pool(_RayExecutor(ray), _AHEAD * workers)
    finally:
        if mine:
            ray.shutdown()


@contextmanager
def _mpi(count: int, address: str | None) -> Iterator[Callable[[], Pool]]:
    futures = need("mpi4py.futures", "mpi", "running cases in ranks of MPI")
    with futures.MPIPoolExecutor() as executor:
        workers = executor.num_workers
        if workers < 1:
            raise LinkworkError(
                "there are no other ranks: start the program with mpiexec -n 5 python -m mpi4py.futures PROGRAM"
            )
        yield lambda: Pool(executor, _AHEAD * workers)


_KINDS: dict[str, Any] = {"processes": _processes, "here": _here, "dask": _dask, "ray": _ray, "mpi": _mpi}
_ADDRESSED = ("dask", "ray")
