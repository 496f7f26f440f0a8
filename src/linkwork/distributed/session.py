"""What a served component and the model that it is joined to say to each other."""

from __future__ import annotations

from ..model import Component
from .links import Link
from .sealed_file import Header


def serve(link: Link, component: Component, header: Header) -> bool:
    """Answer a model until it hangs up; whether it did more than to ask what there is."""
    while True:
        message, _ = link.hear()
        if message.get("ask") == "hello":
            link.tell({"header": header.as_dict()})
        else:
            link.tell({"error": f"does not understand {message.get('ask')!r}"})
