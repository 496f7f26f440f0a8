"""Brakes, drivelines and tyres of wheels and axles, in Python and in model files."""

import dataclasses
import math

import pytest

from linkwork import Material, Simulation, load_model
from linkwork.model.errors import LinkworkError, ModelError
from linkwork.vehicle import Car, Driveline, HubMotor, WheelBrake, axle, roads
from linkwork.vehicle.manoeuvres.base import flat, run

G = 9.81
TEXT = """\
linkwork: 1
units: SI
materials: {asphalt: {friction: 1}}
scenery: {floor: {shapes: [{shape: plane}], material: asphalt}}
bodies:
  deck: {at: [0, 0, 0.285], mass: 1200, inertia: [300, 1600, 1700], com: [0, 0, 0.3]}
components:
  front:
    axle:
      track: 1.5
      wheel: {suspension: double_wishbone, radius: 0.3, load: 2943, tyre: brush, brake: {torque: 900}}
      steering: {}
  rear:
    axle:
      track: 1.5
      wheel: {suspension: twist_beam, radius: 0.3, load: 2943, tyre: {type: brush, friction: 0.9}, brake: {}}
      driveline: {torque: 200, power: 60e3, top_speed: 1200, gear: 8, differential: 400, command: 0.3}
instances:
  front: {component: front, at: [1.3, 0, 0.285]}
  rear: {component: rear, at: [-1.3, 0, 0.285]}
joints:
  front_mount: {type: weld, a: deck, b: front.mount}
  rear_mount: {type: weld, a: deck, b: rear.mount}
"""


def written(tmp_path, text=TEXT):
    path = tmp_path / "car.yaml"
    path.write_text(text)
    return path


def test_a_file_has_brakes_tyres_and_a_driveline(tmp_path):
    """0.3 of 200 N m by 8 at the wheels: 480 N m over 0.29 m and 1.54 t; then the brakes hold."""
    simulation = Simulation(load_model(written(tmp_path)))
    simulation.run(1.5)
    pull = simulation["rear.left.tyre.force.x"] + simulation["rear.right.tyre.force.x"]
    assert pull == pytest.approx(0.3 * 200 * 8 / 0.29, rel=0.1)
    assert simulation["deck.velocity.x"] == pytest.approx(1.5 * pull / 1540, rel=0.15)
    simulation.command("rear.motor", 0.0)
    for end in ("front", "rear"):
        for side in ("left", "right"):
            simulation.command(f"{end}.{side}.brake", 1.0)
    simulation.run(2.0)
    assert abs(simulation["deck.velocity.x"]) < 1e-2


def test_an_axle_that_carries_both_wheels_has_the_load_of_both_on_its_tyres():
    made = axle(track=1.5, suspension="solid_axle", radius=0.3, load=2943.0, tyre="brush")
    loads = [
        hub.component.loads["tyre"].load for name, hub in made.instances.items() if name in ("left", "right")
    ]
    assert loads[0] == loads[1]
    assert 2943.0 < loads[0] < 2.0 * 2943.0


@pytest.mark.parametrize(("differential", "alike"), [("open", False), ("locked", True), (2000.0, True)])
def test_a_differential_on_ice(differential, alike):
    """The left wheels on ice: open, both wheels get what the left one can hold; locked, the right one pulls."""
    motor = Driveline(torque=280.0, power=110e3, top_speed=1400.0, gear=9.0, differential=differential)
    car = Car(motor=motor, brake=0.0)
    road = [*flat(), roads.patch("ice", start=-10, length=200, width=3.0, y=1.5, material="ice")]
    road.insert(0, Material("ice", friction=0.1))
    record = run(car, road, 1.0, speed=1.0, tables={"rear.motor": ((0.0, 0.1, 0.3), (0.0, 0.0, 0.6))})
    left, right = (record[f"rear.{side}.axle.angle_rate"][-1] for side in ("left", "right"))
    pulls = [record[f"rear.{side}.tyre.force.x"][-1] for side in ("left", "right")]
    if alike:
        assert left == pytest.approx(right, rel=0.05)
        assert pulls[1] > 4.0 * pulls[0]
    else:
        assert left > 3.0 * right
        # Half of the torque would be 2.6 kN at each; but it goes into the left wheel, which spins up on 0.3 kN.
        assert pulls[1] < 1300.0


@pytest.mark.slow
def test_rigid_wheels_stand_on_a_slope():
    """30 %, brakes pressed: dry friction of the road and pads that hold, no creep."""
    car = Car(tyre="rigid", drive="none", brakes=WheelBrake(command=1.0))
    tilt = math.atan(0.3)
    model = car.model(friction=0.8)
    model.gravity = (-G * math.sin(tilt), 0.0, -G * math.cos(tilt))
    simulation = Simulation(model)
    simulation.run(60.0)
    assert abs(simulation["chassis.velocity.x"]) <= 1e-9
    assert abs(simulation["chassis.position.x"]) < 0.05


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WheelBrake(torque=-1.0), "torque: must be greater than 0"),
        (lambda: WheelBrake(command=2.0), "command"),
        (lambda: Driveline(torque=1.0, power=1.0, top_speed=1.0, differential="opn"), "differential"),
        (lambda: Driveline(torque=1.0, power=1.0, top_speed=1.0, differential=-3.0), "open, locked, or a torque"),
        (
            lambda: axle(
                track=1.5, load=3e3, drive=HubMotor(stall_torque=1.0, idle_speed=1.0, time_constant=0.0),
                driveline=Driveline(torque=1.0, power=1.0, top_speed=1.0),
            ),
            "not both",
        ),
        (lambda: Car(mass=-1.0), "mass: must be greater than 0"),
        (lambda: Car(front_share=1.0), "front_share"),
        (lambda: dataclasses.replace(Car(), front="trailing_arm").axles[0].component(), "a rack steers by tie rods"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(make, said):
    with pytest.raises((LinkworkError, ModelError), match=said):
        make()


def test_a_file_tells_the_line(tmp_path):
    path = written(tmp_path, TEXT.replace("brake: {torque: 900}", "brake: {torqe: 900}"))
    with pytest.raises(ModelError, match=r"car\.yaml:11"):
        load_model(path)
