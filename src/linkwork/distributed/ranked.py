"""Component-based simulation on the ranks of an MPI run.

Every rank builds the model and its hierarchy, which is the same everywhere; each then steps its own share. Rank 0
holds the top, tells the others what to do, and gathers what they sample into the record of the whole.
"""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NoReturn

import numpy as np

from ..compile.compiler import Compiled
from ..compile.subsystems import Subsystem, borders, hierarchy, ties
from ..engine.coordinates.observe import read_joints
from ..engine.steppers.samples import Samples
from ..methods.capabilities import IN_RANKS, MOVED_FORCES, require
from ..methods.components import ComponentMethod
from ..methods.part import Crossing, Part, Steps
from ..model import Model
from ..model.errors import UnsupportedError
from ..model.joints import Joint
from ..model.rotation import Array
from ..observe.observer import Block
from .divide import divide
from .exchange import Below, Line
from .joined import COMPILING, JoinedMethod, ask, compile_first, contents, held
from .launch import Ranks
from .links import Link, LinkLost
from .session import Attendant, as_bytes, as_numbers
from .share import Share, centre, excerpt, stand_in


class Window:
    """A rank's share, and where its numbers stand in those of the whole model."""

    def __init__(
        self,
        whole: ComponentMethod,
        compiled: Compiled,
        top: Subsystem,
        names: Sequence[str],
        rank: int,
        steps: Steps,
    ):
        flat = compiled.flat
        tied = ties(flat)
        found = borders(top, tied)
        groups = {part.name: part for part in top.walk() if part.name in names}
        remote = tuple(names) if rank == 0 else ()
        mine = (
            _stubs(top, {name: found[name].ports for name in names}) if rank == 0 else groups[names[rank - 1]]
        )
        held = {part.name for part in mine.walk()} - set(remote)
        guests = [body for name in remote for body in found[name].ports]
        own = [body for body in mine.everybody() if body not in guests]
        self.top = mine.name
        here = [tie for name in held for tie in found[name].ties]
        keys = {(tie.shelf, tie.name) for tie in here}
        strangers = [stand_in(flat.bodies[body]) for body in guests]
        share = excerpt(f"{compiled.name} (rank {rank})", compiled.gravity, flat, own, strangers, keys)
        ports = {} if rank == 0 else {mine.name: found[mine.name].ports}
        points = {body: centre(flat.bodies[body]) for body in guests}
        self.share = Share(share, [mine], here, steps, ports, remote, points)
        assert whole.system.rows is not None
        assert self.share.system.rows is not None
        index = {body: b for b, body in enumerate(whole.system.bodies)}
        bodies = [index[body] for body in self.share.system.bodies]
        self.q, self.v = _spread(bodies, 7), _spread(bodies, 6)
        self.own = len(own)
        rows = {name: i for i, name in enumerate(whole._rows.names)}
        self.rows = np.array([rows[name] for name in self.share.part.rows.names], np.int64)
        places = _places(whole.system.rows.joints)
        mine_ = {key: k for key, k in _places(self.share.system.rows.joints).items() if key[0] in flat.joints}
        self.coords_here = np.array([*mine_.values()], np.int64)
        self.coords = np.array([places[key] for key in mine_], np.int64)
        recorded = [column.name for column in whole.system.rows.recorded]
        self.states = np.array([recorded.index(c.name) for c in self.share.system.rows.recorded], np.int64)
        drives = whole.system.rows.drives
        self.inputs = np.array([drives.index(name) for name in self.share.system.rows.drives], np.int64)

    def set_state(self, q: Array, v: Array) -> None:
        """Take up coordinates and rates of the whole."""
        state = self.share.part.state
        state.q[:], state.v[:] = q[self.q], v[self.v]

    def set_inputs(self, inputs: Array) -> None:
        """Take up commands of the whole."""
        self.share.part.constraints.inputs[:] = inputs[self.inputs]

    def scatter(self, out: Samples, into: Samples) -> None:
        """Samples of this share into those of the whole; energies are added."""
        q, v = 7 * self.own, 6 * self.own
        into.q[:, self.q[:q]], into.v[:, self.v[:v]] = out.q[:, :q], out.v[:, :v]
        into.a[:, self.v[:v]] = out.a[:, :v]
        into.work[:] += out.work
        into.values[:, self.coords] = out.values[:, self.coords_here]
        into.rates[:, self.coords] = out.rates[:, self.coords_here]
        into.forces[:, self.rows] = out.forces
        into.states[:, self.states] = out.states
        into.solver[:, 0] += out.solver[:, 0]
        into.solver[:, 1:3] = np.maximum(into.solver[:, 1:3], out.solver[:, 1:3])


def _places(joints: Iterable[Joint]) -> dict[tuple[str, str], int]:
    """Where rates of joints stand among those of all, by their names."""
    keys = ((joint.name, rate) for joint in joints for rate in joint.rates)
    return {key: k for k, key in enumerate(keys)}


def _spread(bodies: Sequence[int], width: int) -> Array:
    return np.array([width * b + k for b in bodies for k in range(width)], np.int64)


def _stubs(top: Subsystem, ports: dict[str, tuple[str, ...]]) -> Subsystem:
    """The hierarchy in which other ranks' subsystems are their ports."""
    if top.name in ports:
        return Subsystem(top.name, ports[top.name])
    return Subsystem(top.name, top.bodies, tuple(_stubs(child, ports) for child in top.children))


class RankAttendant(Attendant):
    """Answers for a share of a model that all ranks know."""

    def __init__(self, link: Link, window: Window, whole: ComponentMethod):
        self._window = window
        super().__init__(link, window.share, [window.top], whole.state.q[window.q], whole.state.v[window.v])

    def _take(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        super()._take(message, arrays)
        self._window.set_inputs(arrays["inputs"])
        if "q" in arrays:
            self._window.set_state(arrays["q"], arrays["v"])
            self.share.part.stiffen(message["stiff"])

    def _details(self) -> dict[str, Any]:
        rate, speed = fastest(self.share.part)
        return {"rate": rate, "speed": speed}

    def _samples(self, out: Samples) -> dict[str, Array]:
        return out._asdict()

    def _save(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        self._link.tell({"saved": True}, {"state": as_numbers(self.share.pack())})

    def _load(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        self.share.unpack(as_bytes(arrays["state"]))
        self._link.tell({"loaded": True})

    def _force(self, message: dict[str, Any], arrays: dict[str, Array]) -> None:
        set_here(self.share, message["load"], arrays.get("force"), message["body"], arrays["at"])
        self._link.tell({"set": True})


def fastest(part: Part) -> tuple[int, float]:
    """The rate that a part blames for a step that failed, and how large it was."""
    rate = int(part.state.clock.fastest)
    speed = abs(float(part.motion.y_trial[part.system.nv + rate]))
    speed = max(speed, abs(float(part.motion.a[rate])) * part.dt)  # it may be its acceleration that failed
    return rate, speed if np.isfinite(speed) else 1e300


def set_here(share: Share, load: str, force: Array | None, body: str | None, at: Array) -> None:
    """Set a force in a share, if it is there: see Scratch.set_force."""
    if load in share.scratch.forces:
        share.scratch.set_force(load, force, body, at)


class RankedMethod(JoinedMethod):
    """The whole model as rank 0 sees it: its own share, and lines to the others."""

    circumstances = (IN_RANKS,)

    def __init__(self, model: Model | Compiled, steps: Steps, ranks: Ranks):
        if ranks.busy:
            raise UnsupportedError(
                "the ranks of a run hold one simulation, which cannot be exchanged or changed"
            )
        ranks.busy = True
        self._ranks = ranks
        self._lines = []
        self._links = [ranks.link(rank, timeout=COMPILING) for rank in range(1, ranks.size)]
        try:
            self._share_out(Compiled.of(model), steps)
        except BaseException:
            self.close()
            raise

    def _share_out(self, compiled: Compiled, steps: Steps) -> None:
        flat, ranks = compiled.flat, self._ranks
        require(self.columns, flat, compiled.spanning)
        top, names = divide(hierarchy(compiled.model), ties(flat), ranks.size)
        compile_first()
        super().__init__(compiled, steps, top)
        self.scratch.relays.append(self._relay_force)
        for link in self._links:
            link.tell({"do": "begin"})
        self._window = Window(self, compiled, top, names, 0, steps)
        self._share = self._window.share
        for link, name in zip(self._links, names, strict=True):
            inside = next(part for part in top.walk() if part.name == name)
            self._lines.append(Line(link, contents(inside), Crossing(self._share.part, [name])))
        self._relatives = self._below = Below(self._lines)
        self._others = [Window(self, compiled, top, names, rank, steps) for rank in range(1, ranks.size)]
        covered = np.zeros(len(self._constraints.coords), bool)
        for window in (self._window, *self._others):
            covered[window.coords] = True
        self._uncovered = np.flatnonzero(~covered)  # joints that bodies got which hang on nothing
        for line in self._lines:
            ask(line, {"do": "report"})  # all are there
        atexit.register(self.close)
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.part.motion.seen[:] = np.nan
        if self._lines:
            self._share.begin(self.state.q[self._window.q], self.state.v[self._window.v])
            for line in self._lines:
                ask(line, {"do": "reset"})
            self._remember()

    def _holds(self) -> list[str]:
        return held(self._share.part.placement)

    def _together(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        state, share = self.state, self._share
        disturbed = self.part.disturbed
        command: dict[str, Any] = {"do": "advance", "dt": self._dt, "disturbed": disturbed}
        numbers = {
            "targets": np.array(targets, float), "clock": state.times(),
            "inputs": self._constraints.inputs,
        }  # fmt: skip
        if disturbed:
            numbers |= {"q": state.q, "v": state.v}
            stiff = np.flatnonzero(
                self._constraints.rows["stiff"]
            )  # judged by the whole, not by a share of it
            command["stiff"] = [self._rows.names[i] for i in stiff]
        for line in self._lines:
            line.link.tell(command, numbers)
        part = share.part
        part.dt = self._dt
        part.state.set_times(state.times())
        self._window.set_inputs(self._constraints.inputs)
        if disturbed:
            self._window.set_state(state.q, state.v)
            part.stiffen(command["stiff"])
            part.disturb()
        mine = share.room(len(targets))
        with self._timed():
            done, status = part.advance(np.array(targets, float), mine, self._relatives)
        out = self._room(len(targets))
        for array in (out.work, out.solver):
            array[:] = 0.0
        out.t[:] = mine.t
        self._window.scatter(mine, out)
        guilty = []
        if self._below.bad:
            rate, speed = fastest(part)
            guilty.append((-speed, self._window.v[rate]))
        for line, other in zip(self._lines, self._others, strict=True):
            answer, arrays = line.link.hear()
            other.scatter(Samples(**arrays), out)
            if answer["bad"]:
                guilty.append((-answer["speed"], other.v[answer["rate"]]))
        if guilty:
            state.clock.fastest = min(guilty)[1]
        self._take(out, done)
        return done, status, self._block(out)

    def _take(self, out: Samples, done: int) -> None:
        """The last sample is the state of the whole."""
        state, part, motion = self.state, self._share.part, self.part.motion
        guilty = int(state.clock.fastest)
        state.set_times(part.state.times())
        state.clock.fastest = guilty
        self._stats.evaluations = part.stats.evaluations
        self._stats.last_evaluations = part.stats.last_evaluations
        for i in range(done):
            if len(self._uncovered):
                values, rates = out.values[i].copy(), out.rates[i].copy()
                read_joints(self._tables, self._every_row, out.q[i], out.v[i], out.t[i], values, rates)
                out.values[i, self._uncovered], out.rates[i, self._uncovered] = (
                    values[self._uncovered], rates[self._uncovered],
                )  # fmt: skip
            if out.solver[i, 2] > self._stats.gap:
                self._stats.gap, self._stats.gap_time = out.solver[i, 2], out.t[i]
            self._stats.last_gap = out.solver[i, 2]
        if done:
            state.q[:], state.v[:], state.work[:] = out.q[done - 1], out.v[done - 1], out.work[done - 1]
            motion.seen[:] = np.concatenate([state.q, state.v, self._constraints.inputs])

    def _gather(self) -> dict[str, Array]:
        packed = {"rank_0": as_numbers(self._share.pack())}
        for k, line in enumerate(self._lines, 1):
            packed[f"rank_{k}"] = ask(line, {"do": "save"})[1]["state"]
        return packed

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        self._share.unpack(as_bytes(data["rank_0"]))
        for k, line in enumerate(self._lines, 1):
            ask(line, {"do": "load"}, {"state": data[f"rank_{k}"]})

    def info(self) -> dict[str, Any]:
        return {**super().info(), "ranks": self._ranks.size}

    def _relay_force(self, load: str, force: Array | None, body: str | None, at: Array) -> None:
        """Set a force in all shares that have it, or refuse."""
        for window in (self._window, *self._others):
            system = window.share.system
            if load in system.loads and body is not None and body not in system.bodies:
                self.require(
                    MOVED_FORCES, f"force '{load}' is put on body '{body}', which another rank holds"
                )
        set_here(self._share, load, force, body, at)
        arrays = {"at": at} if force is None else {"at": at, "force": force}
        for line in self._lines:
            ask(line, {"do": "force", "load": load, "body": body}, arrays)

    def _went(self, lost: LinkLost) -> NoReturn:
        self._ranks.fail()
        super()._went(lost)

    def close(self) -> None:
        for link in self._links:
            with contextlib.suppress(LinkLost):
                link.tell({"do": "end"})
            link.close()


@cache
def ranks() -> Ranks:
    """The ranks of this run."""
    made = Ranks()
    if made.rank == 0:
        atexit.register(made.leave)
    return made


def serve_rank(model: Model | Compiled, steps: Steps) -> NoReturn:
    """What a rank other than 0 does: answer for its share until rank 0 ends."""
    world = ranks()
    with world:
        link = world.link(0, timeout=None)
        if link.hear()[0]["do"] == "end":  # rank 0 could not begin, and says why
            raise SystemExit(0)
        compiled = Compiled.of(model)
        top, names = divide(hierarchy(compiled.model), ties(compiled.flat), world.size)
        whole = ComponentMethod(compiled, steps, top)
        window = Window(whole, compiled, top, names, world.rank, steps)
        RankAttendant(link, window, whole).serve()
    raise SystemExit(0)
