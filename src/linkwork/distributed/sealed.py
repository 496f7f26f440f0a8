"""Models with sealed components: each runs in a process of its own, here or on another host."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..compile.compiler import Compiled, compile_apart
from ..compile.elimination import Placement
from ..compile.partition import refine
from ..compile.spanning import Edge
from ..compile.subsystems import Subsystem, borders, hierarchy
from ..methods.capabilities import WITH_SEALED_PARTS, require
from ..methods.part import Crossing, Steps
from ..methods.rows import Start
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..model.sealed import sealed_parts
from ..observe.observer import Block
from .exchange import Below, Line
from .handshake import call
from .joined import COMPILING, JoinedMethod, ask, compile_first
from .launch import Servant
from .links import Link
from .share import foreign, without_ports


class SealedMethod(JoinedMethod):
    """A model with sealed components: their ports are bodies here, all else is known to their own processes only."""

    circumstances = (WITH_SEALED_PARTS,)

    def __init__(self, model: Model | Compiled, steps: Steps, partition: Subsystem | None = None):
        compiled = Compiled.of(model)
        require(self.columns, compiled.flat, compiled.spanning)
        self._sealed = dict(sealed_parts(compiled.model))
        self._asked = {
            "ask": "join", "gravity": compiled.gravity, "integrator": steps.integrator, "dt": steps.dt,
            "tolerance": steps.tolerance,
        }  # fmt: skip
        self._servants: list[Servant] = []
        self._lines = []
        self._links: dict[str, Link] = {}
        self._joined = False
        self._guilty: list[str] = []
        compile_first()  # the others find it done
        try:
            with ThreadPoolExecutor() as pool:  # processes take a second to start, all at once
                self._links = dict(zip(self._sealed, pool.map(self._call, self._sealed), strict=True))
            super().__init__(compiled, steps, partition)
        except BaseException:
            self.close()
            raise

    def _call(self, name: str) -> Link:
        part = self._sealed[name]
        address = part.sealed
        if not part.remote:
            servant = Servant(part.sealed)
            self._servants.append(servant)
            address = servant.address
        link = call(address)
        link.peer = f"'{name}' ({part.sealed})"
        link.timeout = COMPILING
        return link

    def _first_start(self, compiled: Compiled) -> Start:
        shown = without_ports(compiled.model, compiled.flat, 0.0)
        # To find a start, anything will do that has inertia.
        self._shown = Compiled(without_ports(compiled.model, compiled.flat, 1.0))
        return Start(self._shown, True, lambda _: compile_apart(shown, {}))

    def _merged(self, compiled: Compiled) -> tuple[Edge, ...]:
        return ()  # nobody here knows what is inside

    def _subsystems(self, compiled: Compiled) -> Subsystem:
        return refine(hierarchy(compiled.model), self._tied, remote=tuple(self._sealed))

    def _placement(self) -> Placement:
        remote = tuple(self._sealed)
        return Placement([self.partition], borders(self.partition, self._tied, remote=remote), remote)

    def _prepare(self, start: Start) -> None:
        super()._prepare(start)
        foreign(self.part, self._sealed)
        self._lines = [Line(link, (name,), Crossing(self.part, [name])) for name, link in self._links.items()]
        self._relatives = Below(self._lines)

    def reset(self) -> None:
        super().reset()
        for line in self._lines:
            if self._joined:
                ask(line, {"do": "reset"})
            else:
                self._join(line)
        self._joined = True
        self._remember()

    def _join(self, line: Line) -> None:
        part = self._sealed[line.names[0]]
        ports = [port.name for port in part.header.ports]
        placed = {"at": part.at, "rotation": part.rotation, "mirror": part.mirror}
        answer, _ = ask(line, {**self._asked, "ports": ports, **placed})
        if "joined" not in answer:
            raise LinkworkError(f"component {line}: answered {answer} when it was asked to join")

    def _together(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        state = self.state
        command = {"do": "advance", "dt": self._dt, "disturbed": self.part.disturbed}
        for line in self._lines:
            line.link.tell(command, {"targets": np.array(targets, float), "clock": state.times()})
        done, status, block = self._own(targets)
        self._guilty = [str(line) for line in self._lines if line.link.hear()[0].get("bad")]
        return done, status, block

    def blame(self) -> str:
        if not self._guilty:
            return ""
        return f"inside component {self._guilty[0]} something is running away or not a number"

    def _gather(self) -> dict[str, Array]:
        return {f"sealed_{line.names[0]}": ask(line, {"do": "save"})[1]["state"] for line in self._lines}

    def make_room(self, data: dict[str, Array]) -> None:
        super().make_room(data)
        for line in self._lines:
            ask(line, {"do": "load"}, {"state": data[f"sealed_{line.names[0]}"]})

    def close(self) -> None:
        super().close()
        for servant in self._servants:
            servant.close()
