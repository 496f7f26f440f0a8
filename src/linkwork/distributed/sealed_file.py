"""Sealed files: a component that can be simulated by whoever has it, but not read.

A line that says what it is, a line of JSON in the clear (`Header`), the component encrypted, and a checksum of it all.
Without a key of the owner the encryption only obscures: the key then follows from the file itself, and this program
must be able to open it. See docs/sealed.md.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..io import dump_model, parse_model
from ..model import Component
from ..model.errors import LinkworkError, ModelError
from ..model.header import Header, PortPose
from ..model.item import explain
from ..results.files import atomic, need
from ..version import __version__

FORMAT = 1
KEY_VARIABLE = "LINKWORK_SEAL_KEY"
_MAGIC = b"linkwork-sealed\n"
_MAX_FILE = 20_000_000
_MAX_HEADER = 1_000_000
_MAX_TEXT = 20_000_000  # of a component: as much as a model file may have
_DIGEST, _NONCE, _SALT = 32, 12, 16
_SHORTEST_KEY = 16
_OBSCURED = b"not a secret: this file was sealed without a key"


_HEADER: TypeAdapter[Header] = TypeAdapter(Header)


def read_header_dict(data: Any, source: str) -> Header:
    """A header out of a file or from another process, checked; `source` says where it came from."""
    if isinstance(data, dict) and isinstance(data.get("format"), int) and data["format"] != FORMAT:
        raise LinkworkError(f"{source}: is of format {data['format']}; this Linkwork knows format {FORMAT}")
    try:
        return _HEADER.validate_python(data)
    except ValidationError as error:
        where, what = next(iter(explain(error, Header)))
        raise LinkworkError(f"{source}: its header is damaged: {'.'.join(map(str, where))} {what}") from None


def find_key(key_file: str | os.PathLike[str] | None) -> bytes | None:
    """The key in a file, or in the environment, or None."""
    if key_file is not None:
        return read_secret(key_file, "key")
    key = os.environ.get(KEY_VARIABLE, "").encode()
    return _long_enough(key, KEY_VARIABLE, "key") if key else None


def read_secret(path: str | os.PathLike[str], what: str) -> bytes:
    """A key or token in a file."""
    try:
        return _long_enough(Path(path).read_bytes().strip(), os.fspath(path), what)
    except OSError as error:
        raise LinkworkError(f"{path}: the {what} cannot be read: {error.strerror}") from None


def _long_enough(secret: bytes, source: str, what: str) -> bytes:
    if len(secret) < _SHORTEST_KEY:
        raise LinkworkError(f"{source}: a {what} needs at least {_SHORTEST_KEY} bytes (it has {len(secret)})")
    return secret


def seal(
    component: Component, path: str | os.PathLike[str], ports: Sequence[str], key: bytes | None = None
) -> Header:
    """Write a component as a sealed file; `ports` are the bodies that others may be joined to."""
    from .conceal import conceal, features  # brings Numba along, which reading a header need not wait for

    flat = component.flatten()
    text = dump_model(conceal(component, ports))
    poses = tuple(PortPose(name, flat.bodies[name].at, flat.bodies[name].rotation) for name in ports)
    salt = secrets.token_hex(_SALT)
    header = Header(FORMAT, component.name, __version__, poses, features(flat), key is not None, salt)
    line = json.dumps({k: v for k, v in header.as_dict().items() if k != "checksum"}).encode() + b"\n"
    nonce = secrets.token_bytes(_NONCE)
    head = _MAGIC + line
    sealed = _cipher(header, key).encrypt(nonce, zlib.compress(text.encode(), 9), head)
    content = head + nonce + sealed
    digest = hashlib.sha256(content).digest()
    if len(content) > _MAX_FILE:
        raise LinkworkError(f"{path}: would be larger than {_MAX_FILE // 1_000_000} MB, the limit")
    with atomic(Path(path)) as temporary:
        temporary.write_bytes(content + digest)
    return dataclasses.replace(header, checksum=digest.hex())


def read_header(path: str | os.PathLike[str]) -> Header:
    """What a sealed file tells of itself."""
    return _read(path)[0]


def unseal(path: str | os.PathLike[str], key: bytes | None = None) -> tuple[Component, Header]:
    """The component in a sealed file, and its header. Inner names are meaningless."""
    from .conceal import reveal

    invalid = need("cryptography.exceptions", "seal", "a sealed component").InvalidTag
    header, head, rest = _read(path)
    if header.keyed and key is None:
        raise LinkworkError(f"{path}: only its owner's key opens it; give --key-file or {KEY_VARIABLE}")
    try:
        packed = _cipher(header, key).decrypt(rest[:_NONCE], rest[_NONCE:], head)
    except invalid:
        why = "the key is not the one it was sealed with, or it" if header.keyed else "it"
        raise LinkworkError(f"{path}: cannot be opened: {why} was changed after it was sealed") from None
    try:
        text = _inflated(packed)
        model = parse_model(text, Path(path))
        return reveal(model, header.name, [port.name for port in header.ports]), header
    except (zlib.error, ValueError, ModelError) as error:
        # What is wrong would tell of the inside.
        raise LinkworkError(
            f"{path}: was sealed by Linkwork {header.linkwork}, and this one, {__version__}, cannot read its content"
        ) from (error if not header.keyed else None)


def _read(path: str | os.PathLike[str]) -> tuple[Header, bytes, bytes]:
    """Header, all bytes in the clear, and the encrypted rest of a file."""
    file = Path(path)
    try:
        if not file.is_file():
            what = "is a folder, not a sealed file" if file.is_dir() else "there is no such file"
            raise LinkworkError(f"{path}: {what}")
        with file.open("rb") as stream:
            data = stream.read(_MAX_FILE + _DIGEST + 1)
    except OSError as error:
        raise LinkworkError(f"{path}: cannot be read: {error.strerror}") from None
    if not data.startswith(_MAGIC):
        raise LinkworkError(f"{path}: is not a sealed component; make one with: linkwork seal FILE.yaml")
    if len(data) > _MAX_FILE + _DIGEST:
        raise LinkworkError(f"{path}: is larger than {_MAX_FILE // 1_000_000} MB, the limit")
    content, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise LinkworkError(f"{path}: is damaged: it was cut off or changed after it was sealed")
    end = content.find(b"\n", len(_MAGIC), len(_MAGIC) + _MAX_HEADER) + 1
    try:
        described = json.loads(content[len(_MAGIC) : end])
    except (ValueError, RecursionError):
        raise LinkworkError(f"{path}: its header is damaged") from None
    header = read_header_dict(described, os.fspath(path))
    return dataclasses.replace(header, checksum=digest.hex()), content[:end], content[end:]


def _cipher(header: Header, key: bytes | None) -> Any:
    aead = need("cryptography.hazmat.primitives.ciphers.aead", "seal", "a sealed component")
    # scrypt, for a key may be a sentence that a person thought of.
    secret = key if header.keyed and key is not None else _OBSCURED
    derived = hashlib.scrypt(secret, salt=header.salt.encode(), n=1 << 14, r=8, p=1, dklen=32)
    return aead.AESGCM(derived)


def _inflated(packed: bytes) -> str:
    inflater = zlib.decompressobj()
    text = inflater.decompress(packed, _MAX_TEXT)
    if inflater.unconsumed_tail or not inflater.eof:
        raise ValueError("too large")
    return text.decode()
