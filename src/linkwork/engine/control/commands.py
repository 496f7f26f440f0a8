"""What rows that keep a rate have to know of a command beside its value."""

from ..kernels.jit import kernel
from ..kernels.tape import HEAD


@kernel
def command_slope(tape, place):
    """How fast a tape changes the command at that place of `inputs`, of a drive that keeps a rate; 0 if unknown."""
    i = tape[HEAD].next_command
    while i != 0:
        op = tape[i]
        if op.b == place:
            return op.rate if op.rate == op.rate else 0.0
        i = op.next_command
    return 0.0
