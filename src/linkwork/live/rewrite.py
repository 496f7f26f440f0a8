"""What stays when a model is written anew while it moves."""

from __future__ import annotations

from ..model import Flat, Model
from ..model.errors import LinkworkError
from ..run.simulate import Simulation
from .parameters import parameters


def other_start(old: Flat, new: Flat) -> str:
    """Why a changed model must begin anew, as far as its text tells: other joints, or another start of one."""
    if apart := old.joints.keys() ^ new.joints.keys():
        return f"it has other joints ({', '.join(sorted(apart))})"
    for name, joint in new.joints.items():
        was = old.joints[name]
        if (type(joint), joint.a, joint.b) != (type(was), was.a, was.b):
            return f"joint '{name}' is another one"
        if (joint.position, joint.velocity) != (was.position, was.velocity):
            return f"the start of joint '{name}' is another one"
    return ""


def went_over(fresh: Simulation, old: Simulation) -> str:
    """Let a simulation go on from where another is; returns why it stays at its start if it cannot."""
    try:
        fresh.take_over(old)
    except LinkworkError as error:
        fresh.reset()
        return str(error)
    return ""


def kept_values(values: dict[str, float], old: Model, new: Model) -> dict[str, float]:
    """Numbers that the operator changed and the model did not."""
    before, after = ({known.name: known.value for known in parameters(model)} for model in (old, new))
    return {name: value for name, value in values.items() if before[name] == after.get(name)}


def kept_commands(commands: dict[str, float], old: Flat, new: Flat) -> dict[str, float]:
    """Commands that the operator gave to drives that the model tells the same as before."""

    def told(flat: Flat, name: str) -> object:
        drive = flat.drives.get(name)
        return drive and (drive.command, drive.signal)

    return {
        name: value
        for name, value in commands.items()
        if name in new.drives and told(old, name) == told(new, name)
    }
