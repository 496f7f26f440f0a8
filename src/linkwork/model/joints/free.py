"""The free joint."""

from .base import Joint, Motion, X, Y, Z, ball, item, slide


@item
class Free(Joint):
    """All six motions, position first, then a quaternion."""

    kind = "free"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(X, "x"), slide(Y, "y"), slide(Z, "z"), ball())

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ()
