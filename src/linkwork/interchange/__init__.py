"""Models from other programs, and back: what was taken, mapped, approximated and dropped is told."""

from .export_file import export_model
from .open_file import import_model, open_model, read_any
from .report import Imported, LossReport

__all__ = ["Imported", "LossReport", "export_model", "import_model", "open_model", "read_any"]
