"""LQR: a cart balances a pendulum. The linear system comes from the model, the gains from its Riccati equation."""

import matplotlib
import numpy as np
from scipy.linalg import solve_continuous_are

from linkwork import Body, Box, Capsule, Hinge, Model, Simulation, Slider, TorqueSource, linearise

matplotlib.use("Agg")
import matplotlib.pyplot as plt

model = Model("cart_pole")
model.add(Body("cart", mass=1.5, inertia=(0.01, 0.01, 0.01), shapes=[Box((0.3, 0.2, 0.1))]))
model.add(Body("pole", density=1500, shapes=[Capsule(0.015, 0.8, at=(0, 0, 0.4))]))
model.add(Slider("rail", "ground", "cart", axis=(1, 0, 0), damping=0.1))
model.add(Hinge("pin", "cart", "pole", axis=(0, 1, 0), damping=0.002))
model.add(TorqueSource("push", "rail"))

upright = linearise(model, states=["rail.travel", "pin.angle"])
print("eigenvalues without control:", np.round(upright.eigenvalues, 2))
Q, R = np.diag([10.0, 20.0, 1.0, 1.0]), np.array([[0.1]])
P = solve_continuous_are(upright.A, upright.B, Q, R)
K = np.linalg.solve(R, upright.B.T @ P)
print("and with it:", np.round(np.linalg.eigvals(upright.A - upright.B @ K), 2))

sim = Simulation(model, dt=1e-3)
sim.set({"pin.angle": 0.35})
state = [sim.signal(column.name) for column in upright.states]
times, rows, forces = [], [], []
while sim.time < 5.0:
    x = np.array([read() for read in state])
    sim.commands = -K @ x
    times.append(sim.time)
    rows.append(x)
    forces.append(float(sim.commands[0]))
    sim.step(5)  # 200 times a second

print(f"after 5 s: {rows[-1][0] * 1000:.2f} mm and {np.degrees(rows[-1][1]):.3f}° from where it should be")
assert np.abs(rows[-1]).max() < 0.01

figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 4.5), layout="constrained")
upper.plot(times, [row[0] for row in rows], label="cart [m]")
upper.plot(times, [row[1] for row in rows], label="pole [rad]")
upper.legend()
lower.plot(times, forces)
lower.set(xlabel="time [s]", ylabel="force [N]")
figure.savefig("cart_pole.png", dpi=130)
