"""The tree of links and joints in a URDF file."""

from __future__ import annotations

from typing import NamedTuple

from ..model.errors import nearest
from .extension import TAG
from .values import HERE, Pose, Values
from .xml_source import Element

_DROPPED = ("gazebo", "sensor", "ros2_control", "plugin", "group", "virtual_joint", "disable_collisions")


class Link(NamedTuple):
    """A link with the joint that holds it."""

    element: Element
    pose: Pose
    """In the world, with all joints at zero."""
    joint: Element | None
    """None of the root."""


class LinkTree:
    """Links and joints by name, and how they hang together."""

    def __init__(self, root: Element, values: Values):
        self.root, self.values = root, values
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.materials: list[Element] = []
        """Those that links may name."""
        self.holder: dict[str, Element] = {}
        """The joint of which a link is the child, by the link's name."""

    def sections(self) -> None:
        """Links and joints by name; what else there is, is told."""
        values = self.values
        for element in self.root.children:
            if element.tag in ("link", "joint"):
                section = self.links if element.tag == "link" else self.joints
                name = values.text(element, "name")
                if name in section:
                    values.refuse(element, f"there is already one of that name in line {section[name].line}")
                elif name:
                    section[name] = element
            elif element.tag == "material":
                self.materials.append(element)
            elif element.tag in (*_DROPPED, "transmission", TAG) or ":" in element.tag:
                if element.tag not in ("transmission", TAG):
                    values.note("dropped", element, element.tag, "it is no mechanics, or another program's")
            else:
                values.note("dropped", element, f"unknown element <{element.tag[:40]}>")
        if not self.links:
            macros = any(child.tag.startswith("xacro:") for child in self.root.children)
            values.refuse(
                self.root, "has no links" + ("; read the output of xacro instead" if macros else "")
            )

    def order(self) -> list[Link]:
        """All links from the root outward, placed; what is wrong with the tree is told."""
        values = self.values
        children: dict[str, list[Element]] = {}
        for joint in self.joints.values():
            ends = []
            for tag in ("parent", "child"):
                element = joint.find(tag)
                name = "" if element is None else element.attributes.get("link", "")
                if not name:
                    values.refuse(joint, f'needs a {tag}: <{tag} link="..."/>')
                elif name not in self.links:
                    values.refuse(
                        element or joint, f"there is no link '{name}'{nearest(name, self.links)}", "link"
                    )
                else:
                    ends.append(name)
            if len(ends) < 2:
                continue
            parent, child = ends
            if child in self.holder:
                other = self.holder[child]
                values.refuse(
                    joint,
                    f"link '{child}' is the child of joint '{other.attributes['name']}' already (line {other.line}): "
                    f"links form a tree; a loop is closed in a <{TAG}> element, see the docs on import",
                )
                continue
            self.holder[child] = joint
            children.setdefault(parent, []).append(joint)
        if values.problems:
            return []
        roots = [name for name in self.links if name not in self.holder]
        if not roots:
            values.refuse(
                self.root,
                f"its links form a cycle, {self._cycle(next(iter(self.links)))}: none of them is the root",
            )
            return []
        for extra in roots[1:]:
            values.refuse(
                self.links[extra], f"is held by no joint, and neither is '{roots[0]}': there can be one root"
            )
        order = [Link(self.links[roots[0]], HERE, None)]
        for link in order:  # grows
            for held in children.get(link.element.attributes["name"], ()):
                pose = link.pose.then(values.origin(held))
                order.append(Link(self.links[end_of(held, "child")], pose, held))
        reached = {link.element.attributes["name"] for link in order}
        left = [name for name in self.links if name not in reached]
        if left and len(roots) == 1:
            what = f"is in a cycle, {self._cycle(left[0])}, which the root does not hold"
            values.refuse(self.links[left[0]], what)
        return order

    def _cycle(self, name: str) -> str:
        """Names of the links that hold each other, in a circle."""
        chain = [name]
        while name in self.holder:
            parent = self.holder[name].find("parent")
            assert parent is not None
            name = parent.attributes["link"]
            if name in chain:
                chain = chain[chain.index(name) :]
                break
            chain.append(name)
        return " > ".join([*chain[:8], "..." if len(chain) > 8 else chain[0]])


def end_of(joint: Element, tag: str) -> str:
    """The link that a joint names as its parent or child."""
    element = joint.find(tag)
    assert element is not None
    return element.attributes["link"]
