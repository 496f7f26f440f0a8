"""A linear system with named states, inputs and outputs: eigenvalues, modes, responses, and ways out to other tools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from ..results.files import need
from .field import Reference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Complex = npt.NDArray[np.complex128]
_STILL = 1e-7  # an eigenvalue that is less than this, of the largest, is zero: rounding of a double zero is its root


class Port(NamedTuple):
    """A state, input or output."""

    name: str
    unit: str


class Mode(NamedTuple):
    """A motion that a mechanism can have by itself: an eigenvalue, or a pair of complex ones."""

    eigenvalue: complex
    """Of a pair, the one above the real axis [1/s]."""
    shape: Complex
    """Eigenvector: how far each state moves, the largest coordinate 1."""
    leader: str
    """The state that moves most, in radians and sizes of the mechanism."""

    @property
    def frequency(self) -> float:
        """Of the damped oscillation [Hz]; 0 for none."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio: 1 creeps, 0 swings on and on, negative grows; of an eigenvalue of zero not a number."""
        size = abs(self.eigenvalue)
        return 0.0 - self.eigenvalue.real / size if size > 0.0 else math.nan

    @property
    def text(self) -> str:
        """What it does, in words."""
        s = self.eigenvalue
        if s == 0.0:
            return "stays where it is put"
        if s.imag == 0.0:
            return f"{'dies out' if s.real < 0.0 else 'grows'} in {1.0 / abs(s.real):.4g} s"
        if s.real == 0.0:
            return f"swings at {self.frequency:.4g} Hz"
        return f"swings at {self.frequency:.4g} Hz, {'damped' if s.real < 0.0 else 'growing'}, ratio {self.damping:.4g}"


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """x' = A x + B u, y = C x + D u: deviations from a reference."""

    name: str
    """Of the model."""
    A: Array
    B: Array
    C: Array
    D: Array
    states: list[Port]
    inputs: list[Port]
    outputs: list[Port]
    reference: Reference
    """What it is about."""
    residual: float
    """Largest rate of change of a state at the reference, 0 at an equilibrium or in a steady motion."""
    notes: list[str] = field(default_factory=list)
    """What was left out."""
    coordinates: tuple[str, ...] = ()
    """Independent coordinates."""
    scales: Array = field(default_factory=lambda: np.zeros(0))
    """What counts as a change of 1 of each state."""

    @cached_property
    def eigenvalues(self) -> Complex:
        """Of A, the least damped first [1/s]."""
        return np.array([mode.eigenvalue for mode in self._all()])

    @cached_property
    def modes(self) -> list[Mode]:
        """One for each eigenvalue, or pair of complex ones; the least damped first."""
        return [mode for mode in self._all() if mode.eigenvalue.imag >= 0.0]

    def _all(self) -> list[Mode]:
        if not len(self.A):
            return []
        scales = self.scales if len(self.scales) else np.ones(len(self.A))
        eigenvalues, vectors = np.linalg.eig(self.A / scales[:, None] * scales)
        values: Complex = np.array(eigenvalues, complex)
        largest = float(np.abs(values).max())
        values[np.abs(values) <= _STILL * largest] = 0.0
        values.real[np.abs(values.real) <= 1e-12 * largest] = 0.0
        order = sorted(
            range(len(values)),
            key=lambda k: (-round(float(values[k].real), 9), abs(values[k]), -values[k].imag),
        )
        found = []
        for k in order:
            lead = int(np.argmax(np.abs(vectors[:, k])))
            shape = vectors[:, k] * scales / (vectors[lead, k] * scales[lead])
            found.append(Mode(complex(values[k]), shape, self.states[lead].name))
        return found

    @property
    def stable(self) -> bool:
        """Whether every small deviation dies out."""
        return bool(all(mode.eigenvalue.real < 0.0 for mode in self.modes))

    def response(self, frequencies: npt.ArrayLike) -> Complex:
        """C (jω I - A)⁻¹ B + D at frequencies [Hz]: frequencies × outputs × inputs."""
        s = 2j * np.pi * np.atleast_1d(np.asarray(frequencies, float))
        eye = np.eye(len(self.A))
        found = (
            self.C @ np.linalg.solve(s[:, None, None] * eye - self.A, self.B[None].astype(complex)) + self.D
        )
        return np.array(found, complex)

    def transfer(self, input: str | None = None, output: str | None = None) -> tuple[Array, Array]:
        """Numerator and denominator of a transfer function, by falling powers of s, of one input and output."""
        signal = need("scipy.signal", "fit", "a transfer function")
        i, k = self._one(self.inputs, "input", input), self._one(self.outputs, "output", output)
        top, bottom = signal.ss2tf(self.A, self.B[:, [i]], self.C[[k]], self.D[[k]][:, [i]])
        top = top[0]
        largest = np.abs(top).max(initial=0.0)
        leading = np.flatnonzero(np.abs(top) > 1e-10 * largest)
        return top[leading[0] :] if len(leading) else top[-1:], bottom

    def select(
        self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
    ) -> LinearSystem:
        """The same system with some of its inputs and outputs."""
        i = (
            [self._one(self.inputs, "input", n) for n in inputs]
            if inputs is not None
            else range(len(self.inputs))
        )
        k = (
            [self._one(self.outputs, "output", n) for n in outputs]
            if outputs is not None
            else range(len(self.outputs))
        )
        i, k = list(i), list(k)
        return replace(
            self, B=self.B[:, i], C=self.C[k], D=self.D[np.ix_(k, i)],
            inputs=[self.inputs[n] for n in i], outputs=[self.outputs[n] for n in k],
        )  # fmt: skip

    def _one(self, ports: Sequence[Port], what: str, name: str | None) -> int:
        names = [port.name for port in ports]
        if name is None and len(names) == 1:
            return 0
        if name is None:
            raise LinkworkError(f"there are {len(names)} {what}s: name one of {', '.join(names) or 'none'}")
        if name not in names:
            raise LinkworkError(f"there is no {what} '{name}'{nearest(name, names)}")
        return names.index(name)

    # --- other tools ---

    def to_control(self) -> Any:
        """A `StateSpace` of python-control, with names."""
        control = need("control", "control", "exporting to python-control")
        return control.ss(
            self.A, self.B, self.C, self.D, states=self._names(self.states), inputs=self._names(self.inputs),
            outputs=self._names(self.outputs), name=self.name,
        )  # fmt: skip

    def to_scipy(self) -> Any:
        """A `StateSpace` of scipy.signal."""
        return need("scipy.signal", "fit", "exporting to SciPy").StateSpace(self.A, self.B, self.C, self.D)

    def _names(self, ports: Sequence[Port]) -> list[str]:
        """python-control takes dots for separators of systems."""
        return [port.name.replace(".", "_") for port in ports]

    def bode(
        self,
        input: str | None = None,
        output: str | None = None,
        *,
        frequencies: npt.ArrayLike | None = None,
        path: str | Path | None = None,
    ) -> Figure:
        """Gain and phase over frequency [Hz] of one input and output. Needs the extra `plot`."""
        from .bode import bode

        one = self.select(
            [self.inputs[self._one(self.inputs, "input", input)].name],
            [self.outputs[self._one(self.outputs, "output", output)].name],
        )
        return bode(one, frequencies, path)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "model": self.name, "time": self.reference.time, "residual": self.residual,
            **{key: getattr(self, key).tolist() for key in "ABCD"},
            **{key: [port._asdict() for port in getattr(self, key)] for key in ("states", "inputs", "outputs")},
            "modes": [
                {
                    "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag], "frequency_Hz": mode.frequency,
                    "damping": None if math.isnan(mode.damping) else mode.damping, "leader": mode.leader,
                    "shape": {
                        port.name: [x.real, x.imag] for port, x in zip(self.states, mode.shape.tolist(), strict=True)
                    },
                }
                for mode in self.modes
            ],
            "notes": self.notes,
        }  # fmt: skip
