"""What upper layers do for those below them: the one way up, since imports go downwards only.

A model may hold a sealed component and a method may run in several processes, yet both are what the distributed layer
is built on; and a model opens files of formats that know what a model is. What is asked for is loaded then.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

PROVIDERS = {
    "header of a file": "linkwork.distributed.sealed_file:read_header",
    "header of an address": "linkwork.distributed.handshake:ask_header",
    "foreign file": "linkwork.interchange.open_file:open_model",
    "real time": "linkwork.live.paced:run_realtime",
    "component method": "linkwork.distributed.choose:component_method",
}
"""Module and name of each function, by what it is for."""


def provider(purpose: str) -> Callable[..., Any]:
    """The function that serves a purpose."""
    module, _, name = PROVIDERS[purpose].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
