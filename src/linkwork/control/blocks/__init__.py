"""Blocks of control diagrams: one file a family. A new one is named in its family's list."""

from ...model.block import Block
from .actuators import ACTUATORS, PORTS
from .continuous import CONTINUOUS
from .logic import LOGIC
from .mathematics import MATHEMATICS
from .nonlinear import NONLINEAR
from .panel import OPERATED, SHOWING
from .sampled import SAMPLED
from .sensors import SENSORS
from .sources import SOURCES
from .user import USER

FAMILIES: dict[str, tuple[type[Block], ...]] = {
    "sources": SOURCES,
    "sensors": SENSORS,
    "panel": OPERATED,
    "mathematics": MATHEMATICS,
    "nonlinear": NONLINEAR,
    "continuous": CONTINUOUS,
    "sampled": SAMPLED,
    "logic": LOGIC,
    "user": USER,
    "actuators": ACTUATORS,
    "indicators": SHOWING,
    "ports": PORTS,
}
"""All blocks, by family, as a palette lists them."""

BLOCKS: dict[str, type[Block]] = {block.kind: block for family in FAMILIES.values() for block in family}
"""Every block by the name that model files call it."""
