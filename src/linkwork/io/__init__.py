"""Model files: YAML that describes a model, checked line by line, and back."""

from .reader import Reading, load_model, parse_model, read_model
from .schema import model_schema
from .writer import dump_model, save_model

__all__ = [
    "Reading", "dump_model", "load_model", "model_schema", "parse_model", "read_model", "save_model",
]  # fmt: skip
