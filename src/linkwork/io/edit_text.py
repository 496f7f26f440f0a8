"""Changes of the text of a model file: what is not touched stays as it is written, comments, order and style included.

The parser tells where every value begins and ends; changes replace these stretches of the text and nothing else.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import yaml

from ..model.errors import LinkworkError
from .yaml_text import flow, quoted

Path = tuple[str | int, ...]
"""The way to a value: keys of mappings and numbers of lists."""
_INDENT = 2


class TextEditor:
    """The text of a model file (YAML), to be changed."""

    def __init__(self, text: str):
        self.text = text if text.endswith("\n") or not text else f"{text}\n"

    def has(self, path: Path) -> bool:
        """Whether there is a value."""
        return self._find(path) is not None

    def plain(self, path: Path) -> Any:
        """A value, as plain data; None if there is none."""
        node = self._find(path)
        return None if node is None else yaml.SafeLoader("").construct_document(node)

    def written(self, path: Path) -> str:
        """A value as it is written."""
        node = self._need(path)
        return self.text[node.start_mark.index : self._end(node)]

    def put(self, path: Path, value: Any) -> None:
        """Write a value in place of the one that is there, or add it, with mappings around it that are missing."""
        self.put_text(path, flow(value))

    def put_text(self, path: Path, text: str) -> None:
        """Write a value as YAML text on one line."""
        node = self._find(path)
        if node is not None:
            self._replace(path, node, text)
            return
        parent, key = path[:-1], path[-1]
        if not isinstance(key, str):
            raise LinkworkError(f"there is no entry {key} to write to")
        holder = self._find(parent)
        if holder is None or _is_empty(holder):
            self._put_first(parent, holder, f"{quoted(key)}: {text}")
        elif not isinstance(holder, yaml.MappingNode):
            raise LinkworkError(f"'{_shown(parent)}' is no mapping")
        elif holder.flow_style:
            at = self._end(holder) - 1
            comma = ", " if holder.value else ""
            before = self.text[:at].rstrip()
            self.text = f"{before}{comma}{quoted(key)}: {text}{self.text[at:]}"
        else:
            last = self._end(holder.value[-1][1]) if holder.value else holder.start_mark.index
            at = self._line_end(last)
            column = holder.value[0][0].start_mark.column
            self.text = f"{self.text[:at]}\n{' ' * column}{quoted(key)}: {text}{self.text[at:]}"

    def remove(self, path: Path) -> None:
        """Take out a value and its key; of a section that is empty then, the section too."""
        holder, key = self._find(path[:-1]), path[-1]
        if not isinstance(holder, yaml.MappingNode):
            raise LinkworkError(f"there is no '{_shown(path)}'")
        found = [k for k, (name, _) in enumerate(holder.value) if name.value == key]
        if not found:
            raise LinkworkError(f"there is no '{_shown(path)}'")
        self._own(path)
        k = found[0]
        name, value = holder.value[k]
        if len(holder.value) == 1 and len(path) > 1:
            self.remove(path[:-1])
        elif holder.flow_style:
            if k + 1 < len(holder.value):
                start, end = name.start_mark.index, holder.value[k + 1][0].start_mark.index
            else:
                start = self._end(holder.value[k - 1][1]) if k else name.start_mark.index
                end = self._end(value)
            self.text = self.text[:start] + self.text[end:]
        else:
            start = self.text.rfind("\n", 0, name.start_mark.index) + 1
            end = self._line_end(self._end(value))
            self.text = self.text[:start] + self.text[end + 1 :]

    def rename_key(self, path: Path, name: str) -> None:
        """Give a value another key."""
        holder = self._find(path[:-1])
        self._own(path)
        assert isinstance(holder, yaml.MappingNode)
        key = next(key for key, _ in reversed(holder.value) if key.value == path[-1])
        self.text = self.text[: key.start_mark.index] + quoted(name) + self.text[key.end_mark.index :]

    # Within

    def _find(self, path: Path) -> yaml.Node | None:
        chain = self._chain(path)
        return chain[-1] if len(chain) > len(path) else None

    def _chain(self, path: Path) -> list[yaml.Node | None]:
        """Nodes on the way to a value, the root first, as far as there are any."""
        node = self._root()
        chain = [node]
        for key in path:
            if isinstance(node, yaml.MappingNode) and isinstance(key, str):
                # Of a key that stands twice the last counts, as for readers.
                node = next((value for name, value in reversed(node.value) if name.value == key), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
            else:
                node = None
            if node is None:
                break
            chain.append(node)
        return chain

    def _need(self, path: Path) -> yaml.Node:
        node = self._find(path)
        if node is None:
            raise LinkworkError(f"there is no '{_shown(path)}'")
        return node

    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self.text, yaml.SafeLoader)  # type: ignore[no-any-return]
        except yaml.YAMLError as error:
            raise LinkworkError(f"the file cannot be read: {error}") from None

    def _own(self, path: Path) -> None:
        """Refuse what is written elsewhere and only named here (`*anchor`)."""
        for (outer, inner), key in zip(pairwise(self._chain(path)), path, strict=False):
            assert outer is not None
            assert inner is not None
            start = outer.start_mark.index
            if isinstance(outer, yaml.MappingNode):
                start = max(name.end_mark.index for name, _ in outer.value if name.value == key)
            if not start <= inner.start_mark.index <= self._end(outer):
                raise LinkworkError(
                    f"'{_shown(path)}' is written elsewhere, at an anchor: change it in the file"
                )

    def _replace(self, path: Path, node: yaml.Node, text: str) -> None:
        self._own(path)
        start, end = node.start_mark.index, self._end(node)
        if isinstance(node, yaml.CollectionNode) and not node.flow_style:
            start = self.text.rindex(":", 0, start) + 1
            text = f" {text}"
        elif start == end:
            text = f" {text}"  # nothing is written there
        self.text = self.text[:start] + text + self.text[end:]

    def _put_first(self, parent: Path, holder: yaml.Node | None, entry: str) -> None:
        """The first entry of a section that is empty or not there."""
        if holder is None or isinstance(holder, yaml.CollectionNode):
            if holder is not None or len(parent) > 1:
                self.put_text(parent, f"{{{entry}}}")
            else:
                lines = self.text.rstrip("\n")
                self.text = f"{lines}\n{quoted(str(parent[0]))}:\n{' ' * _INDENT}{entry}\n"
            return
        if (
            len(parent) == 1 and holder.start_mark.index == holder.end_mark.index
        ):  # `control:` and nothing behind
            at = self._line_end(holder.end_mark.index)
            self.text = f"{self.text[:at]}\n{' ' * _INDENT}{entry}{self.text[at:]}"
        else:
            self._replace(parent, holder, f"{{{entry}}}")

    def _end(self, node: yaml.Node) -> int:
        """Where a value ends: of a block, the parser tells where the next thing begins."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last[1] if isinstance(last, tuple) else last)
        end = node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            end = len(self.text[:end].rstrip())
        return int(end)

    def _line_end(self, index: int) -> int:
        end = self.text.find("\n", index)
        return len(self.text) if end < 0 else end


def _is_empty(node: yaml.Node) -> bool:
    if isinstance(node, yaml.MappingNode):
        return not node.value
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")


def _shown(path: Path) -> str:
    return ".".join(map(str, path))
