"""What a tab of the panel is."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ...live.view import View
from ..gui import Control

if TYPE_CHECKING:
    from ...live.session import Session
    from ..page import Page


class Tab(ABC):
    """A tab of the panel, made anew for every session.

    `build` adds its controls; `refresh` is called some times a second with what there is to see.
    """

    title: ClassVar[str]

    def __init__(self, page: Page, session: Session):
        self.page, self.session = page, session
        self.gui = page.gui

    @abstractmethod
    def build(self) -> None:
        """Add the controls, inside of the tab."""

    def refresh(self, view: View) -> None:  # noqa: B027
        """Show what is now."""

    def on(self, control: Control, action: Callable[[Any], object]) -> None:
        """Call `action(value)` when a visitor moves a control; what goes wrong is shown to that visitor."""
        control.on_event(lambda event: self.page.attempt(event.visitor, lambda: action(event.value)))

    def click(self, button: Control, action: Callable[[], object]) -> None:
        """Call `action()` when a visitor presses a button."""
        button.on_event(lambda event: self.page.attempt(event.visitor, action))


def table(rows: Iterable[tuple[str, ...]], numbers: int = 1, head: bool = False) -> str:
    """A small HTML table: names, so many columns of numbers, and a unit; with a `head`, the first row is one."""
    lines: list[str] = []
    for row in rows:
        kinds = ("", *["number"] * numbers, "unit")
        cells = [
            f'<td class="{kind}">{html.escape(cell)}</td>' for kind, cell in zip(kinds, row, strict=True)
        ]
        lines.append(f'<tr class="{"head" if head and not lines else ""}">{"".join(cells)}</tr>')
    return f"<table>{''.join(lines)}</table>"


def number(value: float) -> str:
    """A number to be read at a glance."""
    if value == 0.0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e5:
        return f"{value:.4g}" if size < 1e4 else f"{value:.0f}"
    return f"{value:.2e}"
