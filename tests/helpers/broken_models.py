"""Model files with a mistake in the line marked `# here`, and words of the message about it."""

HEAD = "linkwork: 1\nunits: SI\n"
ARM = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}, leg: {mass: 2}}\n"

PINS = ARM + "joints: {pin: {type: hinge, a: ground, b: arm}, knee: {type: hinge, a: arm, b: leg}}\n"
SHEET = "stall_torque: 1, idle_speed: 100, time_constant: 0.01"


def joint(fields: str) -> str:
    return ARM + f"joints:\n  p:\n    type: hinge\n    a: ground\n    b: arm\n    {fields} # here"


def drive(fields: str) -> str:
    return PINS + f"drives:\n  m: {{{fields}}} # here"


def coupling(fields: str) -> str:
    return PINS + f"couplings:\n  c: {{{fields}}} # here"


# name: (text after HEAD, words of the message)
MODELS: dict[str, tuple[str, tuple[str, ...]]] = {
    # --- values ---
    "text for a number": (
        "bodies:\n  arm:\n    mass: heavy # here",
        ("bodies.arm.mass", "a number", "'heavy'"),
    ),
    "quoted number": ("bodies:\n  arm:\n    mass: '1.0' # here", ("bodies.arm.mass", "a number", "'1.0'")),
    "truth for a number": ("bodies:\n  arm: {mass: true} # here", ("bodies.arm.mass", "a number", "True")),
    "list for a number": ("bodies:\n  arm:\n    mass: [1] # here", ("bodies.arm.mass", "a number", "[1]")),
    "negative mass": ("bodies:\n  arm: {mass: -1} # here", ("bodies.arm.mass", "less than 0", "-1")),
    "nan": ("bodies:\n  arm: {mass: .nan} # here", ("bodies.arm.mass", "finite", "nan")),
    "infinity": ("bodies:\n  arm: {mass: -.inf} # here", ("bodies.arm.mass", "finite", "-inf")),
    "overflow": ("bodies:\n  arm: {mass: 1e999} # here", ("bodies.arm.mass", "finite", "inf")),
    "long integer": (f"bodies:\n  arm: {{mass: {'9' * 5000}}} # here", ("bodies.arm.mass", "finite")),
    "number for a vector": (ARM + "gravity: 9.81 # here", ("gravity", "a list", "9.81")),
    "vector too short": ("bodies:\n  arm: {mass: 1, at: [1]} # here", ("bodies.arm.at", "3 entries", "[1]")),
    "vector too long": ("bodies:\n  arm: {mass: 1, at: [1, 2, 3, 4]} # here", ("arm.at", "at most 3", "4]")),
    "wrong entry of a vector": (
        "bodies:\n  arm:\n    mass: 1\n    at:\n      - 1\n      - x # here\n      - 2",
        ("bodies.arm.at.1", "a number", "'x'"),
    ),
    "gravity entry": (ARM + "gravity: [0, 0, down] # here", ("gravity.2", "a number", "'down'")),
    "neither true nor false": (
        "bodies:\n  arm: {mass: 1, trust_inertia: maybe} # here",
        ("arm.trust_inertia", "true or false", "'maybe'"),
    ),
    "number for a truth": (
        "bodies:\n  arm: {mass: 1, trust_inertia: 1} # here",
        ("arm.trust_inertia", "true or false", "got 1"),
    ),
    "word for a truth": (joint("mirrored: yes"), ("joints.p.mirrored", "true or false", "'yes'")),
    "quoted truth": (
        ARM + "loads:\n  f: {type: force, body: arm, force: [1, 0, 0], follows: 'true'} # here",
        ("loads.f.follows", "true or false", "'true'"),
    ),
    "colour": ("bodies:\n  arm: {mass: 1, color: red} # here", ("bodies.arm.color", "#[0-9", "'red'")),
    "triangle inequality": (
        "bodies:\n  arm: {mass: 1, inertia: [1, 2, 9]} # here",
        ("arm", "triangle", "1 + 2 < 9"),
    ),
    "negative inertia": ("bodies:\n  arm: {mass: 1, inertia: [1, 1, -1]} # here", ("arm", "not positive")),
    "four moments": ("bodies:\n  arm: {mass: 1, inertia: [1, 1, 1, 0]} # here", ("arm.inertia", "6 entries")),
    "no mass": ("bodies:\n  arm: {} # here", ("bodies.arm", "has no mass")),
    "density without shapes": ("bodies:\n  arm: {density: 1000} # here", ("bodies.arm", "no shapes")),
    "quaternion too short": (
        "bodies:\n  arm: {mass: 1, rotation: [1, 0, 0]} # here",
        ("arm.rotation", "4 entries"),
    ),
    "zero quaternion": ("bodies:\n  arm: {mass: 1, rotation: [0, 0, 0, 0]} # here", ("arm.rotation", "zero")),
    "turn without angle": (
        "bodies:\n  arm: {mass: 1, rotation: {axis: [0, 0, 1]}} # here",
        ("arm.rotation",),
    ),
    "infinite axis": (
        "bodies:\n  arm: {mass: 1, rotation: {axis: [.inf, 0, 1], angle: 1}} # here",
        ("arm.rotation", "needs axis", "inf"),
    ),
    # --- keys and names ---
    "unknown key": ("bodies:\n  arm: {mass: 1}\njonts: {} # here", ("jonts", "did you mean 'joints'?")),
    "unknown field": ("bodies:\n  arm:\n    mas: 1 # here\n    mass: 1", ("bodies.arm.mas", "'mass'?")),
    "shape as a field": ("bodies:\n  arm:\n    mass: 1\n    box: [1, 1, 1] # here", ("arm.box", "not known")),
    "name inside": (
        "bodies:\n  arm:\n    mass: 1\n    name: arm # here",
        ("bodies.arm.name", "the key is the name"),
    ),
    "duplicate name": (
        "bodies:\n  arm: {mass: 1}\n  arm: {mass: 2} # here",
        ("the key 'arm'", "already in line 4"),
    ),
    "duplicate key": ("bodies:\n  arm:\n    mass: 1\n    mass: 2 # here", ("the key 'mass'", "line 5")),
    "body named ground": ("bodies:\n  arm: {mass: 1}\n  ground: {mass: 1} # here", ("ground", "the world")),
    "dotted name": ("bodies:\n  a.b: {mass: 1} # here", ("bodies.a.b", "may not contain a dot")),
    "name with a space": ("bodies:\n  my arm: {mass: 1} # here", ("bodies.my arm", "one word")),
    "empty bodies": ("bodies: {} # here", ("bodies", "no bodies")),
    "list for bodies": ("bodies: # here\n  - {mass: 1}", ("bodies", "a mapping", "[{'mass': 1}]")),
    "number for a body": ("bodies:\n  arm: 5 # here", ("bodies.arm", "a mapping", "5")),
    "key that is a list": ("bodies:\n  [1, 2]: {mass: 1} # here", ("a key must be a plain name",)),
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
    # --- loads, shapes, signals ---
    "unknown load": (ARM + "loads:\n  f: {type: forse, body: arm} # here", ("loads.f.type", "'force'?")),
    "code as a load": (
        ARM + "loads:\n  f: {type: body_function, body: arm, function: os.system} # here",
        ("loads.f.type", "never runs code"),
    ),
    "load on nothing": (
        ARM + "loads:\n  f: {type: force, body: nothing, force: [1, 0, 0]} # here",
        ("loads.f.body", "no body 'nothing'", "known: arm, ground, leg"),
    ),
    "unknown shape": (
        "bodies:\n  arm: {density: 1, shapes: [{shape: bx, size: [1, 1, 1]}]} # here",
        ("arm.shapes.0.shape", "'bx'", "'box'?"),
    ),
    "no shape": ("bodies:\n  arm: {density: 1, shapes: [{size: [1, 1, 1]}]} # here", ("shapes.0", "'shape'")),
    "key of a shape": (
        "bodies:\n  arm: {density: 1, shapes: [{shape: sphere, radius: 1, radus: 2}]} # here",
        ("arm.shapes.0.radus", "'radius'?"),
    ),
    "shape not in a list": (
        "bodies:\n  arm: {mass: 1, shapes: {shape: box}} # here",
        ("arm.shapes", "a list"),
    ),
    "shape by name only": ("bodies:\n  arm: {mass: 1, shapes: [box]} # here", ("arm.shapes.0", "a mapping")),
    "size of zero": (
        "bodies:\n  arm:\n    density: 1\n    shapes:\n      - shape: box\n        size: [1, 0, 1] # here",
        ("arm.shapes.0.size.1", "greater than 0"),
    ),
    "mesh that is missing": (
        "bodies:\n  arm: {mass: 1, shapes: [{shape: mesh, file: prt.stl}]} # here",
        ("arm.shapes.0.file", "no file 'prt.stl'", "'part.stl'?"),
    ),
    "mesh outside": (
        "bodies:\n  arm: {mass: 1, shapes: [{shape: mesh, file: ../outside.stl}]} # here",
        ("arm.shapes.0.file", "outside the folder"),
    ),
    "unknown signal": (
        ARM + "loads:\n  f: {type: force, body: arm, force: [1, 0, 0], signal: {signal: sin}} # here",
        ("loads.f.signal.signal", "'sin'", "'sine'?"),
    ),
    "times that decrease": (
        ARM
        + "loads:\n  f:\n    type: torque\n    body: arm\n    torque: [1, 0, 0]\n"
        + "    signal: {signal: table, times: [1, 0], values: [1, 2]} # here",
        ("loads.f.signal", "must not decrease"),
    ),
    # --- parameters ---
    "unknown parameter": (
        "parameters: {length: 1}\nbodies:\n  arm:\n    mass: =lenght*2 # here",
        ("bodies.arm.mass", "'=lenght*2'", "'length'?"),
    ),
    "expression out of bounds": (
        "parameters: {m: 1}\nbodies:\n  arm:\n    mass: =m - 2 # here",
        ("bodies.arm.mass", "-1.0", "'=m - 2'"),
    ),
    "formula in a vector": (
        "bodies:\n  arm: {mass: 1, at: [0, =1/0, 0]} # here",
        ("bodies.arm.at.1", "'=1/0'", "by zero"),
    ),
    "formula in an angle": (
        "bodies:\n  arm: {mass: 1, rotation: {axis: [0, 0, 1], angle: =pie/2}} # here",
        ("arm.rotation.angle", "'=pie/2'", "'pi'?"),
    ),
    "formula that ends early": ("bodies:\n  arm: {mass: =2*} # here", ("arm.mass", "'=2*'", "arithmetic")),
    "code in a formula": (
        "bodies:\n  arm: {mass: \"=__import__('os').system('true')\"} # here",
        ("bodies.arm.mass", "not arithmetic"),
    ),
    "attribute in a formula": (
        "parameters: {m: 1}\nbodies:\n  arm: {mass: =m.__class__} # here",
        ("bodies.arm.mass", "not arithmetic"),
    ),
    "root of a negative number": ("bodies:\n  arm: {mass: =(-8)**0.5} # here", ("arm.mass", "not defined")),
    "enormous power": ("bodies:\n  arm: {mass: =9**9**9} # here", ("arm.mass", "exceeds")),
    "endless formula": (f"bodies:\n  arm: {{mass: ={'1+' * 400}1}} # here", ("arm.mass", "longer than")),
    "deep formula": (f"bodies:\n  arm: {{mass: ={'-' * 300}1}} # here", ("arm.mass", "too many levels")),
    "unknown function": ("bodies:\n  arm: {mass: =sqr(4)} # here", ("arm.mass", "function 'sqr'", "'sqrt'?")),
    "later parameter": (ARM + "parameters:\n  a: =b # here\n  b: 1", ("parameters.a", "no parameter 'b'")),
    "parameter that is text": (
        ARM + "parameters:\n  a: one # here",
        ("parameters.a", "a finite number", "'one'"),
    ),
    "parameter named sin": (ARM + "parameters:\n  sin: 1 # here", ("parameters.sin", "built in")),
    "parameter twice": (ARM + "parameters:\n  \u00b5: 1\n  \u03bc: 2 # here", ("parameters.", "the same as")),
    "parameter with a dash": (ARM + "parameters:\n  a-b: 1 # here", ("parameters.a-b", "letters, digits")),
    # --- components ---
    "unknown component": (
        ARM + "components: {wheel: {}}\ninstances:\n  left: {component: weel} # here",
        ("instances.left.component", "'weel'", "'wheel'?"),
    ),
    "instance of nothing": (
        ARM + "instances:\n  left: {at: [0, 0, 0]} # here",
        ("left.component", "is required"),
    ),
    "unknown parameter of a component": (
        ARM + "components: {wheel: {parameters: {radius: 1}}}\n"
        "instances:\n  left:\n    component: wheel\n    parameters:\n      radus: 2 # here",
        ("instances.left.parameters.radus", "no such parameter", "'radius'?"),
    ),
    "parameters of the model in a component": (
        ARM + "parameters: {m: 1}\ncomponents:\n  wheel:\n    bodies: {rim: {mass: =m}} # here",
        ("components.wheel.bodies.rim.mass", "no parameter 'm'"),
    ),
    "only with the parameters of an instance": (
        ARM + "components:\n  wheel:\n    parameters: {m: 1}\n    bodies: {rim: {mass: =m}} # here\n"
        "instances: {a: {component: wheel}, b: {component: wheel, parameters: {m: -2}}}",
        ("components.wheel.bodies.rim.mass", "-2.0", "'=m'"),
    ),
    "unused component": (
        ARM + "components:\n  wheel:\n    bodies: {rim: {mass: -1}} # here",
        ("components.wheel.bodies.rim.mass", "less than 0"),
    ),
    "wrong name inside an instance": (
        ARM + "components: {wheel: {bodies: {rim: {mass: 1}}}}\ninstances: {left: {component: wheel}}\n"
        "joints:\n  p: {type: hinge, a: ground, b: left.rm} # here",
        ("joints.p.b", "no body 'left.rm'", "'left.rim'?"),
    ),
    "ground of an instance": (
        ARM + "components: {wheel: {bodies: {rim: {mass: 1}}}}\ninstances: {left: {component: wheel}}\n"
        "joints:\n  p: {type: hinge, a: left.ground, b: arm} # here",
        ("joints.p.a", "no body 'left.ground'"),
    ),
    "component in itself": (
        ARM + "components:\n  a: {instances: {x: {component: b}}}\n"
        "  b: {instances: {y: {component: a}}} # here\ninstances: {z: {component: a}}",
        ("components.b.instances.y.component", "contains itself: a > b > a"),
    ),
    "instance named like a body": (
        ARM + "components: {wheel: {}}\ninstances:\n  arm: {component: wheel} # here",
        ("instances.arm", "may not share a name"),
    ),
    "zero mirror": (
        ARM + "components: {wheel: {}}\ninstances:\n  left: {component: wheel, mirror: [0, 0, 0]} # here",
        ("instances.left.mirror", "zero vector"),
    ),
    "gravity in a component": (
        ARM + "components:\n  wheel:\n    gravity: [0, 0, 0] # here",
        ("components.wheel.gravity", "belongs to the model"),
    ),
    "components in a component": (
        ARM + "components:\n  wheel:\n    components: {} # here",
        ("components.wheel.components", "top of a file"),
    ),
    "list for components": (ARM + "components: [wheel] # here", ("components", "a mapping")),
    "number for a component": (
        ARM + "components:\n  wheel: 3 # here",
        ("components.wheel", "a mapping", "3"),
    ),
    # --- includes ---
    "include outside": (
        ARM + "components:\n  c: {include: ../outside.yaml} # here",
        ("components.c.include", "outside the folder"),
    ),
    "include by a link outside": (
        ARM + "components:\n  c: {include: link.yaml} # here",
        ("components.c.include", "outside the folder"),
    ),
    "absolute include": (ARM + "components:\n  c: {include: /etc/passwd} # here", ("c.include", "absolute")),
    "absolute include of Windows": (
        ARM + "components:\n  c: {include: 'C:\\x.yaml'} # here",
        ("c.include", "absolute"),
    ),
    "include that is missing": (
        ARM + "components:\n  c: {include: cornr.yaml} # here",
        ("components.c.include", "no file 'cornr.yaml'", "'corner.yaml'?"),
    ),
    "include and more": (
        ARM + "components:\n  c: {include: corner.yaml, bodies: {}} # here",
        ("components.c.bodies", "not known here"),
    ),
    "include of no name": (ARM + 'components:\n  c: {include: "a\\0b"} # here', ("c.include", "no file")),
    "include of a number": (
        ARM + "components:\n  c: {include: 7} # here",
        ("c.include", "name of a file", "7"),
    ),
    "include of itself": (
        ARM + "components:\n  c: {include: model.yaml} # here",
        ("components.c.include", "circle: model.yaml > model.yaml"),
    ),
    # --- YAML ---
    "tab": ("bodies:\n\tarm: {mass: 1} # here", ("not valid YAML", "a tab", "spaces")),
    "bracket left open": ("bodies:\n  arm: {mass: 1, at: [1, 2\njoints: {} # here", ("not valid YAML",)),
    "wrong indentation": ("bodies:\n  arm:\n    mass: 1\n   at: [0, 0, 0] # here", ("not valid YAML",)),
    "second document": (ARM + "--- # here\nlinkwork: 1", ("second document",)),
    "tag of Python": (
        "bodies:\n  arm: !!python/object/apply:os.system ['true'] # here",
        ("tag !!python/object/apply:os.system", "plain data"),
    ),
    "own tag": ("bodies:\n  arm: {mass: !kg 1} # here", ("the tag !kg",)),
    "alias of nothing": ("bodies:\n  arm: {mass: *m} # here", ("no anchor &m",)),
    "alias of itself": ("bodies: &b\n  arm: *b # here", ("inside its own anchor",)),
    "alias bomb": (
        "bodies:\n  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + "".join(f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 4))
        + f"  a4: &a4 [{', '.join(['*a3'] * 10)}] # here\n"
        + "".join(f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(5, 30)),
        ("aliases", "100000"),
    ),
    "deep nesting": (f"bodies: {'[' * 100_000} # here", ("nested deeper than",)),
    "deep nesting by aliases": (
        "bodies:\n" + f"  a: &a {'[' * 40}{']' * 40}\n" + f"  b: {'[' * 20}*a{']' * 20} # here",
        ("nested deeper than",),
    ),
    "unreadable character": (ARM + "name: a\x07b # here", ("unreadable character U+0007",)),
}
