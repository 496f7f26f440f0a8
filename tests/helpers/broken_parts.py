"""Model files with a mistake in parameters, components and what they include.

It is in the line marked `# here`; beside it stand words of the message about it.
"""

from helpers.broken_values import ARM

# name: (text after HEAD, words of the message)
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
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
}
