"""What crosses between parts of a model in every step: states, D and r upwards, forces downwards, a vote at its end.

Nothing else does: no mass, no spring, no equation of what is inside (Vlasenko and Kasper, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..engine.steppers import components
from ..engine.steppers.motion import VOTE
from ..methods.part import Crossing, Part
from ..model.rotation import Array
from .links import Link


class Above:
    """The part that this one is inside of."""

    above, below = True, False

    def __init__(self, link: Link, crossing: Crossing):
        self._link, self._crossing = link, crossing
        self.bad = 0
        """Why this part would have stopped at the last step, before it heard the others; 0 if it would not."""

    def exchange(self, part: Part, what: int) -> None:
        """Carry over what the loop asks for."""
        link, crossing = self._link, self._crossing
        if what == components.STATES:
            link.send(crossing.read_states(part, trial=True))
        elif what == components.SAMPLE:
            link.send(crossing.read_states(part, trial=False))
        elif what == components.FORCES:
            link.send(crossing.read_shares(part))
            link.receive(crossing.forces(part.columns))
            crossing.write_forces(part)
        else:
            assert what == components.VOTE
            self.bad = int(part.run.vote.bad)
            link.send(part.vote)
            link.receive(part.vote)


@dataclass
class Line:
    """A line to a process, and what of the model is at its other end."""

    link: Link
    names: tuple[str, ...]
    """The subsystems there."""
    crossing: Crossing
    vote: Array = field(default_factory=lambda: np.zeros(len(VOTE.names or ())))

    def __str__(self) -> str:
        return ", ".join(f"'{name}'" for name in self.names)


class Below:
    """The parts that are inside of this one."""

    above, below = False, True

    def __init__(self, lines: Sequence[Line]):
        self.lines = lines
        self.bad = 0
        """Why this part would have stopped at the last step, before it heard the others; 0 if it would not."""

    def exchange(self, part: Part, what: int) -> None:
        """Carry over what the loop asks for."""
        if what == components.VOTE:
            self.bad = int(part.run.vote.bad)
        for line in self.lines:
            link, crossing = line.link, line.crossing
            if what == components.STATES or what == components.SAMPLE:
                link.receive(crossing.states)
                crossing.write_states(part, trial=what == components.STATES)
            elif what == components.SHARES:
                link.receive(crossing.shares(part.columns))
                crossing.write_shares(part)
            elif what == components.PASSED:
                link.send(crossing.read_forces(part))
            else:
                assert what == components.VOTE
                link.receive(line.vote)
                np.maximum(part.vote, line.vote, out=part.vote)
        if what == components.VOTE:
            for line in self.lines:
                line.link.send(part.vote)
