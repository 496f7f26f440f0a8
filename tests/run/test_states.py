"""States on disk: taken back whole, or not at all with one error that tells why."""

import io
import os
import random

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields

from helpers.full import files_of_at_most
from linkwork import Simulation, scene
from linkwork.model.errors import StorageError
from linkwork.run import snapshot


def everything(sim):
    """All that changes, to the last bit; between the fields of a row there may be anything."""
    return {key: repack_fields(np.array(value)).tobytes() for key, value in sim._snapshot().items()}


def saved(tmp_path, name="chain5", **options):
    """A state on disk, and another simulation of the same model that has gone elsewhere."""
    sim, other = Simulation(scene(name), **options), Simulation(scene(name), **options)
    sim.run(0.05)
    sim.save_state(tmp_path / "state.npz")
    other.run(0.02)
    return sim, other, tmp_path / "state.npz"


def test_every_damage_is_one_error_and_leaves_the_state_alone(tmp_path):
    sim, other, path = saved(tmp_path)
    whole, before, rng = path.read_bytes(), everything(other), random.Random(4)
    assert everything(sim) != before
    for k in range(300):
        data, place = bytearray(whole), rng.randrange(len(whole))
        match k % 4:
            case 0:
                data[place] ^= 1 << rng.randrange(8)
            case 1:
                del data[place:]
            case 2:
                data[place : place + 50] = bytes(50) if any(data[place : place + 50]) else b"\xff" * 50
            case 3:
                data[place:place] = rng.randbytes(rng.randrange(1, 30))
        path.write_bytes(data)
        with pytest.raises(StorageError) as caught:
            other.load_state(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert everything(other) == before
    path.write_bytes(whole)
    other.load_state(path)
    assert everything(other) == everything(sim)


@pytest.mark.parametrize("name", ["crank_rocker", "stack10"])
def test_other_shapes_are_refused_before_anything_is_written(tmp_path, name):
    """With a digest that is right: as of a program that writes states itself."""
    _, other, path = saved(tmp_path, name)
    before = everything(other)
    with np.load(path) as stored:
        arrays = {key: stored[key] for key in stored.files}
    for key, array in arrays.items():
        if key in ("model", "method") or not array.ndim:
            continue
        row = array[:1] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)
        plain = array.astype("S8") if array.dtype.names is None else np.zeros(array.shape)
        for wrong in (np.concatenate([array, row]), array[None], plain):
            snapshot.save(path, {**arrays, key: wrong})
            with pytest.raises(StorageError, match=f"not a saved state of this model.*'{key}'|{key}"):
                other.load_state(path)
            assert everything(other) == before, key


def test_version_1_still_opens_and_a_newer_one_is_named(tmp_path):
    sim, other, path = saved(tmp_path)
    with path.open("wb") as stream:  # as the first releases wrote it
        np.savez(stream, **sim._snapshot())
    other.load_state(path)
    assert everything(other) == everything(sim)
    sim.save_state(path)
    path.write_bytes(path.read_bytes().replace(b"linkwork-state 2", b"linkwork-state 7"))
    with pytest.raises(
        StorageError, match="newer Linkwork: state format 7, and this one reads up to 2; upgrade"
    ):
        other.load_state(path)


def test_states_are_archives_that_others_read(tmp_path):
    sim, _, path = saved(tmp_path)
    with np.load(io.BytesIO(path.read_bytes())) as stored:
        np.testing.assert_array_equal(stored["q"], sim.q)


def test_a_full_disk_leaves_the_old_state(tmp_path):
    sim, other, path = saved(tmp_path)
    old = path.read_bytes()
    with files_of_at_most(1000), pytest.raises(StorageError, match="cannot be written: File too large"):
        other.save_state(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["state.npz"]
    assert sim.time != other.time
