"""An axle to be sealed, with names and numbers that are nobody's business."""

from pathlib import Path

from linkwork import Model, load_model
from linkwork.distributed.sealed_file import seal

SUSPENSION = """
linkwork: 1
units: SI
name: quarter_axle
bodies:
  mount: {mass: 0.53125, inertia: [0.01, 0.01, 0.01], color: "#ff0000"}
  secret_wishbone: {mass: 3.21987, inertia: [0.1, 0.2, 0.25], com: [0.15, 0, 0], at: [0.3, 0, 0]}
  secret_strut: {density: 7850.0, at: [0.6, 0, 0.1], shapes: [{shape: box, size: [0.1, 0.1, 0.2]}]}
markers:
  secret_eye: {body: secret_strut, at: [0.6, 0, 0.2]}
joints:
  secret_pivot: {type: hinge, a: mount, b: secret_wishbone, axis: [1, 0, 0], limits: [-0.512, 0.487]}
  secret_wishbone: {type: hinge, a: secret_wishbone, b: secret_strut, at: [0.6, 0, 0], axis: [1, 0, 0]}
loads:
  secret_coil:
    type: spring
    a: mount
    b: secret_strut
    at_a: [0.2, 0, 0.4]
    at_b: secret_eye
    stiffness: 23456.789
    damping: 1234.5
drives:
  secret_motor: {type: torque_source, joint: secret_pivot, command: 17.625}
instances:
  hub: {component: wheel, at: [0.7, 0, 0.1]}
components:
  wheel:
    bodies:
      rim: {mass: 11.875, inertia: [0.3, 0.5, 0.3]}
"""
PORTS = ["mount", "hub.rim"]


def axle(tmp_path: Path) -> Model:
    """The component, of a file axle.yaml; to be made a fixture: `component = pytest.fixture(axle)`."""
    (tmp_path / "axle.yaml").write_text(SUSPENSION)
    return load_model(tmp_path / "axle.yaml")


def sealed_axle(component: Model, tmp_path: Path) -> Path:
    """The component sealed, without a key; to be made a fixture: `file = pytest.fixture(sealed_axle)`."""
    seal(component, tmp_path / "axle.sealed", PORTS)
    return tmp_path / "axle.sealed"
