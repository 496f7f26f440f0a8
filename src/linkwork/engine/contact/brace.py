"""What comes on so fast that it would be through in a step: a ball in its middle is held off too.

Points are found before they touch, but only where two shapes are nearest: a plate that comes on aslant has one corner
there. Held off at that one, it swings around it, and the rest of it passes a thin wall. A ball in its middle cannot
pass, however it turns.
"""

from ..kernels.jit import kernel
from ..kernels.math3 import add3, dot3, get3, get9, scale3, set3
from .geometry import MOST
from .kinds import HEIGHTS, HULL, PLANE, SPHERE, is_in

_MARK = 1 << 61


@kernel
def brace(colliders, found, i, j, count, way, slack):
    """Add balls in the middle of shapes i and j, where they would pass, to `count` contacts; how many there are then.

    way: of i against j in the step [m]. slack: how far beside a shape is still on it [m].
    """
    out, n = found.out, get3(found.out[0].normal)
    nearer = dot3(n, way)
    for s in range(2):
        one, other = (i, j) if s == 0 else (j, i)
        kind = colliders.shapes[one].kind
        # Terrain has no other side, and of a hull it is not known whether its origin is inside.
        if kind == PLANE or kind == HEIGHTS or kind == SPHERE or kind == HULL:
            continue
        m = scale3(1.0 if s == 0 else -1.0, n)
        x = add3(get3(found.positions[one]), scale3(found.bounds[one, 1], m))
        distance = dot3(m, get3(out[0].b if s == 0 else out[0].a)) - dot3(m, x)
        if distance > nearer:
            continue
        # Where it would come down on the other shape, if that is there.
        foot = add3(x, scale3((1.0 if s == 0 else -1.0) * distance / nearer, way))
        q, Q = get3(found.positions[other]), get9(found.rotations[other])
        if is_in(colliders.shapes[other], colliders.hulls, q, Q, foot, slack):
            k = min(count, MOST - 1)
            y = add3(x, scale3(distance, m))
            set3(out[k].a, x if s == 0 else y)
            set3(out[k].b, y if s == 0 else x)
            set3(out[k].normal, n)
            out[k].distance, out[k].feature = distance, _MARK + s
            count = k + 1
    return count
