"""Functions of arrays: against a second formulation, against each other, their shapes and errors."""

import numpy as np
import pytest

from helpers.loops import looped
from linkwork import Dynamics, LinkworkError, Simulation, UnsupportedError, scene

WITHOUT = ("limits", "dry friction")


def random_state(dynamics, seed):
    """A state on the constraints, near the start."""
    random = np.random.default_rng(seed)
    q = dynamics.move(dynamics.q0, 0.05 * random.normal(size=dynamics.nv))
    return dynamics.project(q, random.normal(size=dynamics.nv))


def accelerations_of_bodies(dynamics, q, v, a):
    """Of every body: angular acceleration and acceleration of the origin."""
    found = [dynamics.jacobian(q, b) @ a + dynamics.jacobian_drift(q, v, b) for b in dynamics.bodies]
    return np.array(found)


def floating_accelerations(model, q, v):
    """The same, with every body floating and every joint as equations."""
    sim = Simulation(model, method="simmc", dt=1e-7)  # nothing is too stiff for such a step
    sim.q[:], sim.v[:] = sim.method._start.of_tree(q, v)
    sim.method.disturb()
    return np.array(
        [
            np.r_[sim[f"{name}.angular_acceleration"], sim[f"{name}.acceleration"]]
            for name in sim.system.bodies
        ]
    )


def same_accelerations(model, dynamics, q, v):
    ours = accelerations_of_bodies(dynamics, q, v, dynamics.forward(q, v))
    theirs = floating_accelerations(model, q, v)
    error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1.0)
    assert error < 1e-10, f"off by {error:.1e}"


LOOPS = ["peaucellier", "bennett", "crank_rocker", "double_four_bar", "slidercrank3d", "stewart", "excavator"]


@pytest.mark.parametrize("name", LOOPS)
def test_forward_dynamics_of_loops_is_that_of_floating_bodies(name):
    """Maximal coordinates share neither tree nor the rows of its joints."""
    model = scene(name)
    dynamics = Dynamics(model, without=WITHOUT)
    same_accelerations(model, dynamics, *random_state(dynamics, 1))


def test_forward_dynamics_of_random_loops_is_that_of_floating_bodies():
    compared = 0
    for seed in range(12):
        model = looped(np.random.default_rng(seed), seed, passive=True)
        dynamics = Dynamics(model, without=WITHOUT)
        if dynamics.nv > np.linalg.matrix_rank(dynamics.constraint_jacobian(dynamics.q0)):
            same_accelerations(model, dynamics, *dynamics.project(dynamics.q0, dynamics.v0))
            compared += 1
    assert compared > 5


# --- against each other ---


SCENES = ["puma560", "spherical_pendulum", *LOOPS]


@pytest.mark.parametrize("name", SCENES)
def test_the_equations_of_motion_hold(name):
    dynamics = Dynamics(scene(name), without=WITHOUT)
    q, v = random_state(dynamics, 2)
    tau = np.random.default_rng(3).normal(size=dynamics.nv)
    a, lam = dynamics.forward(q, v, tau), dynamics.constraint_forces(q, v, tau)
    H, h, Q = dynamics.mass_matrix(q), dynamics.bias(q, v), dynamics.applied(q, v)
    J, w = dynamics.constraint_jacobian(q), dynamics.constraint_accelerations(q, v)
    scale = np.abs(H) @ np.abs(a) + np.abs(h) + np.abs(Q) + np.abs(J.T) @ np.abs(lam)
    assert np.abs(H @ a + h - tau - Q - J.T @ lam).max() < 1e-12 * scale.max()
    assert np.abs(J @ a - w).max(initial=0.0) < 1e-11 * max(np.abs(a).max(), 1.0) * max(
        np.abs(J).max(initial=0.0), 1.0
    )
    back = dynamics.inverse(q, v, a)
    assert np.abs(back - tau - J.T @ lam).max() < 1e-12 * scale.max()
    assert np.allclose(H, H.T, rtol=0.0, atol=1e-13 * np.abs(H).max())
    assert np.abs(dynamics.gravity(q) - dynamics.bias(q, np.zeros(dynamics.nv))).max() == 0.0


@pytest.mark.parametrize("name", ["puma560", "bennett", "stewart"])
def test_kinematics_agree_with_differences(name):
    """Central differences with a stride of 1e-5: errors of some 1e-10."""
    dynamics = Dynamics(scene(name), without=WITHOUT)
    q, v = random_state(dynamics, 4)
    body, at, h = dynamics.bodies[-1], (0.1, 0.2, -0.3), 1e-5
    ahead, behind = (dynamics.move(q, s * h * v) for s in (1.0, -1.0))
    rate = (dynamics.pose(ahead, body, at)[0] - dynamics.pose(behind, body, at)[0]) / (2 * h)
    J = dynamics.jacobian(q, body, at)
    assert np.allclose((J @ v)[3:], rate, atol=1e-8)
    drift = (dynamics.jacobian(ahead, body, at) - dynamics.jacobian(behind, body, at)) / (2 * h) @ v
    assert np.allclose(dynamics.jacobian_drift(q, v, body, at), drift, atol=1e-8)
    centre = (dynamics.centre_of_mass(ahead) - dynamics.centre_of_mass(behind)) / (2 * h)
    assert np.allclose(dynamics.centre_of_mass_jacobian(q) @ v, centre, atol=1e-8)
    assert np.allclose(dynamics.difference(behind, ahead), 2 * h * v, atol=1e-13)
    twist = dynamics.twists(q, v)[dynamics.bodies.index(body)]
    assert np.allclose(twist, dynamics.jacobian(q, body) @ v, atol=1e-12)
    kinetic = dynamics.energies(q, v)[0]
    assert np.isclose(kinetic, 0.5 * v @ dynamics.mass_matrix(q) @ v, rtol=1e-12)


def test_the_rotor_of_a_motor_counts_as_inertia_and_energy():
    dynamics = Dynamics(scene("crank_rocker"))
    v = np.eye(dynamics.nv)[0]
    bare = scene("crank_rocker")
    H = dynamics.mass_matrix(dynamics.q0)
    assert np.isclose(dynamics.energies(dynamics.q0, v)[0], 0.5 * v @ H @ v, rtol=1e-12)
    assert bare.drives  # the motor is there


# --- arrays ---


@pytest.mark.parametrize("name", ["puma560", "stewart"])
def test_an_array_of_states_gives_what_each_state_gives(name):
    dynamics = Dynamics(scene(name), without=WITHOUT)
    random = np.random.default_rng(5)
    q = dynamics.move(dynamics.q0, 0.1 * random.normal(size=(3, 4, dynamics.nv)))
    v, tau = random.normal(size=(3, 4, dynamics.nv)), random.normal(size=dynamics.nv)
    body = dynamics.bodies[-1]
    whole = {
        "forward": dynamics.forward(q, v, tau),
        "inverse": dynamics.inverse(q, v, tau),
        "mass_matrix": dynamics.mass_matrix(q),
        "jacobian": dynamics.jacobian(q, body),
        "poses": dynamics.poses(q)[1],
        "energies": dynamics.energies(q, v),
        "constraint_jacobian": dynamics.constraint_jacobian(q),
    }
    for i, j in np.ndindex(3, 4):
        one = {
            "forward": dynamics.forward(q[i, j], v[i, j], tau),
            "inverse": dynamics.inverse(q[i, j], v[i, j], tau),
            "mass_matrix": dynamics.mass_matrix(q[i, j]),
            "jacobian": dynamics.jacobian(q[i, j], body),
            "poses": dynamics.poses(q[i, j])[1],
            "energies": dynamics.energies(q[i, j], v[i, j]),
            "constraint_jacobian": dynamics.constraint_jacobian(q[i, j]),
        }
        for what, value in one.items():
            assert np.array_equal(whole[what][i, j], value), what


def test_results_go_where_they_are_told():
    dynamics = Dynamics(scene("puma560"))
    q, v = np.tile(dynamics.q0, (5, 1)), np.zeros((5, 6))
    out = np.full((5, 6), np.nan)
    assert dynamics.forward(q, v, out=out) is out
    assert np.array_equal(out, dynamics.forward(q, v))
    with pytest.raises(
        LinkworkError, match=r"float64 with the shape \(5, 6\), not float64 of shape \(6, 5\)"
    ):
        dynamics.forward(q, v, out=np.empty((6, 5)))
    with pytest.raises(LinkworkError, match="float32"):
        dynamics.forward(q, v, out=np.empty((5, 6), np.float32))


def test_arguments_that_do_not_fit_are_named():
    dynamics = Dynamics(scene("puma560"))
    with pytest.raises(
        LinkworkError, match=r"q has the shape \(5,\); its last axis must have 6 numbers: joint1.angle"
    ):
        dynamics.mass_matrix(np.zeros(5))
    with pytest.raises(LinkworkError, match=r"v has the leading axes \(3,\) and q \(2,\)"):
        dynamics.bias(np.zeros((2, 6)), np.zeros((3, 6)))
    with pytest.raises(LinkworkError, match=r"no body or marker 'link9'.*link"):
        dynamics.jacobian(dynamics.q0, "link9")
    with pytest.raises(LinkworkError, match="tau must be an array of numbers, not str"):
        dynamics.forward(dynamics.q0, dynamics.v0, "hold")


def test_whole_numbers_and_strided_arrays_are_taken():
    dynamics = Dynamics(scene("puma560"))
    wide = np.random.default_rng(0).normal(size=(4, 12))
    assert np.array_equal(dynamics.mass_matrix(wide[:, ::2]), dynamics.mass_matrix(wide[:, ::2].copy()))
    assert np.array_equal(
        dynamics.gravity([0, 1, 0, 1, 0, 1]), dynamics.gravity(np.array([0.0, 1, 0, 1, 0, 1]))
    )


def test_every_kind_of_argument_gives_the_same():
    """Arrays that compiled code reads where they lie, and what has to be made one of those first."""
    dynamics = Dynamics(scene("puma560"))
    q, v, tau = np.random.default_rng(4).normal(size=(3, 6))
    wanted = dynamics.forward(q, v, tau)
    packed = np.zeros(
        1, np.dtype([("a", "i1"), ("q", "f8", 6)])
    )  # numbers that are not where numbers should be
    packed["q"][0] = q
    table = np.zeros((6, 3))
    table[:, 1] = q
    fixed = q.copy()
    fixed.flags.writeable = False
    kinds = [
        list(q),
        tuple(q),
        q.astype(">f8"),
        q[::-1].copy()[::-1],
        table[:, 1],
        packed["q"][0],
        fixed,
        q.view(np.recarray),
    ]
    for _ in range(3):  # the first calls go another way
        for kind in kinds:
            assert np.array_equal(dynamics.forward(kind, v, tau), wanted), type(kind)
            assert np.array_equal(dynamics.forward(q, kind, tau), dynamics.forward(q, q, tau))
        assert np.array_equal(dynamics.forward(q, v, tau, None, None, np.float64(0.0)), wanted)
        assert np.array_equal(
            dynamics.forward(q, v), dynamics.forward(q, v, np.zeros(6))
        )  # nothing is left of tau
        assert not np.array_equal(dynamics.forward(q.astype(np.float32), v, tau), wanted)
        for wrong in (None, q[:5], np.zeros((6, 1)), 1.0, "q", object()):
            with pytest.raises(LinkworkError, match=r"^q "):
                dynamics.forward(wrong, v, tau)
        with pytest.raises(LinkworkError, match=r"^v has the shape"):
            dynamics.bias(q, np.zeros(7))


def test_no_states_give_no_results():
    dynamics = Dynamics(scene("peaucellier"))
    assert dynamics.forward(np.zeros((0, 7)), np.zeros((0, 7))).shape == (0, 7)
    assert dynamics.constraint_jacobian(np.zeros((0, 7))).shape == (0, 6, 7)


# --- what is no function of a state ---


def test_what_depends_on_more_than_the_state_is_refused_by_name():
    with pytest.raises(UnsupportedError, match=r"joint 'leg1' has limits.*without=\('limits',\)"):
        Dynamics(scene("stewart"))
    with pytest.raises(LinkworkError, match=r"'limit'.*limits"):
        Dynamics(scene("stewart"), without=["limit"])


def test_loops_that_cannot_be_closed_are_named():
    dynamics = Dynamics(scene("bennett"))
    far = np.array([dynamics.q0, dynamics.q0 + np.array([0.0, np.nan, 0.0])])
    with pytest.raises(LinkworkError, match=r"joint3: a.*of state \(1,\) stays open"):
        dynamics.project(far)
