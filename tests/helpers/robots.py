"""Robot descriptions of the package example-robot-data, and mechanisms in the coordinates of other engines."""

from __future__ import annotations

import dataclasses
import sysconfig
from pathlib import Path

import numpy as np

from helpers.probe import Probe

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
DESCRIPTIONS = sorted(str(path.relative_to(ROBOTS)) for path in ROBOTS.rglob("*.urdf"))


def bare(model):
    """The model as a tree alone: no limits, resistance, starts, couplings and drives."""
    for name, joint in model.joints.items():
        if joint.coordinates:
            plain = {"limits": None, "damping": 0.0, "friction": 0.0, "position": None}
            model.joints[name] = dataclasses.replace(joint, **plain)
    model.couplings.clear()
    model.drives.clear()
    return model


class Twin:
    """A mechanism beside another engine's, joint by joint of one coordinate.

    `places` gives of each joint's name the place of its rate in the other engine.
    """

    def __init__(self, model, places):
        self.probe = Probe(model)
        places = {name.replace(".", "_"): place for name, place in places.items()}
        self.joints = {placed.joint.name: placed for placed in self.probe.system.joints.values()}
        count = self.probe.nv
        assert sorted(places.values()) == list(range(count))
        self.order = np.zeros(count, int)
        for name, place in places.items():
            self.order[place] = self.joints[name].v.start
        self.places = places

    def state(self, angles, rates):
        """Our state of theirs, both in their order."""
        q, v = np.zeros(self.probe.system.nq), np.zeros(self.probe.nv)
        for name, place in self.places.items():
            q[self.joints[name].q.start] = angles[place]
            v[self.joints[name].v.start] = rates[place]
        return q, v

    def dynamics(self, angles, rates):
        """Mass matrix, torques of gravity, accelerations without other forces, in their order."""
        q, v = self.state(angles, rates)
        H = self.probe.mass_matrix(q)[np.ix_(self.order, self.order)]
        gravity = self.probe.bias(q, np.zeros(self.probe.nv))[self.order]
        return H, gravity, self.probe.qdd(q, v)[self.order]


def apart(found, wanted):
    """Largest difference, relative to the largest that is wanted."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max()) if wanted.any() else np.abs(found).max()
