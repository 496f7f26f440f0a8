"""Methods: how a model is moved."""

from .base import Method
from .contact import ContactMethod, Touch, TouchEvent
from .direct import DirectMethod
from .implicit import ImplicitMethod
from .impulses import ImpulseMethod
from .rows import row_features
from .tree import TreeMethod

__all__ = [
    "ContactMethod",
    "DirectMethod",
    "ImplicitMethod",
    "ImpulseMethod",
    "Method",
    "Touch",
    "TouchEvent",
    "TreeMethod",
    "row_features",
]
