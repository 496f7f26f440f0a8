"""The benchmark of vehicles compares the same vehicle, and its fleets are as many of it."""

import pytest

from linkwork import Simulation


@pytest.mark.peers
def test_mujoco_drives_the_same_vehicle():
    pytest.importorskip("mujoco")
    from benchmarks.vehicle import vehicle
    from benchmarks.vehicle_mujoco import MujocoVehicle

    peer = MujocoVehicle(1e-3)
    ours = Simulation(vehicle(), dt=1e-3)
    total = float(peer._model.body_mass.sum())
    assert total == pytest.approx(1000 + 4 * (5 + 5 + 12 + 18 + 1.5))
    peer.run(50)
    ours.step(50)
    # Both contacts give way a little, each in its own manner.
    assert peer.height == pytest.approx(ours["chassis.position.z"], abs=0.02)


def test_a_fleet_is_so_many_vehicles():
    from benchmarks.vehicles import fleet, judge, sections

    model = fleet(3).flatten()
    assert len([name for name in model.bodies if name.endswith("chassis")]) == 3
    assert len(model.loads) == 3 * 8
    rows = [{"case": "rigid", "us": 10.0, "spread": 1.0, "gap_m": 1e-15},
            {"case": "tyres", "us": 9.0, "spread": 1.0, "gap_m": 1e-15},
            {"case": "rods", "us": 8.0, "spread": 1.0, "gap_m": 1e-15}]  # fmt: skip
    data = {"rows": rows, "fleet": {"vehicles": [1, 3], "us": [9.0, 27.0], "exponent": 1.0}, "krt_frame_ms": 2.0,
            "notes": []}  # fmt: skip
    found = judge(data)
    assert [target.met for target in found] == [None, None, None, True, True, True]  # nothing to compare with
    data["targets"] = [target._asdict() for target in found]
    assert [section.title for section in sections(data)][:2]
