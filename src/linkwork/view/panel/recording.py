"""Recordings: begin, end, replay, export."""

from __future__ import annotations

import html
import time
from pathlib import Path
from typing import Any

from ...live.files import inside
from ...live.view import View
from ...model.errors import LinkworkError
from ..render import ENDINGS, render
from .tab import Tab

_NONE = "none yet"


class RecordingTab(Tab):
    """Files of the chosen folder."""

    title, icon = "Record", "player-record"

    def build(self) -> None:
        gui, session = self.gui, self.session
        folder = html.escape(str(session.folder.resolve()))
        gui.add_html(f"<div style='padding:2px 8px;font-size:11px;color:#777'>folder: {folder}</div>")
        self.name = gui.add_text("Name", self._fresh_name())
        """What the next recording is called."""
        self._button = gui.add_button("Record", icon="player-record", color="red")
        self.click(self._button, self._toggle)
        self._told = gui.add_html("")
        with gui.add_folder("Recordings"):
            self._files = gui.add_dropdown("File", self._found(), initial_value=self._found()[0])
            self.click(gui.add_button("Replay", icon="player-play"), lambda: self.page.replay(self._chosen()))
            self._kind = gui.add_dropdown("Export as", ENDINGS, initial_value=ENDINGS[0])
            export = gui.add_button("Export", icon="download")
            export.on_click(lambda event: self.page.attempt(event.client, lambda: self._export(event.client)))

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
            self._files.options = self._found()
            self._files.value = name
            self.name.value = self._fresh_name()

    def _export(self, client: Any) -> None:
        source = self._chosen()
        target = inside(self.session.folder, f"{source.stem}{self._kind.value}", self._kind.value)
        note = client.add_notification(
            "Exporting", f"{target.name} ...", loading=True, with_close_button=False
        )
        try:
            render(source, target)
        finally:
            note.remove()
        client.send_file_download(target.name, target.read_bytes())

    def refresh(self, view: View) -> None:
        path = self.session.recording
        label = "Record" if path is None else "Stop recording"
        if self._button.label != label:
            self._button.label = label
            self._files.options = self._found()
        self._told.content = (
            "" if path is None else f"<div style='padding:2px 8px;font-size:12px'>● {path.name}</div>"
        )
