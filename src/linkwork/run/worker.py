"""`python -m linkwork.run.worker`: a process that compiles what its standard input names, one job a line.

It says `ready` when it can begin, and after each job its name. It ends with the process that started it, whatever it
is doing then: that closes its standard input.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading

_POLITE = 5  # niceness: whoever warms up may want to look at something


def _read(jobs: queue.Queue[list[str]]) -> None:
    for line in sys.stdin:
        jobs.put(line.split())
    os._exit(0)  # compiling cannot be interrupted in another way; what is kept on disk is whole at all times


def main() -> None:
    """Compile jobs until nobody asks for more."""
    if hasattr(os, "nice"):
        os.nice(_POLITE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    jobs: queue.Queue[list[str]] = queue.Queue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    from .pieces import compile_job

    print("ready", flush=True)
    while True:
        name, job = jobs.get()
        compile_job(name, job)
        print(name, job, flush=True)


if __name__ == "__main__":
    main()
