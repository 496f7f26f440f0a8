"""Suspensions of wheeled robots by Strashnov and Torgashev: six of them, and the robot of Figures 5 and 6.

The paper says that springs of any stiffness are stable, that a frame is calculated in less than 40 ms, and shows in
Figure 6 how the right wheels rise on an obstacle, the left ones drop and the chassis tilts. It has no table; what can
be measured of it is here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Body, Material, Model, Plane, Scenery, Slider, Weld
from ..results.plot import STYLES, new_figure, write_figure
from ..results.record import Record
from ..run.simulate import Simulation
from ..scenes import krt100, suspensions
from ..vehicle import OF_THE_PAPER, SUSPENSIONS, Coil, Torsion, Wheel
from ..vehicle.rig import curves, rest
from ..vehicle.suspensions.base import GRAVITY
from . import PAPERS, Reproduction, tilt

STIFFNESSES = (1e2, 1e4, 1e6, 1e9)
"""Of coil springs [N/m]; of torsion springs the same at an arm of `LEVER`."""
STEPS = (1e-3, 1e-2)
"""[s]"""
LEVER = 0.16
"""[m]"""
FRAME = 0.04
"""The paper's bound for a frame [s]."""
_STANDING, _RIDE, _FILMED = 2.5, 2.0, 8.0  # [s]


def quarter(made: Wheel) -> Model:
    """A corner below a block that slides upright, which weighs what the corner is made to carry, on a slippery road."""
    model, at = Model("quarter"), (0.0, 0.0, made.radius)
    model.add(Material("ice", friction=0.0))
    model.add(Scenery("road", shapes=(Plane(),), material="ice"))
    model.add(Body("block", at=at, mass=made.load / GRAVITY, inertia=(1.0, 1.0, 1.0)))
    model.add(Slider("heave", "ground", "block", at=at))
    model.add(made.component().instance("it", at=at))
    model.add(Weld("mount", "block", "it.mount", at=at))
    return model


def slack(kind: str, spring: str, stiffness: float) -> Wheel:
    """A corner whose spring is slack as drawn, and damped so that it stands soon."""
    made = suspensions.corner(kind, driven=False)
    lever = LEVER if spring == "torsion" else 1.0
    k, c = stiffness * lever**2, 2.0 * math.sqrt(stiffness * lever**4 * made.load / GRAVITY)
    drawn = math.dist(made.parts.coil.foot, made.parts.coil.top)
    chosen: Coil | Torsion = Coil(stiffness=k, damping=c, length=drawn)
    if spring == "torsion":
        chosen = Torsion(stiffness=k, damping=c, rest=0.0)
    return Wheel(suspension=kind, radius=made.radius, load=made.load, spring=chosen)


def sweep(kind: str, spring: str) -> tuple[float, int]:
    """How far corners stand from where statics has them [rad or m], at most, and how many of them stand on the stop."""
    worst, stopped = 0.0, 0
    for stiffness in STIFFNESSES:
        made = slack(kind, spring, stiffness)
        known = rest(made)
        stopped += known.stop != 0.0
        for dt in STEPS:
            simulation = Simulation(quarter(made), method="simgc", dt=dt)
            simulation.step(round(_STANDING / dt))
            coordinate = f"it.{made.chain.travel.name}.{made.chain.travel.coordinates[0]}"
            worst = max(worst, abs(float(simulation[coordinate]) - known.coordinate))
    return worst, stopped


def loads(simulation: Simulation) -> dict[str, float]:
    """What the road carries below each wheel [N], by the name of its corner."""
    return {touch.a.rpartition(".")[0]: touch.force for touch in simulation.touches()}


def ride(kind: str) -> dict[str, float]:
    """A vehicle that stands, and then drives over bumps: how far its wheel loads are from hand sums, time of a step."""
    simulation = Simulation(suspensions.build(kind), method="simgc", dt=1e-3)
    simulation.step(200)
    count = round(_RIDE / 1e-3)
    began = time.process_time()
    simulation.step(count)
    return {"load_error": by_hand(kind), "us_per_step": 1e6 * (time.process_time() - began) / count}


def by_hand(kind: str) -> float:
    """How far wheel loads of a vehicle at rest are from those by moments of all weights about its axles, as a share.

    Arms along the vehicle lie in front of their wheels, so that front wheels carry more than rear ones."""
    model, simulation = standing(kind)
    whole = GRAVITY * sum(body.mass_properties.mass for body in model.flatten().bodies.values())
    moment = whole * float(simulation["com.position.x"])
    front, rear = ([t for t in simulation.touches() if f".{axle}_" in t.a] for axle in ("front", "rear"))
    x_front, x_rear = (sum(t.point[0] for t in touches) / len(touches) for touches in (front, rear))
    on_front = (moment - whole * x_rear) / (x_front - x_rear) / 2.0
    known = {True: on_front, False: 0.5 * whole - on_front}
    return max(abs(t.force / known[t in front] - 1.0) for t in (*front, *rear))


def standing(kind: str) -> tuple[Model, Simulation]:
    """A vehicle at rest: its drives are told to stand."""
    model = suspensions.build(kind)
    simulation = Simulation(model, method="simgc", dt=1e-3)
    for name in model.flatten().drives:
        simulation.command(name, 0.0)
    simulation.step(5000)
    return model, simulation


def figures() -> dict[str, float]:
    """Figure 5, the robot with its cart at rest, and Figure 6, the robot with its right wheels on an obstacle."""
    simulation = Simulation(krt100.build("flat"), method="simgc", dt=1e-3)
    simulation.step(1000)
    at_rest = loads(simulation)
    worst = max(abs(load / krt100.corner(name).wheel_load - 1.0) for name, load in at_rest.items())
    found, known = tilt.simulated(), tilt.by_hand()
    return {
        "krt_load_error": worst,
        "krt_front_N": at_rest["front_left"],
        "krt_rear_N": at_rest["rear_left"],
        "krt_cart_N": at_rest["cart_left"],
        "tilt_deg": math.degrees(-found.roll),
        "tilt_by_hand_deg": math.degrees(-known.roll),
        "left_mm": 1e3 * found.left,
        "right_mm": 1e3 * found.right,
        "tilt_error_rad": abs(found.roll - known.roll),
        "tilt_load_error": max(
            abs(found.load_left / known.load_left - 1), abs(found.load_right / known.load_right - 1)
        ),
    }


def reproduce(progress: Callable[[float], object] | None = None) -> Reproduction:
    """Every suspension with every spring that it can have, and both figures."""
    rows: list[dict[str, Any]] = []
    plan = [
        (kind, s)
        for kind in OF_THE_PAPER
        for s in ("coil", "torsion")
        if SUSPENSIONS[kind].torsion or s == "coil"
    ]
    rides: dict[str, dict[str, float]] = {}
    for done, (kind, spring) in enumerate(plan):
        made = suspensions.corner(kind, driven=False)
        told = made.travel_report()
        worst, stopped = sweep(kind, spring)
        if kind not in rides:
            rides[kind] = ride(kind)
        rows.append(
            {
                "suspension": kind,
                "spring": spring,
                "travel_mm": _range(1e3 * np.array(told.requested)),
                "asin_mm": _range(1e3 * np.array(told.reached)),
                "load_error": rides[kind]["load_error"],
                "sweep_error": worst,
                "on_stop": f"{stopped} of {len(STIFFNESSES)}",
                "us_per_step": rides[kind]["us_per_step"],
                "frame_ms": 1e3 * FRAME * rides[kind]["us_per_step"] / 1e3,
                "paper_ms": 1e3 * FRAME,
            }
        )
        if progress is not None:
            progress((done + 1) / (len(plan) + 1))
    more = figures()
    if progress is not None:
        progress(1.0)
    five = ", ".join(f"{axle} {more[f'krt_{axle}_N']:.4f} N" for axle in ("front", "rear", "cart"))
    notes = [
        "travel: reached with exact limits, to rounding; asin: with limits by the paper's equation 7",
        "load_error: wheel loads at rest against hand sums",
        "sweep_error: where a corner stands against statics [rad or m]; springs slack as drawn, steps of 1 and 10 ms",
        "springs of the sweep: 1e2 to 1e9 N/m; of torsion springs the same at an arm of 0.16 m",
        "us_per_step: a vehicle of four such corners on bumps, steps of 1 ms; frame_ms: the 40 steps of a frame",
        "times: of the processor",
        f"Figure 5, robot with cart at rest, below a wheel: {five}; from hand sums by {more['krt_load_error']:.1e}",
        f"Figure 6, right wheels on 60 mm: tilt {more['tilt_deg']:.6f}°, by hand {more['tilt_by_hand_deg']:.6f}°",
        f"Figure 6: left wheels {more['left_mm']:+.3f} mm, right ones {more['right_mm']:+.3f} mm from neutral",
    ]
    return Reproduction(PAPERS["suspensions"], rows, notes, _plot, situations, figures=more)


def situations() -> tuple[Record, ...]:
    """What a film shows: the six side by side on bumps, and Figures 5 and 6, the robot with its cart over an obstacle
    below one of its right wheels, then below all of them."""
    filmed = [suspensions.build(), *(krt100.build(course) for course in ("short box", "long box"))]
    return tuple(Simulation(model, dt=1e-3).run(_FILMED, every=0.02, reactions=False) for model in filmed)


def _range(pair: Any) -> str:
    return f"{pair[0]:+.4g} … {pair[1]:+.4g}"


def _plot(path: Path) -> None:
    """Camber and change of track of the six over their travel."""
    chart = new_figure(9.0, 3.8)
    axes: Any = chart.subplots(1, 2)
    for i, kind in enumerate(OF_THE_PAPER):
        found = curves(suspensions.corner(kind, driven=False), 25)
        colour, dashes = STYLES[i % len(STYLES)]
        style = {"color": colour, "linestyle": dashes, "linewidth": 1.4, "label": kind}
        axes[0].plot(1e3 * found.travel, np.degrees(found.camber), **style)
        axes[1].plot(1e3 * found.travel, 1e3 * found.track, **style)
    for axis, label in zip(axes, ("camber [°]", "track, one side [mm]"), strict=True):
        axis.set_xlabel("travel [mm]")
        axis.set_ylabel(label)
        axis.grid(True, color="0.9", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    write_figure(chart, path)
