"""The laws of tyres by name, as functions that rows call by address."""

from __future__ import annotations

from typing import Any

from ..kernels.by_address import address_of
from .belt import belt_tyre
from .brush import brush_tyre
from .magic import magic_tyre

_LAWS = {"belt": belt_tyre, "brush": brush_tyre, "magic": magic_tyre}


def function_of(law: str) -> tuple[int, Any]:
    """Address of the function of a law, compiled or loaded on first use, and its owner."""
    return address_of(_LAWS[law])
