"""Which component method moves a model: in one process, or in as many as the model or mpiexec asks for."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..methods.components import ComponentMethod
from ..methods.part import Steps
from ..model import Model
from ..model.sealed import sealed_parts
from .launch import inside_mpi


def component_method(model: Model, steps: Steps) -> ComponentMethod:
    """The component method in one process, or in as many as the model or mpiexec asks for."""
    if sealed := next(sealed_parts(model), None):
        if inside_mpi():
            raise UnsupportedError(
                f"component '{sealed[0]}' is sealed and runs in a process of its own: start the model without mpiexec"
            )
        from .sealed import SealedMethod

        return SealedMethod(model, steps)
    if inside_mpi():
        from .ranked import RankedMethod, ranks, serve_rank

        if ranks().rank > 0:
            serve_rank(model, steps)
        if ranks().size > 1:
            return RankedMethod(model, steps, ranks())
    return ComponentMethod(model, steps)
