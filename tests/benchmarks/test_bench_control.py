"""The benchmark of control diagrams: all programs have the same diagram, and every figure is told."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks import control, page
from benchmarks.peer_diagrams import bdsim_chain, control_chain
from linkwork import Simulation
from linkwork.scenes import find_scene

MADE = {"machine": "a machine", "linkwork": "0", "repetitions": 3, "bdsim": "1.4"}
ROW = {
    "stages": 2, "blocks": 9, "linkwork_us": 0.5, "linkwork_spread": 0.1, "ns_per_block": 55.0, "bdsim_us": 80.0,
    "bdsim_spread": 1.0, "ratio_bdsim": 160.0, "control_us": None, "control_spread": None, "ratio_control": None,
}  # fmt: skip
SCENE = {
    "scene": "krt100_driven",
    "blocks": 29,
    "step_us": 60.0,
    "step_spread": 1.0,
    "diagram_us": 1.2,
    "share": 0.02,
}
DATA = control.ControlResult(False, MADE, [ROW], [SCENE], ["control is not installed"]).to_dict()


@pytest.mark.parametrize("make", [bdsim_chain, control_chain])
def test_other_programs_move_the_same_diagram_alike(make):
    pytest.importorskip(make.__name__.removesuffix("_chain"))
    peer = make(3)
    # Saturated at first, then not: corners lie within steps of the other's integrator.
    found = solve_ivp(peer.rates, (0.0, 1.5), np.zeros(3), rtol=1e-9, atol=1e-11, max_step=2e-3)
    record = Simulation(control.chain(3), method="simgc", integrator="rk4", dt=1e-3).run(1.5)
    for k in range(3):
        assert abs(record[f"state{k}.out"][-1] - found.y[k, -1]) < 1e-7
    assert (np.abs(record["bound0.out"]) == control.LIMIT).any()


def test_tables_and_page_have_every_figure():
    text = page.render_control(DATA)
    assert "| 9 | 0.5 ±20% | 55 | 80 ±1% | 160 | - | - |" in text
    assert "| krt100_driven | 29 | 60 ±2% | 1.2 | 2.0% |" in text
    assert "| share of the diagram in a step of krt100_driven | ≤ 0.05 | 0.02 | yes |" in text
    assert not set(control.HOW) - {key for key in control.HOW if f"`{key}`" in text}


def test_what_the_operator_does_there_can_be_done():
    for name in control.VEHICLES:
        blocks = find_scene(name).build().control
        for channel in control.DRIVEN[name]:
            block, _, port = channel.rpartition(".")
            assert port in [port.name for port in blocks[block].ports()]
