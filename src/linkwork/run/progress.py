"""How a simulation goes on: through targets, into a record, and what is saved when a part of it is lost."""

from __future__ import annotations

import itertools
import time as wall
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.steppers.state import OK
from ..methods.base import Method
from ..methods.capabilities import REASONS, called
from ..model.errors import LinkworkError, PartLostError, SimulationError, StorageError, UnsupportedError
from ..observe.observer import Block
from ..results.builder import RecordBuilder
from ..results.measured import STORED
from ..results.record import MISSING, Record
from ..version import __version__
from .explain import likely_reason
from .schedule import Schedule

if TYPE_CHECKING:
    from .simulate import Simulation

# A balance that strays by more than this share of the energy in play is worth a warning.
_BALANCE_BUDGET = 0.01


def advance(
    simulation: Simulation, targets: Sequence[float], into: tuple[RecordBuilder, int] | None
) -> Block:
    """Move on through targets and return samples at them; append the first so many of them to a record.

    Raises a SimulationError if the end is not reached.
    """
    try:
        done, status, out = simulation.method.reach(targets)
    except PartLostError as lost:
        rescue(simulation, lost)
        raise
    block = tuple(array[:done] for array in out)
    if into is not None:
        builder, samples = into
        simulation.method.observer.append(builder, tuple(array[:samples] for array in block))
    if status != OK:
        raise SimulationError(likely_reason(simulation, status), simulation.time)
    return block


def record_run(
    simulation: Simulation,
    schedule: Schedule,
    builder: RecordBuilder,
    until: Callable[[Simulation], bool] | None,
    progress: Callable[[float], object] | None,
) -> Record:
    """Run as scheduled and return what was recorded, the start and the end included.

    A run that fails raises a SimulationError that holds the record so far.
    """
    try:
        return _recorded(simulation, schedule, builder, until, progress)
    except BaseException:
        builder.abandon()  # what was recorded stays in the part file
        raise


def _recorded(
    simulation: Simulation,
    schedule: Schedule,
    builder: RecordBuilder,
    until: Callable[[Simulation], bool] | None,
    progress: Callable[[float], object] | None,
) -> Record:
    method = simulation.method
    began, steps, start = wall.perf_counter(), simulation.steps, simulation.time
    method.observer.restart()
    method.observer.append(builder, method.now())
    failure: SimulationError | None = None
    for targets, samples, calls in schedule.stretches():
        try:
            advance(simulation, targets, (builder, samples))
        except SimulationError as error:
            failure = error
            break
        for call in calls:
            call(simulation)
        if progress is not None:
            progress(schedule.share(simulation.time - start))
        if until is not None and until(simulation):
            break
    outcome = _outcome(simulation, simulation.steps - steps, wall.perf_counter() - began, failure)
    try:
        record = builder.finish(outcome)
    except StorageError as error:
        if failure is None:
            raise
        failure.record, failure.args = error.record, (f"{failure}; and {error}",)
        raise failure from error
    if failure is not None:
        failure.record = record
        raise failure
    return record


def about(simulation: Simulation, duration: float, every: float) -> dict[str, Any]:
    """What a record says of the simulation that it is of, from the beginning."""
    missing = simulation.method.observer.missing
    return {
        "linkwork": __version__,
        "model": simulation.system.name,
        "stage": None if simulation.stage is None else simulation.stage.to_dict(),
        "method": simulation.method.name,
        **simulation.method.info(),
        "frames": simulation.method.observer.frames.to_dict(),
        "dt": simulation.dt,
        "duration": duration,
        "every": every,
        **({MISSING: missing} if missing else {}),
    }


def unavailable(method: Method) -> dict[str, str]:
    """Groups of signals that a method cannot have, and why: reasons come from the table of capabilities."""
    found = {}
    for quantity in STORED:
        if quantity.feature and quantity.columns(method.observer) is None:
            try:
                method.require(quantity.feature)
                why, method_name = REASONS["float"].why, called(method.columns[0])
                found[quantity.group] = (
                    f"{method_name} {why}; read {quantity.feature} of bodies, or use method 'simgc'"
                )
            except UnsupportedError as error:
                found[quantity.group] = str(error)
    return found


def _outcome(
    simulation: Simulation, taken: int, elapsed: float, failure: SimulationError | None
) -> dict[str, Any]:
    """What a record says of how a run of so many steps and seconds went."""
    method = simulation.method
    info = {
        "steps": taken,
        "wall_s": elapsed,
        "us_per_step": 1e6 * elapsed / max(taken, 1),
        **method.outcome(),
        "reactions_indeterminate": method.observer.indeterminate,
        "warnings": [
            *simulation.system.notes, *method.warnings(), *method.observer.warnings(_BALANCE_BUDGET),
        ],
    }  # fmt: skip
    if failure is not None:
        info["failure"] = str(failure)
    return info


def rescue(simulation: Simulation, lost: PartLostError) -> None:
    """Save where all parts of the model last agreed, and tell where."""
    stem = f"{simulation.system.name}-{simulation.time:.6g}s"
    path = next(
        path
        for k in itertools.count()
        if not (path := Path(f"{stem}{f'-{k}' if k else ''}.state.npz")).exists()
    )
    try:
        simulation.save_state(path)
        lost.args = (f"{lost}, saved as {path}: make the simulation anew and `load_state` it",)
    except LinkworkError as error:
        lost.args = (f"{lost}, but could not be saved ({error}): use `save_state`",)
