"""Contact against mechanics: stacks, bounces and collisions.

References and tolerances are those of test_contact_physics.py.
"""

from math import sqrt

import numpy as np
import pytest

from helpers.touching import (
    REST,
    SETTLED,
    SLOP,
    WAYS,
    G,
    H,
    add,
    both_methods,
    every_way,
    floored,
    some_turn,
    speed,
    spot,
    states,
)
from linkwork import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Free,
    Material,
    Model,
    NoContact,
    Plane,
    Scenery,
    Simulation,
    Sphere,
    scene,
)
from linkwork.model.rotation import matrix

# --- stacks ---


@pytest.mark.parametrize("way", [WAYS[0], WAYS[1], WAYS[2]], ids=("simgc", "simmc", "impulses"))
def test_ten_boxes_stand_for_a_minute(way):
    if way.get("solver") == "impulses":
        way = way | {"epsilon": 1e-9}  # of a kilogram: 1e-9 m/s
    sim = Simulation(scene("stack10"), **way)
    record = sim.run(60.0, every=1.0, reactions=False)
    assert np.linalg.norm(spot(sim, "box10") - (0.0, 0.0, 0.95)) < 1e-4
    assert record.info["deepest_m"] <= SLOP
    assert record.info["steps_cut_short"] == 0


@pytest.mark.parametrize("ratio", [1e4, 1e6])
@both_methods
def test_a_heavy_box_on_a_light_one(way, ratio):
    sim = Simulation(scene("mass_ratio", ratio=ratio), **way)
    record = sim.run(3.0, reactions=False)
    assert record.info["deepest_m"] <= SLOP
    assert np.linalg.norm(spot(sim, "heavy") - (0.0, 0.0, 0.45)) <= 2 * SLOP
    assert record.info["steps_cut_short"] == 0
    below = sum(touch.force for touch in sim.touches() if "floor" in (touch.a, touch.b))
    # What may be left of the heavy box's velocity, as a force over a step
    assert below == pytest.approx((ratio + 1.0) * G, abs=(ratio + 1.0) * SETTLED / H)


@every_way
def test_what_overlaps_is_moved_apart_without_gaining_speed(way):
    deep, erp = 1e-3, 0.8
    model = floored(friction=0.5)
    add(model, "box", Box((0.2, 0.2, 0.2)), 0.1 - deep)
    sim = Simulation(model, erp=erp, **way)
    left = deep - SLOP
    for _ in range(8):
        sim.step(1)
        left *= 1.0 - erp
        # Pseudo impulses are sought to a thousandth of the slop.
        assert -spot(sim, "box")[2] + 0.1 - SLOP == pytest.approx(left, abs=1e-2 * SLOP)
        assert np.linalg.norm(speed(sim, "box")) < REST


@pytest.mark.parametrize("seed", range(6))
def test_a_box_that_is_thrown_comes_to_rest_on_a_face(seed):
    random, size = np.random.default_rng(seed), (0.3, 0.2, 0.12)
    model = floored(friction=0.5, restitution=0.3)
    model.add(
        Body(
            "box",
            at=(0.0, 0.0, 0.5),
            rotation=some_turn(random),
            mass=1.0,
            shapes=(Box(size),),
            material="rough",
        )
    )
    model.add(
        Free("way", "ground", "box", at=(0.0, 0.0, 0.5), velocity=tuple(map(float, random.normal(size=6))))
    )
    sim = Simulation(model)
    sim.step(5000)
    assert np.abs(sim.v).max() < REST
    assert min(abs(spot(sim, "box")[2] - edge / 2) for edge in size) <= SLOP
    assert sum(touch.force for touch in sim.touches()) == pytest.approx(G, abs=1e-5)


# --- bounces ---

HEIGHTS = np.linspace(0.5, 1.5, 23)


def bounces(restitution, dt, duration, **way):
    """Balls dropped from HEIGHTS, and heights of their lowest points at every step."""
    model = floored(friction=0.5, restitution=restitution)
    for k, height in enumerate(HEIGHTS):
        add(model, f"ball{k}", Sphere(0.1), 0.1 + height, across=0.5 * k)
    sim = Simulation(model, dt=dt, **way)
    record = sim.run(duration, every=dt, reactions=False)
    return sim, np.array([record[f"ball{k}_way.z"] + HEIGHTS[k] for k in range(len(HEIGHTS))])


def rebounds(z):
    """Where each ball turns round for the first time after its first impact."""
    made = []
    for way in z:
        low = int(np.argmax(np.diff(way) > 0.0))  # the first rise
        top = low + int(np.argmax(np.diff(way[low:]) < 0.0))
        made.append(way[top])
    return np.array(made)


@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_a_ball_rebounds_to_the_square_of_its_restitution(restitution):
    errors = []
    for dt in (H, H / 2):
        _, z = bounces(restitution, dt, 1.4)
        error = rebounds(z) - restitution**2 * HEIGHTS
        # It turns within a step's way of the floor, at a speed that is known to g h.
        fastest = np.sqrt(2 * G * HEIGHTS)
        assert (np.abs(error) < 3 * fastest * dt).all()
        errors.append(np.abs(error).mean())
    if (
        restitution == 1.0
    ):  # Euler keeps v²/2 + g z - g h v/2: what falling loses, the step of the impact gives back
        assert max(errors) < 1e-12
    else:
        # When in its step a ball hits is random: the mean over many heights halves, each error does not.
        assert errors[1] < 0.65 * errors[0]


@both_methods
def test_bounces_come_at_their_times(way):
    restitution = 0.7
    sim, _ = bounces(restitution, H, 2.0, **way)
    begun, ended = ({f"ball{k}": [] for k in range(len(HEIGHTS))} for _ in range(2))
    for event in sim.touch_events:
        (begun if event.began else ended)[event.a if event.b == "floor" else event.b].append(event.time)
    for k, height in enumerate(HEIGHTS):
        fall = sqrt(2 * height / G)
        times = begun[f"ball{k}"]
        assert len(times) >= 3
        for n in range(3):
            expected = fall * (1.0 + 2.0 * sum(restitution**i for i in range(1, n + 1)))
            # A step for each impact, and what the errors of its speed make of each flight: 2 g h/g.
            assert times[n] == pytest.approx(expected, abs=(1 + 3 * n) * H)
            # An impact is over with the step that it happens in.
            assert ended[f"ball{k}"][n] == pytest.approx(times[n] + H, abs=1e-9)


def test_slow_impacts_do_not_bounce():
    sim, z = bounces(0.5, H, 4.0)
    assert np.abs(z[:, -1]).max() <= SLOP
    assert np.abs(sim.v).max() < REST
    # Below the speed from which on things bounce: height of a fall of 0.009 m/s
    model = floored(restitution=1.0, bounce_speed=0.05)
    add(model, "ball", Sphere(0.1), 0.1 + 1e-4)
    sim = Simulation(model)
    record = sim.run(0.1, every=H, reactions=False)
    assert record["ball_way.z_rate"].max() < REST


@both_methods
def test_full_restitution_never_gains_height(way):
    _, z = bounces(1.0, H, 10.0, **way)
    # Semi-implicit Euler keeps v²/2 + g z - g h v/2, so apexes repeat to what lies between steps: g h²/8 each side.
    assert (z.max(axis=1) <= HEIGHTS + G * H**2).all()
    # Nor loses it: after some ten bounces still as high.
    last = z[:, -2000:].max(axis=1)
    assert (last >= HEIGHTS - 10 * 3 * np.sqrt(2 * G * HEIGHTS) * H).all()


# --- collisions of free bodies ---


def some_shape(random):
    a, b, c = (float(x) for x in random.uniform(0.05, 0.2, 3))
    return (Sphere(a), Box((a, b, c)), Capsule(a / 2, b), Cylinder(a / 2, b))[random.integers(4)]


def collision(seed, restitution, friction, touching=True):
    """Two bodies that fly at each other in empty space; far away lies a floor, without which nothing could touch."""
    random = np.random.default_rng(seed)
    model = Model("collision", gravity=(0.0, 0.0, 0.0))
    model.add(Material("stuff", friction=friction, restitution=restitution))
    model.add(Scenery("floor", at=(0.0, 0.0, -1e4), shapes=(Plane(),), material="stuff"))
    for k, name in enumerate(("one", "other")):
        at = (0.0, 0.0, 0.0) if k == 0 else (0.5, *(float(x) for x in random.uniform(-0.05, 0.05, 2)))
        push = np.array([2.0 if k == 0 else -2.0, 0.0, 0.0]) + random.uniform(-0.3, 0.3, 3)
        spin = random.uniform(-15.0, 15.0, 3)
        model.add(
            Body(
                name, at=at, rotation=some_turn(random), mass=float(10.0 ** random.uniform(-1, 1)),
                shapes=(some_shape(random),), material="stuff",
            )
        )  # fmt: skip
        velocity = tuple(float(x) for x in (*push, *spin))
        model.add(Free(f"{name}_way", "ground", name, at=at, velocity=velocity))
    if not touching:
        model.add(NoContact("apart", "one", "other"))
    return model


def impacts(model, apart, steps, **way):
    """For each step with a contact, what it changed: energy, momentum and its moment, as shares of those in play."""
    sim, free = Simulation(model, **way), Simulation(apart, **way)
    placed = {name: matrix(body.rotation) for name, body in model.bodies.items()}
    for _ in range(steps):
        free.q[:], free.v[:] = sim.q, sim.v
        poses = dict(zip(sim.system.bodies, states(sim), strict=True))
        free.step(1)
        sim.step(1)
        if not sim.touches():
            continue
        # Both velocities at the end of the step count at the pose of its beginning, where the impulses acted.
        energy, change, size, reach = 0.0, 0.0, 0.0, 0.0
        push, twist = np.zeros(3), np.zeros(3)
        for name, (p, R, _, _) in poses.items():
            mass, _, inertia = model.bodies[name].mass_properties
            inertia = (
                placed[name] @ inertia @ placed[name].T
            )  # in the axes of the joint, which are those of its rates
            rates = [f"{name}_way.{rate}" for rate in ("x_rate", "y_rate", "z_rate", "wx", "wy", "wz")]
            was, now = (np.array([s[rate] for rate in rates]) for s in (free, sim))
            before, after = (0.5 * mass * v[:3] @ v[:3] + 0.5 * v[3:] @ inertia @ v[3:] for v in (was, now))
            d, spin = mass * (now - was)[:3], R @ placed[name].T @ inertia @ (now - was)[3:]
            energy, change = energy + before, change + after - before
            push, twist = push + d, twist + np.cross(p, d) + spin
            size += mass * np.linalg.norm(was[:3])
            reach += mass * np.linalg.norm(np.cross(p, was[:3])) + np.linalg.norm(inertia @ was[3:])
        yield change / energy, np.linalg.norm(push) / size, np.linalg.norm(twist) / reach


def collisions(seeds, restitution, friction, way, dt=H):
    """All steps with a contact of many random collisions."""
    made = []
    for seed in seeds:
        pair = [collision(seed, restitution, friction, touching=touching) for touching in (True, False)]
        made += impacts(*pair, round(0.11 / dt), dt=dt, **way)
    return np.array(made).T


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("way", [WAYS[0], WAYS[1], WAYS[2]], ids=("simgc", "simmc", "impulses"))
def test_collisions_conserve_momentum_and_dissipate(way, friction, restitution):
    energy, momentum, moment = collisions(range(30 if way is WAYS[0] else 10), restitution, friction, way)
    assert len(energy) > 10
    assert momentum.max() < 1e-12
    assert moment.max() < 1e-12
    assert energy.max() < SETTLED


def test_elastic_collisions_without_friction_conserve_energy_to_first_order():
    """Speeds of approach are those of the beginning of a step, in which spinning bodies turn on."""
    worst = []
    for dt in (H, H / 4):
        energy, momentum, moment = collisions(range(30), 1.0, 0.0, WAYS[0], dt)
        assert momentum.max() < 1e-12
        assert moment.max() < 1e-12
        worst.append(np.abs(energy).max())
    # Spins of 25 rad/s turn velocities of points by 25 h: that share of the energy at most, and less with the step.
    assert worst[0] < 25 * H
    assert worst[1] < 0.5 * worst[0]


@pytest.mark.parametrize("restitution", [0.9, 1.0])
@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_rough_elastic_collisions_never_gain_energy(friction, restitution):
    """Newton's law of restitution would gain some: 10 % in these, where friction stops or turns the slip (Kane)."""
    energy, momentum, moment = collisions(range(30, 55), restitution, friction, WAYS[0])
    assert energy.max() < 1e-9
    assert momentum.max() < 1e-12
    assert moment.max() < 1e-12
