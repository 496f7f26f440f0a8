"""The laws of contact themselves, at points that the test finds by geometry: Signorini's, Coulomb's, and the largest
dissipation (criteria of Le Lidec et al., arXiv 2304.06372); and the impulses of another engine's solver for one step.
"""

import numpy as np
import pytest

from helpers.touching import SETTLED, SLOP, G, H, both_methods, states
from linkwork import Body, Box, Free, Material, Model, Plane, Scenery, Simulation, Sphere

FRICTION = 0.4
FEET = np.array([[0.15, 0.02], [-0.08, 0.12], [-0.1, -0.12]])
ROUND, TALL = 0.02, 0.1
"""Radius of a foot; of the middle of a tripod above the ground it stands on [m]."""
PLATE = 0.03
"""Top of its plate above its middle [m]."""


def tripod(model, name, at, velocity):
    """A plate on three round feet, which share a load in one way only."""
    shapes = [Sphere(ROUND, at=(x, y, ROUND - TALL)) for x, y in FEET]
    plate = Box((0.8, 0.8, 0.02), at=(0.0, 0.0, PLATE - 0.01))
    model.add(
        Body(name, at=at, mass=2.0, inertia=(0.03, 0.04, 0.05), shapes=(*shapes, plate), material="rough")
    )
    model.add(Free(f"{name}_way", "ground", name, at=at, velocity=velocity))


def tripods(seed):
    """Two of them on the floor, one of which carries another one, all of them sliding and turning, or not."""
    random = np.random.default_rng(seed)
    model = Model("tripods", gravity=(0.0, 0.0, -G))
    model.add(Material("rough", friction=FRICTION))
    model.add(Scenery("floor", shapes=(Plane(),), material="rough"))
    places = {"alone": (-1.0, TALL), "low": (0.0, TALL), "high": (0.0, 2 * TALL + PLATE)}
    for k, (name, (x, z)) in enumerate(places.items()):
        vx, vy, wz = (0.1 * random.normal(size=3) if (seed + k) % 3 != 0 else np.zeros(3)).tolist()
        tripod(model, name, (x, 0.0, z), (vx, vy, 0.0, 0.0, 0.0, 10.0 * wz))
    return model


def points(model, sim):
    """Every foot: its point, the body, what it stands on (None: the floor), and its gap [m]."""
    poses = dict(zip(model.bodies, states(sim), strict=True))
    for name, (p, R, *_) in poses.items():
        on = "low" if name == "high" else None
        for x, y in FEET:
            centre = p + R @ (x, y, ROUND - TALL)
            normal, base = np.array([0.0, 0.0, 1.0]), np.zeros(3)
            if on is not None:
                normal = poses[on][1][:, 2]
                base = poses[on][0] + PLATE * normal
            gap = (centre - base) @ normal - ROUND
            yield centre - (ROUND + 0.5 * gap) * normal, name, on, normal, gap


LIGHT = 2.0
"""More than the mass that any point seems to have: an impulse is uncertain by so much times a velocity [kg]."""


@both_methods
@pytest.mark.parametrize("seed", range(3))
def test_every_point_obeys_the_laws_after_every_step(way, seed):
    model = tripods(seed)
    sim = Simulation(model, dt=H, **way)
    slid, stuck, before = 0, 0, states(sim)
    for _ in range(40):
        found = list(points(model, sim))
        sim.step()
        after, touches = states(sim), sim.touches()
        twists = {
            name: (p, w, v) for name, (p, *_), (*_, w, v) in zip(model.bodies, before, after, strict=True)
        }
        before = after
        for x, name, on, normal, gap in found:
            u = np.zeros(3)
            for other, sign in ((name, 1.0), (on, -1.0)):
                if other is not None:
                    p, w, v = twists[other]
                    u += sign * (v + np.cross(w, x - p))
            rate, slip = u @ normal, u - (u @ normal) * normal
            near = [t for t in touches if np.linalg.norm(np.array(t.point) - x) < 1e-3]
            push = near[0].force * H if near else 0.0  # impulses [N s]
            assert push >= 0.0
            least = -max(gap - SLOP, 0.0) / H
            assert rate >= least - SETTLED  # Signorini: it does not come nearer than it may,
            if rate > least + SETTLED:  # and parts without a push
                assert push <= LIGHT * SETTLED
            if not near:
                continue
            drag = np.array(near[0].friction) * H * (1.0 if near[0].b == name else -1.0)
            most = FRICTION * push
            assert np.linalg.norm(drag) <= most + LIGHT * SETTLED  # Coulomb,
            if (
                pace := np.linalg.norm(slip)
            ) > 1e3 * SETTLED:  # all that there is, straight against the slip,
                away = np.linalg.norm(drag + most * slip / pace)
                assert away <= LIGHT * SETTLED + most * SETTLED / pace
                assert near[0].slides
                slid += 1
            elif np.linalg.norm(drag) < 0.99 * most:  # or less, which holds it
                assert pace <= SETTLED
                stuck += 1
    assert slid > 0
    assert stuck > 0


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(8))
def test_a_step_is_that_of_another_solver(seed):
    """One step from the same state by the proximal ADMM of Pinocchio (Carpentier, Le Lidec and Montaut,
    arXiv 2405.17020), on matrices that are made here."""
    pin = pytest.importorskip("pinocchio")
    model = tripods(seed)
    sim = Simulation(model, dt=H)
    names = list(model.bodies)
    poses, found = states(sim), list(points(model, sim))
    free = np.concatenate([np.array([*(v - [0.0, 0.0, G * H]), *w]) for _, _, w, v in poses])
    inverse = np.zeros((6 * len(names), 6 * len(names)))
    J = np.zeros((3 * len(found), 6 * len(names)))
    for b, name in enumerate(names):
        mass, _, inertia = model.bodies[name].mass_properties
        inverse[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = np.eye(3) / mass
        inverse[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = np.linalg.inv(inertia)
    for k, (x, name, on, _, _) in enumerate(found):
        for other, sign in ((name, 1.0), (on, -1.0)):
            if other is not None:
                b = names.index(other)
                a = x - poses[b][0]
                arm = np.array([[0.0, a[2], -a[1]], [-a[2], 0.0, a[0]], [a[1], -a[0], 0.0]])
                J[3 * k : 3 * k + 3, 6 * b : 6 * b + 3] = sign * np.eye(3)
                J[3 * k : 3 * k + 3, 6 * b + 3 : 6 * b + 6] = sign * arm
    p = admm(pin, J @ inverse @ J.T, J @ free, len(found))
    expected = (free + inverse @ J.T @ p).reshape(-1, 6)
    sim.step()
    for b, (_, _, w, v) in enumerate(states(sim)):
        # Both leave 1e-9 m/s at the points, which are 0.1 m and more from each other.
        np.testing.assert_allclose(v, expected[b, :3], atol=3e-8)
        np.testing.assert_allclose(w, expected[b, 3:], atol=3e-7)


def admm(pin, G, g, count):
    """Impulses along x, y and the normal z of so many points."""
    holder = pin.Model()
    holder.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "held")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for _ in range(count):
        made = pin.PointContactConstraintModel(holder, 1)
        made.setFriction(FRICTION)
        model = pin.ConstraintModel(made)
        models.append(model)
        datas.append(model.createData())
    settings, result, solver = (
        pin.ADMMSolverSettings(),
        pin.ADMMSolverResult(),
        pin.ADMMConstraintSolver(len(g)),
    )
    settings.max_iterations = 20_000
    for name in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{name}_tol", 1e-12)
        setattr(settings, f"relative_{name}_tol", 1e-12)
    settings.solve_ncp = True
    assert solver.solve(pin.DelassusOperatorDense(G), g, models, datas, settings, result)
    return np.array(result.retrieveConstraintImpulses()).ravel()
