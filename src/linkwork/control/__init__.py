"""Control diagrams: blocks, wires, the operator's panel."""

from .blocks.actuators import AttachCommand, DriveCommand, ForceCommand, Inlet, Outlet
from .blocks.continuous import ContinuousPID, FirstOrder, Integrator, StateSpace, TransferFunction
from .blocks.logic import And, Compare, FlipFlop, Not, Or, StateMachine, Switch
from .blocks.mathematics import Cross, Dot, Formula, Gain, Maximum, Minimum, Norm, Product, Sum
from .blocks.nonlinear import DeadZone, Lookup, Lookup2D, Play, RateLimit, Relay, Saturation
from .blocks.panel import Button, Gauge, Joystick, Knob, Lamp, Lever, Selector, Text, Toggle
from .blocks.sampled import Delay, Hold, MovingAverage, SampledPID, SampledStateSpace, SampledTransferFunction
from .blocks.sensors import IMU, ContactSensor, LoadCell, RangeFinder
from .blocks.sources import Chirp, Clock, Constant, Noise, Pulse, Ramp, SineWave, Step, TimeTable
from .blocks.user import CompiledFunction, PythonFunction

__all__ = [
    "IMU",
    "And",
    "AttachCommand",
    "Button",
    "Chirp",
    "Clock",
    "Compare",
    "CompiledFunction",
    "Constant",
    "ContactSensor",
    "ContinuousPID",
    "Cross",
    "DeadZone",
    "Delay",
    "Dot",
    "DriveCommand",
    "FirstOrder",
    "FlipFlop",
    "ForceCommand",
    "Formula",
    "Gain",
    "Gauge",
    "Hold",
    "Inlet",
    "Integrator",
    "Joystick",
    "Knob",
    "Lamp",
    "Lever",
    "LoadCell",
    "Lookup",
    "Lookup2D",
    "Maximum",
    "Minimum",
    "MovingAverage",
    "Noise",
    "Norm",
    "Not",
    "Or",
    "Outlet",
    "Play",
    "Product",
    "Pulse",
    "PythonFunction",
    "Ramp",
    "RangeFinder",
    "RateLimit",
    "Relay",
    "SampledPID",
    "SampledStateSpace",
    "SampledTransferFunction",
    "Saturation",
    "Selector",
    "SineWave",
    "StateMachine",
    "StateSpace",
    "Step",
    "Sum",
    "Switch",
    "Text",
    "TimeTable",
    "Toggle",
    "TransferFunction",
]
