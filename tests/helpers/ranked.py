"""What the ranks of tests/distributed/test_ranked.py do: `mpiexec -n N python ranked.py CASE FOLDER [more]`."""

import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from linkwork import Actuator, Body, Components, Force, Hinge, Model, Simulation
from linkwork.methods.components import ComponentMethod
from linkwork.methods.options import option
from linkwork.methods.part import Steps
from linkwork.model.errors import LinkworkError, PartLostError, SimulationError
from linkwork.scenes import car, n_four_bar, peaucellier


def built_up() -> Model:
    """Four four-bars, driven from both ends by actuators that own a state."""
    model = n_four_bar.build(4)
    for k, torque in ((0, 20.0), (4, -5.0)):
        model.add(Actuator(f"drive{k}", f"A{k}", time_constant=0.05, command=torque))
    return model


MODELS = {
    "built_up": built_up,
    "car": car.build,
    "isostatic": lambda: car.build("isostatic"),
    "peaucellier": lambda: peaucellier.build(swing=0.5),
    "four_bars": lambda: n_four_bar.build(4),
}


@dataclass(frozen=True, kw_only=True)
class Alone(Components):
    """All subsystems in this process, whoever else there is; divided as they are in another simulation."""

    like: Simulation | None = option(None, "The other simulation.")  # noqa: RUF009

    def _build(self, model: Model, dt: float) -> ComponentMethod:
        return ComponentMethod(
            model, Steps(self.integrator, dt, self.like.tolerance), self.like.method.partition
        )


def alone(sim: Simulation) -> Simulation:
    """The same model in the same subsystems, all in this process."""
    return Simulation(sim.model, method=Alone(integrator=sim.integrator, like=sim), dt=sim.dt)


def same(one, other) -> None:
    """Equal bit for bit; energies to rounding, for their parts are summed in another order."""
    assert one.groups.keys() == other.groups.keys()
    np.testing.assert_array_equal(one.time, other.time)
    assert len(one.time) > 5
    for group in one.groups:
        mine, theirs = one.array(group), other.array(group)
        if group == "energy":
            most = np.abs(theirs).max()
            # A few additions a step, each of which may err by half a unit in the last place.
            np.testing.assert_allclose(
                mine, theirs, rtol=0.0, atol=most * 2.3e-16 * 20 * np.sqrt(one.info["steps"])
            )
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=group)


def equal(name: str, integrator: str) -> None:
    sim = Simulation(MODELS[name](), method="components", integrator=integrator)
    with_ranks = sim.run(0.3)
    assert type(sim.method).__name__ == "RankedMethod"
    if name == "built_up":  # the exact state of a lag behind a constant command
        for drive, torque in (("drive0", 20.0), ("drive4", -5.0)):
            exact = torque * (1.0 - np.exp(-with_ranks.time / 0.05))
            np.testing.assert_allclose(with_ranks[f"{drive}.built_up"], exact, atol=1e-5 * abs(torque))
    same(with_ranks, alone(sim).run(0.3))
    write("processes", with_ranks.info["processes"])


def scene() -> Model:
    """Peaucellier's linkage with a motor and a force that can be set."""
    model = peaucellier.build(swing=0.5)
    model.add(Force("push", "AD", force=(0.0, 0.0, 0.0)))
    return model


def meddle() -> None:
    """Everything that a user may do between steps, in ranks and alone."""
    sim = Simulation(scene(), method="components", integrator="adams")
    other = alone(sim)
    records = []
    for each in (sim, other):
        each.step(20)
        each.command("motor", 0.3)
        each.step(20)
        each.set_force("push", (1.0, 2.0, 0.0))
        each.step(20)
        each.set_force("push", (0.0, 5.0, 0.0), body="AD", at=(0.1, 0.0, 0.0))
        each.step(10, dt=5e-4)
        each.v[:] *= 0.5
        path = FOLDER / f"{id(each)}.npz"
        each.save_state(path)
        first = each.run(0.05, every=0.005)
        each.reset()
        assert each.time == 0.0
        each.load_state(path)
        records.append(each.run(0.05, every=0.005))
        same(first, records[-1])
        np.testing.assert_array_equal(each.accelerations(), each.accelerations())
    same(*records)
    np.testing.assert_array_equal(sim.q, other.q)
    np.testing.assert_array_equal(sim.accelerations(), other.accelerations())
    kept = sim.q.copy()
    refused("is put on body '\\w+', which another rank holds", put_everywhere, sim)
    refused("cannot be exchanged or changed", sim.alter, scene())
    refused("hold one simulation", Simulation, scene(), method="components")
    refused("is not a saved state|was saved from another", sim.load_state, path)  # of one process
    np.testing.assert_array_equal(sim.q, kept)
    sim.step(5)  # none of that did any harm


def put_everywhere(sim: Simulation) -> None:
    """Somewhere it is refused, for two ranks share the bodies."""
    for body in sim.system.bodies:
        sim.set_force("push", (0.0, 0.0, 0.0), body=body)


def refused(text: str, call, *arguments, **options) -> None:
    with pytest.raises(LinkworkError, match=text):
        call(*arguments, **options)


def killed(victim: int) -> None:
    """A rank dies in the middle of a run; the state that was saved is told."""
    os.chdir(FOLDER)
    sim = Simulation(car.build(), method="components")
    sim.run(0.05)
    pids = [process["process"] for process in sim.method.times()]
    names = sim.method.times()[victim]["components"]
    write("pids", pids)
    died: list[float] = []

    def kill() -> None:
        died.append(time.monotonic())
        os.kill(pids[victim], signal.SIGKILL)

    threading.Timer(0.5, kill).start()
    try:
        sim.run(600.0)
    except PartLostError as error:
        took = time.monotonic() - died[0]
        write("lost", {"what": str(error), "after": took, "names": names, "time": sim.time})
        raise


def resumed(state: str) -> None:
    """A new run goes on from a state; the same motion as one that was never interrupted."""
    sim = Simulation(car.build(), method="components")
    sim.load_state(FOLDER / state)
    whole = alone(sim)
    began = sim.time
    sim.step(100)
    whole.step(round(began / sim.dt) + 100)
    assert sim.time == whole.time
    np.testing.assert_array_equal(sim.q, whole.q)
    np.testing.assert_array_equal(sim.v, whole.v)
    write("resumed", began)


def row(**options: object) -> Model:
    """Six bodies on hinges."""
    model = Model("row")
    for k in range(6):
        model.add(Body(f"b{k}", at=(float(k), 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)))
        before, at = "ground" if k == 0 else f"b{k - 1}", (k - 0.5, 0.0, 0.0)
        model.add(Hinge(f"h{k}", before, f"b{k}", at=at, axis=(0, 1, 0), **(options if k == 3 else {})))
    return model


def runaway(name: str) -> None:
    """A force that no step can follow, on a body of some rank."""
    model = row()
    model.add(Force("blow", name, force=(0.0, 0.0, 1e12)))
    sim = Simulation(model, method="components")
    said = []
    for each in (sim, alone(sim)):
        with pytest.raises(SimulationError) as caught:
            each.run(1.0)
        said.append(str(caught.value))
    assert said[0] == said[1]
    write("failed", said[0])


def refuse(what: str) -> None:
    if what == "switching":
        Simulation(row(attached=((0.0, 1.0),)), method="components")
    elif what == "sealed":
        from linkwork import Sealed

        model = Model("car")
        model.add(Sealed("corner", str(FOLDER / "corner.sealed")))
        Simulation(model, method="components")
    elif what == "many":
        Simulation(n_four_bar.build(1), method="components")
    else:
        sim = Simulation(car.build(), method="components")
        sim.step(3)
        raise ValueError("the user made a mistake")


def write(name: str, what: object = None) -> None:
    (FOLDER / name).write_text(json.dumps(what))


if __name__ == "__main__":
    case, FOLDER = sys.argv[1], Path(sys.argv[2])
    more = [json.loads(text) for text in sys.argv[3:]]
    {f.__name__: f for f in (equal, meddle, killed, resumed, runaway, refuse)}[case](*more)
    print("all is well", flush=True)
