"""Which component method moves a model: in one process, or in as many as the model or mpiexec asks for."""

from __future__ import annotations

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..methods.capabilities import IN_RANKS, require
from ..methods.components import ComponentMethod
from ..methods.part import Steps
from ..model.sealed import sealed_parts
from .launch import inside_mpi


def component_method(compiled: Compiled, steps: Steps) -> ComponentMethod:
    """The component method in one process, or in as many as the model or mpiexec asks for."""
    if any(sealed_parts(compiled.model)):
        if inside_mpi():
            require([ComponentMethod.name, IN_RANKS], compiled.flat)
        from .sealed import SealedMethod

        return SealedMethod(compiled, steps)
    if inside_mpi():
        from .ranked import RankedMethod, ranks, serve_rank

        if ranks().rank > 0:
            serve_rank(compiled, steps)
        if ranks().size > 1:
            return RankedMethod(compiled, steps, ranks())
    if may_touch(compiled.flat):
        from ..methods.smooth import TouchingComponents

        return TouchingComponents(compiled, steps)
    return ComponentMethod(compiled, steps)
