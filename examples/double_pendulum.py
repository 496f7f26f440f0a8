"""Two rods on hinges, swinging: describe, run, look, save."""

from linkwork import Body, Capsule, Hinge, Model, Simulation

model = Model("double_pendulum")  # gravity is -9.81 m/s² along z
rod = Capsule(0.02, 0.5, at=(0, 0, -0.25))  # along z, in its body's frame
model.add(Body("upper", at=(0, 0, 0), density=2700, shapes=[rod]))
model.add(Body("lower", at=(0, 0, -0.5), density=2700, shapes=[rod]))
model.add(Hinge("shoulder", "ground", "upper", at=(0, 0, 0), axis=(0, 1, 0), position=2.0))
model.add(Hinge("elbow", "upper", "lower", at=(0, 0, -0.5), axis=(0, 1, 0), damping=0.002))

record = Simulation(model).run(10.0)
print(record)
print(
    f"energy drift {record.energy_drift:.1e} J, elbow force up to {abs(record['elbow.force.z']).max():.1f} N"
)
record.plot("*.angle", "energy.*", path="double_pendulum.png")
record.save("double_pendulum.h5")
