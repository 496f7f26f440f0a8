"""What methods share that sample accelerations and the forces of rows: the direct solver and the implicit steps."""

from __future__ import annotations

import numpy as np

from ..constrain import RowTable
from ..observe import Block, RowObserver
from ..rotation import Array
from ..solvers import layout
from ..tables import Constraints
from .base import Method
from .rows import carry, give_command
from .switching import RowMethod


class SampledMethod(RowMethod):
    """A method with two sets of rows: those that are solved, and all of them, in which gaps are measured."""

    observer: RowObserver
    _every_row: Constraints
    _configuration: int
    """The stretch of the same joints attached that samples belong to: see DirectObserver.configure."""

    def _fill(self) -> None:
        assert self.system.rows is not None
        self._constraints = self._rows.fresh()
        self._every_row = self._constraints._replace(rows=self.system.rows.fresh().rows)

    def _row_sets(self) -> list[tuple[RowTable, Constraints]]:
        assert self.system.rows is not None
        return [(self._rows, self._constraints), (self.system.rows, self._every_row)]

    def _room(self, count: int) -> layout.Samples:
        """Room for samples."""
        coords, rows = len(self._constraints.coords), len(self._constraints.rows)
        return layout.new_samples(count, self.system.nq, self.system.nv, coords, rows)

    def _block(self, out: layout.Samples) -> Block:
        """Samples for the observer, which must know whose forces these are where joints can be switched."""
        if not self.switchable:
            return tuple(out)
        count, rows = out.forces.shape
        tag = np.full((count, 1), float(self._configuration))
        rest = np.zeros((count, len(self._every_name()) - rows))
        return tuple(out._replace(forces=np.hstack([tag, out.forces, rest])))

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, type(self)):
            if self._rows.names == other._rows.names:
                self._stats[:] = other._stats
            for mine, theirs in zip(self._row_sets(), other._row_sets(), strict=True):
                carry(*mine, *theirs)
        self.disturb()

    def now(self) -> Block:
        return self.advance([self.state.clock[2] if self.adaptive else self.state.counts[0]])[2]

    def accelerations(self) -> Array:
        a: Array = layout.Samples(*self.now()).a[0]
        return a

    def read(self, name: str) -> float:
        return self.observer.read(name, self.now())

    def strain(self) -> float:
        return float(layout.Samples(*self.now()).solver[0, 0])

    def command(self, drive: str, value: float) -> None:
        give_command(self._rows, self._constraints, drive, value)
