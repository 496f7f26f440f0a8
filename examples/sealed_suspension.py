"""Four sealed suspensions carry a car whose maker cannot see into them."""

from linkwork import Simulation
from linkwork.distributed.sealed_file import seal
from linkwork.library import wheel_corner
from linkwork.scenes import car

corner = wheel_corner(lower_eye=car.LOWER_EYE, upper_eye=car.UPPER_EYE)
seal(corner, "corner.sealed", corner.ports)  # the supplier's part: ports are all that others see

model = car.build()
for name in car.CORNERS:
    model = model.replace(name, "corner.sealed")

sim = Simulation(model, method="components")  # each corner moves in a process of its own
record = sim.run(1.0)
print(f"the chassis stands at {record['chassis.position.z'][-1]:.4f} m")
for process in record.info["processes"]:
    held = ", ".join(process["components"])
    print(f"{held}: computed {process['computed_s']:.2f} s, waited {process['waited_s']:.2f} s")
