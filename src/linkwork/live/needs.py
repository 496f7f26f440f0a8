"""Which kernels a model needs to run."""

from __future__ import annotations

from typing import Any

from ..compile.compiler import Compiled
from ..methods.capabilities import CONTACT
from ..methods.features import features
from ..methods.options import Options
from ..methods.registry import WAYS, usual_ways, ways_of
from ..run.pieces import PIECES, extras_of


def needed(model: Compiled, method: Any = None, solver: Any = None) -> list[str]:
    """Pieces of `run.pieces.PIECES` that a model needs; where it is left open how it runs, of all ways it may be.

    Compiles nothing. Names that mean nothing need nothing.
    """
    chosen = next((name for name in (method, solver) if isinstance(name, Options)), None)
    if features(model.flat, [CONTACT]):
        smooth = chosen is not None and (
            chosen.integrator not in (None, "euler") or getattr(chosen, "tolerance", None) is not None
        )
        return ["smooth" if smooth else "contact", *extras_of(model.flat)]
    if chosen is not None:
        names = [chosen.way]
    elif method is None and solver is None:
        names = usual_ways(model)
    else:
        names = [way.name for way in ways_of(method=method or "simgc", solver=solver)][:1]
    found = [way.solver or way.method for way in WAYS if way.name in names]
    return [*(name for name in dict.fromkeys(found) if name in PIECES), *extras_of(model.flat)]
