"""Components to build machines of: one small file each, a function that returns a `Component`.

Every one says in its docstring where its origin is, which bodies are its *ports* and what its parameters mean, in SI
units. Place them with `instance`, attach to their ports, change one for another of the same ports with
`Model.replace`.
"""

from .arm_segment import arm_segment
from .damper import damper
from .four_bar import four_bar
from .wheel import wheel_on_arm
from .wheel_corner import wheel_corner

__all__ = ["arm_segment", "damper", "four_bar", "wheel_corner", "wheel_on_arm"]
