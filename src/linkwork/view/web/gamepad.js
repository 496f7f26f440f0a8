// Gamepads, looked at with every picture of the screen, 60 times a second on most.
const DEAD = 0.12; // share of a stick's way that counts as its middle, unless the input tells one
const DEVICE = "gamepad";

export class Gamepads {
  /** `told(name)` is called with the name of the gamepad, or null when there is none. */
  constructor(hands, told) {
    this.hands = hands;
    this.told = told;
    this.active = true;
    this.inputs = [];
    this.shares = new Map();
    this.name = null;
    window.addEventListener("gamepaddisconnected", () => this.look());
    const poll = () => { this.look(); requestAnimationFrame(poll); };
    poll();
  }

  offer(inputs) {
    this.inputs = inputs.filter((input) => input.pad);
    this.shares.clear();
  }

  look() {
    const pad = (navigator.getGamepads?.() ?? []).find?.((one) => one && one.connected) ?? null;
    const name = pad && pad.id;
    if (name !== this.name) {
      this.name = name;
      this.shares.clear();
      if (!pad) this.hands.dropAll(DEVICE); // it is gone with a stick pushed, perhaps
      this.told(name);
    }
    if (!pad || !this.active || document.hidden || !document.hasFocus()) return;
    // Older browsers give other clocks than that of the page.
    const now = performance.now(), stamp = now - pad.timestamp < 100 && pad.timestamp <= now ? pad.timestamp : now;
    for (const input of this.inputs) {
      const share = shareOf(pad, input.pad, input.dead || DEAD);
      if (share === (this.shares.get(input.name) ?? 0)) continue;
      this.shares.set(input.name, share);
      this.hands.deflect(DEVICE, input.name, share, stamp);
    }
  }
}

/** How far an axis or a pair of buttons is pushed, -1 to 1. */
function shareOf(pad, at, dead) {
  const pressed = (button) => (button === undefined || button === null ? 0 : (pad.buttons[button]?.value ?? 0));
  if (at.axis === undefined) return pressed(at.more) - pressed(at.less);
  const raw = at.sign * (pad.axes[at.axis] ?? 0), size = Math.abs(raw);
  return size < dead ? 0 : Math.sign(raw) * Math.min((size - dead) / (0.99 - dead), 1);
}
