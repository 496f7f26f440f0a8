"""An operator without a page: a crank in real time, full voltage, a knock, and a film of it."""

import time

from linkwork import render, scene
from linkwork.live.session import Session

with Session(scene("crank_rocker")) as session:
    session.start_recording("crank")
    session.command("motor", 1.0)  # full voltage
    time.sleep(1.0)
    session.push("lever", (1.0, 0.0, 0.0))
    time.sleep(0.5)
    view = session.look()
    print(f"t = {view.time:.2f} s, crank at {view.values['crank.angle_rate']:.2f} rad/s")
    print(f"real-time factor {session.status.factor:.2f}, step {1e6 * session.status.step_time:.0f} µs")
    record = session.stop_recording()

render(record, "crank.gif", width=320, height=200, fps=10)
print(record)
