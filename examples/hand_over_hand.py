"""A rod walks along a ceiling: each hand takes hold where it is when it has swung up, and next to nothing is lost."""

from linkwork import Body, Box, Hinge, Model, Simulation

model = Model("hand over hand")
model.add(Body("rod", at=(0.5, 0, 0), density=700, shapes=[Box((1.0, 0.05, 0.05))]))
# A joint rides on its first body and takes hold of its second where that is then.
model.add(Hinge("left", "rod", "ground", at=(0, 0, 0), axis=(0, 1, 0), attached=((0, None),)))
model.add(Hinge("right", "rod", "ground", at=(1, 0, 0), axis=(0, 1, 0), attached=()))
ends = {"left": (-0.5, 0, 0), "right": (0.5, 0, 0)}  # in the frame of the rod
last = {"speed": 0.0}


def swap(sim: Simulation) -> None:
    """Change hands when the free one has swung up and stands still."""
    holds, free = ("left", "right") if "left" in sim.attached else ("right", "left")
    speed = sim.point("rod", ends[free])[1][2]
    if speed <= 0 < last["speed"]:
        sim.attach(free)
        sim.release(holds)
        speed = 0.0
    last["speed"] = speed


sim = Simulation(model)
record = sim.run(5.0, callbacks=[(sim.dt, swap)])
for change in sim.changes:
    if change.attached:
        print(f"t = {change.time:.3f} s: '{change.joint}' takes hold, {1e3 * change.energy:.3g} mJ lost")
print(
    f"the rod has come {0.5 - sim.point('rod')[0][0]:.2f} m along; energy drift {record.energy_drift:.2g} J"
)
