"""A stage in the browser: nodes of a viser scene, and how they follow the motion.

Pieces of one mesh are one node with many instances: a node per body would cost a whole core for 200 bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.rotation import IDENTITY, Array, Vector, frame_from_axis, quaternion
from ..stage.bounds import typical_size
from ..stage.geometry import Color, Piece
from ..stage.meshes import is_open, mesh
from ..stage.stage import Poses, Stage
from .layers import SLIDES_COLOR, STICKS_COLOR, Bounds, Layers, ground_color
from .place import place_instances

LAYERS = (
    "bodies", "joints", "limits", "springs", "ground", "scenery", "traces", "contacts", "reactions", "coms", "frames"
)  # fmt: skip
SHOWN = ("bodies", "joints", "springs", "ground", "scenery", "traces")
"""Layers that are shown at first."""

_TRACE_COLORS = ((213, 94, 0), (0, 114, 178), (0, 158, 115), (204, 121, 167))
_FORCE_COLOR, _SPRING_COLOR, _PLAIN = (200, 30, 120), (60, 130, 90), (243, 244, 246)
_PALEST = 0.15  # share of its colour that the oldest end of a trace has
# Longest arrow of a force, as a share of the stage's size.
_ARROW = 0.35
_WEIGHT = 0.5  # length of the arrow of a contact that carries a body of the middle mass, in sizes of a body
_GLASS = 0.4  # opacity of what hides contacts
# Opacity of scenery behind or in which bodies may be, as in a bin.
_CLOUDY, _HIDING = 0.6, ("box", "sphere", "cylinder")


def light(scene: Any, up: Vector) -> None:
    """A sun with shadows, a weaker light from the other side, and some from everywhere, in a world with this way up.

    Cameras of browsers go back to where they began.
    """
    scene.set_up_direction(up)
    R = frame_from_axis(up)
    scene.configure_environment_map(None)
    scene.configure_default_lights(enabled=False)
    scene.add_light_ambient("/light/ambient", color=(255, 255, 255), intensity=0.9)
    scene.add_light_directional(
        "/light/sun", color=(255, 250, 240), intensity=2.4, cast_shadow=True, position=R @ (0.6, -0.9, 1.6)
    )
    scene.add_light_directional(
        "/light/fill", color=(225, 235, 255), intensity=0.8, cast_shadow=False, position=R @ (-0.8, 0.9, 0.6)
    )


class Instances:
    """Pieces that share a mesh, as one node."""

    def __init__(self, scene: Any, name: str, pieces: Sequence[Piece], opacity: float | None = None):
        self._opacity = opacity
        self.bodies = np.array([piece.body for piece in pieces], np.int64)
        self._at = np.array([piece.at for piece in pieces])
        self._turn = np.array([piece.rotation for piece in pieces])
        triangles = mesh(pieces[0].mesh)
        inside_out = any(piece.scale[0] < 0 for piece in pieces)
        self.handle = scene.add_batched_meshes_simple(
            name,
            triangles.vertices,
            triangles.faces,
            batched_wxyzs=np.tile(IDENTITY, (len(pieces), 1)),
            batched_positions=np.zeros((len(pieces), 3)),
            batched_scales=np.array([piece.scale for piece in pieces]),
            batched_colors=_linear([piece.color for piece in pieces]),
            opacity=opacity,
            lod="off",
            flat_shading=pieces[0].mesh == "box",
            side="double" if inside_out or is_open(pieces[0].mesh) else "front",
            cast_shadow=pieces[0].mesh != "plane",  # all would be dark
        )
        self._seen: Array | None = None  # the shift of what rests, once that is placed

    def glaze(self, glass: bool) -> None:
        """Make it as clear as glass, or as it was."""
        self.handle.opacity = _GLASS if glass else self._opacity

    def place(self, poses: Poses, shift: Array) -> None:
        """Follow the bodies, all shifted back [m]; what stands on the ground is placed once for each shift."""
        if self._seen is not None and np.array_equal(self._seen, shift):
            return
        self._seen = shift if (self.bodies < 0).all() else None
        p, q = place_instances(*poses, self.bodies, self._at, self._turn)
        self.handle.batched_positions = (p - shift).astype(np.float32)
        self.handle.batched_wxyzs = q.astype(np.float32)


class Nodes:
    """All nodes of a stage. `bounds` [m] are the corners of its motion; the ground lies at `floor` [m] along `up`.

    `root` is what their names begin with.
    """

    def __init__(self, scene: Any, stage: Stage, bounds: Bounds, floor: float, root: str = ""):
        self.size = size = float((bounds[1] - bounds[0]).max())
        """The longest side of the corners [m]."""
        self.stage, self._scene, self._root = stage, scene, root
        self.shift = np.zeros(3)
        """What is drawn stands this far from where it is in the picture [m]: see `carry`."""
        self._rest = f"{root}/rest" if root else ""  # names of what rests begin with this
        self._world = scene.add_frame(self._rest, show_axes=False) if root else None
        self._made = Layers(stage, bounds, size)
        self._mark = self._made.mark
        self._shown = set(SHOWN)
        self._layers: dict[str, list[Instances]] = {}
        self._lines: dict[str, Any] = {}
        self._strongest = self._hardest = 0.0
        self._newton = self._arrow_of_a_newton()
        self._poses: Poses | None = None
        self._add_ground(floor, (bounds[0] + bounds[1]) / 2)
        for layer in ("scenery", "bodies", "joints"):
            self._add(layer)
        if stage.springs:
            self._lines["springs"] = scene.add_line_segments(
                f"{self._root}/springs", np.zeros((1, 2, 3)), _SPRING_COLOR, thickness=0.004 * self._mark
            )

    def _add(self, layer: str, by_component: bool = False) -> None:
        kinds: dict[str, list[Piece]] = {}
        for piece in self._made.pieces(layer, by_component):
            kinds.setdefault(piece.mesh, []).append(piece)
        cloudy = layer == "scenery"
        self._layers[layer] = [
            Instances(
                self._scene,
                f"{self._rest if cloudy else self._root}/{layer}/{k}",
                group,
                _CLOUDY if cloudy and name in _HIDING else None,
            )
            for k, (name, group) in enumerate(kinds.items())
        ]

    def _add_ground(self, floor: float, middle: Array) -> None:
        up = np.array(self.stage.up)
        cell = 10.0 ** np.floor(np.log10(max(self.size, 1e-6) / 2))
        centre = middle - (middle @ up) * up + floor * up
        self._lines["ground"] = self._scene.add_grid(
            f"{self._rest}/ground",
            width=float(round(5 * self.size / cell) * cell),
            height=float(round(5 * self.size / cell) * cell),
            cell_size=float(cell),
            section_size=float(5 * cell),
            cell_color=(210, 214, 220),
            section_color=(180, 186, 196),
            fade_distance=float(8 * self.size),
            shadow_opacity=0.25,
            plane_color=ground_color(self.stage) or _PLAIN,
            plane_opacity=0.6,
            wxyz=np.array(quaternion(frame_from_axis(self.stage.up))),
            position=centre,
        )

    # What is shown

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer."""
        if visible and layer in ("limits", "coms", "frames") and layer not in self._layers:
            self._add(layer)
        (self._shown.add if visible else self._shown.discard)(layer)
        if layer == "contacts":
            self._glaze()
        for instances in self._layers.get(layer, ()):
            instances.handle.visible = visible
        for name, handle in self._lines.items():
            if name.partition(":")[0] == layer:
                handle.visible = visible
        if self._poses is not None:
            self.place(self._poses)

    def color(self, by_component: bool) -> None:
        """Colours per body or by component."""
        for instances in self._layers["bodies"]:
            instances.handle.remove()
        self._add("bodies", by_component)
        self._glaze()
        self.show("bodies", "bodies" in self._shown)

    def shows(self, layer: str) -> bool:
        """Whether a layer is shown."""
        return layer in self._shown

    def body_at(self, instances: Instances, index: int | None) -> str | None:
        """The body that an instance of the layer of bodies belongs to."""
        if index is None or instances.bodies[index] < 0:
            return None
        return self.stage.bodies[int(instances.bodies[index])].name

    @property
    def bodies(self) -> list[Instances]:
        """Nodes of the bodies, to be clicked and dragged."""
        return self._layers["bodies"]

    # How it moves

    def carry(self, shift: Array) -> None:
        """Draw everything further back by so much [m], from the next `place` on: so what travels stays in view.

        What moves is shifted where it is placed, for browsers move a frame sooner than the instances in it.
        """
        assert self._world is not None
        self.shift = shift
        self._world.position = -shift

    def place(self, poses: Poses) -> None:
        """Move everything that rides on bodies and is shown."""
        self._poses = poses
        for layer, nodes in self._layers.items():
            if layer in self._shown:
                for instances in nodes:
                    instances.place(poses, np.zeros(3) if layer == "scenery" else self.shift)
        if "springs" in self._lines and "springs" in self._shown:
            coils = self._made.coils(poses)
            points = np.concatenate([_segments(way) for way in coils])
            self._lines["springs"].points = points - self.shift

    def trace(self, traces: Mapping[str, Sequence[Array] | Array]) -> None:
        """Draw where points went, the paler the longer ago."""
        for k, (name, points) in enumerate(traces.items()):
            key = f"traces:{name}"
            if len(points) < 2:
                if key in self._lines:
                    self._lines.pop(key).remove()
                continue
            # A node of the same name takes the place of the old one, whole: points and colours are as many.
            self._lines[key] = self._scene.add_line_segments(
                f"{self._rest}/traces/{k}", _segments(np.array(points)),
                _faded(_TRACE_COLORS[k % len(_TRACE_COLORS)], len(points)),
                thickness=0.006 * self._mark, visible="traces" in self._shown,
            )  # fmt: skip
        for key in [key for key in self._lines if key.startswith("traces:") and key[7:] not in traces]:
            self._lines.pop(key).remove()

    def react(self, poses: Poses, values: Mapping[str, float]) -> None:
        """Arrows for the forces that joints pass from a to b; the longest is the strongest so far."""
        stands, forces = [], []
        for joint in self.stage.joints:
            force = [values.get(f"{joint.name}.force.{axis}") for axis in "xyz"]
            if None not in force:
                stands.append(poses.place(self.stage.index(joint.b), joint.at_b))
                forces.append(force)
        if not stands:
            return
        tails, arrows = np.array(stands) - self.shift, np.array(forces, float)
        self._strongest = max(self._strongest, float(np.linalg.norm(arrows, axis=1).max()), 1e-12)
        ends = tails + arrows * (_ARROW * self.size / self._strongest)
        self._draw(
            "reactions", self._scene.add_arrows, f"{self._root}/reactions",
            np.stack([tails, ends], axis=1), _FORCE_COLOR,
            shaft_radius=0.004 * self.size, head_radius=0.011 * self.size, head_length=0.03 * self.size,
            visible="reactions" in self._shown,
        )  # fmt: skip

    def touch(self, points: Array, forces: Array, slides: npt.NDArray[np.bool_]) -> None:
        """Dots where things touch (n × 3 [m]) and arrows for the forces there (n × 3 [N]), in one colour where they
        stick and in another where they slide (n)."""
        points, strength = points - self.shift, np.linalg.norm(forces, axis=1)
        self._hardest = max(self._hardest, float(strength.max(initial=0.0)), 1e-12)
        longest = _ARROW * self.size
        length = strength * (self._newton or longest / self._hardest)
        ends = points + forces * (np.minimum(length, longest) / np.maximum(strength, 1e-300))[:, None]
        r = 0.006 * self._mark
        for kind, color, some in (("sticks", STICKS_COLOR, ~slides), ("slides", SLIDES_COLOR, slides)):
            dots, arrows, name = (
                f"contacts:{kind}:dots",
                f"contacts:{kind}:arrows",
                f"{self._root}/contacts/{kind}",
            )
            if some.any():
                self._draw(
                    dots, self._scene.add_point_cloud, f"{name}/dots", points[some], color,
                    point_size=2.5 * r, point_shape="circle", precision="float32", point_shading="flat",
                )  # fmt: skip
                self._draw(
                    arrows, self._scene.add_arrows, f"{name}/arrows",
                    np.stack([points[some], ends[some]], axis=1), color,
                    shaft_radius=0.5 * r, head_radius=1.4 * r, head_length=4.0 * r,
                )  # fmt: skip
            for key in (dots, arrows):
                if key in self._lines:
                    self._lines[key].visible = bool(some.any()) and "contacts" in self._shown

    def _draw(
        self, key: str, add: Callable[..., Any], name: str, points: Array, color: Color, **look: Any
    ) -> None:
        """Move points of something that is there, or add it to the scene."""
        if key in self._lines:
            self._lines[key].points = points
        else:
            self._lines[key] = add(name, points, color, **look)

    def _arrow_of_a_newton(self) -> float:
        """Length of the arrow of a contact [m/N], in proportion to what bodies weigh; 0 if they weigh nothing."""
        masses = [body.mass for body in self.stage.bodies if body.mass > 0.0]
        weight = float(np.median(masses or [0.0])) * float(np.linalg.norm(self.stage.gravity))
        return _WEIGHT * (typical_size(self.stage) or self.size) / weight if weight > 0.0 else 0.0

    def _glaze(self) -> None:
        """Contacts are between bodies, and forces point into them: they are seen through."""
        for layer in ("bodies", "scenery"):
            for instances in self._layers[layer]:
                instances.glaze("contacts" in self._shown)

    def restart(self) -> None:
        """Forget the strongest forces."""
        self._strongest = self._hardest = 0.0

    def remove(self) -> None:
        """Take everything off the scene."""
        for nodes in self._layers.values():
            for instances in nodes:
                instances.handle.remove()
        for handle in self._lines.values():
            handle.remove()
        if self._root:
            self._scene.remove_by_name(self._root)


def _linear(colors: Sequence[Color]) -> Any:
    """Colours of instances, which viser takes for linear ones: written as on the screen, they would be pale."""
    return np.rint(255.0 * (np.array(colors) / 255.0) ** 2.2).astype(np.uint8)


def _faded(color: Color, count: int) -> npt.NDArray[np.uint8]:
    """Colours of the segments through so many points, from the oldest, pale, to the latest."""
    share = np.linspace(_PALEST, 1.0, count)[:, None]
    colors = share * np.array(color) + (1.0 - share) * np.array(_PLAIN)
    return _segments(np.rint(colors)).astype(np.uint8)


def _segments(way: Array) -> Array:
    """A line through points as pairs of them."""
    return np.stack([way[:-1], way[1:]], axis=1)
