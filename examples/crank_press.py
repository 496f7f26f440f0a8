"""A four-bar: which torque turns it evenly, and where does it rest when nothing does."""

import numpy as np

from linkwork import Spring, scene
from linkwork.analysis.inverse import inverse
from linkwork.analysis.statics import equilibrium

model = scene("crank_rocker")
model.add(Spring("coil", "ground", "lever", at_a=(0.6, 0.3, 0), at_b=(0.3, 0.2, 0), stiffness=50))

turn = inverse(model, {"crank.angle": lambda t: 2 * np.pi * t}, np.linspace(0, 1, 201))
torque = turn.torques["crank.angle"]
print(f"one turn a second needs {torque.min():.2f} to {torque.max():.2f} N m,")
print(f"and up to {abs(turn.commands['motor']).max():.0%} of the motor's voltage")
turn.record.plot("crank.angle.drive", "rocker.angle", path="crank_press.png")

rest = equilibrium(model, hold={"motor": 0.0})
print("\n".join(rest.lines()))
