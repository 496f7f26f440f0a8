"""Model files with a mistake in joints, drives and couplings.

It is in the line marked `# here`; beside it stand words of the message about it.
"""

from helpers.broken_values import ARM, joint

PINS = ARM + "joints: {pin: {type: hinge, a: ground, b: arm}, knee: {type: hinge, a: arm, b: leg}}\n"
SHEET = "stall_torque: 1, idle_speed: 100, time_constant: 0.01"


def drive(fields: str) -> str:
    return PINS + f"drives:\n  m: {{{fields}}} # here"


def coupling(fields: str) -> str:
    return PINS + f"couplings:\n  c: {{{fields}}} # here"


# name: (text after HEAD, words of the message)
JOINTS: dict[str, tuple[str, tuple[str, ...]]] = {
    # --- joints ---
    "unknown type": (
        ARM + "joints:\n  pivot: {type: hing, a: ground, b: arm} # here",
        ("joints.pivot.type", "'hing'", "did you mean 'hinge'?"),
    ),
    "no type": (
        ARM + "joints:\n  pivot: {a: ground, b: arm} # here",
        ("joints.pivot", "needs a type", "hinge"),
    ),
    "type is no text": (ARM + "joints:\n  pivot: {type: 3, a: ground, b: arm} # here", ("pivot.type", "3")),
    "no such body": (
        ARM + "joints:\n  pivot:\n    type: hinge\n    a: ground\n    b: amr # here",
        ("joints.pivot.b", "no body 'amr'", "did you mean 'arm'?"),
    ),
    "body left out": (
        ARM + "joints:\n  pivot: {type: hinge, a: ground} # here",
        ("joints.pivot.b", "is required"),
    ),
    "body left empty": (
        ARM + "joints:\n  pivot:\n    type: hinge\n    a: ground\n    b: # here",
        ("joints.pivot.b", "must be a text", "nothing"),
    ),
    "joint on itself": (
        ARM + "joints:\n  pivot: {type: hinge, a: arm, b: arm} # here",
        ("joins 'arm' with itself",),
    ),
    "zero axis": (
        ARM + "joints:\n  pivot: {type: hinge, a: ground, b: arm, axis: [0, 0, 0]} # here",
        ("joints.pivot.axis", "zero vector"),
    ),
    "reference along the axis": (
        ARM + "joints:\n  p: {type: hinge, a: ground, b: arm, axis: [0, 0, 2], reference: [0, 0, -1]} # here",
        ("joints.p", "parallel"),
    ),
    "count of damping": (
        ARM + "joints:\n  p: {type: universal, a: ground, b: arm, damping: [1, 2, 3]} # here",
        ("joints.p", "damping needs 2 numbers", "not 3"),
    ),
    "negative damping": (
        ARM + "joints:\n  p:\n    type: planar\n    a: ground\n    b: arm\n    damping: [1, -2, 3] # here",
        ("joints.p.damping.1", "less than 0", "-2"),
    ),
    "no pitch": (
        ARM + "joints:\n  p: {type: screw, a: ground, b: arm} # here",
        ("joints.p.pitch", "is required"),
    ),
    "no such marker": (
        ARM + "markers: {tip: {body: arm}}\njoints:\n  p: {type: hinge, a: ground, b: arm, at: top} # here",
        ("joints.p.at", "no marker 'top'", "tip"),
    ),
    "marker on nothing": (
        ARM + "markers:\n  tip: {body: ram} # here",
        ("markers.tip.body", "'ram'", "'arm'?"),
    ),
    # --- limits and friction ---
    "lowest above highest": (
        ARM + "joints:\n  p: {type: hinge, a: ground, b: arm, limits: [2, 1]} # here",
        ("joints.p", "limits", "lowest 2", "above the highest 1"),
    ),
    "lowest above highest in a list": (
        ARM + "joints:\n  p: {type: cylindrical, a: ground, b: arm, limits: [[0, 1], [=pi, 3]]} # here",
        ("joints.p", "limits", "lowest 3.14159", "above the highest 3"),
    ),
    "one limit": (joint("limits: [1]"), ("joints.p.limits", "2 entries", "[1]")),
    "three limits": (joint("limits: [0, 1, 2]"), ("joints.p.limits", "at most 2", "[0, 1, 2]")),
    "no limits in a list": (joint("limits: []"), ("joints.p.limits", "2 entries", "[]")),
    "limit that is text": (joint("limits: [low, 1]"), ("joints.p.limits.0", "a number", "'low'")),
    "limits that are text": (joint("limits: none"), ("joints.p.limits", "a list", "'none'")),
    "one number as limits": (joint("limits: 1.5"), ("joints.p.limits", "a list", "1.5")),
    "names of limits": (joint("limits: {low: 0, high: 1}"), ("joints.p.limits", "a list", "'low'")),
    "infinite limit": (joint("limits: [0, .inf]"), ("joints.p.limits.1", "finite", "inf")),
    "limit in a pair": (joint("limits: [[0, high]]"), ("joints.p.limits.0.1", "a number", "'high'")),
    "pairs and a number": (joint("limits: [[0, 1], 2]"), ("joints.p.limits.1", "a list", "got 2")),
    "count of limits": (
        ARM + "joints:\n  p: {type: planar, a: ground, b: arm, limits: [[0, 1], [0, 1]]} # here",
        ("joints.p", "limits needs 3 pairs for planar", "not 2"),
    ),
    "formula in a limit": (joint("limits: [=-pie, 1]"), ("joints.p.limits.0", "'=-pie'", "'pi'?")),
    "limit for limits": (joint("limit: [0, 1]"), ("joints.p.limit", "'limits'?")),
    "negative friction": (joint("friction: -0.1"), ("joints.p.friction", "less than 0", "-0.1")),
    "friction in words": (joint("friction: dry"), ("joints.p.friction", "a number", "'dry'")),
    "count of friction": (
        ARM + "joints:\n  p: {type: hinge, a: ground, b: arm, friction: [1, 2]} # here",
        ("joints.p", "friction needs 1", "not 2"),
    ),
    "restitution above 1": (joint("restitution: 1.5"), ("joints.p.restitution", "than", "1", "got 1.5")),
    "negative restitution": (joint("restitution: -1"), ("joints.p.restitution", "less than 0", "-1")),
    "restitution by coordinate": (joint("restitution: [0.5]"), ("p.restitution", "a number", "[0.5]")),
    # --- drives and couplings ---
    "motor on an unknown joint": (
        drive(f"type: dc_motor, joint: pni, {SHEET}"),
        ("drives.m.joint", "no joint 'pni'", "did you mean 'pin'?"),
    ),
    "motor on a body": (
        drive(f"type: dc_motor, joint: arm, {SHEET}"),
        ("drives.m.joint", "no joint 'arm'", "known: knee, pin"),
    ),
    "motor on nothing": (drive(f"type: dc_motor, {SHEET}"), ("drives.m.joint", "is required")),
    "motor on a number": (drive(f"type: dc_motor, joint: 1, {SHEET}"), ("drives.m.joint", "a text", "got 1")),
    "gear ratio of zero": (
        drive(f"type: dc_motor, joint: pin, {SHEET}, gear: 0"),
        ("drives.m.gear", "must not be zero", "got 0"),
    ),
    "computed gear ratio of zero": (
        drive(f"type: dc_motor, joint: pin, {SHEET}, gear: =2-2"),
        ("drives.m.gear", "must not be zero", "'=2-2'"),
    ),
    "negative stall torque": (
        drive("type: dc_motor, joint: pin, stall_torque: -1, idle_speed: 1, time_constant: 1"),
        ("drives.m.stall_torque", "greater than 0", "-1"),
    ),
    "idle speed of zero": (
        drive("type: dc_motor, joint: pin, stall_torque: 1, idle_speed: 0, time_constant: 1"),
        ("drives.m.idle_speed", "greater than 0", "got 0"),
    ),
    "negative time constant": (
        drive("type: dc_motor, joint: pin, stall_torque: 1, idle_speed: 1, time_constant: -1"),
        ("drives.m.time_constant", "less than 0", "-1"),
    ),
    "motor without time constant": (
        drive("type: dc_motor, joint: pin, stall_torque: 1, idle_speed: 1"),
        ("drives.m.time_constant", "is required"),
    ),
    "unknown drive": (
        drive(f"type: dcmotor, joint: pin, {SHEET}"),
        ("drives.m.type", "'dcmotor'", "did you mean 'dc_motor'?"),
    ),
    "drive without type": (drive("joint: pin"), ("drives.m", "needs a type", "torque_source")),
    "type of a drive is no text": (drive("type: [dc_motor], joint: pin"), ("drives.m.type", "a text")),
    "servo without stiffness": (
        drive("type: position_servo, joint: pin"),
        ("drives.m.stiffness", "is required"),
    ),
    "servo of no stiffness": (
        drive("type: position_servo, joint: pin, stiffness: 0"),
        ("drives.m.stiffness", "greater than 0"),
    ),
    "negative damping of a servo": (
        drive("type: position_servo, joint: pin, stiffness: 1, damping: -2"),
        ("drives.m.damping", "less than 0", "-2"),
    ),
    "negative strength": (
        drive("type: velocity_servo, joint: pin, strength: -1"),
        ("drives.m.strength", "less than 0", "-1"),
    ),
    "strength in words": (
        drive("type: velocity_servo, joint: pin, strength: unlimited"),
        ("drives.m.strength", "a number", "'unlimited'"),
    ),
    "stiffness of another drive": (
        drive("type: velocity_servo, joint: pin, stiffness: 1"),
        ("drives.m.stiffness", "is not known here"),
    ),
    "command in words": (
        drive("type: velocity_servo, joint: pin, command: fast"),
        ("drives.m.command", "a number", "'fast'"),
    ),
    "list of commands": (
        PINS + "drives:\n  m:\n    type: torque_source\n    joint: pin\n    command: [1, 2] # here",
        ("drives.m.command", "a number", "[1, 2]"),
    ),
    "infinite command": (
        drive("type: torque_source, joint: pin, command: .inf"),
        ("drives.m.command", "finite"),
    ),
    "unknown signal of a drive": (
        drive("type: torque_source, joint: pin, signal: {signal: tabel, times: [0], values: [1]}"),
        ("drives.m.signal.signal", "'tabel'", "'table'?"),
    ),
    "coordinate by number": (
        drive("type: torque_source, joint: pin, coordinate: 0"),
        ("drives.m.coordinate", "a text", "got 0"),
    ),
    "name inside a drive": (
        drive("type: torque_source, joint: pin, name: m"),
        ("drives.m.name", "the key is the name"),
    ),
    "dotted name of a drive": (
        PINS + "drives:\n  left.m: {type: torque_source, joint: pin} # here",
        ("drives.left.m", "may not contain a dot"),
    ),
    "drive among loads": (
        PINS + f"loads:\n  m: {{type: dc_motor, joint: pin, {SHEET}}} # here",
        ("loads.m.type", "'dc_motor' does not belong here", "under 'drives'"),
    ),
    "load among drives": (
        drive("type: force, body: arm, force: [1, 0, 0]"),
        ("drives.m.type", "'force' does not belong here", "under 'loads'"),
    ),
    "coupling among drives": (
        drive("type: repeater, a: pin, b: knee"),
        ("drives.m.type", "'repeater'", "under 'couplings'"),
    ),
    "code as a drive": (
        drive("type: joint_function, joint: pin, function: os.system"),
        ("drives.m.type", "'joint_function' is not known"),
    ),
    "drives in a joint": (joint("drives: {m: {type: dc_motor}}"), ("joints.p.drives", "a section of a file")),
    "drive for drives": (PINS + "drive: {} # here", ("drive", "did you mean 'drives'?")),
    "list of drives": (
        PINS + "drives: # here\n  - {type: torque_source, joint: pin}",
        ("drives", "a mapping", "torque_source"),
    ),
    "number for a drive": (PINS + "drives:\n  m: 3 # here", ("drives.m", "a mapping", "got 3")),
    "repeater ratio of zero": (
        coupling("type: repeater, a: pin, b: knee, ratio: 0"),
        ("couplings.c.ratio", "must not be zero", "got 0"),
    ),
    "repeater ratio in words": (
        coupling("type: repeater, a: pin, b: knee, ratio: twice"),
        ("couplings.c.ratio", "a number", "'twice'"),
    ),
    "repeater of an unknown joint": (
        coupling("type: repeater, a: pin, b: nee"),
        ("couplings.c.b", "no joint 'nee'", "did you mean 'knee'?"),
    ),
    "repeater of one joint": (coupling("type: repeater, a: pin"), ("couplings.c.b", "is required")),
    "unknown coupling": (
        coupling("type: repeter, a: pin, b: knee"),
        ("couplings.c.type", "'repeter'", "did you mean 'repeater'?"),
    ),
    "coupling without type": (coupling("a: pin, b: knee"), ("couplings.c", "needs a type", "repeater")),
    "drive in a component knows its own joints": (
        PINS + "components:\n  wheel:\n    drives: {m: {type: torque_source, joint: pin}} # here",
        ("components.wheel.drives.m.joint", "no joint 'pin'"),
    ),
    "wrong joint inside an instance": (
        PINS + "components: {wheel: {bodies: {rim: {mass: 1}}, "
        "joints: {hub: {type: hinge, a: ground, b: rim}}}}\ninstances: {left: {component: wheel}}\n"
        "drives:\n  m: {type: torque_source, joint: left.hubb} # here",
        ("drives.m.joint", "no joint 'left.hubb'", "did you mean 'left.hub'?"),
    ),
}
