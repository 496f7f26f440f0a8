"""Where pieces that ride on bodies are, for pictures that move."""

from .jit import kernel


@kernel
def place_instances(positions, rotations, bodies, at, turn, p_out, q_out):
    """Positions and quaternions of pieces set on bodies at `at`, turned by `turn`; body -1 is the ground."""
    for i in range(bodies.shape[0]):
        b = bodies[i]
        x, y, z = at[i, 0], at[i, 1], at[i, 2]
        e, f, g, h = turn[i, 0], turn[i, 1], turn[i, 2], turn[i, 3]
        if b >= 0:
            w, i1, i2, i3 = rotations[b, 0], rotations[b, 1], rotations[b, 2], rotations[b, 3]
            u1, u2, u3 = 2.0 * (i2 * z - i3 * y), 2.0 * (i3 * x - i1 * z), 2.0 * (i1 * y - i2 * x)
            x, y, z = (
                positions[b, 0] + x + w * u1 + (i2 * u3 - i3 * u2),
                positions[b, 1] + y + w * u2 + (i3 * u1 - i1 * u3),
                positions[b, 2] + z + w * u3 + (i1 * u2 - i2 * u1),
            )
            e, f, g, h = (
                w * e - i1 * f - i2 * g - i3 * h,
                w * f + i1 * e + i2 * h - i3 * g,
                w * g - i1 * h + i2 * e + i3 * f,
                w * h + i1 * g - i2 * f + i3 * e,
            )
        p_out[i, 0], p_out[i, 1], p_out[i, 2] = x, y, z
        q_out[i, 0], q_out[i, 1], q_out[i, 2], q_out[i, 3] = e, f, g, h
