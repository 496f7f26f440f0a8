"""Quaternions of rotation matrices."""

import math

from .jit import kernel


@kernel
def matrix_quaternion(R):
    """Unit quaternion of a rotation matrix; the largest component is found first (Shepperd)."""
    t = R[0] + R[4] + R[8]
    if t >= R[0] and t >= R[4] and t >= R[8]:
        w, x, y, z = 1.0 + t, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4]
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return n * w, n * x, n * y, n * z
