"""Boxes among scenery, and a page that keeps what is put on it."""

from types import SimpleNamespace

import numpy as np

from helpers.models import poses_at_start
from linkwork import Body, Box, Free, Material, Model, Scenery
from linkwork.model.rotation import matrix
from linkwork.model.shapes import Plane
from linkwork.stage.bounds import extent, floor
from linkwork.stage.meshes import mesh
from linkwork.stage.stage import stage_of
from linkwork.view.nodes import Nodes

G = 9.81
SIDE = 0.2


def boxes(*scenery, at=((0.0, 0.0, SIDE / 2),), mass=1.0, speeds=None):
    """Free boxes among scenery, some of them with a speed along x [m/s]."""
    model = Model("boxes", gravity=(0.0, 0.0, -G))
    model.add(Material("rough", friction=0.5))
    for thing in scenery:
        model.add(thing)
    for k, place in enumerate(at):
        model.add(
            Body(f"box{k}", at=place, mass=mass, shapes=(Box((SIDE, SIDE, SIDE)),), material="rough", color="#ff0000")
        )  # fmt: skip
        velocity = (speeds[k], 0.0, 0.0, 0.0, 0.0, 0.0) if speeds else None
        model.add(Free(f"way{k}", "ground", f"box{k}", at=place, velocity=velocity))
    return model


def ground(name="floor", **options):
    return Scenery(name, shapes=(Plane(),), material="rough", **options)


def wall(size, at, name="wall", **options):
    return Scenery(name, at=at, shapes=(Box(size),), material="rough", **options)


def seen(model):
    """The stage, where bodies start, and the corners of it all."""
    stage, poses = stage_of(model), poses_at_start(model)
    return stage, poses, extent(stage, *poses)


def nodes_of(piece):
    """Corners of a piece of scenery in the world."""
    return np.array(piece.at) + (mesh(piece.mesh).vertices * piece.scale) @ matrix(piece.rotation).T


class Scene:
    """Keeps what is put on the page, without one."""

    def __init__(self):
        self.nodes = {}

    def __getattr__(self, method):
        def add(name="", *values, **props):
            node = SimpleNamespace(**{"visible": True, **props})
            if method in ("add_point_cloud", "add_arrows"):
                node.points, node.colors = values
            node.remove = lambda: self.nodes.pop(name)
            if method.startswith("add_"):
                self.nodes[name] = node
            return node

        return add

    def under(self, path):
        return {name: node for name, node in self.nodes.items() if name.startswith(path) and node.visible}


def on_page(model):
    stage, poses, bounds = seen(model)
    page = Scene()
    nodes = Nodes(page, stage, bounds, floor(stage, *bounds))
    nodes.place(poses)
    return page, nodes, poses
