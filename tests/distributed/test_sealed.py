"""Sealed files: what comes out is what went in, what stands in them tells nothing, and what is wrong is named."""

import dataclasses
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.axle import PORTS, SUSPENSION, axle, sealed_axle
from linkwork import Body, Component, Material, Model, Sealed, Simulation, Weld
from linkwork.cli import app
from linkwork.distributed.sealed_file import find_key, read_header, seal, unseal
from linkwork.engine.loads import BodyFunction
from linkwork.model.edit import with_item
from linkwork.model.errors import LinkworkError, MissingExtraError, ModelError
from linkwork.model.rotation import about

KEY = b"correct horse battery staple"
NUMBERS = (0.53125, 3.21987, 0.25, 7850.0, 23456.789, 1234.5, 17.625, 11.875, 0.487)

component = pytest.fixture(axle)
file = pytest.fixture(sealed_axle)


# --- content ---


@pytest.mark.parametrize("key", [None, KEY])
def test_what_comes_out_moves_like_what_went_in(component: Model, tmp_path: Path, key: bytes | None) -> None:
    """The same mechanism on a stand, open and sealed and opened again: equal to the bit."""
    seal(component, tmp_path / "axle.sealed", PORTS, key)
    opened, header = unseal(tmp_path / "axle.sealed", key)
    assert header.keyed == (key is not None)
    flat, inner = component.flatten(), opened.flatten()
    for shelf in ("bodies", "joints", "loads", "drives", "markers"):
        assert len(getattr(flat, shelf)) == len(getattr(inner, shelf))
    for before, after in zip(flat.bodies.values(), inner.bodies.values(), strict=True):
        for a, b in zip(before.mass_properties, after.mass_properties, strict=True):
            assert np.array_equal(a, b)

    def positions(part: Component) -> np.ndarray:
        stand = Model("stand")
        stand.add(part.instance("axle", at=(0.1, 0.2, 1.0), rotation=about((0, 1, 0), 0.3), mirror=(1, 0, 0)))
        stand.add(Weld("clamp", "ground", "axle.mount"))
        simulation = Simulation(stand, method="simgc", dt=1e-3)
        simulation.run(0.1)
        return np.array([simulation.point(body) for body in stand.flatten().bodies])

    plain = Component("axle")  # a Model may not be placed
    for thing in flat.items():
        getattr(plain, thing.shelf)[thing.name] = thing
    assert np.array_equal(positions(plain), positions(opened))


def test_names_but_ports_are_meaningless(file: Path) -> None:
    opened, header = unseal(file)
    assert [port.name for port in header.ports] == PORTS
    assert set(PORTS) <= set(opened.bodies)
    others = {
        name
        for shelf in ("bodies", "joints", "loads", "drives", "markers")
        for name in getattr(opened, shelf)
    }
    assert all(re.fullmatch(r"[a-z]\d+", name) for name in others - set(PORTS))
    assert all(not body.shapes and body.color is None for body in opened.bodies.values())


@pytest.mark.parametrize("key", [None, KEY])
def test_nothing_of_the_inside_stands_in_the_file(
    component: Model, tmp_path: Path, key: bytes | None
) -> None:
    header = seal(component, tmp_path / "axle.sealed", PORTS, key)
    data = (tmp_path / "axle.sealed").read_bytes()
    assert b"secret" not in data
    assert b"wheel" not in data
    for number in NUMBERS:
        for packed in (struct.pack("<d", number), struct.pack(">d", number), struct.pack("<f", number)):
            assert packed not in data
        assert repr(number).encode() not in data
    clear = json.loads(data.split(b"\n")[1])  # all that can be read
    assert clear.keys() == {"format", "name", "linkwork", "ports", "features", "keyed", "salt"}
    assert clear["name"] == "quarter_axle"
    assert clear["features"] == ["limits", "drives"]
    assert [port["at"] for port in clear["ports"]] == [[0.0, 0.0, 0.0], [0.7, 0.0, 0.1]]
    assert header.checksum == read_header(tmp_path / "axle.sealed").checksum


def test_the_same_component_never_makes_the_same_bytes(component: Model, tmp_path: Path) -> None:
    seal(component, tmp_path / "a.sealed", PORTS, KEY)
    seal(component, tmp_path / "b.sealed", PORTS, KEY)
    a, b = ((tmp_path / name).read_bytes().split(b"\n", 2)[2] for name in ("a.sealed", "b.sealed"))
    assert len(a) == len(b)
    assert a != b


# --- what is wrong ---


def test_every_change_is_noticed(file: Path) -> None:
    data = file.read_bytes()
    for at in range(0, len(data), 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(LinkworkError, match=re.escape(str(file))):
            unseal(file)
    for length in (0, 5, 16, 100, len(data) - 33, len(data) - 1):
        file.write_bytes(data[:length])
        with pytest.raises(LinkworkError, match=re.escape(str(file))):
            unseal(file)


def test_a_forged_checksum_does_not_help(component: Model, tmp_path: Path) -> None:
    import hashlib

    file = tmp_path / "axle.sealed"
    seal(component, file, PORTS, KEY)
    content = file.read_bytes()[:-32]
    for before, after in (
        (b'"mount"', b'"other"'),
        (content[-20:], bytes(20)),
        (b'"keyed": true', b'"keyed":false'),
    ):
        changed = content.replace(before, after)
        assert changed != content
        file.write_bytes(changed + hashlib.sha256(changed).digest())
        with pytest.raises(LinkworkError, match=r"cannot be opened: .*changed after it was sealed"):
            unseal(file, KEY)


def test_keys(component: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "axle.sealed"
    seal(component, file, PORTS, KEY)
    with pytest.raises(LinkworkError, match=r"axle\.sealed: only its owner's key opens it; give --key-file"):
        unseal(file)
    with pytest.raises(LinkworkError, match=r"axle\.sealed: cannot be opened: the key is not the one"):
        unseal(file, b"another key of some length")
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert find_key(tmp_path / "key") == KEY
    monkeypatch.setenv("LINKWORK_SEAL_KEY", KEY.decode())
    assert find_key(None) == KEY
    monkeypatch.delenv("LINKWORK_SEAL_KEY")
    assert find_key(None) is None
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(LinkworkError, match=r"key: a key needs at least 16 bytes \(it has 5\)"):
        find_key(tmp_path / "key")
    with pytest.raises(LinkworkError, match="the key cannot be read"):
        find_key(tmp_path / "nothing")


def test_other_files_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "axle.yaml").write_text(SUSPENSION)
    with pytest.raises(LinkworkError, match=r"axle\.yaml: is not a sealed component"):
        read_header(tmp_path / "axle.yaml")
    with pytest.raises(LinkworkError, match=r"nothing\.sealed: there is no such file"):
        read_header(tmp_path / "nothing.sealed")
    with pytest.raises(LinkworkError, match="is a folder"):
        read_header(tmp_path)


def test_a_later_format_is_named(file: Path) -> None:
    import hashlib

    changed = file.read_bytes()[:-32].replace(b'"format": 1', b'"format": 2')
    file.write_bytes(changed + hashlib.sha256(changed).digest())
    with pytest.raises(LinkworkError, match=r"axle\.sealed: is of format 2; this Linkwork knows format 1"):
        read_header(file)


def test_what_cannot_be_sealed_is_named(component: Model, tmp_path: Path) -> None:
    def refused(part: Component, ports: list[str], what: str) -> None:
        with pytest.raises(ModelError, match=what):
            seal(part, tmp_path / "x.sealed", ports)
        assert not (tmp_path / "x.sealed").exists()

    refused(component, [], "has no ports: name the bodies")
    refused(component, ["mont"], r"port 'mont': there is no body 'mont' \(did you mean 'mount'\?\)")
    refused(component, ["mount", "mount"], "port 'mount': is named twice")
    component.add(Material("rubber", friction=0.8))
    rim = component.instances["hub"].component.bodies["rim"]
    touching = with_item(component, "bodies", "secret_strut", material="rubber")
    refused(touching, ["mount"], "body 'secret_strut' may touch: contact needs shapes")
    assert rim.material is None
    component.add(BodyFunction("wind", "mount", function=lambda t, p, R, w, v: (0, 0, 0, 0, 0, 0)))
    refused(component, ["mount"], "'wind': calls a function, which a sealed file cannot hold")


def test_sealed_in_sealed_is_refused(file: Path, tmp_path: Path) -> None:
    outer = Component("outer")
    outer.add(Body("frame", mass=1.0))
    outer.add(Sealed("axle", str(file)))
    with pytest.raises(ModelError, match="'axle' in it is sealed itself"):
        seal(outer, tmp_path / "outer.sealed", ["frame"])


def test_an_old_file_stays_if_sealing_fails(file: Path, component: Model) -> None:
    before = file.read_bytes()
    with pytest.raises(ModelError):
        seal(component, file, ["nobody"])
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir() if p.name.startswith(".")] == []


def test_the_package_that_is_missing_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(
        MissingExtraError, match=r"'cryptography'; install it with: pip install 'linkwork\[seal\]'"
    ):
        unseal(file)
    assert read_header(file).name == "quarter_axle"


# --- the command line ---


def test_seal_on_the_command_line(component: Model, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    runner, target, keyed = CliRunner(), tmp_path / "axle.yaml", tmp_path / "k.sealed"
    made = runner.invoke(app, ["seal", str(target), "--ports", "mount, hub.rim"])
    assert made.exit_code == 0, made.output
    assert "without a key the content is only obscured" in made.output
    arguments = ["--ports", "mount", "-o", str(keyed), "--key-file", str(tmp_path / "key")]
    made = runner.invoke(app, ["seal", str(target), *arguments])
    assert made.exit_code == 0, made.output
    shown = runner.invoke(app, ["seal", "--show", str(tmp_path / "axle.sealed")])
    assert "quarter_axle: sealed by Linkwork" in shown.output
    assert "port hub.rim at [0.7, 0, 0.1] m" in shown.output
    shown = runner.invoke(app, ["seal", "--show", "--json", str(keyed)])
    assert json.loads(shown.output)["keyed"] is True
    assert unseal(keyed, KEY)[0].name == "quarter_axle"


def test_headers_survive_json(file: Path) -> None:
    from linkwork.distributed.sealed_file import read_header_dict

    header = read_header(file)
    assert read_header_dict(json.loads(json.dumps(header.as_dict())), "x") == header
    for wrong in (None, {}, {**header.as_dict(), "ports": 7}, {**header.as_dict(), "name": 7}):
        with pytest.raises(LinkworkError, match=r"^x: its header is damaged"):
            read_header_dict(wrong, "x")
    assert dataclasses.replace(header, checksum="") != header
