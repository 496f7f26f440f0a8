"""Elements: one file each, with what users write above and the law below. A new one is named here."""

from ...model.drive import Drive
from ...model.item import Item
from .actuator import Actuator
from .backlash import Backlash
from .brake import Brake
from .called import CALLED_LAW
from .clutch import Clutch
from .dc_motor import DCMotor
from .hydraulic_cylinder import HydraulicCylinder
from .law import Law
from .pid import PID
from .position_servo import PositionServo
from .repeater import Repeater
from .spring import SPRING
from .torque_source import TORQUE, TorqueSource
from .traction_motor import AxleMotor, TractionMotor
from .velocity_servo import VelocityServo

_DRIVES = (
    TorqueSource, VelocityServo, PositionServo, DCMotor, Actuator, HydraulicCylinder, PID, Brake, Clutch, TractionMotor,
    AxleMotor,
)  # fmt: skip

DRIVES: dict[str, type[Drive]] = {drive.kind: drive for drive in _DRIVES}
"""Every drive by the name that model files call it."""

COUPLINGS: dict[str, type[Item]] = {Repeater.kind: Repeater, Backlash.kind: Backlash}
"""Every coupling by the name that model files call it."""

LAWS: tuple[Law, ...] = (
    SPRING,
    CALLED_LAW,
    Backlash.law,
    *dict.fromkeys(drive.law for drive in _DRIVES if drive.law is not None),
)
"""Every law; its place here is its number in the table of rows."""

__all__ = [
    "CALLED_LAW", "COUPLINGS", "DRIVES", "LAWS", "PID", "SPRING", "TORQUE", "Actuator", "AxleMotor", "Backlash",
    "Brake", "Clutch", "DCMotor", "Drive", "HydraulicCylinder", "Law", "PositionServo", "Repeater", "TorqueSource",
    "TractionMotor", "VelocityServo",
]  # fmt: skip
