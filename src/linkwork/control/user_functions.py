"""Functions of the user as operations of a tape: called by address, so that nothing is compiled anew for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.control import codes
from ..model.errors import LinkworkError
from .tape import Tape

if TYPE_CHECKING:
    from .lower import Place


def lower_compiled(tape: Tape, place: Place, block: Any, ops: Sequence[int]) -> dict[str, int]:
    """A function that Numba compiles."""
    from ..engine.kernels.callback import compile_callback

    counts = (max(len(ops), 1), 1, max(len(block.parameters), 1), len(block.outputs))
    address, owner = compile_callback(block.function, counts)
    tape.owners.append(owner)
    return _called(tape, place, block, ops, codes.FUNCTION, address)


def lower_python(tape: Tape, place: Place, block: Any, ops: Sequence[int]) -> dict[str, int]:
    """A function in plain Python, called at instants."""
    from ..engine.kernels.callback import python_callback

    caller = Caller(block.name, block.function, len(ops), len(block.outputs))
    address, owner = python_callback(caller)
    tape.owners += [owner, caller]
    return _called(tape, place, block, ops, codes.PYTHON, address)


def _called(
    tape: Tape, place: Place, block: Any, ops: Sequence[int], kind: int, address: int
) -> dict[str, int]:
    parameters = getattr(block, "parameters", ())
    first, _ = place.numbers(parameters, scratch=len(ops) + 1 + len(block.outputs))
    x = first + len(parameters)
    out = x + len(ops) + 1
    op = tape.add(
        kind,
        p=(len(ops), x, first, out, len(block.outputs)),
        behind=ops,
        function=address,
        period=block.period,
    )
    return {name: tape.add(codes.PICK, op, out + k) for k, name in enumerate(block.outputs)}


class Caller:
    """Calls a function of the user; what it raises is kept, for compiled code cannot tell."""

    def __init__(self, block: str, function: Callable[..., Any], inputs: int, outputs: int):
        self.block, self.function, self.inputs, self.outputs = block, function, inputs, outputs
        self.error: LinkworkError | None = None

    def __call__(self, t: float, x: Any, v: Any, parameters: Any, out: Any) -> None:
        """As compiled code calls it."""
        try:
            found = self.function(t, *(float(x[k]) for k in range(self.inputs)))
            values = list(found) if self.outputs > 1 else [found]
            if len(values) != self.outputs:
                raise ValueError(f"returned {len(values)} numbers instead of {self.outputs}")
            for k, value in enumerate(values):
                out[k] = float(value)
        except Exception as error:  # told when the stretch of steps has ended
            for k in range(self.outputs):
                out[k] = float("nan")
            if self.error is None:
                why = f"block '{self.block}' failed at t = {t:.6g} s: {type(error).__name__}: {error}"
                self.error = LinkworkError(why)
                self.error.__cause__ = error


__all__ = ["Caller", "lower_compiled", "lower_python"]
