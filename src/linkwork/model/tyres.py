"""Tyres on the road of a model: what users say of them. Their laws stand in `engine/tyres`, their rows in `compile`.

Nothing here is compiled, so that other kernels do not depend on it."""

from __future__ import annotations

import math
import os
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from .item import Axis, BodyName, NonNegative, Place, Positive, _plain, item
from .load import Load, Site
from .rotation import Array, Placement, Vector
from .tyre_files import TyreFile, read_tyre

GRAVITY = 9.81
_PRESSED = 0.05  # deflection under the nominal load, in radii, by default
_DAMPED = 0.02  # of critical, vertically, by default
_CARCASS = (0.09, 0.1)
"""Of critical, of the carcass along and across, by default. Along, where the wheel alone swings on it, that and the
stiffness let steps of 1 ms be explicit, standing or in the air, for a wheel of a fifteenth of the load: such steps are
four times as fast."""

if TYPE_CHECKING:
    Extent = tuple[float, float]
else:
    Extent = Annotated[tuple[NonNegative, NonNegative], BeforeValidator(_plain)]


@item
class Tyre(Load):
    """A tyre on a wheel: it carries, drives, brakes and steers on the roads of the model.

    Roads are scenery with a material: planes, boxes and height fields. The tyre is a circle with one contact; its body
    needs no material of its own.
    """

    law: ClassVar[str] = ""
    """Which law of `engine/tyres` it follows."""

    body: BodyName
    """The wheel."""
    _: KW_ONLY
    at: Place | None = None
    """Centre of the wheel, in the world of the assembled pose [m], or a marker; default: the body's origin."""
    axis: Axis = (0.0, 1.0, 0.0)
    """The axle, to the left as it rolls forward, in world axes of the assembled pose, any length but zero [1]."""

    def centre(self, site: Site) -> Vector | str | None:
        """Where its frame stands; None at the body's origin."""
        return self.at

    def axes(self) -> Array:
        """Its frame: y along the axle."""
        y = np.array(self.axis) / np.linalg.norm(self.axis)
        helper = np.array([1.0, 0.0, 0.0]) if abs(y[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
        z = np.cross(helper, y)
        z /= np.linalg.norm(z)
        return np.stack([np.cross(y, z), y, z], axis=1)

    def common(self) -> tuple[float, ...]:
        """Its first numbers, see `engine/tyres/patch.py`, up to where the road's begin."""
        raise NotImplementedError

    def own(self) -> tuple[float, ...]:
        """Numbers of its slip law."""
        raise NotImplementedError


@item
class BrushNumbers:
    """What a tyre by the brush law is beside its radius and nominal load. What is not given follows from these."""

    _: KW_ONLY
    stiffness: Positive | None = None
    """Vertical stiffness [N/m]; default: the nominal load presses it in by a twentieth of the radius."""
    damping: NonNegative | None = None
    """Vertical damping [N s/m]; default: 0.02 of critical under the nominal load."""
    friction: Positive = 1.0
    """Largest coefficient of friction, on a road whose material has friction 1; on others, that times it [1]."""
    sliding: Positive | None = None
    """Coefficient of friction in sliding, likewise, not above `friction` [1]; default: 0.9 of it."""
    slip_stiffness: Positive | None = None
    """Longitudinal force per slip at small slip [N]; default: 20 times the nominal load."""
    cornering_stiffness: Positive | None = None
    """Lateral force per slip angle at small angles [N/rad]; default: 15 times the nominal load."""
    degression: Annotated[NonNegative, Field(lt=1)] = 0.25
    """How both grow less than the load r in nominal loads: as r (1 + degression (1 - r)) [1]."""
    longitudinal_relaxation: Positive | None = None
    """Way in which the longitudinal force follows the slip [m]; default: 0.6 of the radius."""
    lateral_relaxation: Positive | None = None
    """Way in which the lateral force follows the slip angle [m]; default: 1.2 radii."""
    trail: NonNegative | None = None
    """Pneumatic trail at small angles [m]; default: 0.1 of the radius."""
    rolling_resistance: NonNegative = 0.01
    """Resistance to rolling as a share of the load [1]."""
    footprint: Extent | None = None
    """Length and width over which it feels the road [m]; default: 0.6 and 0.5 of the radius. 0: at a point."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.sliding is not None and self.sliding > self.friction:
            raise ValueError(
                f"sliding {self.sliding:g} must not be larger than friction {self.friction:g}: what slides has no more "
                "grip than what is about to"
            )
        return self


@item
class BrushTyre(BrushNumbers, Tyre):
    """A handling tyre by a handful of numbers: bristles that deflect until friction lets them slide.

    A spring and damper upwards; forward and sideways a carcass that yields, with a deflection as its state, and a
    tread that slides by the brush law. It stands on a slope as on a spring, rolls with slip, slides with friction, and
    is without force in the air. What is not given follows from radius and load.
    """

    kind = "brush_tyre"
    law: ClassVar[str] = "brush"

    radius: Positive
    """Radius without load [m]."""
    load: Positive
    """Nominal load, at which the other numbers hold [N]."""

    @property
    def vertical_stiffness(self) -> float:
        """[N/m]"""
        return self.load / (_PRESSED * self.radius) if self.stiffness is None else self.stiffness

    @property
    def slip_stiffnesses(self) -> tuple[float, float]:
        """Along [N] and across [N/rad], under the nominal load."""
        along = 20.0 * self.load if self.slip_stiffness is None else self.slip_stiffness
        return along, 15.0 * self.load if self.cornering_stiffness is None else self.cornering_stiffness

    def common(self) -> tuple[float, ...]:
        k, mass = self.vertical_stiffness, self.load / GRAVITY
        c = 2.0 * _DAMPED * math.sqrt(k * mass) if self.damping is None else self.damping
        sigma_x = 0.6 * self.radius if self.longitudinal_relaxation is None else self.longitudinal_relaxation
        sigma_y = 1.2 * self.radius if self.lateral_relaxation is None else self.lateral_relaxation
        length, width = (0.6 * self.radius, 0.5 * self.radius) if self.footprint is None else self.footprint
        carcass: list[float] = []
        for slip, sigma, share in zip(self.slip_stiffnesses, (sigma_x, sigma_y), _CARCASS, strict=True):
            carcass += slip / sigma, 2.0 * share * math.sqrt(slip / sigma * mass)
        return self.radius, k, 0.0, c, 0.1 * self.load / k, 1 / 3, length / 4, width / 4, *carcass, 1.0

    def own(self) -> tuple[float, ...]:
        sliding = 0.9 * self.friction if self.sliding is None else self.sliding
        trail = 0.1 * self.radius if self.trail is None else self.trail
        return (
            self.load, *self.slip_stiffnesses, self.degression, self.friction, sliding, trail, self.rolling_resistance
        )  # fmt: skip


@item
class MagicTyre(Tyre):
    """A handling tyre by the Magic Formula, from a tyre property file (.tir): MF 5.2, and 6.1 without turn slip.

    Pure and combined slip, camber, aligning and overturning moment, rolling resistance; `read_tyre(file).left_out`
    tells what of the file is not taken. Vertically a spring and damper; forward and sideways a carcass with a
    deflection as its state, by the relaxation lengths or stiffnesses of the file.
    """

    kind = "magic_tyre"
    law: ClassVar[str] = "magic"

    file: Annotated[str, Field(min_length=1), AfterValidator(os.path.abspath)]
    """Path of the .tir file; in a model file, relative to its folder and inside it."""
    side: Literal["left", "right"] = "left"
    """On which side of the vehicle it is: on the other one than the file's TYRESIDE it is its mirror image."""
    footprint: Extent | None = None
    """Length and width over which it feels the road [m]; default: 0.6 of the radius and half of the width. 0: at a
    point."""

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        moved = super().moved_fields(placement)
        if placement.mirror is not None:
            moved["side"] = "right" if self.side == "left" else "left"
        return moved

    @property
    def read(self) -> TyreFile:
        """The file, read when it is first wanted and again when it has changed."""
        return read_tyre(self.file)

    @property
    def radius(self) -> float:
        """Radius without load [m]."""
        return self.read.radius

    def common(self) -> tuple[float, ...]:
        tyre = self.read
        mass = tyre.load / GRAVITY
        length, width = (0.6 * tyre.radius, 0.5 * tyre.width) if self.footprint is None else self.footprint
        carcass: list[float] = []
        for stiffness, share in zip(tyre.carcass, _CARCASS, strict=True):
            carcass += stiffness, 2.0 * share * math.sqrt(stiffness * mass)
        hand = 1.0 if tyre.side in ("", self.side) else -1.0
        pressed = 0.1 * tyre.load / tyre.stiffness
        return (
            tyre.radius, tyre.stiffness, 0.0, tyre.damping, pressed, tyre.rolling_share, length / 4, width / 4,
            *carcass, hand,
        )  # fmt: skip

    def own(self) -> tuple[float, ...]:
        return self.read.numbers
