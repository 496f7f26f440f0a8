"""A chain of rods that hangs from one end.

The first line is what lists show. Try `linkwork view FILE`, `linkwork run FILE --set links=5`, `linkwork check FILE`.
A scene is a function `build` whose parameters have defaults; the rest tells how to look at it.
"""

from linkwork import Body, Capsule, Hinge, Model

DURATION = 10.0  # how long it is worth watching [s]
DT = 1e-3  # step [s]
PLOT = ("hinge0.angle", "energy.*")  # signals worth plotting


def build(links: int = 3, length: float = 0.3, damping: float = 0.001) -> Model:
    """Rods of `length` [m] on hinges with `damping` [N m s/rad]; everything stands as it hangs, in the world."""
    model = Model("NAME")
    above = "ground"
    for i in range(int(links)):
        name, top = f"rod{i}", (0.0, 0.0, -i * length)
        rod = Capsule(0.02, length, at=(0.0, 0.0, -length / 2))  # in the frame of its body, along z
        model.add(Body(name, at=top, density=2700.0, shapes=[rod]))
        start = 1.5 if i == 0 else 0.0  # [rad]
        model.add(
            Hinge(f"hinge{i}", above, name, at=top, axis=(0.0, 1.0, 0.0), damping=damping, position=start)
        )
        above = name
    return model
