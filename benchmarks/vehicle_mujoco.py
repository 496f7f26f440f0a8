"""The vehicle of double wishbones in MuJoCo: rigid wheels on a plane, loops by connect, springs as tendons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork.model.rotation import Array, frame_from_axis, quaternion, vector

from .vehicle import (
    ARM,
    CARRIER,
    DAMPING,
    FORWARD,
    MASS,
    RADIUS,
    SPEED,
    STIFFNESS,
    STRENGTH,
    TIE,
    WHEEL,
    chassis,
    corners,
)

HOW = "mj_step(model, data, nstep), Euler, default options; loops by connect, springs as tendons, wheels as spheres"


class MujocoVehicle:
    """The same numbers as `vehicle.vehicle(axles)`."""

    def __init__(self, dt: float, axles: int = 2):
        import mujoco

        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), friction=(0.9, 0.005, 0.0001)
        )
        car = chassis(axles)
        middle = np.array(car.at)
        body = spec.worldbody.add_body(
            name="chassis",
            pos=middle,
            ipos=(0, 0, 0),  # what is not told is not the origin: it would be `pos` once more
            mass=car.mass,
            inertia=np.array(car.inertia)[:3],
            explicitinertial=True,
        )
        body.add_freejoint()
        self._loops: list[tuple[str, str, Array]] = []
        for corner in corners(axles):
            at = {name: np.array(point) for name, point in corner.at.items()}
            self._corner(spec, body, middle, corner.name, at)
        for a, b, where in self._loops:
            loop = spec.add_equality()
            loop.type, loop.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
            loop.name1, loop.name2 = a, b
            loop.data = np.r_[where, np.zeros(9)]
        self._model = spec.compile()
        self._model.opt.timestep = dt
        self._data = mujoco.MjData(self._model)
        self.reset()

    def _corner(self, spec: Any, body: Any, middle: Array, name: str, at: dict[str, Array]) -> None:
        """Arms, carrier, tie rod, wheel, spring and motor."""
        mujoco, hinge = self._mujoco, self._mujoco.mjtJoint.mjJNT_HINGE
        ball = mujoco.mjtJoint.mjJNT_BALL

        def bar(key: str, start: Array, end: Array, mass: float, parent: Any, above: Array) -> Any:
            across = mass * math.dist(start, end) ** 2 / 12
            return parent.add_body(
                name=f"{name}_{key}", pos=start - above, mass=mass, ipos=(end - start) / 2,
                iquat=quaternion(frame_from_axis(vector(end - start), FORWARD)),
                inertia=(across, across, 1e-3 * mass), explicitinertial=True,
            )  # fmt: skip

        lower = bar("lower", at["lower_chassis"], at["lower_carrier"], ARM, body, middle)
        lower.add_joint(type=hinge, axis=FORWARD)
        upper = bar("upper", at["upper_chassis"], at["upper_carrier"], ARM, body, middle)
        upper.add_joint(type=hinge, axis=FORWARD)
        carrier = lower.add_body(
            name=f"{name}_carrier", pos=at["lower_carrier"] - at["lower_chassis"], mass=CARRIER,
            ipos=at["hub"] - at["lower_carrier"], inertia=(0.12, 0.06, 0.12), explicitinertial=True,
        )  # fmt: skip
        carrier.add_joint(type=ball)
        tie = bar("tie", at["tie_chassis"], at["tie_carrier"], TIE, body, middle)
        frame = frame_from_axis(vector(at["tie_carrier"] - at["tie_chassis"]), FORWARD)
        tie.add_joint(type=hinge, axis=frame[:, 0])
        tie.add_joint(type=hinge, axis=frame[:, 1])
        wheel = carrier.add_body(
            name=f"{name}_wheel", pos=at["wheel"] - at["lower_carrier"], ipos=(0, 0, 0), mass=WHEEL,
            inertia=(0.5, 0.9, 0.5), explicitinertial=True,
        )  # fmt: skip
        wheel.add_joint(type=hinge, axis=(0, 1, 0), name=f"{name}_axle")
        wheel.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(RADIUS, 0, 0), friction=(0.9, 0.005, 0.0001))
        for end, where in (("upper", "upper_carrier"), ("tie", "tie_carrier")):
            start = at["upper_chassis"] if end == "upper" else at["tie_chassis"]
            self._loops.append((f"{name}_{end}", f"{name}_carrier", at[where] - start))
        length = math.dist(at["spring_chassis"], at["spring_arm"])
        slack = length + 0.25 * MASS * 9.81 / STIFFNESS * 1.5
        body.add_site(name=f"{name}_top", pos=at["spring_chassis"] - middle)
        lower.add_site(name=f"{name}_foot", pos=at["spring_arm"] - at["lower_chassis"])
        tendon = spec.add_tendon(
            name=f"{name}_spring", stiffness=STIFFNESS, damping=DAMPING, springlength=(slack, slack)
        )
        tendon.wrap_site(f"{name}_top")
        tendon.wrap_site(f"{name}_foot")
        motor = spec.add_actuator(
            name=f"{name}_motor", target=f"{name}_axle", trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        motor.set_to_velocity(kv=STRENGTH)
        motor.forcelimited, motor.forcerange = True, (-STRENGTH, STRENGTH)

    def reset(self) -> None:
        """Back to the start."""
        self._mujoco.mj_resetData(self._model, self._data)
        self._data.ctrl[:] = SPEED

    def run(self, steps: int) -> None:
        """Take steps in one call."""
        self._mujoco.mj_step(self._model, self._data, nstep=steps)

    @property
    def height(self) -> float:
        """Of the chassis now [m]."""
        return float(self._data.qpos[2])

    @property
    def speed(self) -> float:
        """Of the chassis now, forward [m/s]."""
        return float(self._data.qvel[0])

    @property
    def gap(self) -> float:
        """Largest distance now of two points that a loop holds together [m]."""
        kind = self._data.efc_type == int(self._mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        gaps = self._data.efc_pos[kind].reshape(-1, 3)
        return float(np.linalg.norm(gaps, axis=1).max())
