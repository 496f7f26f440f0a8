"""Kernels of ours that other kernels call by address, kept on disk: what most models do without.

A tyre with its road is called by the loops of all methods, and by few models. Called by its address, it is neither
compiled nor loaded with them; an edit of it makes nothing else stale.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from numba import carray
from numba.core.ccallback import CFunc

from .callback import _PLAIN, _SIGNATURE
from .jit import COMPILED
from .store import KernelCache, kernel_directory

__all__ = ["address_of"]

_ANY = 1 << 40  # numbers of an array whose length nobody asks for


class _Cache(KernelCache):
    """Keeps the machine code by which a kernel is called."""

    suffix: ClassVar[str] = ".called"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig.args, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig.args, data)


@cache
def address_of(kernel: Any) -> tuple[int, Any]:
    """Address of a kernel `(t, x, v, parameters, out)`, compiled or loaded, and its owner, as long as which it is
    valid.

    Its arrays are as long as what they are stretches of.
    """
    if not COMPILED:
        address = len(_PLAIN) + 1
        _PLAIN[address] = kernel
        return address, kernel

    def bridge(t, x, v, parameters, out):
        kernel(t, carray(x, (_ANY,)), carray(v, (_ANY,)), carray(parameters, (_ANY,)), carray(out, (_ANY,)))

    owner = CFunc(
        bridge, (_SIGNATURE.args, _SIGNATURE.return_type), {}, {"nopython": True, "error_model": "numpy"}
    )
    if kernel_directory() is not None:
        owner._cache = _Cache(kernel.py_func)  # type: ignore[attr-defined]
    owner.compile()
    code: Any = owner.address
    return int(code), owner
