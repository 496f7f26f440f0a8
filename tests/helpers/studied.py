"""Tasks of studies that other processes can import, and models to vary."""

import os
import time
from pathlib import Path

PENDULUMS = """
linkwork: 1
units: SI
name: two
parameters: {length: 0.5}
components:
  pendulum:
    parameters: {length: 1, radius: 0.01}
    bodies:
      rod: {density: 2700, shapes: [{shape: cylinder, radius: =radius, length: =length, at: [0, 0, =-length/2]}]}
joints:
  a: {type: hinge, a: ground, b: left.rod, axis: [0, 1, 0], position: 0.3, damping: 0.001}
  b: {type: hinge, a: ground, b: right.rod, at: [1, 0, 0], axis: [0, 1, 0], position: 0.3}
instances:
  left: {component: pendulum, parameters: {length: =length}}
  right: {component: pendulum, at: [1, 0, 0], parameters: {length: =length}}
"""


def product(case):
    """Fast, and NaN nowhere."""
    return {"product": case["x"] * case["y"], "list": [case["x"], case["y"], 0.5]}


def troubled(case):
    """Fails in several ways; x = 13 ends its process, as a crash of native code does."""
    if case["x"] == 13.0:
        os._exit(3)
    if case["x"] == 5.0:
        raise ValueError("five is right out")
    return {"square": case["x"] ** 2}


class Slow:
    """Leaves a line in a file for each case that it finishes, so that a test sees what was done twice."""

    def __init__(self, log, pause):
        self.log, self.pause = Path(log), pause

    def __call__(self, case):
        time.sleep(self.pause)
        with self.log.open("a") as file:
            file.write(f"{case['x']:g}\n")
        return {"half": 0.5 * case["x"]}
