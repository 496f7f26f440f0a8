"""What rows that keep a rate have to know of a command beside its value."""

from ..kernels.jit import kernel
from .codes import COMMAND


@kernel
def command_slope(tape, place):
    """How fast a tape changes the command at that place of `inputs`, of a drive that keeps a rate; 0 if unknown."""
    for i in range(1, tape.shape[0]):
        op = tape[i]
        if op.kind == COMMAND and op.b == place and op.p[0] != 0.0:
            return op.rate if op.rate == op.rate else 0.0
    return 0.0
