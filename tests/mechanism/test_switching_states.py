"""Joints that come and go: saved states, studies, model files, refusals and the live session."""

import math

import numpy as np
import pytest

from helpers.runs import bits
from helpers.switched import arm, crane, pendulum, smooth_ways
from linkwork import (
    Body,
    Hinge,
    LinkworkError,
    Model,
    ModelError,
    Simulation,
    Spherical,
    UnsupportedError,
    check,
    equilibrium,
    load_model,
    save_model,
)
from linkwork.live.session import Session
from linkwork.model.item import GROUND

# --- state ---
SAVED = [
    *(("arm", m, s, i) for m in ("simgc", "simmc") for s, i in (("direct", "adams"), ("impulses", None))),
    ("arm", "simgc", "direct", "adaptive"),
    ("arm", "components", None, "rk4"),
    ("arm", "components", None, "adaptive"),
    *(("crane", m, s, None) for m in ("simgc", "simmc") for s in ("direct", "impulses")),
]


@pytest.mark.parametrize(("which", "method", "solver", "integrator"), SAVED)
def test_runs_resume_and_repeat_to_the_last_bit(which, method, solver, integrator, tmp_path):
    model = arm(((0.0503, 0.1203), (0.15, 0.25))) if which == "arm" else crane(((0.0, 0.1), (0.25, 0.35)))

    def fresh():
        return Simulation(model, method=method, solver=solver, integrator=integrator)

    whole = fresh()
    record = whole.run(0.4, every=0.1)
    expected = bits(whole)
    first = fresh()
    for k, part in enumerate((0.1, 0.1, 0.1)):
        first.run(part, every=0.1)
        resumed = fresh()
        first.save_state(tmp_path / "part.npz")
        resumed.load_state(tmp_path / "part.npz")
        assert resumed.attached == first.attached
        resumed.run(0.1 * (3 - k), every=0.1)
        assert bits(resumed) == expected
    changes = whole.changes
    whole.reset()
    again = whole.run(0.4, every=0.1)
    assert bits(whole) == expected
    assert whole.changes == changes
    for group in ("positions", "energy"):
        np.testing.assert_array_equal(again.array(group), record.array(group))


@smooth_ways
def test_altered_models_go_on_with_what_is_attached(method, solver):
    one, other = (Simulation(arm(()), method=method, solver=solver) for _ in range(2))
    for simulation in (one, other):
        simulation.run(0.2)
        simulation.attach("grip")
        simulation.run(0.1)
    other.alter(arm(()))
    assert other.attached == {"grip"}
    assert other.changes == one.changes
    for simulation in (one, other):
        simulation.run(0.2)
    np.testing.assert_allclose(other.point("hand")[0], one.point("hand")[0], atol=1e-9)
    place = other.point("hand", (0.2, 0.1, 0.0))[0]
    other.release("grip")
    other.run(0.1)
    assert np.abs(other.point("hand", (0.2, 0.1, 0.0))[0] - place).max() > 1e-3


def test_a_saved_state_of_other_spans_is_refused(tmp_path):
    simulation = Simulation(arm())
    simulation.save_state(tmp_path / "state.npz")
    with pytest.raises(LinkworkError, match="another model"):
        Simulation(arm(((0.3, 0.8),))).load_state(tmp_path / "state.npz")


# --- studies, files, refusals ---


def test_the_doctor_and_statics_see_the_mechanism_as_it_starts():
    held, loose = check(pendulum(((0.0, 1.0),)), test_run=False), check(pendulum(()), test_run=False)
    assert (held.mobility, loose.mobility) == (1, 6)
    assert (held.dof, loose.dof) == (1, 6)
    assert any("as it starts" in finding.what for finding in loose.findings)
    model = pendulum(None)
    model.add(Spherical("grip", "rod", GROUND, at=(1.0, 0.0, 0.0), attached=((0.1, 0.2),)))
    assert check(model).ok
    found = equilibrium(model)
    assert found.posed().joints["pivot"].position == pytest.approx((math.pi / 2,), abs=1e-6)
    found = equilibrium(pendulum(((0.0, 1.0),)))
    assert abs(found.values["pivot.angle"]) == pytest.approx(math.pi / 2, abs=1e-6)


def test_files(tmp_path):
    model = arm(((0.0, 2.0), (3.0, None)))
    save_model(model, tmp_path / "arm.yaml")
    again = load_model(tmp_path / "arm.yaml")
    assert again.joints["grip"].attached == ((0.0, 2.0), (3.0, None))
    assert again.joints["grip"] == model.joints["grip"]


FILE = """linkwork: 1
name: arm
bodies:
  rod: {{mass: 1, inertia: [1, 1, 1]}}
joints:
  grip:
    type: hinge
    a: ground
    b: rod
    attached: {}
"""

BAD = [
    ("[[2, 1]]", "ends after it begins"),
    ("[[1, 1]]", "ends after it begins"),
    ("[[1, 3], [2, 4]]", "one after the other"),
    ("[[3, 4], [1, 2]]", "one after the other"),
    ("[[1, null], [2, 3]]", "never ends"),
    ("[[null, 2]]", "needs a beginning"),
    ("[[-1, 2]]", "attached"),
    ("[1, 2]", "attached"),
    ("soon", "attached"),
]


@pytest.mark.parametrize(("spans", "what"), BAD)
def test_bad_spans_are_told_with_file_and_line(spans, what, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(FILE.format(spans))
    with pytest.raises(ModelError) as caught:
        load_model(path)
    text = str(caught.value)
    assert "bad.yaml:10" in text
    assert "grip" in text
    assert what in text


def test_refusals():
    with pytest.raises(ModelError, match="not attached then"):
        Hinge("pivot", GROUND, "rod", attached=((1.0, 2.0),), velocity=1.0)
    with pytest.raises(UnsupportedError, match=r"'pivot' is attached and released.*'simgc'"):
        Simulation(pendulum(()), method="tree")
    simulation = Simulation(arm())
    with pytest.raises(LinkworkError, match=r"no joint 'grp'.*grip"):
        simulation.attach("grp")
    with pytest.raises(LinkworkError, match="'elbow' always holds"):
        simulation.release("elbow")
    plain = Model("plain")
    plain.add(Body("rod", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    plain.add(Hinge("pivot", GROUND, "rod"))
    with pytest.raises(UnsupportedError, match=r"'tree'.*'pivot'"):
        Simulation(plain).attach("pivot")


# --- live ---


def test_an_operator_attaches_and_releases():
    with Session(arm(()), paused=True) as session:
        assert session.switches == {"grip": False}
        session.attach("grip", True).result()
        assert session.switches == {"grip": True}
        session.loop.step(10).result()
        session.attach("grip", False).result()
        assert session.switches == {"grip": False}
        with pytest.raises(LinkworkError, match="no joint 'grp'"):
            session.attach("grp", True)
