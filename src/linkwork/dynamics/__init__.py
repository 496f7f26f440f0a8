"""A mechanism's dynamics as functions of arrays, for controllers, optimisers and identification."""

from .dynamics import Dynamics

__all__ = ["Dynamics"]
