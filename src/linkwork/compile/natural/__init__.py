"""Natural coordinates: points and unit vectors chosen from the joints of a model."""

from .table import NaturalTable, choose, gradients

__all__ = ["NaturalTable", "choose", "gradients"]
