"""Starts that are a little off: assembled to rounding, as near to what was written as loops allow, and told."""

from math import acos, atan2, cos, hypot, pi, radians, sin, sqrt

import numpy as np
import pytest

from helpers.loops import looped
from helpers.models import changed
from linkwork import Body, Hinge, Model, Spherical, scene
from linkwork.compile.compiler import compile_model
from linkwork.engine.coordinates.dynamics import body_pose
from linkwork.engine.elements import Repeater
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.closure import Closure, difference
from linkwork.mechanism.kinematics import Kinematics
from linkwork.methods.rows import floating
from linkwork.model.errors import ModelError
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix
from linkwork.scenes import crank_rocker, scene_names, slidercrank3d

LOOPS = ("bennett", "crank_rocker", "double_four_bar", "peaucellier", "slidercrank3d")
maximal = pytest.mark.parametrize("maximal", [False, True])


def compiled(model, maximal=False):
    """A system and its start as written."""
    system = compile_model(model, rows=True, maximal=maximal)
    if not maximal:
        return system, system.q0, system.v0
    tree = compile_model(model)
    return (system, *floating(model, system, tree, tree.q0, tree.v0))


def openness(model, system, q):
    """Largest distance of the two sides of any joint that holds a point, from the poses of bodies alone [m]."""
    flat = model.flatten()
    kin = Kinematics(system)
    kin.place(q)
    poses = {GROUND: (np.zeros(3), np.eye(3))}
    for index, (name, body) in enumerate(flat.bodies.items()):
        p, R = (np.array(part) for part in body_pose(kin.tables, index))
        turn = R.reshape(3, 3) @ matrix(body.rotation).T
        poses[name] = p - turn @ np.array(body.at), turn  # where the drawn pose has gone
    worst = 0.0
    for joint in flat.joints.values():
        (p, R), (s, S) = poses[joint.a], poses[joint.b]
        at = np.array(joint.at)
        if joint.kind in ("hinge", "spherical", "universal"):
            worst = max(worst, np.abs(p + R @ at - s - S @ at).max())
        if joint.kind == "hinge":
            axis = np.array(joint.axis or (0.0, 0.0, 1.0))
            axis = axis / np.linalg.norm(axis)
            worst = max(worst, np.abs(R @ axis - S @ axis).max())
    return worst


# --- starts that are right ---


@pytest.mark.parametrize("name", scene_names())
def test_scenes_stand_as_they_were_written(name):
    system, q0, v0 = compiled(scene(name))
    found = assemble(system)
    np.testing.assert_array_equal(found.q, q0)
    np.testing.assert_array_equal(found.v, v0)
    assert found.report() == []
    assert not found.changed


@pytest.mark.parametrize("name", LOOPS)
def test_floating_starts_stand_too(name):
    system, q0, v0 = compiled(scene(name), maximal=True)
    found = assemble(system, q0, v0)
    np.testing.assert_array_equal(found.q, q0)
    np.testing.assert_array_equal(found.v, v0)
    assert found.report() == []


# --- positions ---


@maximal
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("off", [1e-6, 1e-3, 0.1])
def test_perturbed_starts_close_to_rounding(name, maximal, off):
    model = scene(name)
    system, q0, v0 = compiled(model, maximal)
    closure = Closure(system, q0)
    delta = np.random.default_rng(7).normal(size=system.nv) * off * closure.reach
    q = closure.kin.moved(q0, delta)
    found = assemble(system, q, v0)
    assert found.gap_before.size > 0.01 * off
    # A dozen products of numbers up to the size of the mechanism (2 m), each rounded once.
    assert openness(model, system, found.q) < 1e-13
    # Going back to the start that closes would do; the nearest is no further.
    back, way = delta / closure.reach, difference(system, q, found.q) / closure.reach
    assert np.linalg.norm(way) <= np.linalg.norm(back) * (1 + 1e-9)
    assert found.moved
    assert found.moved[0].by == max((change.by for change in found.moved), key=abs)


def four_bar_coordinates(crank):
    """crank, knee, wrist and rocker of the crank-rocker for a turn of the crank, by plane geometry."""

    def bearings(angle):
        pin = crank_rocker.points(angle)
        return [
            atan2(pin[b][1] - pin[a][1], pin[b][0] - pin[a][0])
            for a, b in (("A", "B"), ("B", "C"), ("D", "C"))
        ]

    start, now = np.array(bearings(radians(60))), np.array(bearings(radians(60) + crank))
    arm, coupler, lever = (now - start + pi) % (2 * pi) - pi
    return np.array([arm, coupler - arm, lever - coupler, lever])


def test_a_four_bar_goes_to_the_nearest_closed_pose():
    system, q0, v0 = compiled(scene("crank_rocker"))
    for seed in range(8):
        q = q0 + np.random.default_rng(seed).normal(size=3) * 0.1
        found = assemble(system, q, v0)
        grid = [four_bar_coordinates(angle)[:3] for angle in np.linspace(-0.8, 0.8, 4001)]
        least = np.linalg.norm(np.array(grid) - q, axis=1).min()
        # The grid of 4e-4 rad misses the least distance d by at most some 4e-8/d.
        assert np.linalg.norm(found.q - q) <= least + 1e-6


def test_a_spatial_slider_crank_goes_to_the_nearest_closed_pose():
    system, q0, v0 = compiled(scene("slidercrank3d"))
    assert [column.name for column in system.coordinates] == [
        "crank.angle", "guide.travel", "cross.angle_x", "cross.angle_y"
    ]  # fmt: skip
    A, B, C = (np.array(p) for p in (slidercrank3d.A, slidercrank3d.B, slidercrank3d.C))
    z = np.array([0.0, *-(C - B)[1:]])
    frame = np.column_stack(
        [[1.0, 0.0, 0.0], np.cross(z / np.linalg.norm(z), [1.0, 0.0, 0.0]), z / np.linalg.norm(z)]
    )
    a, _, c = frame.T @ ((B - C) / slidercrank3d.ROD)

    def coordinates(angle):
        y, h = A[1] - 0.08 * sin(angle), A[2] + 0.08 * cos(angle)
        x = sqrt(slidercrank3d.ROD**2 - y * y - h * h)
        e = frame.T @ (np.array([-x, y, h]) / slidercrank3d.ROD)
        # e = Rx(α) Ry(β) (a, 0, c)
        tilt = atan2(c, a) - acos(e[0] / hypot(a, c)) * (1.0 if c > 0 else -1.0)
        along = -a * sin(tilt) + c * cos(tilt)
        return np.array([angle, x - C[0], atan2(-e[1] / along, e[2] / along), tilt])

    np.testing.assert_allclose(coordinates(0.0), 0.0, atol=1e-12)
    reach = Closure(system, q0).reach
    grid = np.array([coordinates(angle) for angle in np.linspace(-0.6, 0.6, 6001)])
    for seed in range(5):
        q = q0 + np.random.default_rng(seed).normal(size=4) * 0.05 * reach
        found = assemble(system, q, v0)
        reach = Closure(system, q).reach  # lengths count in levers as they are there
        least = np.linalg.norm((grid - q) / reach, axis=1).min()
        assert np.linalg.norm((found.q - q) / reach) <= least + 1e-6


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-5, 1e-2])
def test_a_stretched_parallelogram_is_harmless(off):
    # All links on one line: J loses a rank, and gaps are of second order in what closes them.
    model = scene("double_four_bar")
    system, q0, v0 = compiled(model)
    down = {"A0": -pi / 2, "A2": -pi / 2, "B0_out": pi / 2, "B1_in": -pi / 2, "B1_out": pi / 2}
    q = q0.copy()
    for name, angle in down.items():
        q[system.coordinate(f"{name}.angle")] = angle
    q += off * np.random.default_rng(3).normal(size=len(q))
    found = assemble(system, q, v0)
    assert openness(model, system, found.q) < 1e-13
    assert np.abs(found.q - q).max() < 10 * off + 1e-7  # the root of rounding
    if off < 1e-6:  # still the same position: rates are those of one of its two motions
        np.testing.assert_allclose(found.v, v0, atol=1e-6)


def test_what_is_written_stays_and_the_rest_follows():
    system, *_ = compiled(changed(scene("crank_rocker"), "crank", position=0.3))
    found = assemble(system)
    np.testing.assert_allclose(found.q, four_bar_coordinates(0.3)[:3], atol=1e-12)
    assert found.q[0] == 0.3
    assert not found.gave_way
    assert "'knee.angle' moved by -0.353 rad" in found.report()[0]
    assert "the largest gap was 0.118 m in joint 'rocker'" in found.report()[0]


def test_the_position_of_a_joint_that_closes_a_loop_counts():
    turn = float(four_bar_coordinates(0.3)[3])
    system, *_ = compiled(changed(scene("crank_rocker"), "rocker", position=turn))
    assert system.cuts == ("rocker",)
    found = assemble(system)
    np.testing.assert_allclose(found.q, four_bar_coordinates(0.3)[:3], atol=1e-9)


def test_what_is_written_twice_and_contradicts_is_told():
    model = changed(changed(scene("crank_rocker"), "rocker", position=0.1), "crank", position=0.0)
    system, q0, _ = compiled(model)
    found = assemble(system)
    np.testing.assert_array_equal(found.q, q0)
    assert found.gave_way
    assert found.report() == [
        "start: 'rocker.angle' starts at 0 rad, not at 0.1 as written: the loops contradict it"
    ]


def test_written_positions_that_nearly_fit_give_way_a_little():
    exact = four_bar_coordinates(0.3)
    model = scene("crank_rocker")
    for name, angle in zip(("crank", "knee", "wrist"), exact, strict=False):
        changed(model, name, position=round(float(angle), 3))
    system, q0, _ = compiled(model)
    found = assemble(system)
    assert 0.0 < np.abs(found.q - q0).max() < 2e-3
    assert openness(model, system, found.q) < 1e-13
    assert found.gave_way


def test_couplings_keep_the_relation_that_was_written():
    model = changed(scene("crank_rocker"), "crank", position=0.3)
    model.add(Body("hand", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("dial", GROUND, "hand", axis=(1.0, 0.0, 0.0)))
    model.add(Repeater("gear", "dial", "knee", ratio=-2.0))
    system, *_ = compiled(model)
    found = assemble(system)
    # dial + 2 knee is zero as written; the knee follows the crank, and the dial the knee.
    knee, dial = (found.q[system.coordinate(f"{name}.angle")] for name in ("knee", "dial"))
    assert knee == pytest.approx(four_bar_coordinates(0.3)[1], abs=1e-12)
    assert dial == pytest.approx(-2.0 * knee, abs=1e-13)


def test_limits_that_the_start_violates_are_told():
    model = changed(scene("crank_rocker"), "crank", position=0.3, limits=(-0.1, 0.1))
    found = assemble(compiled(model)[0])
    (gap,) = found.beyond
    assert gap.size == pytest.approx(0.2, abs=1e-12)
    assert "start: crank.angle is beyond its upper limit by 0.2 rad" in found.report()


def test_a_report_is_short():
    found = assemble(compiled(changed(scene("n_four_bar", n=12), "A0", position=0.1))[0])
    assert len(found.moved) == 24
    assert len(found.report()) <= 6
    assert "and 20 more" in found.report()[4]


@pytest.mark.parametrize("seed", range(40))
def test_random_mechanisms_of_which_something_is_written_are_assembled(seed):
    rng = np.random.default_rng(seed)
    model = looped(np.random.default_rng([seed, 21]), seed)
    for name, joint in list(model.joints.items()):
        fields = {}
        if rng.random() < 0.5:
            fields["position"] = tuple(
                1.0 if coordinate == "qw" else float(rng.normal() * 0.05) for coordinate in joint.coordinates
            )
        if rng.random() < 0.5:
            fields["velocity"] = tuple(rng.normal(size=len(joint.rates)).tolist())
        changed(model, name, **fields)
    system, *_ = compiled(model)
    found = assemble(system)
    assert openness(model, system, found.q) < 1e-13
    kin = Kinematics(system)
    kin.place(found.q)
    assert np.abs(kin.jacobian(kin.hold) @ found.v).max() < 1e-12 * max(1.0, np.abs(found.v).max(initial=0.0))


# --- what cannot be assembled ---


def test_the_joint_that_stays_open_is_named():
    model = scene("crank_rocker")
    model.add(Body("arm2", at=(5.0, 0.0, 0.0), mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("shoulder", GROUND, "arm2", at=(5.0, 0.0, 0.0), position=pi))
    model.add(Spherical("tie", GROUND, "arm2", at=(6.0, 0.0, 0.0)))
    changed(model, "crank", position=0.01)
    # The end of the arm is 2 m from where it is tied, and no small motion brings it nearer.
    with pytest.raises(
        ModelError, match=r"joint 'tie': stays open by 2 m: .*through shoulder.*start positions"
    ):
        assemble(compiled(model)[0])


def test_a_hinge_does_not_close_the_wrong_way_round():
    model = Model("flipped")
    model.add(Body("plate", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(Hinge("flip", GROUND, "plate", axis=(1.0, 0.0, 0.0), position=pi))
    model.add(Hinge("pin", GROUND, "plate", axis=(0.0, 0.0, 1.0)))
    with pytest.raises(ModelError, match="joint 'pin': would close half a turn from where it belongs"):
        assemble(compiled(model)[0])


# --- rates ---


@maximal
@pytest.mark.parametrize("name", LOOPS)
def test_rates_change_kinetic_energy_least(name, maximal):
    system, q0, v0 = compiled(scene(name), maximal)
    w = v0 + np.random.default_rng(5).normal(size=system.nv)
    found = assemble(system, q0, w)
    np.testing.assert_array_equal(found.q, q0)
    kin = Kinematics(system)
    kin.place(q0)
    J = kin.jacobian(kin.hold)
    H = kin.inertia()
    assert np.abs(J @ found.v).max() < 1e-12 * np.abs(w).max()
    # The change is square, in the metric of inertia, to every motion that the loops allow.
    _, s, Vt = np.linalg.svd(J)
    motions = Vt[(s > 1e-9).sum() :].T
    assert np.abs(motions.T @ H @ (found.v - w)).max() < 1e-11 * np.abs(H).max() * np.abs(w).max()
    assert np.linalg.norm(found.v - w) > 1e-3


def test_a_written_rate_stays_and_the_rest_follows():
    system, *_ = compiled(changed(scene("crank_rocker"), "crank", velocity=2.0))
    found = assemble(system)
    h = 1e-6
    rates = 2.0 * (four_bar_coordinates(h) - four_bar_coordinates(-h)) / (2 * h)
    np.testing.assert_allclose(found.v, rates[:3], rtol=1e-8)
    assert found.v[0] == pytest.approx(2.0, rel=1e-12)
    assert not found.gave_way
    assert found.report() == [
        "rates follow the loops: 'knee.angle_rate' 0 → -2.42292 rad/s, 'wrist.angle_rate' 0 → 0.717518 rad/s"
    ]
    # Said of the rocker, which closes the loop, it is the same motion.
    system, *_ = compiled(changed(scene("crank_rocker"), "rocker", velocity=float(rates[3])))
    np.testing.assert_allclose(assemble(system).v, rates[:3], rtol=1e-7)


def test_rates_that_contradict_each_other_are_told_with_both_numbers():
    model = changed(changed(scene("crank_rocker"), "rocker", velocity=2.0), "crank", velocity=2.0)
    found = assemble(compiled(model)[0])
    assert found.gave_way
    assert found.report()[0] == (
        "start: 'rocker.angle_rate' starts at 0.294602 rad/s, not at 2 as written: the loops contradict it"
    )


def test_rates_follow_a_start_that_moves():
    model = changed(scene("slidercrank3d"), "crank", position=0.2)
    system, *_ = compiled(model)
    found = assemble(system)
    kin = Kinematics(system)
    kin.place(found.q)
    assert np.abs(kin.jacobian(kin.hold) @ found.v).max() < 1e-14
    assert found.q[system.coordinate("crank.angle")] == 0.2
