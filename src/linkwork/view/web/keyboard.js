// Keys that push levers as long as they are held.
const DEVICE = "keyboard";

export class Keyboard {
  constructor(hands) {
    this.hands = hands;
    this.active = true;
    this.keys = new Map(); // key, by its place on the keyboard: [input, direction]
    this.down = new Set(); // those that are held
    this.listen(window);
    window.addEventListener("blur", () => this.down.clear());
  }

  /** Hear the keys of a window: this one, or a frame of it that has the focus. */
  listen(target) {
    target.addEventListener("keydown", (event) => this.press(event), true);
    target.addEventListener("keyup", (event) => this.lift(event), true);
  }

  offer(inputs) {
    this.keys.clear();
    this.down.clear();
    for (const input of inputs) {
      (input.keys ?? []).forEach((key, end) => { if (key) this.keys.set(key, [input.name, end ? 1 : -1]); });
    }
  }

  press(event) {
    if (!this.active || event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
    const key = event.code;
    if (!this.keys.has(key) || (event.target.closest?.("[role=slider]") && key.startsWith("Arrow"))) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat || this.down.has(key)) return;
    this.down.add(key);
    this.push(key, event.timeStamp);
  }

  lift(event) {
    if (this.down.delete(event.code)) this.push(event.code, event.timeStamp);
  }

  push(key, stamp) {
    const [name] = this.keys.get(key);
    let share = 0;
    for (const held of this.down) {
      const [input, direction] = this.keys.get(held);
      if (input === name) share += direction;
    }
    this.hands.deflect(DEVICE, name, Math.sign(share), stamp);
  }
}

/** Whether keys mean text there. */
function writes(element) {
  return Boolean(element.closest?.("input:not([type=range], [type=checkbox]), textarea, select, [contenteditable]"));
}
