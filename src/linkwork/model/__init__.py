"""What the user writes. Names are loaded on first use, so that errors and rotations come without all of it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "body": ("Body", "Marker"),
    "component": ("Component", "Flat", "Instance", "Model"),
    "sealed": ("Port", "Sealed"),
    "touch": ("Material", "MaterialPair", "NoContact", "Scenery"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Body", "Component", "Flat", "Instance", "Marker", "Material", "MaterialPair", "Model", "NoContact", "Port",
    "Scenery", "Sealed",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


if TYPE_CHECKING:
    from .body import Body, Marker
    from .component import Component, Flat, Instance, Model
    from .sealed import Port, Sealed
    from .touch import Material, MaterialPair, NoContact, Scenery
