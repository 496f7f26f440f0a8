"""What the user writes."""

from .body import Body, Marker
from .component import Component, Flat, Instance, Model

__all__ = ["Body", "Component", "Flat", "Instance", "Marker", "Model"]
