"""What an observer carries from block to block of samples: the energy balance and the signs of quaternions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..model.rotation import Array
from ..results.measured import ENERGIES

KINETIC, STRAIN, BALANCE = (ENERGIES.index(name) for name in ("kinetic", "strain", "balance"))
"""Columns of the group `energy`."""
DISSIPATED = ENERGIES.index("dissipated")
_EXCHANGED = slice(3, 5)  # supplied, dissipated
# Of the energy in play, that losses may fall by: tyres, and steps of first order, give a little back.
_RETURNED = 0.01
# A mechanism at rest high above the origin: its potential is rounded, and nothing is in play.
_ROUNDING = 1e-9


@dataclass
class Memory:
    """The balance since the first sample, and the last quaternions."""

    start: float | None = None
    """Energy at the first sample, less what was supplied and plus what was dissipated until then [J]."""
    rest: Array = field(default_factory=lambda: np.zeros(len(ENERGIES)))
    """Energies of the first sample [J]."""
    rotations: Array | None = None
    """The last quaternions."""
    worst: float = 0.0
    """Energy that came from nowhere, where that was most [J]."""
    in_play: float = 0.0
    """The most kinetic energy and work so far [J]."""
    amount: float = 0.0
    """The largest energy so far, of any kind [J]."""
    lost: float = -np.inf
    """The most that was dissipated so far [J]."""
    returned: float = 0.0
    """By how much that fell again, where that was most [J]."""

    def copy(self) -> Memory:
        """One that can go on by itself."""
        return replace(self)

    def carried_over(self) -> Memory:
        """The memory of an observer that goes on with the record of another; the balance counts anew."""
        return replace(self, start=None, rest=np.zeros(len(ENERGIES)), lost=-np.inf)

    def keep_signs(self, rotations: Array) -> None:
        """Join a block of quaternions to the one before without a jump to the opposite sign."""
        if self.rotations is not None:
            same = np.einsum("bk,bk->b", rotations[0].reshape(-1, 4), self.rotations.reshape(-1, 4))
            flips = np.where(same < 0, -1.0, 1.0)
            rotations *= np.repeat(flips, 4)
        self.rotations = rotations[-1].copy()

    def balance(self, energy: Array) -> None:
        """Energy that came from nowhere since the first sample: stored - supplied + dissipated."""
        stored = energy[:, 0] + energy[:, 1] + energy[:, 2] - energy[:, 3] + energy[:, 4]
        if self.start is None:
            self.start = float(stored[0])
            self.rest = energy[0].copy()
        energy[:, BALANCE] = stored - self.start
        worst = float(energy[np.argmax(np.abs(energy[:, BALANCE])), BALANCE])
        if abs(worst) > abs(self.worst):
            self.worst = worst
        exchanged = np.abs(energy[:, _EXCHANGED] - self.rest[_EXCHANGED]).max()
        self.in_play = max(self.in_play, float(energy[:, 0].max() + exchanged))
        self.amount = max(self.amount, float(np.abs(energy[:, :BALANCE]).max()))
        most = np.maximum.accumulate(np.r_[self.lost, energy[:, DISSIPATED]])[1:]
        self.lost = float(most[-1])
        self.returned = max(self.returned, float((most - energy[:, DISSIPATED]).max()))

    def warnings(self, budget: float) -> list[str]:
        """What to tell: a balance that strayed by more than `budget` of the energy in play, losses given back."""
        found = []
        rounding = _ROUNDING * self.amount
        if abs(self.worst) > budget * self.in_play + rounding:
            verb = "gained" if self.worst > 0 else "lost"
            share = (
                f"{abs(self.worst) / self.in_play:.1%} of the energy in play"
                if self.in_play > 0
                else "at rest"
            )
            advice = "take smaller steps, or a method of higher order"
            found.append(f"the run {verb} {abs(self.worst):.3g} J from nowhere, {share}: {advice}")
        # What the balance itself is off by, error of the steps, may stand on either side of it.
        if self.returned > _RETURNED * self.in_play + abs(self.worst) + rounding:
            found.append(
                f"impacts gave {self.returned:.3g} J, where they should only take: by Newton's law of restitution, "
                "which does not hold where a body is hit from two sides at once; give stops less restitution"
            )
        return found
