"""Recordings: begin, end, replay, export."""

from __future__ import annotations

import html
import time
from pathlib import Path

from ...live.files import inside
from ...live.view import View
from ...model.errors import LinkworkError
from ..channel import Visitor
from ..render import ENDINGS, render
from .tab import Tab

_NONE = "none yet"


class RecordingTab(Tab):
    """Files of the chosen folder."""

    title = "Record"

    def build(self) -> None:
        gui, session = self.gui, self.session
        folder = html.escape(str(session.folder.resolve()))
        gui.add_html(f"<div class='soft'>folder: {folder}</div>")
        self.name = gui.add_text("Name", self._fresh_name())
        """What the next recording is called."""
        self._button = gui.add_button("Record", look="alarm")
        self.click(self._button, self._toggle)
        self._told = gui.add_html("")
        with gui.add_folder("Recordings"):
            self._files = gui.add_dropdown("File", self._found(), self._found()[0])
            self.click(gui.add_button("Replay"), lambda: self.page.replay(self._chosen()))
            self._kind = gui.add_dropdown("Export as", ENDINGS, ENDINGS[0])
            export = gui.add_button("Export")
            export.on_event(
                lambda event: self.page.attempt(event.visitor, lambda: self._export(event.visitor))
            )

    def _fresh_name(self) -> str:
        return f"{self.session.written.name}-{time.strftime('%Y%m%d-%H%M%S')}"

    def _found(self) -> tuple[str, ...]:
        names = sorted(path.name for path in self.session.folder.glob("*.h5"))
        return tuple(names) or (_NONE,)

    def _chosen(self) -> Path:
        name = self._files.value
        if name == _NONE:
            raise LinkworkError("there is no recording yet")
        return inside(self.session.folder, name, ".h5")

    def _toggle(self) -> None:
        session = self.session
        if session.recording is None:
            session.start_recording(self.name.value)
        else:
            name = session.recording.name
            session.stop_recording()
            self._files.change(options=[*self._found()], value=name)
            self.name.value = self._fresh_name()

    def _export(self, visitor: Visitor) -> None:
        source = self._chosen()
        target = inside(self.session.folder, f"{source.stem}{self._kind.value}", self._kind.value)
        self.page.progress(None, f"Exporting {target.name} ...")
        try:
            render(source, target)
        finally:
            self.page.progress(None, "")
        visitor.give(target.name, target.read_bytes())

    def refresh(self, view: View) -> None:
        path = self.session.recording
        label = "Record" if path is None else "Stop recording"
        if self._button.label != label:
            self._button.label = label
            self._files.options = [*self._found()]
        self._told.content = "" if path is None else f"<div class='red'>● {html.escape(path.name)}</div>"
