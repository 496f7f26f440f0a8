"""Computed torque: a PUMA 560 follows a path in joint space, by its own inverse dynamics.

The controller knows the arm but not the 2 kg in its hand. 250 times a second it asks for the torques that give the
accelerations of the path, and a linear law brings back what is off (Siciliano et al., Robotics, 2009, section 8.5.2).
"""

import matplotlib
import numpy as np

from linkwork import Body, Dynamics, Simulation, TorqueSource, Weld, scene

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = Dynamics(scene("puma560"))  # what the controller knows
plant = scene("puma560")
plant.add(Body("payload", at=plant.bodies["link6"].at, mass=2.0, inertia=(0.005, 0.005, 0.005)))
plant.add(Weld("grip", "link6", "payload", at=plant.bodies["link6"].at))
for joint in plant.joints:
    if joint.startswith("joint"):
        plant.add(TorqueSource(f"motor{joint[5:]}", joint))
sim = Simulation(plant, dt=1e-3)
order = [f"motor{name[5]}" for name in arm.coordinates]  # joint1.angle => motor1
assert list(sim.drives) == order

start, end, duration = arm.q0, arm.q0 + np.array([1.2, -0.6, 0.9, 0.5, 0.8, -1.0]), 2.0
Kp, Kd = 400.0, 40.0  # critically damped, 20 rad/s


def path(t):
    """Angles, rates and accelerations on a quintic from rest to rest."""
    s = min(t / duration, 1.0)
    shape = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    bend = (60 * s - 180 * s**2 + 120 * s**3) / duration**2
    return start + shape * (end - start), rate * (end - start), bend * (end - start)


times, errors, torques = [], [], []
while sim.time < 2.5:
    q, v, a = path(sim.time)
    wanted = a + Kp * (q - sim.q) + Kd * (v - sim.v)
    sim.commands = arm.inverse(sim.q, sim.v, wanted)
    times.append(sim.time)
    errors.append(q - sim.q)
    torques.append(sim.commands.copy())
    sim.step(4)

worst, left = np.abs(errors).max(), np.abs(errors[-1]).max()
print(f"at most {np.degrees(worst):.2f}° off the path with 2 kg in the hand, {np.degrees(left):.2f}° at rest")
assert np.degrees(worst) < 5.0

figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
upper.plot(times, np.degrees(errors))
upper.set_ylabel("error [°]")
lower.plot(times, torques)
lower.set(xlabel="time [s]", ylabel="torque [N m]")
lower.legend([name.split(".")[0] for name in arm.coordinates], ncols=3, fontsize="small")
figure.savefig("computed_torque.png", dpi=130)
