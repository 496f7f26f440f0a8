"""A rod to be drawn, and records of its motion."""

import numpy as np

from linkwork.model.shapes import Capsule
from linkwork.results.record import Record
from linkwork.results.schema import Group
from linkwork.stage.stage import Poses, SeenBody, SeenPoint, Stage


def stage(*bodies, **more):
    return Stage("test", (0.0, 0.0, -9.81), tuple(bodies), **more)


def body(name, *shapes, color=None):
    return SeenBody(name, shapes, (0.0, 0.0, 0.0), 1.0, color)


def at(*places):
    return Poses(np.array(places, float), np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1)))


def record_of(scene, time, positions, rotations, info=None):
    names = [seen.name for seen in scene.bodies]
    groups = [
        Group("positions", tuple(f"{n}.position.{x}" for n in names for x in "xyz"), ("m",) * 3 * len(names)),
        Group(
            "rotations", tuple(f"{n}.rotation.{x}" for n in names for x in "wxyz"), ("1",) * 4 * len(names)
        ),
    ]
    rows = len(time)
    data = {
        "positions": positions.reshape(rows, 3 * len(names)),
        "rotations": rotations.reshape(rows, 4 * len(names)),
    }
    # As a run writes it, unless told otherwise.
    return Record(np.array(time, float), groups, data, {"stage": scene.to_dict()} if info is None else info)


def pendulum_record(scene, rows=21, info=None):
    angle = np.linspace(0.0, 1.0, rows)
    turn = np.column_stack([np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle])
    return record_of(scene, np.linspace(0.0, 1.0, rows), np.zeros((rows, 3)), turn, info)


ROD = stage(
    body("rod", Capsule(0.05, 1.0, at=(0.5, 0.0, 0.0), rotation=(np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))),
    points=(SeenPoint("tip", "rod", (1.0, 0.0, 0.0)),),
)
