"""The car of the scene `car` with corners that are sealed."""

from pathlib import Path

from linkwork import Component, Model
from linkwork.distributed.sealed_file import seal
from linkwork.library import wheel_corner
from linkwork.library.damper import damper
from linkwork.scenes import car


def corner(stiffness: float = 40000.0) -> Component:
    """A corner of the car, redundant joints and all."""
    strut = damper(lower=car.LOWER_EYE, upper=car.UPPER_EYE, stiffness=stiffness)
    return wheel_corner(lower_eye=car.LOWER_EYE, upper_eye=car.UPPER_EYE, strut=strut)


def sealed_corner(folder: Path, stiffness: float = 40000.0) -> str:
    """The file of one."""
    made, path = corner(stiffness), folder / f"corner{stiffness:g}.sealed"
    seal(made, path, made.ports)
    return str(path)


def sealed_car(source: str, corners: tuple[str, ...] = tuple(car.CORNERS)) -> Model:
    """The car with this file or address at some corners."""
    model = car.build()
    for name in corners:
        model = model.replace(name, source)
    return model
