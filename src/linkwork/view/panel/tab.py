"""What a tab of the panel is."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ...live.session import Session
from ...live.view import View

if TYPE_CHECKING:
    from ..page import Page


class Tab(ABC):
    """A tab of the panel, made anew for every session.

    `build` adds its controls; `refresh` is called some times a second with what there is to see.
    """

    title: ClassVar[str]
    icon: ClassVar[str]

    def __init__(self, page: Page, session: Session):
        self.page, self.session = page, session
        self.gui: Any = page.server.viser.gui

    @abstractmethod
    def build(self) -> None:
        """Add the controls, inside of the tab."""

    def refresh(self, view: View) -> None:  # noqa: B027
        """Show what is now."""

    def on(self, control: Any, action: Callable[[Any], object]) -> None:
        """Call `action(value)` when a visitor moves a control; what goes wrong is shown to that visitor."""

        def moved(event: Any) -> None:
            if event.client is not None:  # else it was moved by ourselves
                self.page.attempt(event.client, lambda: action(control.value))

        control.on_update(moved)

    def click(self, button: Any, action: Callable[[], object]) -> None:
        """Call `action()` when a visitor presses a button."""
        button.on_click(lambda event: self.page.attempt(event.client, action))


def table(rows: Iterable[tuple[str, ...]], numbers: int = 1) -> str:
    """A small HTML table; the last `numbers` columns but the very last (a unit) are aligned to the right."""
    lines = []
    for row in rows:
        cells = []
        for k, cell in enumerate(row):
            number = 0 < k <= numbers
            style = "text-align:right;font-variant-numeric:tabular-nums;" if number else ""
            cells.append(f'<td style="padding:1px 4px;white-space:nowrap;{style}">{html.escape(cell)}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table style="width:100%;font-size:12px;border-collapse:collapse">{"".join(lines)}</table>'


def number(value: float) -> str:
    """A number to be read at a glance."""
    if value == 0.0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e5:
        return f"{value:.4g}" if size < 1e4 else f"{value:.0f}"
    return f"{value:.2e}"
