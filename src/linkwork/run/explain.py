"""Why a run stopped, in words a user can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.steppers.implicit import NO_CONVERGENCE, SINGULAR
from ..engine.steppers.state import NOT_FINITE, TOO_SMALL
from ..mechanism.softness import softness
from ..methods.capabilities import ADAPTIVE, STIFF_SPRINGS, WITH_CONTACT
from ..methods.implicit import HALVINGS

if TYPE_CHECKING:
    from .simulate import Simulation


def likely_reason(simulation: Simulation, status: int) -> str:
    """One sentence: what happened, when, on which body, and what to do."""
    system, time = simulation.system, simulation.time
    rate = system.rates[int(simulation.method.state.clock.fastest)].name
    joint = system.joints[rate.rsplit(".", 1)[0]]
    body = joint.joint.a if joint.reversed else joint.joint.b
    if status == TOO_SMALL:
        return (
            f"t = {time:.6g} s: the adaptive integrator can find no step small enough for tolerance "
            f"{simulation.tolerance:g}; look for a jump in a load or an infinite stiffness, or loosen it"
        )
    if status == NO_CONVERGENCE:
        return (
            f"t = {time:.6g} s: Newton's method does not converge, not even for a step of "
            f"{simulation.dt / 2**HALVINGS:.2g} s; look for a jump in a load or a singular position, or shorten dt"
        )
    if status == SINGULAR and (loose := simulation.method.loose_joints()):
        joints = " and ".join(f"'{name}'" for name in loose)
        return (
            f"t = {time:.6g} s: a singular position lies ahead, where the equations of {joints} no longer say how "
            f"the mechanism moves and no choice of independent coordinates works; use method 'hybrid' or 'simgc'"
        )
    if elsewhere := simulation.method.blame():
        return f"t = {time:.6g} s: {elsewhere}; the step dt = {simulation.dt:g} s is probably too long: shorten it"
    what = "is not a number" if status == NOT_FINITE else "is running away"
    head = f"t = {time:.6g} s: the rate '{rate}' of body '{body}' {what}"
    cause = _stiffest(simulation)
    if cause:
        return f"{head}; {cause}"
    if simulation.integrator == "adaptive":
        return f"{head}; look for a load that grows with the motion (negative damping, a user function)"
    # Contact may have to do without adaptive steps: where things resist rolling or sleep, say.
    able = simulation.method.has(ADAPTIVE) and WITH_CONTACT not in simulation.method.circumstances
    other = ", or use 'adaptive'" if able else ""
    return f"{head}; the step dt = {simulation.dt:g} s is probably too long: shorten it{other}"


def _stiffest(simulation: Simulation) -> str:
    """The spring or damper that is too stiff for the step, judged by the inertia at the start."""
    if simulation.integrator == "adaptive" or simulation.method.has(STIFF_SPRINGS):
        return ""  # adaptive steps follow it; in the others springs and dampers are implicit
    compiled, h = simulation.compiled, simulation.dt
    if compiled is None:
        return ""
    soft = softness(compiled.rows, compiled.rows.q0)
    stiff = soft.implicit(h)
    if h <= soft.limit or not stiff:
        return ""
    name, _, what = stiff[0].partition(": ")
    return f"the {what} of '{name}' is too stiff for dt = {h:g} s: take dt below {soft.limit:.2g} s, or 'adaptive'"
