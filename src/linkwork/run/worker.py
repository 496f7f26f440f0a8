"""`python -m linkwork.run.worker`: a process that compiles what its standard input names, one job a line.

A job is a piece and what to do for it: `plan`, `step` or the name of a part. It says `ready` when it can begin, and
after each job repeats it; after `plan` follow the parts (name, cost [s], names of those that it calls) as JSON. It
ends with the process that started it, whatever it is doing then: that closes its standard input.
"""

from __future__ import annotations

import gc
import json
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
    gc.disable()  # what compiling leaves is kept until the end anyway: walking through it takes 4 % of the time
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    jobs: queue.Queue[list[str]] = queue.Queue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    from .agenda import PLAN, STEP
    from .pieces import compile_piece, parts_of

    print("ready", flush=True)
    while True:
        piece, job = jobs.get()
        told = []
        if job == PLAN:
            parts = parts_of(piece).values()
            told = [json.dumps([(part.name, part.cost, [one.name for one in part.calls]) for part in parts])]
        elif job == STEP:
            compile_piece(piece)
        else:
            parts_of(piece)[job].compile()
        print(piece, job, *told, flush=True)


if __name__ == "__main__":
    main()
