"""How far what a page opens goes in the next seconds, and whether a camera has to go with it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..model.shapes import HeightField
from ..stage.bounds import extent
from ..stage.stage import Stage
from .layers import Bounds

if TYPE_CHECKING:
    from ..live.session import Session

# Simulated time to look ahead to place the camera, time of a core to spend on it, and at most of the clock [s].
_GLANCE, _PATIENCE, _LONGEST = 5.0, 1.0, 2.0
_FAR = 2.0  # how far something travels, in diagonals of what is there at the start
_FORETELLS = 0.1  # share of the time from which on the way so far tells how far the rest goes


class Ahead(NamedTuple):
    """Poses of the next seconds, which the camera is to see."""

    positions: Array
    """times × bodies × 3 [m]"""
    rotations: Array
    """times × bodies × 4"""
    share: float
    """Of the time that was to be looked at: the rest could not be computed at once."""


def look_ahead(session: Session) -> Ahead:
    """What a session will do, as far as it can be computed at once."""
    positions, rotations = [session.view.poses.positions], [session.view.poses.rotations]
    simulation = session.loop.simulation
    steps = max(1, round(0.05 / simulation.dt))
    until = session.scene.duration if session.scene is not None else _GLANCE
    try:
        session.rehearse(1)  # the first step has kernels to load
        enough, late = time.thread_time() + _PATIENCE, time.perf_counter() + _LONGEST
        while simulation.time < until and time.thread_time() < enough and time.perf_counter() < late:
            data = simulation.method.observer.observe(session.rehearse(steps))
            count = len(session.stage.bodies)
            positions.append(data["positions"][0].reshape(count, 3))
            rotations.append(data["rotations"][0].reshape(count, 4))
    except LinkworkError:
        pass  # the run itself will say so
    share = min(simulation.time / until, 1.0)
    session.rewind()
    return Ahead(np.array(positions), np.array(rotations), share)


def focus(stage: Stage, ahead: Ahead) -> tuple[str | None, Bounds]:
    """The body that cameras are to follow, or None, and the corners of what they are to see [m], at the start.

    The heaviest body is followed if all of them go far, or would at this pace. A landscape is to be travelled through;
    other scenery is what they move about in. Where all go the same way, but not so far, they are seen to its end.
    """
    ways = ahead.positions[-1] - ahead.positions[0]
    lengths = np.linalg.norm(ways, axis=1)
    gone = lengths.min(initial=np.inf)
    things = [one for one in stage.scenery if not any(isinstance(shape, HeightField) for shape in one.shapes)]
    about = replace(stage, scenery=tuple(things))
    low, high = extent(about, ahead.positions[0], ahead.rotations[0])
    if not stage.bodies or gone <= _FAR * ahead.share * float(np.linalg.norm(high - low)):
        positions, rotations = ahead.positions, ahead.rotations
        if stage.bodies and ahead.share > _FORETELLS:
            end = positions[-1:] + (1.0 / ahead.share - 1.0) * ways[lengths.argmin()]
            positions, rotations = np.vstack((positions, end)), np.vstack((rotations, rotations[-1:]))
        return None, extent(stage, positions, rotations)
    heaviest = max(stage.bodies, key=lambda body: body.mass).name
    here = ahead.positions[:, stage.index(heaviest)]
    return heaviest, extent(about, ahead.positions - (here - here[0])[:, None], ahead.rotations)
