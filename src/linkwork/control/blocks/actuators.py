"""Where a diagram acts on the model, and where diagrams of components meet those around them."""

from __future__ import annotations

from dataclasses import KW_ONLY

from ...model.block import ALIKE, OUT, AnyWire, Block, FactWire, LikeWire, Port
from ...model.item import DriveName, JointName, LoadName, item


@item
class DriveCommand(Block):
    """Commands a drive: its input is the drive's command from now on."""

    kind = "drive"

    drive: DriveName
    """The drive; it must have no `signal`."""
    input: AnyWire
    """The command, in the unit of the drive's commands."""


@item
class ForceCommand(Block):
    """Scales a force or torque of the model: the load, as it is written, times the input."""

    kind = "force_command"

    load: LoadName
    """The `force` or `torque`; it must have no `signal`."""
    input: FactWire
    """Its factor."""


@item
class AttachCommand(Block):
    """Attaches a joint while its input is true, and releases it while it is false.

    It acts between steps, after its input has changed.
    """

    kind = "attach"

    joint: JointName
    """The joint; it must be one that is attached and released (`attached`)."""
    when: FactWire
    """Whether it should hold."""


@item
class Inlet(Block):
    """An input of a component: whoever places the component says what it takes, under `inputs` of the instance."""

    kind = "inlet"

    input: LikeWire | None = None
    """What it takes where nobody says so; by default that is an error."""
    _: KW_ONLY
    unit: str | None = None
    """Unit that it wants, such as rad; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit or ALIKE),)


@item
class Outlet(Block):
    """An output of a component, under a name of its own: `<instance>.<outlet>`."""

    kind = "outlet"

    input: LikeWire
    """What it hands out."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


ACTUATORS = (DriveCommand, ForceCommand, AttachCommand)
PORTS = (Inlet, Outlet)
