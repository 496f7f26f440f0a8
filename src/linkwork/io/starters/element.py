"""An element of one's own: a rubber band that pulls only when it is stretched, on a mass on a rail.

Run it by `linkwork view FILE`, `linkwork run FILE`, `linkwork check FILE`.
"""

from linkwork import Body, Box, LineFunction, Model, Slider

PLOT = ("rail.travel", "energy.*")


def band(t, x, v, parameters, out):
    """Compiled, and called at every evaluation; plain numbers only.

    t: time [s]; x[0]: distance of the two points [m]; v[0]: its rate [m/s]; parameters: the numbers given below.
    """
    stiffness, slack, damping = parameters[0], parameters[1], parameters[2]
    stretch = x[0] - slack
    if stretch > 0.0:
        out[0] = stiffness * stretch + damping * v[0]  # pull [N]
        out[1] = 0.5 * stiffness * stretch**2  # energy stored [J]
        out[2] = damping * v[0] ** 2  # power dissipated [W]: with these the energy audit stays whole


def build(stiffness: float = 50.0, slack: float = 0.4, damping: float = 0.2) -> Model:
    """A band of `stiffness` [N/m] and length `slack` [m], with `damping` [N s/m]."""
    model = Model("NAME")
    model.add(Body("mass", density=700.0, shapes=[Box((0.1, 0.1, 0.1))]))
    model.add(Slider("rail", "ground", "mass", axis=(1.0, 0.0, 0.0), position=0.8))
    numbers = (stiffness, slack, damping)
    wall, hook = (-0.3, 0.0, 0.0), (0.0, 0.0, 0.0)
    model.add(LineFunction("band", "ground", "mass", band, at_a=wall, at_b=hook, parameters=numbers))
    return model
