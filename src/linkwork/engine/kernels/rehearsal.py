"""Which kernels a run will want compiled: found by running it as plain Python, which takes a moment.

Kernels are the same for all models, so a small mechanism and a few steps tell what every other one needs: which kernels
Python calls, which of them call which, and with what types of arguments. Processes that compile share these out.
What a rehearsal does not come by is compiled by whoever meets it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numba import typeof
from numba._dispatcher import compute_fingerprint

from .jit import played

__all__ = ["Part", "rehearsed"]

# Time to compile, from a fit to the 550 kernels of all methods [s, s for a byte or kilobyte of Python's code]. An entry
# is optimised as a whole: its own code weighs more than what is in shape already, and the whole more than its parts.
_INNER, _INNER_BYTE = 0.01, 1.33e-4
_ENTRY, _ENTRY_KILOBYTE, _ENTRY_OWN, _ENTRY_POWER = 0.064, 6.5e-3, 3.9, 1.43


@dataclass(eq=False)
class Part:
    """A kernel for some types of arguments, as Python or as other kernels call it."""

    kernel: Any
    signature: tuple[Any, ...]
    entry: bool
    calls: dict[Part, None] = field(default_factory=dict)
    """Other parts that it calls, in order."""
    woven: set[Any] = field(default_factory=set)
    """Kernels that it came by and that are woven into it."""

    @cached_property
    def name(self) -> str:
        """What the cache knows it by: the same in all processes."""
        function = self.kernel.py_func
        kind = "entry" if self.entry else "inner"
        types = sha256("\n".join(map(str, self.signature)).encode()).hexdigest()[:12]
        return f"{self.module}.{function.__qualname__}:{kind}:{types}"

    @property
    def module(self) -> str:
        """Where it is written."""
        return str(self.kernel.py_func.__module__)

    @property
    def size(self) -> int:
        """Bytes of Python's code of it, with what is woven into it."""
        return sum(len(one.py_func.__code__.co_code) for one in (self.kernel, *self.woven))

    @property
    def cost(self) -> float:
        """Time that it takes once all that it calls is there [s], on some machine."""
        if self.entry or self.kernel.is_apart:
            size = _ENTRY_OWN * self.size + sum(part.size for part in self._below())
            return _ENTRY + _ENTRY_KILOBYTE * float((1e-3 * size) ** _ENTRY_POWER)
        return _INNER + _INNER_BYTE * self.size

    def _below(self) -> set[Part]:
        found, waiting = set[Part](), [self]
        while waiting:
            for part in waiting.pop().calls:
                if part not in found and not part.kernel.is_apart:
                    found.add(part)
                    waiting.append(part)
        return found

    def compile(self) -> None:
        """Compile it, or load what is kept on disk."""
        (self.kernel if self.entry else self.kernel.inner).compile(self.signature)


def _of_record(value: Any) -> bool:
    """Whether an array is, or may be, a field of a record, which Numba has other types for than values tell."""
    base = value if isinstance(value, np.ndarray) else None
    while base is not None:
        if base.dtype.names is not None:
            return base is not value
        base = base.base if isinstance(base.base, np.ndarray | np.void) else None
    return False


@contextmanager
def rehearsed() -> Iterator[list[Part]]:
    """Meanwhile kernels run as plain Python; afterwards the list holds all parts, each after those that it calls."""
    parts: list[Part] = []
    known: dict[tuple[Any, ...], Part | None] = {}
    named: dict[str, Part] = {}
    callers: list[Part | None] = []

    def play(kernel: Any, arguments: tuple[Any, ...]) -> Any:
        caller = next((one for one in reversed(callers) if one is not None), None)
        part = None
        if kernel.is_woven:
            if caller is not None:
                caller.woven.add(kernel)
        else:
            key = (kernel, caller is None, *map(compute_fingerprint, arguments), *map(_of_record, arguments))
            if key in known:
                part = known[key]
            elif caller is None or not any(map(_of_record, arguments)):
                part = Part(kernel, tuple(map(typeof, arguments)), caller is None)
                part = named.setdefault(part.name, part)  # values may differ where types do not
            known[key] = part
            if part is not None and caller is not None and not kernel.is_later:
                caller.calls[part] = None
        callers.append(part)
        try:
            return kernel.plain(*arguments)
        finally:
            callers.pop()

    with played(play):
        yield parts
    listed: set[Part] = set()

    def add(part: Part) -> None:
        if part not in listed:
            listed.add(part)
            for other in part.calls:
                add(other)
            parts.append(part)

    for part in named.values():
        add(part)
