"""The operator's panel: one file per tab.

To add a tab, write a file with a class of the form of `Tab` and name it in `TABS`.
"""

from __future__ import annotations

from .joints import JointsTab
from .looks import LooksTab
from .model import ModelTab
from .plots import PlotsTab
from .recording import RecordingTab
from .run import RunTab
from .tab import Tab

TABS: tuple[type[Tab], ...] = (RunTab, JointsTab, ModelTab, LooksTab, PlotsTab, RecordingTab)
"""In their order on the page."""

__all__ = ["TABS", "Tab"]
