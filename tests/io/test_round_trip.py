"""Model files round-trip to the bit."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.model_files import new_mesh_folder, spelled
from helpers.random_files import models
from helpers.schema import SCHEMA, mismatches
from linkwork.io import dump_model, load_model, save_model
from linkwork.io.yaml_source import read_source, scalar

mesh_folder = pytest.fixture(scope="module")(new_mesh_folder)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_round_trip_to_the_bit(mesh_folder: Path, data: st.DataObject) -> None:
    model = data.draw(models(mesh_folder))
    file = mesh_folder / "model.yaml"
    save_model(model, file)
    loaded = load_model(file)
    assert loaded == model
    assert spelled(loaded) == spelled(model)
    assert dump_model(loaded, mesh_folder) == file.read_text(encoding="utf-8")
    written = read_source(file)[0].plain()
    assert not list(mismatches(SCHEMA, written)), "the schema must fit every file that is written"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives(x: float) -> None:
    assert math.copysign(1, scalar(repr(x))) == math.copysign(1, x)
    assert scalar(repr(x)) == x
