"""A car from the library: other springs in front, by changing two components for others with the same ports."""

from linkwork import Simulation
from linkwork.library import damper
from linkwork.scenes import car

model = car.build()
soft = damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE, stiffness=20000.0)
changed = model.replace("front_left.damper", soft).replace("front_right.damper", soft)

for made in (model, changed):
    record = Simulation(made, method="simgc").run(6.0, every=0.01)
    before, after = record["chassis.position.z"][240], record["chassis.position.z"][-1]
    print(f"settles at {before:.4f} m; a passenger presses it {1e3 * (before - after):.1f} mm down")
