"""Spring and damper along any measure: springs and dampers in joints, between points, and of bushings."""

from .law import Law, Response


def _respond(p, m, x, phi, rate, u):
    """p: stiffness [N/m or N m/rad], damping [N s/m or N m s/rad]; phi is counted from where the spring is slack."""
    return Response(
        -p[0] * phi - p[1] * rate, -p[0], -p[1], 0.0, 0.5 * p[0] * phi * phi, 0.0, p[1] * rate * rate
    )


SPRING = Law("spring", _respond)
