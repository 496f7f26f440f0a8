"""Model => System: a model flattened once, and every kind of table that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property

import numpy as np

from ..engine.loads import JointFunction
from ..model import Flat, Model
from ..model.errors import LinkworkError, ModelError, Problem
from ..model.item import Vector
from ..model.joints import Joint
from ..model.rotation import frame_from_axis
from .spanning import Edge, Spanning, floating, spanning_tree
from .system import System
from .tabulate import NOT_IN_TREE, Frame, Tabulator
from .welded import light_welds, refuse_zero_inertia


class Compiled:
    """A model flattened once, and the tables made of it: every kind is compiled when first asked for, and kept.

    Methods, observers, reactions, studies and stages of one model share it. It is the model as it stood when this was
    made; what is added to that later is not seen. Each kind raises a ModelError with everything that is wrong.
    """

    def __init__(self, model: Model):
        self.model = model
        """As it was written, with its components."""
        self.name, self.gravity = model.name, model.gravity
        self.flat = model.flatten()
        self._frames: dict[str, Frame] = {}  # of the model's joints in the assembled pose

    @classmethod
    def of(cls, model: Model | Compiled) -> Compiled:
        """The model compiled, if it is not yet."""
        return model if isinstance(model, Compiled) else cls(model)

    def dissolved(self) -> Model:
        """A copy of the model without components: their items have dotted names."""
        made = Model(self.name, gravity=self.gravity)
        for thing in self.flat.items():
            getattr(made, thing.shelf)[thing.name] = thing
        return made

    @cached_property
    def spanning(self) -> Spanning:
        """Which joints form the tree, and where loops are cut."""
        return spanning_tree(self.flat)

    @cached_property
    def tree(self) -> System:
        """In joint coordinates, without constraints: springs and dampers are forces."""
        return self._checked(self._tables(rows=False))

    @cached_property
    def rows(self) -> System:
        """In joint coordinates, with constraints: loops, limits, friction, drives, springs, and what may touch."""
        return self._checked(self._tables())

    @cached_property
    def floating(self) -> System:
        """Every body floats and every joint is a constraint, to ask what joints transmit.

        Nothing has to accelerate in it: bodies without inertia are welcome. Loads on joint coordinates, which floating
        bodies do not have, are left out.
        """
        flat = copy(self.flat)
        flat.loads = {name: load for name, load in flat.loads.items() if not isinstance(load, JointFunction)}
        return self._tables(floating(self.flat), flat=flat)

    @cached_property
    def maximal(self) -> System:
        """As `floating`, with inertia to accelerate everywhere: light bodies are one with those they are welded to."""
        self._refuse_joint_functions()
        return self._checked(
            self._tables(floating(self.flat, merged=self.merged)) if self.merged else self.floating
        )

    @cached_property
    def apart(self) -> System:
        """As `maximal`, with a reference point for each body: what a body computes depends on itself alone."""
        return self._checked(self._tables(floating(self.flat, merged=self.merged), apart=True))

    @cached_property
    def merged(self) -> tuple[Edge, ...]:
        """Welds of bodies that cannot float by themselves, from the inside outward: see `light_welds`."""
        return light_welds(self.flat, self.spanning.edges)

    def joint_frame(self, joint: Joint) -> Frame:
        """Frame of a joint in the assembled pose, computed once for those of the model."""
        if joint.name not in self.flat.joints:
            return _joint_frame(self.flat, joint)
        if joint.name not in self._frames:
            self._frames[joint.name] = _joint_frame(self.flat, joint)
        return self._frames[joint.name]

    def _tables(
        self,
        maximal: Spanning | None = None,
        *,
        rows: bool = True,
        apart: bool = False,
        flat: Flat | None = None,
    ) -> System:
        if self._problems:
            raise ModelError(self._problems)
        spanning = self.spanning if maximal is None else maximal
        return Tabulator(self, flat or self.flat, rows, spanning, apart).system()

    @cached_property
    def _problems(self) -> list[Problem]:
        none = [] if self.flat.bodies else [Problem(f"Model '{self.name}'", "has no bodies")]
        return [*self.flat.problems(), *none]

    def _checked(self, system: System) -> System:
        refuse_zero_inertia(system, self.merged)
        return system

    def _refuse_joint_functions(self) -> None:
        for load in self.flat.loads.values():
            if isinstance(load, JointFunction):
                raise LinkworkError(NOT_IN_TREE.format(load.joint))


def compile_model(model: Model, *, rows: bool = False, maximal: bool = False) -> System:
    """Compile a model, or raise a ModelError with everything that is wrong with it.

    `rows` makes constraints of loops, limits, friction, drives and springs, as impulse methods need them, and tables of
    what may touch; without it springs and dampers are forces. `maximal` lets every body float and makes all joints
    constraints. What needs several of these shares a `Compiled`.
    """
    compiled = Compiled(model)
    return compiled.maximal if maximal else compiled.rows if rows else compiled.tree


def compile_apart(model: Model | Compiled, points: Mapping[str, Vector]) -> System:
    """A valid model with every body floating and every joint as rows, and a reference point for each body.

    So what a body computes depends on itself alone. Bodies of `points` float at these places [m] instead of at their
    centres of mass; bodies without inertia are welcome: they stand for bodies of another process.
    """
    compiled = Compiled.of(model)
    return Tabulator(compiled, compiled.flat, True, floating(compiled.flat, points), True).system()


def _joint_frame(flat: Flat, joint: Joint) -> Frame:
    if isinstance(joint.at, str):
        p, R = flat.markers[joint.at].frame
        if joint.axis is None and joint.reference is None:
            return Frame(p, R)
        axis = joint.axis or (float(R[0, 2]), float(R[1, 2]), float(R[2, 2]))
        return Frame(p, frame_from_axis(axis, joint.reference))
    return Frame(np.array(joint.at), frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference))
