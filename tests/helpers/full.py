"""Disks that are full, for ordinary users too: no file may grow beyond a size."""

import contextlib
import resource
import signal

import pytest


@contextlib.contextmanager
def files_of_at_most(size):
    """Meanwhile writing beyond so many bytes of a file fails with an error of the system, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if before[1] != resource.RLIM_INFINITY and before[1] < size:
        pytest.skip("this system keeps files smaller still")
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)
