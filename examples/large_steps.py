"""The front suspension of a road vehicle settles on its stiff tyre, in steps of 10 ms."""

import numpy as np

from linkwork import Simulation, scene

model = scene("iltis_quarter")
exact = Simulation(model, method="simgc", tolerance=1e-9).run(1.0, every=0.01)

for method in ("hybrid", "global", "topological"):
    for dt in (0.01, 0.005):
        record = Simulation(model, method=method, dt=dt).run(1.0, every=0.01)
        error = np.abs(record.array("positions") - exact.array("positions")).max()
        print(
            f"{method:11} at {1e3 * dt:4.0f} ms: {1e3 * error:.2g} mm off, "
            f"{record.info['iterations_mean']:.1f} iterations a step, gap {record.info['worst_gap_m']:.0e} m"
        )

# With rho below 1, oscillations that the step cannot resolve die out instead of ringing on.
damped = Simulation(model, method="hybrid", dt=0.01, rho=0.5).run(1.0)
print(f"damped: {damped.energy_drift:.3g} J of energy drift")
