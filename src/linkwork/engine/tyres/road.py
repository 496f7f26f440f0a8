"""The road as tyres feel it: height, slopes and friction of scenery at a place, along the world's z axis.

Planes and height fields are surfaces; of several, the highest counts. A height field is the bicubic spline through its
heights, whatever contact makes of it: height and normal come from one smooth surface, so that edges of triangles are no
bumps and a tyre that rolls over them gains no energy. The top of a box stands on what is below, with flanks as wide as
it is high: what a wheel feels of a kerb.
"""

import math

from ..kernels.jit import kernel

PLANE, FIELD, BLOCK = 0.0, 1.0, 2.0
KIND, FRICTION, ROTATION, PLACE, SIZE, COUNT, COEFFICIENTS, SURFACE = 0, 1, 2, 11, 14, 16, 18, 19
"""Places of a surface's numbers: its kind, friction, rotation (9), origin (3), extent along x and y [m], nodes along x
and y, where the coefficients of its spline begin; and how many these are."""
_NEWTON = 6  # iterations at most for the height of a tilted field
_EXACT = 1e-13  # [m]
_FLUSH = 1e-9  # surfaces nearer than this count as one, made of what is named last [m]


@kernel
def _weights(t):
    """Values and slopes of the four B-splines of a cell at the share t of it."""
    s, tt = 1.0 - t, t * t
    values = (
        s * s * s / 6.0, (3.0 * t * tt - 6.0 * tt + 4.0) / 6.0, (3.0 * (t + tt - t * tt) + 1.0) / 6.0, t * tt / 6.0
    )  # fmt: skip
    return values, (-0.5 * s * s, 1.5 * tt - 2.0 * t, 0.5 + t - 1.5 * tt, 0.5 * tt)


@kernel
def _spline(numbers, k, x, y):
    """Height of a field in its own frame, and its slopes."""
    nx, ny = int(numbers[k + COUNT]), int(numbers[k + COUNT + 1])
    cell_x, cell_y = numbers[k + SIZE] / (nx - 1), numbers[k + SIZE + 1] / (ny - 1)
    u, v = x / cell_x + 0.5 * (nx - 1), y / cell_y + 0.5 * (ny - 1)
    i = int(min(max(math.floor(u), 0.0), nx - 2.0))
    j = int(min(max(math.floor(v), 0.0), ny - 2.0))
    p, dp = _weights(u - i)
    q, dq = _weights(v - j)
    at = int(numbers[k + COEFFICIENTS]) + j * (nx + 2) + i
    z, zx, zy = 0.0, 0.0, 0.0
    for m in range(4):
        row = at + m * (nx + 2)
        c0, c1, c2, c3 = numbers[row], numbers[row + 1], numbers[row + 2], numbers[row + 3]
        along = (p[0] * c0 + p[1] * c1) + (p[2] * c2 + p[3] * c3)
        z += q[m] * along
        zx += q[m] * ((dp[0] * c0 + dp[1] * c1) + (dp[2] * c2 + dp[3] * c3))
        zy += dq[m] * along
    return z, zx / cell_x, zy / cell_y


@kernel
def _flat(numbers, k, x, y):
    """Height and slopes of the plane through the origin of a surface, and (x, y) in its frame there."""
    R, p = k + ROTATION, k + PLACE
    up = numbers[R + 8]
    zx, zy = -numbers[R + 2] / up, -numbers[R + 5] / up
    dx, dy = x - numbers[p], y - numbers[p + 1]
    dz = zx * dx + zy * dy
    u = numbers[R] * dx + numbers[R + 3] * dy + numbers[R + 6] * dz
    v = numbers[R + 1] * dx + numbers[R + 4] * dy + numbers[R + 7] * dz
    return numbers[p + 2] + dz, zx, zy, u, v


@kernel
def _field(numbers, k, x, y):
    """(found, height, slopes) of a field at a place of the world: where the vertical meets its surface."""
    R = k + ROTATION
    z, _, _, u, v = _flat(numbers, k, x, y)
    up, right, back = numbers[R + 8], numbers[R + 6], numbers[R + 7]
    half_x, half_y = 0.5 * numbers[k + SIZE], 0.5 * numbers[k + SIZE + 1]
    h, hu, hv = _spline(numbers, k, u, v)
    s = 0.0
    for _ in range(_NEWTON):
        # s up the vertical: (u + right s, v + back s, up s) in its frame
        step = (up * s - h) / (up - hu * right - hv * back)
        s -= step
        h, hu, hv = _spline(numbers, k, u + right * s, v + back * s)
        if abs(step) < _EXACT:
            break
    u, v = u + right * s, v + back * s
    if abs(u) > half_x or abs(v) > half_y:
        return False, 0.0, 0.0, 0.0
    # Normal (-hu, -hv, 1) in its frame.
    nx = -hu * numbers[R] - hv * numbers[R + 1] + numbers[R + 2]
    ny = -hu * numbers[R + 3] - hv * numbers[R + 4] + numbers[R + 5]
    nz = -hu * numbers[R + 6] - hv * numbers[R + 7] + numbers[R + 8]
    return True, z + s, -nx / nz, -ny / nz


@kernel
def _block(numbers, k, x, y, z, zx, zy):
    """(felt, height, slopes) of a road with the top of a box on it; z, zx, zy are those of what is below."""
    R = k + ROTATION
    top, tx, ty, u, v = _flat(numbers, k, x, y)
    high = top - z
    over_x, over_y = abs(u) - 0.5 * numbers[k + SIZE], abs(v) - 0.5 * numbers[k + SIZE + 1]
    if high < -_FLUSH or over_x > high + _FLUSH or over_y > high + _FLUSH:
        return False, z, zx, zy
    if over_x <= 0.0 and over_y <= 0.0:
        return True, top, tx, ty
    out_x, out_y = max(over_x, 0.0), max(over_y, 0.0)
    d = math.sqrt(out_x * out_x + out_y * out_y)
    if d >= high:
        return False, z, zx, zy
    # How d grows along x and y of the world; the frame's own axes, seen from above.
    gu = out_x / d * (1.0 if u > 0.0 else -1.0)
    gv = out_y / d * (1.0 if v > 0.0 else -1.0)
    dx = gu * (numbers[R] + numbers[R + 6] * tx) + gv * (numbers[R + 1] + numbers[R + 7] * tx)
    dy = gu * (numbers[R + 3] + numbers[R + 6] * ty) + gv * (numbers[R + 4] + numbers[R + 7] * ty)
    w = 1.0 - d / high
    share, steep = w * w * (3.0 - 2.0 * w), 6.0 * w * (1.0 - w)
    grow = share + steep * d / high  # of the height with that of the box
    return (
        True, z + high * share, zx + grow * (tx - zx) - steep * dx, zy + grow * (ty - zy) - steep * dy
    )  # fmt: skip


@kernel
def sample_road(numbers, first, count, x, y):
    """(found, height, slopes along x and y, friction) of the road at a place; `first` of its surfaces, boxes last."""
    found, z, zx, zy, friction = False, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        k = first + SURFACE * i
        if numbers[k + KIND] == BLOCK:
            if not found:  # beside what it could stand on
                top, tx, ty, u, v = _flat(numbers, k, x, y)
                if abs(u) <= 0.5 * numbers[k + SIZE] and abs(v) <= 0.5 * numbers[k + SIZE + 1]:
                    found, z, zx, zy, friction = True, top, tx, ty, numbers[k + FRICTION]
                continue
            felt, z, zx, zy = _block(numbers, k, x, y, z, zx, zy)
            if felt:
                friction = numbers[k + FRICTION]
            continue
        if numbers[k + KIND] == PLANE:
            there, (h, hx, hy, _, _) = True, _flat(numbers, k, x, y)
        else:
            there, h, hx, hy = _field(numbers, k, x, y)
        if there and (not found or h >= z - _FLUSH):
            found, z, zx, zy, friction = True, h, hx, hy, numbers[k + FRICTION]
    return found, z, zx, zy, friction


@kernel
def feel_road(numbers, first, count, x, y, along, across):
    """As `sample_road`, the mean over a footprint: places at ± `along` and ± `across` (vectors of x and y).

    Height and slopes are means over the same places, so that they belong to one surface, the road smoothed.
    """
    places, z, zx, zy, friction = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(4):
        way = along if i < 2 else across
        sign = 1.0 if i % 2 == 0 else -1.0
        found, h, hx, hy, mu = sample_road(numbers, first, count, x + sign * way[0], y + sign * way[1])
        if found:
            places += 1
            z, zx, zy, friction = z + h, zx + hx, zy + hy, friction + mu
    if places == 0:
        return False, 0.0, 0.0, 0.0, 0.0
    share = 1.0 / places
    return True, share * z, share * zx, share * zy, share * friction
