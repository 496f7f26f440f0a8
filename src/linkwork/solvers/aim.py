"""What a row wants of this step: velocity at its end, softness, bounds of its impulse, pseudo velocity.

Split impulses: the gap is removed by pseudo velocities that never enter the motion, so that stabilisation adds no
energy. Springs, servos and motors are soft rows, p = (goal - velocity)/soft with the velocity at the *end* of the
step: implicit, hence stable at any stiffness (implicit Euler of a spring k with a damper c has
goal = -φ k/(c + h k), soft = 1/(h (c + h k))).
"""

import numpy as np

from ..kernels.jit import kernel
from ..kernels.signal import signal_value
from ..tables import DC_MOTOR, FRICTION, HOLD, LIMIT, SERVO_PLACE, SERVO_RATE, SPRING, TORQUE

# Another impact may change the velocity of a coordinate by this much in a step: nearer limits are watched,
# whichever way the coordinate moves [rad/s or m/s].
_JUMP = 10.0


@kernel
def aim(tables, constraints, t, h, erp):
    """(phi, rate, command) => active, goal, soft, lo, hi, push of every row."""
    rows, inputs = constraints.rows, constraints.inputs
    for i in range(rows.shape[0]):
        row = rows[i]
        row.active = 1
        row.goal = 0.0
        row.soft = 0.0
        row.push = 0.0
        row.lo = -np.inf
        row.hi = np.inf
        command = 0.0
        if row.input >= 0:
            command = inputs[row.input] * signal_value(tables, row.signal, t + h)
        if row.role == HOLD:
            row.push = -erp * row.phi / h
        elif row.role == LIMIT:
            _aim_limit(row, h, erp)
        elif row.role == FRICTION:
            row.hi = h * row.value[0]
            row.lo = -row.hi
        elif row.role == SPRING:
            _aim_spring(row, row.phi, row.value[0], row.value[1], h)
        elif row.role == TORQUE:
            row.lo = h * command
            row.hi = row.lo
        elif row.role == SERVO_RATE:
            row.goal = command
            row.hi = h * row.value[0]
            row.lo = -row.hi
        elif row.role == SERVO_PLACE:
            _aim_spring(row, row.phi - command, row.value[1], row.value[2], h)
            row.hi = h * row.value[0]
            row.lo = -row.hi
        elif row.role == DC_MOTOR:
            _aim_motor(row, command, h)


@kernel
def _aim_limit(row, h, erp):
    """χ = φ >= 0 with p >= 0: the velocity may use up what is left of the way, no more; a hit may bounce."""
    row.lo = 0.0
    if row.phi > 0.0:
        row.active = 1 if row.phi < h * (4.0 * abs(row.rate) + _JUMP) else 0
        row.goal = -row.phi / h
        if row.phi + h * row.rate > 0.0:
            return
    else:
        row.push = -erp * row.phi / h
    bounce = -row.value[0] * row.rate
    if bounce > row.value[1]:
        row.goal = bounce


@kernel
def _aim_spring(row, stretch, stiffness, damping, h):
    """Implicit Euler of a spring and damper."""
    resistance = damping + h * stiffness
    if resistance <= 0.0:
        row.active = 0
        return
    row.goal = -stretch * stiffness / resistance
    row.soft = 1.0 / (h * resistance)


@kernel
def _aim_motor(row, command, h):
    """DC motor behind a gear: I_m ω' = M_s (U - ω/ω_idle) + τ, ω = gear q̇, at the end of the step.

    value: stall torque M_s, idle speed ω_idle, rotor inertia I_m, gear ratio. The rotor is tied to the joint, so its
    inertia is felt gear² times: p = h gear M_s U - (h gear² M_s/ω_idle) q̇⁺ - gear² I_m (q̇⁺ - q̇).
    """
    stall, idle, inertia, gear = row.value[0], row.value[1], row.value[2], row.value[3]
    voltage = min(1.0, max(-1.0, command))
    rotor = gear * gear * inertia
    resistance = h * gear * gear * stall / idle + rotor
    row.soft = 1.0 / resistance
    row.goal = (h * gear * stall * voltage + rotor * row.rate) / resistance


@kernel
def audit(row, p, mean, h, energy):
    """Work of an impulse, which acts on the mean of the velocities before and after: supplied, dissipated [J]."""
    if row.role == FRICTION or row.role == LIMIT:
        energy[1] -= p * mean
    elif row.role == SPRING:
        energy[1] += h * row.value[1] * mean * mean
    elif row.role == TORQUE or row.role == SERVO_RATE or row.role == SERVO_PLACE or row.role == DC_MOTOR:
        energy[0] += p * mean
