"""Sealed components in motion: five processes move as one, and what happens if one of them ends."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.processes import PATIENCE, all_end, started
from helpers.sealed_cars import sealed_car, sealed_corner
from linkwork import (
    Body,
    Component,
    Hinge,
    LinkworkError,
    Model,
    ModelError,
    Sealed,
    Simulation,
    UnsupportedError,
)
from linkwork.distributed import handshake
from linkwork.distributed.links import TIMEOUT
from linkwork.distributed.sealed_file import seal
from linkwork.distributed.tcp import TcpLink
from linkwork.engine.steppers.motion import VOTE
from linkwork.model.errors import PartLostError, SimulationError
from linkwork.scenes import car

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines between processes need Linux or macOS")


def moving(model: Model, **options) -> Simulation:
    return Simulation(model, method="components", **options)


def servants(sim: Simulation) -> list[int]:
    """Processes of sealed components."""
    return [part["process"] for part in sim.method.times()[1:]]


def test_five_processes_move_like_the_open_car(tmp_path: Path) -> None:
    """Mirrored corners and plain ones. Rounding differs: ports float at the origins of bodies, not at their centres."""
    sim = moving(sealed_car(sealed_corner(tmp_path)))
    pids = servants(sim)
    try:
        sealed = sim.run(0.2)
    finally:
        sim.method.close()
    whole = moving(car.build()).run(0.2)
    assert len(set(pids)) == 4
    for axis in "xyz":
        name = f"chassis.position.{axis}"
        np.testing.assert_allclose(sealed[name], whole[name], rtol=0.0, atol=1e-12)
        name = f"front_right.hub.arm.position.{axis}"
        np.testing.assert_allclose(sealed[name], whole[name], rtol=0.0, atol=1e-12)
    # Power through ports counts as work: what is lost or gained is the error of the integrator, order four.
    assert np.abs(sealed["energy.balance"]).max() < 1e-6 * np.abs(whole["energy.gravity"]).max()
    inside = {f"{corner}.{name}" for corner in car.CORNERS for name in ("hub.wheel", "damper.lower")}
    bodies = {name.partition(".position")[0] for name in sealed.groups["positions"].columns}
    assert not bodies & inside
    assert bodies == {"chassis"} | {
        f"{c}.{port}" for c in car.CORNERS for port in ("hub.arm", "damper.upper")
    }
    assert [process["components"] for process in sealed.info["processes"][1:]] == [[c] for c in car.CORNERS]
    all_end(pids)


def test_a_killed_component_is_named_and_the_run_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = sealed_car(sealed_corner(tmp_path), ("front_left", "rear_right"))
    sim = moving(model)
    sim.step(10)
    pids = servants(sim)
    died: list[float] = []
    victim = next(p["process"] for p in sim.method.times() if p["components"] == ["rear_right"])

    def kill() -> None:
        died.append(time.monotonic())
        os.kill(victim, signal.SIGKILL)

    threading.Timer(0.5, kill).start()
    with pytest.raises(
        PartLostError, match=r"component 'rear_right' is lost: .* closed the connection"
    ) as caught:
        sim.run(600.0)
    assert time.monotonic() - died[0] < TIMEOUT  # not by its silence
    (state,) = tmp_path.glob("*.state.npz")
    assert f"saved as {state.name}" in str(caught.value)
    kept = sim.time
    all_end(pids)
    again, whole = moving(model), moving(model)
    try:
        again.load_state(state)
        assert again.time == kept
        again.step(50)
        whole.step(round(kept / 1e-3) + 50)
        np.testing.assert_array_equal(again.q, whole.q)
        np.testing.assert_array_equal(again.v, whole.v)
    finally:
        again.method.close()
        whole.method.close()


def test_one_that_dies_between_steps_leaves_a_whole_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = moving(sealed_car(sealed_corner(tmp_path), ("front_left",)))
    sim.step(20)
    pids = servants(sim)
    os.kill(pids[0], signal.SIGKILL)
    all_end(pids)
    with pytest.raises(PartLostError, match="component 'front_left' is lost"):
        sim.save_state("x.npz")
    assert not Path("x.npz").exists()
    sim.save_state("x.npz")  # where all last agreed
    with pytest.raises(LinkworkError, match="front_left"):
        sim.step(1)


def test_nothing_crosses_but_states_responses_forces_and_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a sealed component and the car tell each other in a step, counted on the line itself."""
    sim = moving(sealed_car(sealed_corner(tmp_path), ("front_left",)))
    sent: list[int] = []
    came: list[int] = []
    told: list[dict] = []
    heard: list[tuple[dict, dict]] = []
    send, receive, tell, hear = TcpLink.send, TcpLink.receive, TcpLink.tell, TcpLink.hear
    # The one line of this process; the component has its end in another.
    monkeypatch.setattr(TcpLink, "send", lambda line, x: (sent.append(x.size), send(line, x))[1])
    monkeypatch.setattr(TcpLink, "receive", lambda line, x: (came.append(x.size), receive(line, x))[1])
    monkeypatch.setattr(TcpLink, "tell", lambda line, m, a=None: (told.append(m), tell(line, m, a))[1])

    def listen(line, timeout=None):
        heard.append(hear(line, timeout))
        return heard[-1]

    monkeypatch.setattr(TcpLink, "hear", listen)
    sim.step(5)
    sim.method.close()
    bodies = 2  # its ports
    states, forces, votes = 13 * bodies, 6 * bodies, len(VOTE.names)
    D = forces * forces
    assert set(sent) <= {forces, 3 * forces, votes}
    scales = forces  # how large M⁻¹ is at all, for which rounding is judged, at the end of a step
    assert set(came) <= {states, D + forces, D + 3 * forces + scales, votes}
    assert {states, votes} <= set(came)
    assert {"advance", "save", "end"} >= {message["do"] for message in told}
    for message, arrays in heard:
        assert set(message) <= {"done", "status", "bad", "saved"}
        assert set(arrays) <= {"state"}  # encrypted


def test_served_at_an_address(tmp_path: Path) -> None:
    file = sealed_corner(tmp_path)
    command = [sys.executable, "-m", "linkwork", "serve", file, "--port", "0", "--once"]
    with started(command) as server:
        address = server.stdout.readline().split()[-1]
        model = sealed_car(address, ("front_left", "front_right"))
        sim = moving(model)
        joined = sim.run(0.1)
        sim.method.close()
        here = moving(sealed_car(file, ("front_left", "front_right")))
        same = here.run(0.1)
        here.method.close()
        np.testing.assert_array_equal(joined.array("positions"), same.array("positions"))
        assert server.wait(PATIENCE) == 0


def test_comparing_two_suppliers(tmp_path: Path) -> None:
    """A softer spring lets its corner sink deeper; what does not fit is refused."""
    hard, soft = sealed_corner(tmp_path), sealed_corner(tmp_path, 20000.0)
    heights = []
    for source in (hard, soft):
        sim = moving(sealed_car(source, ("front_left",)))
        sim.step(300)
        heights.append(sim.point("chassis", (1.3, 0.75, 0.0))[0][2])
        sim.method.close()
    assert heights[1] < heights[0] - 1e-3
    other = Component("other", ports=("arm",))
    other.add(Body("arm", mass=1.0))
    seal(other, tmp_path / "other.sealed", ["arm"])
    with pytest.raises(ModelError, match=r"the new component has no port 'hub\.arm' \(its ports: 'arm'\)"):
        car.build().replace("front_left", str(tmp_path / "other.sealed"))
    with pytest.raises(LinkworkError, match="there is no such file"):
        car.build().replace("front_left", str(tmp_path / "nothing.sealed"))
    sealed = sealed_car(hard, ("front_left",))
    with pytest.raises(LinkworkError, match="'front_left' is sealed: nothing inside it can be replaced"):
        sealed.replace("front_left.damper", other)


def arm(**options) -> Component:
    """A secret weight on a hinge inside."""
    made = Component("arm", ports=("mount",))
    made.add(Body("mount", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    made.add(Body("secret", at=(0.5, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)))
    made.add(Hinge("classified", "mount", "secret", axis=(0, 1, 0), **options))
    return made


def holder(folder: Path, inside: Component) -> Model:
    seal(inside, folder / "arm.sealed", ["mount"])
    model = Model("holder")
    model.add(Body("base", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Sealed("hand", str(folder / "arm.sealed")))
    model.add(Hinge("turn", "base", "hand.mount", axis=(0, 0, 1)))
    return model


def test_what_fails_inside_is_told_without_the_inside(tmp_path: Path) -> None:
    with pytest.raises(LinkworkError, match="component 'hand': its inside cannot be simulated") as caught:
        moving(holder(tmp_path, arm(limits=(-1.0, 1.0))))
    assert "classified" not in str(caught.value)
    assert "secret" not in str(caught.value)
    sim = moving(holder(tmp_path, arm(spring=1e14, rest=0.1)))
    with pytest.raises(SimulationError, match="inside component 'hand' something is running away") as caught:
        sim.run(1.0)
    assert "classified" not in str(caught.value)
    sim.reset()
    sim.method.close()


def test_models_in_motion_are_not_exchanged(tmp_path: Path) -> None:
    model = holder(tmp_path, arm())
    sim = moving(model)
    with pytest.raises(
        UnsupportedError, match="parts in other processes and cannot be changed while it moves"
    ):
        sim.alter(model)
    sim.step(3)
    sim.method.close()


def test_a_state_of_another_component_is_refused(tmp_path: Path) -> None:
    sim = moving(holder(tmp_path, arm()))
    sim.step(3)
    sim.save_state(tmp_path / "x.npz")
    sim.method.close()
    other = moving(holder(tmp_path, arm(damping=1.0)))
    with pytest.raises(LinkworkError, match="component 'hand': cannot take up that state"):
        other.load_state(tmp_path / "x.npz")
    other.method.close()


def test_a_busy_server_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = sealed_corner(tmp_path)
    command = [sys.executable, "-m", "linkwork", "serve", file, "--port", "0"]
    with started(command) as server:
        address = server.stdout.readline().split()[-1]
        model = sealed_car(address, ("front_left",))
        line = handshake.call(address)
        monkeypatch.setattr(handshake, "MODEL", "another")
        with pytest.raises(LinkworkError, match=r"refused: busy with the model of 127\.0\.0\.1"):
            moving(model)
        line.close()
