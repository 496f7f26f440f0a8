"""Which kinds of loads and which texts a model file can hold. Loads bring Numba along: only on demand."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from ..item import field_names
from ..loads.base import Load
