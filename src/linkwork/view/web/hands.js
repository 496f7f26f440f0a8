// What is held from this page, by which device: pointer, keyboard or gamepad. All is let go when nobody is there.
const SLEW = 2; // time from end to end of what stays where it is put, unless it tells one [s]

export class Hands {
  /** `shown(input)` is called when an input was moved from here. */
  constructor(link, shown) {
    this.link = link;
    this.shown = shown;
    this.inputs = new Map();
    this.held = new Map(); // input: device
    this.confirmed = new Set(); // inputs of which the server knows that they are held here
    this.moving = new Map(); // input: deflection, of what moves as long as it is pushed
    for (const [target, kind] of [[window, "pagehide"], [document, "visibilitychange"], [document, "freeze"]]) {
      target.addEventListener(kind, () => { if (kind !== "visibilitychange" || document.hidden) this.dropAll(); });
    }
    // Focus that goes to a frame of this page, the picture, is not gone.
    window.addEventListener("blur", () => setTimeout(() => { if (!document.hasFocus()) this.dropAll(); }));
  }

  /** Other inputs, as the server describes them. */
  offer(inputs) {
    this.dropAll();
    this.inputs = new Map(inputs.map((input) => [input.name, { ...input, value: input.low }]));
  }

  /** Put an input somewhere and hold it; false if another device has it. */
  put(device, name, value, stamp, hold = true) {
    const input = this.inputs.get(name), holder = this.held.get(name);
    if (!input || (holder && holder !== device)) return false;
    if (hold) this.held.set(name, device);
    else this.held.delete(name);
    this.link.hold(this.held.size > 0);
    const meant = meantBy(input, value);
    if (meant !== input.value || !holder || !hold) this.link.put(name, meant, hold, stamp);
    input.value = meant;
    this.shown(name);
    return true;
  }

  /** Let go of an input. */
  drop(device, name, stamp = performance.now()) {
    if (this.held.get(name) !== device) return;
    const input = this.inputs.get(name);
    this.held.delete(name);
    this.confirmed.delete(name);
    this.moving.delete(name);
    this.link.release(name, stamp);
    this.link.hold(this.held.size > 0);
    if (input.rest !== null) input.value = input.rest;
    this.shown(name);
  }

  /** Let go of all that a device holds, or of everything. */
  dropAll(device = null) {
    for (const [name, holder] of [...this.held]) if (device === null || holder === device) this.drop(holder, name);
  }

  /** Who holds what by the server: what it has let go of is not held here any more. */
  owned(held, you) {
    for (const name of this.held.keys()) {
      if (held[name] === you) this.confirmed.add(name);
      else if (this.confirmed.has(name)) this.refused(name);
    }
  }

  /** It is not ours: somebody else holds it, or the server heard nothing for too long. */
  refused(name) {
    this.held.delete(name);
    this.confirmed.delete(name);
    this.moving.delete(name);
    this.link.hold(this.held.size > 0);
  }

  /** Keys and sticks: how far an input is pushed, -1 to 1. */
  deflect(device, name, share, stamp) {
    const input = this.inputs.get(name);
    if (!input) return;
    if (share === 0) this.drop(device, name, stamp);
    else if (input.step) {
      if (this.held.get(name) === device) return; // it has been counted
      const count = Math.round((input.high - input.low) / input.step) + 1;
      const now = Math.round((input.value - input.low) / input.step) + Math.sign(share);
      const next = (now + count) % count; // a toggle goes back and forth
      if (input.rest !== null) this.put(device, name, input.high, stamp);
      else this.put(device, name, input.low + input.step * next, stamp);
    } else if (input.rest !== null && !(device === "keyboard" && input.travel)) {
      const reach = share > 0 ? input.high - input.rest : input.rest - input.low;
      this.put(device, name, input.rest + share * reach, stamp);
    } else {
      const fresh = this.moving.size === 0;
      if (!this.put(device, name, input.value, stamp)) return;
      this.moving.set(name, share);
      if (fresh) this.slew(performance.now());
    }
  }

  /** Move what stays where it is put as long as it is pushed. */
  slew(before) {
    requestAnimationFrame((now) => {
      for (const [name, share] of this.moving) {
        const input = this.inputs.get(name), time = input.travel || SLEW;
        const way = (share * (input.high - input.low) * Math.max(now - before, 0)) / 1000 / time;
        this.put(this.held.get(name), name, input.value + way, now);
      }
      if (this.moving.size) this.slew(now);
    });
  }

  /** Where an input stands by the server, unless a hand of this page is on it. */
  follow(name, value) {
    const input = this.inputs.get(name);
    if (!input || this.held.has(name) || input.value === value) return;
    input.value = value;
    this.shown(name);
  }
}

/** A value within the range of an input, at one of its steps. */
function meantBy(input, value) {
  const stepped = input.step ? input.low + input.step * Math.round((value - input.low) / input.step) : value;
  return Math.min(Math.max(stepped, input.low), input.high);
}
