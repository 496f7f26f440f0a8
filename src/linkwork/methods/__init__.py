"""Methods: how a model is moved."""

from .base import Method
from .contact import ContactMethod, Touch, TouchEvent
from .direct import INTEGRATORS, DirectMethod
from .impulses import ImpulseMethod
from .rows import row_features
from .tree import TABLEAUS, TreeMethod

__all__ = [
    "INTEGRATORS",
    "TABLEAUS",
    "ContactMethod",
    "DirectMethod",
    "ImpulseMethod",
    "Method",
    "Touch",
    "TouchEvent",
    "TreeMethod",
    "row_features",
]
