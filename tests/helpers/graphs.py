"""Graphs of bodies for tests of subsystems: how they are tied, without any mechanics."""

from hypothesis import strategies as st

from linkwork.compile.subsystems import Subsystem, Tie


def graph(count, links):
    """A subsystem of numbered bodies, and ties (bodies, rows) between them."""
    tied = [Tie(f"t{i}", frozenset(f"b{x}" for x in at), rows) for i, (at, rows) in enumerate(links)]
    return Subsystem("all", tuple(f"b{i}" for i in range(count))), tied


def chain(count):
    return graph(count, [((i, i + 1), 5) for i in range(count - 1)])


def four_bars(count):
    """Links 0 ... count on the ground, couplers after them."""
    links = [((k,), 5) for k in range(count + 1)]
    for k in range(count):
        links += [((k, count + 1 + k), 5), ((count + 1 + k, k + 1), 5)]
    return graph(2 * count + 1, links)


def tree(depth):
    count = 2**depth - 1
    return graph(count, [(((i - 1) // 2, i), 5) for i in range(1, count)])


def grid(side):
    links = [((i, i + 1), 5) for i in range(side * side) if (i + 1) % side]
    return graph(side * side, links + [((i, i + side), 5) for i in range(side * (side - 1))])


def row_of_components(count, size=4):
    """Rings of bodies, each a component, tied in a row."""
    links = []
    for k in range(count):
        ring = range(k * size, (k + 1) * size)
        links += [((a, b), 5) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
        links += [((k * size - 1, k * size), 3)] if k else []
    top, tied = graph(count * size, links)
    parts = [Subsystem(f"c{k}", top.bodies[k * size : (k + 1) * size]) for k in range(count)]
    return Subsystem("all", (), tuple(parts)), tied


@st.composite
def graphs(draw, most=12):
    """Any graph: bodies tied to nothing, to the ground, to several others, by equations or by loads."""
    count = draw(st.integers(1, most))
    ends = st.lists(st.integers(0, count - 1), min_size=1, max_size=4, unique=True)
    return graph(count, draw(st.lists(st.tuples(ends, st.integers(0, 6)), max_size=2 * count)))


@st.composite
def hierarchies(draw, most=12):
    """Any graph whose bodies are in components inside each other."""
    top, tied = draw(graphs(most))
    parts = [Subsystem(f"c{i}", (body,)) for i, body in enumerate(top.bodies)]
    while len(parts) > 1:
        taken = draw(st.integers(2, len(parts)))
        some, parts = parts[:taken], parts[taken:]
        single = [part for part in some if len(part.everybody()) == 1 and draw(st.booleans())]
        bodies = tuple(part.everybody()[0] for part in single)
        kept = tuple(part for part in some if part not in single)
        parts.append(Subsystem(some[0].name + "+", bodies, kept))
    return Subsystem("all", (), tuple(parts)), tied


def outside(top, data):
    """Some bodies that something outside the whole is tied to, and subsystems without others that run elsewhere."""
    bodies = data.draw(st.lists(st.sampled_from(sorted(top.everybody())), unique=True))
    leaves = [part.name for part in top.walk() if part is not top and not part.children]
    return bodies, data.draw(st.lists(st.sampled_from(leaves), unique=True) if leaves else st.just([]))
