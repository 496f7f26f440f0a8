"""Bodies of the picture are taken by the mouse."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..model.errors import LinkworkError
from .nodes import Nodes

if TYPE_CHECKING:
    from ..live.session import Session


def make_grabbable(nodes: Nodes, session_now: Callable[[], Session | None]) -> None:
    """Let visitors drag bodies of what runs now."""
    for instances in nodes.bodies:

        async def dragged(event: Any, instances: Any = instances) -> None:  # async: phases stay in order
            session = session_now()
            body = nodes.body_at(instances, event.instance_index)
            if session is None or body is None:
                return
            with contextlib.suppress(LinkworkError):
                if event.phase == "start":
                    session.grab(body, event.start_position + nodes.shift)
                if event.phase == "end":
                    session.let_go()
                else:
                    session.drag(event.end_position + nodes.shift)

        instances.handle.on_drag("left")(dragged)
