"""Live sessions that a test steps."""

from linkwork import Body, Box, Marker, Model, Slider
from linkwork.live.session import Session
from linkwork.scenes import find_scene, scene

DT = 1e-3


def begun(tmp_path):
    """Begins sessions that stand still until they are told to step, and ends them.

    To be made a fixture: `begin = pytest.fixture(begun)`.
    """
    sessions = []

    def start(subject, **options):
        known = isinstance(subject, str)
        model = scene(subject) if known else subject
        options = {"dt": DT, "paused": True, "folder": tmp_path, **options}
        session = Session(model, scene=find_scene(subject) if known else None, **options)
        sessions.append(session)
        session.start()
        return session

    yield start
    for session in sessions:
        session.stop()


def advance(session, seconds, stretch=0.01):
    """Let time pass, in stretches as the clock would give them; returns what there is to see."""
    count = round(stretch / DT)
    for _ in range(round(seconds / stretch)):
        session.loop.step(count).result()
    session.look()
    return session.view


def cart(friction=0.0, **options):
    """A box on a rail."""
    model = Model("cart")
    model.add(Body("box", mass=2.0, shapes=(Box((0.6, 0.4, 0.4)),)))
    model.add(Slider("rail", "ground", "box", axis=(1.0, 0.0, 0.0), friction=friction, **options))
    model.add(Marker("nose", "box", at=(0.3, 0.0, 0.0)))
    return model
