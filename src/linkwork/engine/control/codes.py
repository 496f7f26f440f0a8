"""Kinds of operations of a tape. Blocks become one operation or several: see `linkwork.control.lower`."""

(
    WHOLE, DATA,
    # sources
    CONSTANT, INPUT, CLOCK, STEP, RAMP, SINE, CHIRP, PULSE, TABLE, NOISE,
    # sensors
    COORDINATE, RATE, POSITION, ROTATION, VELOCITY, TURNING, SPIN, DRIVE_FORCE, ACCELERATION, SPECIFIC_FORCE,
    # mathematics
    BLEND, MULTIPLY, DIVIDE, POWER, SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, ROOT, EXP, LOG, HYPOT,
    # in pieces
    ABSOLUTE, SIGN, LEAST, MOST, SATURATE, DEAD, RELAY, PLAY, LOOKUP, LOOKUP_2D, LESS,
    # continuous states
    INTEGRATE, LAG, FOLLOW,
    # sampled
    HOLD, DELAY, AVERAGE, DIGITAL_PID, MACHINE, FLIP_FLOP,
    # logic
    AND, OR, NOT, SWITCH, EQUALS, ELAPSED,
    # user
    FUNCTION, PICK, PYTHON,
    # actuators
    COMMAND, SCALE, ATTACH,
) = range(69)  # fmt: skip

TIMED = (STEP, RAMP, PULSE, TABLE, NOISE)
"""Sources that change at instants of their own."""
PIECES = (
    ABSOLUTE,
    SIGN,
    LEAST,
    MOST,
    SATURATE,
    DEAD,
    RELAY,
    PLAY,
    LOOKUP,
    LOOKUP_2D,
    LESS,
    INTEGRATE,
    FOLLOW,
)
"""Operations whose law consists of smooth pieces, some of them only with the numbers that they have."""
STATES = (INTEGRATE, LAG, FOLLOW)
"""Operations with a continuous state."""
LATE = (DELAY, MACHINE, FLIP_FLOP)
"""Operations that take their inputs after all outputs of an instant are there."""
MEASURED_LATER = (DRIVE_FORCE, ACCELERATION, SPECIFIC_FORCE)
"""Sensors that tell what was at the end of the last step."""
