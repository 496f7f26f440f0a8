"""The benchmark of vehicles compares the same vehicle, and its fleets are as many of it."""

import pytest

from linkwork import Simulation


@pytest.mark.peers
def test_mujoco_drives_the_same_vehicle():
    pytest.importorskip("mujoco")
    from benchmarks.vehicle import corners, vehicle
    from benchmarks.vehicle_mujoco import MujocoVehicle

    peer = MujocoVehicle(1e-3)
    ours = Simulation(vehicle(), dt=1e-3)
    total = float(peer._model.body_mass.sum())
    assert total == pytest.approx(1000 + 4 * (5 + 5 + 12 + 18 + 1.5))
    rest = ours["chassis.position.z"]
    peer.run(1000)
    ours.step(1000)
    assert len(ours.touches()) == peer._data.ncon == 4  # all wheels stand on the road, none is in the air
    # Both contacts and MuJoCo's pins give way a little, each in its own manner: millimetres, of 0.3 m of the wheels.
    assert peer.height == pytest.approx(ours["chassis.position.z"], abs=0.005)
    assert abs(ours["chassis.position.z"] - rest) < 0.01
    assert peer.speed == pytest.approx(ours["chassis.velocity.x"], rel=0.01)
    w, x, y, z = peer._data.qpos[3:7]
    assert (w, x, y, z) == pytest.approx([ours[f"chassis.rotation.{c}"] for c in "wxyz"], abs=1e-3)
    for corner in corners(2):
        there = peer._data.body(f"{corner.name}_wheel").xpos
        here = [ours[f"{corner.name}_wheel.position.{c}"] for c in "xyz"]
        assert tuple(there) == pytest.approx(here, abs=0.01)


def test_a_fleet_is_so_many_vehicles():
    from benchmarks.vehicles import fleet, judge, sections

    model = fleet(3).flatten()
    assert len([name for name in model.bodies if name.endswith("chassis")]) == 3
    assert len(model.loads) == 3 * 8
    rows = [{"case": "rigid", "us": 10.0, "spread": 1.0, "gap_m": 1e-15},
            {"case": "tyres", "us": 9.0, "spread": 1.0, "gap_m": 1e-15},
            {"case": "rods", "us": 8.0, "spread": 1.0, "gap_m": 1e-15}]  # fmt: skip
    data = {"rows": rows, "fleet": {"vehicles": [1, 3], "us": [9.0, 27.0], "exponent": 1.0}, "krt_frame_ms": 2.0,
            "live": {"pictures_per_s": 59.0, "longest_gap_ms": 41.0}, "notes": []}  # fmt: skip
    found = judge(data)
    assert [target.met for target in found] == [
        None,
        None,
        None,
        True,
        True,
        True,
        True,
        False,
    ]  # nothing to compare with
    data["targets"] = [target._asdict() for target in found]
    assert [section.title for section in sections(data)][:2]
