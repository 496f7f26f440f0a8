"""Affine functions of a few of many unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...model.rotation import Array

_NOTHING = 1e-13  # a factor below this share of those that it is made of is rounding


@dataclass(frozen=True, eq=False)
class Affine:
    """matrix @ z[index] + constant."""

    index: tuple[int, ...]
    """The unknowns that it depends on, ascending."""
    matrix: Array
    constant: Array

    @classmethod
    def fixed(cls, constant: Array) -> Self:
        """A constant."""
        return cls((), np.zeros((len(constant), 0)), np.asarray(constant, float))

    @classmethod
    def unknowns(cls, first: int, count: int) -> Self:
        """`count` unknowns themselves, from number `first` on."""
        return cls(tuple(range(first, first + count)), np.eye(count), np.zeros(count))

    def times(self, factor: Array) -> Affine:
        """factor @ this; unknowns that fall out are forgotten."""
        scale = np.abs(factor).max(initial=0.0) * np.abs(self.matrix).max(initial=0.0)
        matrix = factor @ self.matrix
        matrix[np.abs(matrix) <= _NOTHING * scale] = 0.0
        used = np.flatnonzero(matrix.any(axis=0))
        return Affine(tuple(self.index[i] for i in used), matrix[:, used], factor @ self.constant)

    def plus(self, constant: Array) -> Affine:
        """This and a constant."""
        return Affine(self.index, self.matrix, self.constant + constant)

    def minus(self, other: Affine) -> Affine:
        """The difference of two."""
        both = tuple(sorted({*self.index, *other.index}))
        matrix = self.over(both) - other.over(both)
        return Affine(both, matrix, self.constant - other.constant)

    def over(self, index: tuple[int, ...]) -> Array:
        """The matrix for more unknowns."""
        matrix = np.zeros((len(self.constant), len(index)))
        matrix[:, np.searchsorted(index, self.index)] = self.matrix
        return matrix

    @property
    def size(self) -> float:
        """The largest factor or constant."""
        return float(max(np.abs(self.matrix).max(initial=0.0), np.abs(self.constant).max(initial=0.0)))

    def vanishes(self, tolerance: float) -> bool:
        """Whether no factor and no constant is beyond the tolerance."""
        return self.size <= tolerance


def stacked(parts: list[Affine]) -> Affine:
    """Several below each other."""
    index = tuple(sorted({i for part in parts for i in part.index}))
    return Affine(
        index,
        np.vstack([part.over(index) for part in parts]),
        np.concatenate([part.constant for part in parts]),
    )
