"""The way of a mechanism through a prescribed motion, and why it cannot go on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..mechanism.linkage import Lost
from ..model.errors import LinkworkError
from ..model.rotation import Array
from .mechanism import Mechanism
from .motion import Motion

# Gaps that count as closed, in shares of the mechanism's size.
_OPEN = 1e-10
# Shares of what adds up that count as a contradiction between accelerations.
_CONTRADICTION = 1e-6


class Path:
    """Poses of a mechanism whose coordinates `names` move as prescribed, on one branch of its loops."""

    def __init__(self, mech: Mechanism, names: list[str], motions: Sequence[Motion]):
        self.mech, self.names, self.motions = mech, names, motions
        self.moved = np.array([mech.index(name) for name in names], np.int64)
        self.rows = np.concatenate([mech.hold, mech.places[self.moved]])
        """Of joints, and of the prescribed coordinates."""

    def wanted(self, t: float) -> tuple[Array, Array, Array]:
        """Value, rate and acceleration of the prescribed coordinates."""
        x = np.array([motion(t) for motion in self.motions], float)
        if not np.isfinite(x).all():
            bad = self.names[int(np.argmin(np.isfinite(x).all(axis=1)))]
            raise LinkworkError(f"the motion of '{bad}' is not finite at {t:g} s")
        return x[:, 0], x[:, 1], x[:, 2]

    def _path(self, t: float) -> tuple[Array, Array]:
        x, xd, _ = self.wanted(t)
        held = np.zeros(len(self.mech.hold))
        return np.concatenate([held, x]), np.concatenate([held, xd])

    def begin(self, t: float) -> Array:
        """From the pose as written to the start of the motion, without leaving the branch."""
        mech = self.mech
        q = mech.assemble()
        places = mech.places[self.moved]
        own = mech.independent(mech.hold, places)  # the others follow, on curves that are not known
        chosen = np.isin(places, own)
        start, goal = mech.values()[self.moved], self.wanted(t)[0]
        held = np.zeros(len(mech.hold))

        def approach(s: float) -> tuple[Array, Array]:
            way = (goal - start)[chosen]
            return np.concatenate([held, start[chosen] + s * way]), np.concatenate([held, way])

        when = f"on the way to the start of the motion at {t:g} s"
        try:
            q = mech.follow(q, np.concatenate([mech.hold, own]), approach, 0.0, 1.0)
        except Lost as lost:
            raise self._refusal(lost, when) from None
        q, _, gaps = mech.close(q, self.rows, np.concatenate([held, goal]))
        if np.abs(gaps).max(initial=0.0) > _OPEN:
            worst = mech.kin.names[int(self.rows[np.argmax(np.abs(gaps))])]
            raise self._refusal(Lost(t, worst), when)
        return q

    def _refusal(self, lost: Lost, when: str) -> LinkworkError:
        """Why a pose could not be continued: too much was prescribed, or something out of reach."""
        excess = len(self.moved) - self.mech.mobility(self.mech.hold).shape[1]
        names = ", ".join(f"'{name}'" for name in self.names)
        if excess > 0:
            what = f"{excess} of the coordinates {names} {'is' if excess == 1 else 'are'} too many, and they disagree"
        else:
            what = f"{names} cannot go on from there: out of reach, or through a singular position"
        return LinkworkError(f"{when}: {what} ('{lost.row}' stays open)")

    def refuse_freedom(self, t: float, first: bool) -> None:
        """Raise if something can still move."""
        free = self.mech.mobility(self.rows)
        missing = free.shape[1]
        if not missing:
            return
        examples = ", ".join(f"'{name}'" for name in self._movers(free))
        if not first:
            raise LinkworkError(
                f"at {t:g} s the mechanism is in a singular position: the prescribed coordinates leave {examples} free"
            )
        raise LinkworkError(
            f"the motion is not determined: {missing} more coordinate{'s' if missing > 1 else ''} must be prescribed, "
            f"for example {examples}; or the mechanism starts in a singular position"
        )

    def _movers(self, free: Array) -> list[str]:
        """As many coordinates as there are free directions, which together would determine them."""
        left, found = free / self.mech.rate_scale[:, None], []
        for _ in range(free.shape[1]):
            k = int(np.argmax(np.linalg.norm(left, axis=1)))
            found.append(self.mech.system.rates[k].name.removesuffix("_rate"))
            row = left[k] / np.linalg.norm(left[k])
            left = left - np.outer(left @ row, row)
        return found

    def follow(self, q: Array, before: float, t: float) -> Array:
        """The pose at a time t, on from the pose q at the time before [s]."""
        try:
            return self.mech.follow(q, self.rows, self._path, before, t)
        except Lost as lost:
            raise self._refusal(lost, f"at {lost.at:g} s") from None

    def refuse_contradiction(self, t: float, a: Array, wanted: Array) -> None:
        """Raise if accelerations a do not give what is wanted of the rows."""
        left = np.abs(self.mech.row_scale[self.rows] * (self.mech.kin.jacobian(self.rows) @ a - wanted))
        size = np.abs(self.mech.row_scale[self.rows] * wanted).max(initial=0.0)
        if left.max(initial=0.0) > _CONTRADICTION * max(size, 1.0):
            names = ", ".join(f"'{name}'" for name in self.names)
            raise LinkworkError(f"at {t:g} s the accelerations prescribed for {names} contradict each other")
