"""The law of rows that a function measures (`kernels/called.py`): affine in rate and state about what was measured."""

from .law import Flow, Law, Response


def _respond(p, m, x, phi, rate, u):
    """p: force, its slopes by rate and state, flow, its slopes by rate and state; m: slope of the force by the gap,
    energy stored in the gap [J], stiffness of the state, elastic part of the force."""
    force = p[0] + p[1] * rate + p[2] * x
    stored = m[1] + 0.5 * m[2] * x * x
    # What is neither elastic nor goes into the state's spring is turned into heat.
    lost = -(force - m[3]) * rate
    if m[2] != 0.0:
        lost -= m[2] * x * (p[3] + p[4] * rate + p[5] * x)
    return Response(force, m[0], p[1], p[2], stored, 0.0, lost)


def _flow(p, m, x, phi, rate, u):
    return Flow(p[3] + p[4] * rate + p[5] * x, 0.0, p[4], p[5])


CALLED_LAW = Law("called", _respond, flow=_flow, state=("deflection", "m"))
