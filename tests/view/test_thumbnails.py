"""Pictures of all scenes come with the package, and are of today's models."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from linkwork.scenes import find_scene, scene_names
from linkwork.scenes.robots import robot_names
from linkwork.view import thumbnails
from linkwork.view.picture import thumbnail

images = pytest.importorskip("PIL.Image")
ALL = 1_000_000  # bytes that all of them may have


def shipped(name):
    return np.asarray(images.open(BytesIO(thumbnails.thumbnail_of(name))).convert("RGB"))


def test_none_is_missing_or_stale():
    assert thumbnails.stale() == [], "made anew by `python docs/make_pictures.py cards`"


def test_they_are_small():
    names = [*scene_names(), *robot_names()]
    assert sum(len(thumbnails.thumbnail_of(name)) for name in names) < ALL
    assert {path.stem for path in thumbnails.FOLDER.glob("*.webp")} == set(names)


@pytest.mark.parametrize("name", [*scene_names(), *robot_names()])
def test_every_scene_has_a_thumbnail_worth_looking_at(name):
    image = shipped(name)
    assert image.shape == (300, 480, 3)
    # The background and the floor are pale; bodies are colourful or dark, or at least grey.
    pale = (np.ptp(image, axis=2) < 45) & (image.min(axis=2) > 140)
    assert 0.005 < np.mean(~pale) < 0.7


@pytest.mark.parametrize("name", ["a01_pendulum", "peaucellier"])
def test_they_look_as_they_would_be_drawn_today(name):
    drawn, kept = thumbnail(name).astype(float), shipped(name).astype(float)
    # Packing leaves a few of 256 shades, mostly at edges; another camera or palette changes tens of them somewhere.
    assert np.abs(drawn - kept).mean() < 3.0
    blocks = (drawn - kept).reshape(15, 20, 24, 20, 3).mean(axis=(1, 3))
    assert np.abs(blocks).max() < 12.0


def test_a_changed_model_or_motion_is_noticed():
    scene = find_scene("a01_pendulum")
    same = thumbnails.digest(scene)
    assert thumbnails.digest(replace(scene, build=lambda: scene.build(length=1.0 + 1e-9))) == same
    for change in ({"build": lambda: scene.build(length=1.001)}, {"watched": 1.0}, {"dt": 2e-3}):
        assert thumbnails.digest(replace(scene, **change)) != same


def test_functions_and_files_of_a_model_count():
    quarter, stone = find_scene("iltis_quarter"), find_scene("humanoid_stone")
    assert thumbnails.digest(quarter) == thumbnails.digest(quarter)
    assert thumbnails.digest(stone) == thumbnails.digest(stone)


def test_what_is_no_scene_has_none():
    assert thumbnails.thumbnail_of("../page") is None
    assert thumbnails.thumbnail_of("nothing") is None
