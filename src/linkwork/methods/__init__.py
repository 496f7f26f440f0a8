"""Methods: how a model is moved."""

from .base import Method
from .direct import INTEGRATORS, DirectMethod
from .impulses import ImpulseMethod
from .rows import row_features
from .tree import TABLEAUS, TreeMethod

__all__ = ["INTEGRATORS", "TABLEAUS", "DirectMethod", "ImpulseMethod", "Method", "TreeMethod", "row_features"]
