"""The car of three levels of components against an independent solution, and its equations counted."""

import numpy as np
import pytest

from helpers.references import reference
from helpers.runs import orders
from linkwork import LinkworkError, Simulation, scene
from linkwork.compile.compiler import Compiled, compile_model
from linkwork.io import load_model, save_model
from linkwork.mechanism.kinematics import Kinematics
from linkwork.model.rotation import matrix
from linkwork.scenes import car

# The head of the reference says what it changes by with a hundred times its tolerance: 8e-14 m in z. Angles and
# wheels are of the same step control at lengths below a metre.
GOOD = 1e-12
CORNERS = {"front_left": "FL", "front_right": "FR", "rear_left": "RL", "rear_right": "RR"}
variants = pytest.mark.parametrize("joints", car.JOINTS)


@pytest.fixture(scope="module")
def table():
    return reference("car_ref.csv")


def ride(method, *, joints="redundant", time=6.0, **options):
    return Simulation(car.build(joints), method=method, **options).run(time, every=0.01, reactions=False)


def differences(record, table):
    """The largest differences from the reference by what they are of: places [m], angles [rad]."""
    count = len(record.time)
    np.testing.assert_allclose(record.time, table["t"][:count], atol=1e-12)
    found = {axis: record[f"chassis.position.{axis}"] - table[axis][:count] for axis in "xyz"}
    w, x, y, z = (record[f"chassis.rotation.{part}"] for part in "wxyz")
    # The reference turns by yaw about z, pitch about y, roll about x.
    found["yaw"] = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) - table["yaw"][:count]
    found["pitch"] = np.arcsin(2 * (w * y - x * z)) - table["pitch"][:count]
    found["roll"] = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) - table["roll"][:count]
    for name, short in CORNERS.items():
        wheel = record[f"{name}.hub.wheel.position.z"]
        eyes = [
            np.column_stack([record[f"{name}.damper.{tube}.position.{axis}"] for axis in "xyz"])
            for tube in ("lower", "upper")
        ]
        length = np.linalg.norm(eyes[1] - eyes[0], axis=1)
        found |= {
            f"{short}_wheel_z": wheel - table[f"{short}_wheel_z"][:count],
            f"{short}_damper_len": length - table[f"{short}_damper_len"][:count],
            f"{short}_arm": record[f"{name}_pivot.angle"] - table[f"{short}_arm"][:count],
            f"{short}_wheel": record[f"{name}.hub.axle.angle"] - table[f"{short}_wheel"][:count],
        }
    return {name: np.abs(off).max() for name, off in found.items()}


# --- what it is ---


@variants
def test_it_has_seventeen_bodies_and_twenty_joints_in_three_levels(joints):
    model = car.build(joints)
    flat = model.flatten()
    assert (len(flat.bodies), len(flat.joints)) == (17, 20)
    assert list(model.bodies) == ["chassis"]
    assert len(model.joints) == 8
    assert sorted(model.instances) == sorted(CORNERS)
    corners = {id(instance.component) for instance in model.instances.values()}
    assert len(corners) == 1
    corner = model.instances["rear_left"].component
    assert (len(corner.bodies), len(corner.joints)) == (0, 1)
    assert {
        name: (set(inner.component.bodies), len(inner.component.joints), len(inner.component.instances))
        for name, inner in corner.instances.items()
    } == {"hub": ({"arm", "wheel"}, 1, 0), "damper": ({"lower", "upper"}, 1, 0)}


def test_corners_stand_where_the_design_says():
    """Mirrored ones too; hard points of the design in the world, COMs included."""
    flat = car.build().flatten()
    for name, x, y in (("FL", 1.3, 1), ("FR", 1.3, -1), ("RL", -1.3, 1), ("RR", -1.3, -1)):
        corner = next(long for long, short in CORNERS.items() if short == name)
        points = {
            "hub.arm": (x + 0.18, 0.62 * y, 0.325),
            "hub.wheel": (x, 0.75 * y, 0.3),
        }
        low, high = np.array((x + 0.1, 0.6 * y, 0.32)), np.array((x + 0.05, 0.6 * y, 0.75))
        along = (high - low) / np.linalg.norm(high - low)
        points |= {"damper.lower": low + 0.12 * along, "damper.upper": high - 0.1 * along}
        for part, expected in points.items():
            body = flat.bodies[f"{corner}.{part}"]
            com = np.array(body.at) + matrix(body.rotation) @ body.mass_properties.com
            np.testing.assert_allclose(com, expected, atol=1e-15)
        for joint, at in (("pivot", (x + 0.4, 0.6 * y, 0.35)), ("top", high)):
            np.testing.assert_allclose(flat.joints[f"{corner}_{joint}"].at, at, atol=1e-15)
        assert flat.joints[f"{corner}.hub.axle"].axis == pytest.approx((0.0, 1.0, 0.0))


@pytest.mark.parametrize(("joints", "rows", "spare"), [("redundant", 25, 3), ("isostatic", 22, 0)])
def test_rank_of_its_equations(joints, rows, spare):
    """All joints as equations between bodies: 14 freedoms are left, six of the car and two of every corner."""
    system = Compiled(car.build(joints)).floating
    kinematics = Kinematics(system)
    kinematics.place(system.q0, system.v0)
    J = kinematics.jacobian(kinematics.hold)
    values = np.linalg.svd(J, compute_uv=False)
    # Lengths of a metre: singular values of 1e-2 to 1e1, rounding of 1e-16 where equations repeat.
    rank = int((values > 1e-9 * values[0]).sum())
    assert J.shape == (4 * rows, 6 * 17)
    assert rank == 4 * (rows - spare)
    assert 6 * 17 - rank == 14


def test_joints_that_are_not_known_are_refused():
    with pytest.raises(LinkworkError, match=r"joints 'isotatic' are not known.*'isostatic'"):
        scene("car", joints="isotatic")
    with pytest.raises(LinkworkError, match="at least one car"):
        car.train(0)


@variants
def test_it_goes_through_a_file(joints, tmp_path):
    model = car.build(joints)
    save_model(model, tmp_path / "car.yaml")
    loaded = load_model(tmp_path / "car.yaml")
    assert loaded == model
    assert loaded.instances["front_left"].component.ports == ("hub.arm", "damper.upper")


# --- how it moves ---


@variants
def test_it_follows_the_reference(table, joints):
    """Errors of 1e-10 in each of some thousand steps, which springs and dampers forget."""
    for name, off in differences(ride("simgc", joints=joints, tolerance=1e-10), table).items():
        assert off < 1e-10 + GOOD, name


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_fixed_steps_are_of_fourth_order(table, method):
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        found = differences(ride(method, time=1.0, dt=dt), table)
        errors.append([found["z"], found["FL_wheel_z"], found["RR_arm"]])
    # The arm with its wheel vibrates at some 100 rad/s: the largest step is not yet small.
    assert np.all(orders(np.array(errors))[-1] > 3.5)


@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
def test_the_step_of_the_paper_is_enough(table, method):
    """With 1 ms the paper is within 1e-5 m of another program; (ω h)⁵ at 100 rad/s makes 1e-5 of some millimetres."""
    record = ride(method, dt=1e-3)
    assert max(differences(record, table).values()) < 1e-7
    assert record.info["worst_gap_m"] < 1e-10
    assert record.time[-1] == 6.0


def test_implicit_steps_are_of_second_order(table):
    errors = []
    for dt in (1e-3, 5e-4):
        found = differences(ride("hybrid", dt=dt), table)
        errors.append([found["z"], found["FL_wheel_z"], found["RR_arm"]])
    np.testing.assert_allclose(orders(np.array(errors)), 2.0, atol=0.1)
    assert max(errors[-1]) < 1e-5


@pytest.mark.parametrize("method", ["simgc", "simmc", "hybrid", "components"])
def test_both_ways_to_hold_the_dampers_move_alike(method):
    one, other = (ride(method, joints=joints, time=1.0, dt=1e-3) for joints in car.JOINTS)
    for name in ("chassis.position.z", "chassis.rotation.y", "rear_right.hub.wheel.position.z"):
        # The same equations but for those that repeat others: rounding of some thousand steps.
        np.testing.assert_allclose(one[name], other[name], rtol=0.0, atol=1e-10)


def test_it_rests_where_weight_and_stiffness_say(table):
    """The tyres carry the car and the passenger, wherever the suspension puts them."""
    record = ride("simgc", tolerance=1e-10)
    wheels = sum(0.315 - record[f"{name}.hub.wheel.position.z"][-1] for name in CORNERS)
    weight = (1200.0 + 4 * (10.0 + 18.0 + 2.5 + 1.5)) * 9.81 + 1000.0
    still = abs(table["vz"][-1]) * 4 * 500.0 + 1.0  # what the tyres' dampers still carry [N]
    assert wheels * 200000.0 == pytest.approx(weight, abs=still)


# --- trains ---


def test_cars_of_a_train_stand_on_springs_of_their_own():
    """At the start nothing pulls along the track: every tyre holds its wheel where it stands."""
    model = car.train(3)
    flat = model.flatten()
    assert (len(flat.bodies), len(flat.joints)) == (3 * 17, 3 * 20 + 2)
    assert len({id(instance.component) for instance in model.instances.values()}) == 1
    for k in range(3):
        for name in CORNERS:
            tyre, wheel = flat.loads[f"car{k}.{name}.hub.tyre"], flat.bodies[f"car{k}.{name}.hub.wheel"]
            np.testing.assert_allclose(np.subtract(tyre.at_b, tyre.at_a), (0.0, 0.0, 0.3), atol=1e-15)
            assert tyre.at_b == wheel.at
    single, trio = (
        Simulation(made, method="simgc", tolerance=1e-9).run(0.05, every=0.05, reactions=False)
        for made in (car.build(), model)
    )
    # Coupled cars that settle alike need no coupling force but for their pitch, which differs front to rear.
    assert trio["car1.chassis.position.x"][-1] == pytest.approx(
        single["chassis.position.x"][-1] - car.SPACING, abs=1e-4
    )


def test_a_train_of_one_is_the_car():
    one, other = (
        Simulation(made, method="simgc", dt=1e-3).run(0.5, every=0.1, reactions=False)
        for made in (car.build(), car.train(1))
    )
    np.testing.assert_allclose(
        other["car0.chassis.position.z"], one["chassis.position.z"], rtol=0.0, atol=1e-13
    )


def test_methods_agree_on_a_train():
    records = [
        Simulation(car.train(3), method=method, tolerance=1e-9).run(1.0, every=0.1, reactions=False)
        for method in ("simgc", "simmc", "components")
    ]
    for name in ("car0.chassis.position.z", "car1.chassis.position.x", "car2.rear_left.hub.wheel.position.z"):
        for record in records[1:]:
            np.testing.assert_allclose(record[name], records[0][name], rtol=0.0, atol=1e-7)


def test_compiled_once_a_car_has_one_tree_and_four_loops():
    system = compile_model(car.build(), rows=True)
    assert system.nv == 6 + 4 * 4
