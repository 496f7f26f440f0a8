"""What the user writes."""

from .body import Body, Marker
from .component import Component, Flat, Instance, Model
from .sealed import Port, Sealed
from .touch import Material, MaterialPair, NoContact, Scenery

__all__ = [
    "Body", "Component", "Flat", "Instance", "Marker", "Material", "MaterialPair", "Model", "NoContact", "Port",
    "Scenery", "Sealed",
]  # fmt: skip
