"""Model files with a mistake in values, names, loads, shapes and signals, or in the YAML itself.

It is in the line marked `# here`; beside it stand words of the message about it.
"""

ARM = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}, leg: {mass: 2}}\n"


def joint(fields: str) -> str:
    return ARM + f"joints:\n  p:\n    type: hinge\n    a: ground\n    b: arm\n    {fields} # here"


# name: (text after HEAD, words of the message)
VALUES: dict[str, tuple[str, tuple[str, ...]]] = {
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
