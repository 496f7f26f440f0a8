"""What methods share that sample accelerations and the forces of rows: the direct solver and the implicit steps."""

from __future__ import annotations

import numpy as np

from ..compile.constrain import RowTable
from ..engine.steppers.samples import Samples
from ..engine.tables import Constraints
from ..model.rotation import Array
from .base import Method
from .rows import carry
from .switching import RowMethod


class SampledMethod(RowMethod):
    """A method with two sets of rows: those that are solved, and all of them, in which gaps are measured."""

    _every_row: Constraints

    def _fill(self) -> None:
        assert self.system.rows is not None
        self._constraints = self._rows.fresh()
        self._every_row = self._constraints._replace(rows=self.system.rows.fresh().rows)

    def _row_sets(self) -> list[tuple[RowTable, Constraints]]:
        assert self.system.rows is not None
        return [(self._rows, self._constraints), (self.system.rows, self._every_row)]

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, type(self)):
            if self._rows.names == other._rows.names:
                np.asarray(self._stats)[...] = np.asarray(other._stats)
            for mine, theirs in zip(self._row_sets(), other._row_sets(), strict=True):
                carry(*mine, *theirs)
        self.disturb()

    def accelerations(self) -> Array:
        a: Array = Samples(*self.now()).a[0]
        return a
