// Elements of an operator's panel. Each has `element`, and `show(values, held)` and `read(readings)` as they change.
import { make } from "./controls.js";
import { short } from "./plot.js";

const SVG = "http://www.w3.org/2000/svg";
const POINTER = "pointer";
const ARC = 135; // of gauges and knobs to both sides of upright [degrees]
const SIGNS = {
  ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Space: "␣", Minus: "−", Equal: "=", Comma: ",", Period: ".", Slash: "/",
  Semicolon: ";", Quote: "'", Backslash: "\\", Backquote: "`", BracketLeft: "[", BracketRight: "]", Enter: "⏎", Backspace: "⌫", Tab: "⇥",
  ShiftLeft: "⇧", ShiftRight: "⇧", ControlLeft: "Ctrl", ControlRight: "Ctrl",
};

/** Make an element of a panel; `hands` is told what is done to it. */
export function makeWidget(described, hands) {
  return new (KINDS[described.kind] ?? Text)(described, hands);
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Point of a circle of this radius around the middle, at an angle from upright [degrees]. */
function around(radius, angle) {
  const turn = (angle * Math.PI) / 180;
  return [radius * Math.sin(turn), -radius * Math.cos(turn)];
}

function arc(radius, from, to) {
  const large = Math.abs(to - from) > 180 ? 1 : 0;
  return `M ${around(radius, from).join(" ")} A ${radius} ${radius} 0 ${large} ${to > from ? 1 : 0} ${around(radius, to).join(" ")}`;
}

/** Into how many parts a scale is divided so that its marks are round numbers; by halves if nothing else is. */
function divisions(span) {
  const round = (step) => [1, 2, 2.5, 3, 5, 6].some((n) => { const x = step / (n * 10 ** Math.floor(Math.log10(step / n) + 1e-9)); return Math.abs(x - 1) < 1e-9; });
  return [4, 5, 3, 6].find((count) => round(span / count)) ?? 2;
}

const shareOf = (input, value) => (value - input.low) / (input.high - input.low || 1);
const withUnit = (value, unit) => `${short(value)}${unit && unit !== "1" ? ` ${unit}` : ""}`;

class Widget {
  constructor(described, hands) {
    this.described = described;
    this.hands = hands;
    this.inputs = described.inputs ?? [];
    this.body = make("div", { className: "body" });
    this.owner = make("span", { className: "owner" });
    this.told = make("output", {});
    this.element = make("div", { className: `widget ${described.kind}`, title: described.hint ?? "" });
    this.build();
    this.element.append(this.body, make("div", { className: "name" }, described.label), this.told, this.owner);
    if (described.reading && this.inputs.length) this.element.append(this.reading = make("div", { className: "reading" }));
  }

  /** A key of the keyboard, as a hint. */
  key(number, end, place) {
    const key = this.inputs[number]?.keys?.[end];
    if (key) this.body.append(make("kbd", { className: place }, SIGNS[key] ?? key.replace(/^(Key|Digit|Numpad)/, "")));
  }

  /** Let a pointer hold inputs: `move(event)` puts them somewhere; they are let go when it is lifted. */
  held(target, move) {
    let pointer = null;
    const end = (event) => {
      if (event.pointerId !== pointer) return;
      pointer = null;
      this.element.classList.remove("mine");
      for (const input of this.inputs) this.hands.drop(POINTER, input.name, event.timeStamp);
    };
    target.addEventListener("pointerdown", (event) => {
      if (pointer !== null || event.button > 0) return;
      pointer = event.pointerId;
      target.setPointerCapture(pointer);
      this.element.classList.add("mine");
      move(event, true);
    });
    target.addEventListener("pointermove", (event) => { if (event.pointerId === pointer) move(event, false); });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) target.addEventListener(kind, end);
    target.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch
  }

  /** Arrow keys move what has the focus by hundredths of its range. */
  stepped(target, number = 0) {
    const input = this.inputs[number];
    target.tabIndex = 0;
    target.setAttribute("role", "slider");
    target.setAttribute("aria-label", this.described.label);
    target.setAttribute("aria-valuemin", input.low);
    target.setAttribute("aria-valuemax", input.high);
    target.addEventListener("keydown", (event) => {
      const way = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const value = this.hands.inputs.get(input.name).value + (way * (input.step || (input.high - input.low) / 100));
      this.hands.put(POINTER, input.name, value, event.timeStamp);
    });
    target.addEventListener("keyup", (event) => { if (event.key.startsWith("Arrow")) this.hands.drop(POINTER, input.name, event.timeStamp); });
    target.addEventListener("blur", () => this.hands.drop(POINTER, input.name));
  }

  show() {}

  read(readings) {
    const { reading } = this.described;
    if (!reading) return;
    const value = reading.signal === null ? reading.fixed : readings[reading.signal];
    if (value !== undefined && value !== null) this.readValue(value * reading.factor, reading);
  }

  readValue(value, { signal, unit }) {
    this.reading.textContent = withUnit(value, unit);
    this.reading.title = signal;
  }

  mark(owner) {
    this.element.classList.toggle("taken", Boolean(owner));
    this.owner.textContent = owner ?? "";
  }
}

class Lever extends Widget {
  build() {
    const [input] = this.inputs;
    this.flat = this.described.direction === "horizontal";
    this.grip = make("div", { className: "grip" });
    const track = make("div", { className: "track" }, this.grip);
    for (let k = 0; k <= 4; k++) track.append(make("i", { style: `--at: ${k / 4}` }));
    if (input.rest !== null) track.append(make("i", { className: "rest", style: `--at: ${shareOf(input, input.rest)}` }));
    this.track = track;
    this.element.classList.toggle("flat", this.flat);
    this.key(0, 1, "more");
    this.body.append(track);
    this.key(0, 0, "less");
    let from = 0;
    this.held(track, (event, first) => {
      const box = track.getBoundingClientRect(), [place, way] = this.flat ? [event.clientX - box.left, box.width] : [box.bottom - event.clientY, box.height];
      const grip = 34, share = (place - grip / 2) / (way - grip);
      // A lever that springs back is pushed from where it is taken; another one comes to the finger.
      if (first) from = input.rest === null ? 0 : share - shareOf(input, this.hands.inputs.get(input.name).value);
      this.hands.put(POINTER, input.name, input.low + (share - from) * (input.high - input.low), event.timeStamp);
    });
    this.stepped(track);
  }
  show(values) {
    const [input] = this.inputs, value = values(input.name);
    this.grip.style.setProperty("--at", shareOf(input, value));
    this.track.setAttribute("aria-valuenow", value);
    this.told.textContent = withUnit(value, input.unit);
  }
}

class Joystick extends Widget {
  build() {
    this.grip = make("div", { className: "ball" });
    const pad = make("div", { className: "pad" }, this.grip);
    this.body.append(pad);
    this.key(0, 0, "left"); this.key(0, 1, "right"); this.key(1, 1, "more"); this.key(1, 0, "less");
    let from = [0, 0];
    this.held(pad, (event, first) => {
      const box = pad.getBoundingClientRect(), ball = 52;
      const place = [(event.clientX - box.left - ball / 2) / (box.width - ball), (box.bottom - event.clientY - ball / 2) / (box.height - ball)];
      this.inputs.forEach((input, k) => {
        if (first) from[k] = input.rest === null ? 0 : place[k] - shareOf(input, this.hands.inputs.get(input.name).value);
        this.hands.put(POINTER, input.name, input.low + (place[k] - from[k]) * (input.high - input.low), event.timeStamp);
      });
    });
  }
  show(values) {
    this.inputs.forEach((input, k) => this.grip.style.setProperty(k ? "--y" : "--x", shareOf(input, values(input.name))));
    this.told.textContent = this.inputs.map((input) => withUnit(values(input.name), input.unit)).join(" · ");
  }
}

class Knob extends Widget {
  build() {
    const [input] = this.inputs;
    this.way = draw("path", { class: "way" });
    this.mark_ = draw("line", { x1: 0, y1: -16, x2: 0, y2: -27, class: "mark" });
    const dial = draw("svg", { viewBox: "-50 -50 100 100", class: "dial" },
      draw("path", { d: arc(42, -ARC, ARC), class: "range" }), this.way, draw("circle", { r: 32, class: "cap" }), this.mark_);
    this.body.append(dial);
    this.key(0, 0, "left"); this.key(0, 1, "right");
    let from = 0, start = 0;
    this.held(dial, (event, first) => {
      if (first) [from, start] = [event.clientX - event.clientY, shareOf(input, this.hands.inputs.get(input.name).value)];
      const share = start + (event.clientX - event.clientY - from) / 160; // up and to the right is more
      this.hands.put(POINTER, input.name, input.low + share * (input.high - input.low), event.timeStamp);
    });
    this.stepped(dial);
  }
  show(values) {
    const [input] = this.inputs, value = values(input.name), angle = ARC * (2 * shareOf(input, value) - 1);
    this.way.setAttribute("d", arc(42, -ARC, angle));
    this.mark_.setAttribute("transform", `rotate(${angle})`);
    this.told.textContent = withUnit(value, input.unit);
  }
}

class Button extends Widget {
  build() {
    const [input] = this.inputs;
    this.cap = make("button", { type: "button", className: "cap", "aria-label": this.described.label });
    this.body.append(this.cap);
    this.key(0, 1, "more");
    this.held(this.cap, (event, first) => { if (first) this.hands.put(POINTER, input.name, input.high, event.timeStamp); });
    this.cap.addEventListener("keydown", (event) => {
      if (event.repeat || !(event.key === " " || event.key === "Enter")) return;
      this.hands.put(POINTER, input.name, input.high, event.timeStamp);
    });
    this.cap.addEventListener("keyup", (event) => this.hands.drop(POINTER, input.name, event.timeStamp));
    this.cap.addEventListener("blur", () => this.hands.drop(POINTER, input.name));
  }
  show(values) {
    const [input] = this.inputs;
    this.cap.classList.toggle("down", values(input.name) > (input.low + input.high) / 2);
  }
}

class Toggle extends Widget {
  build() {
    const [input] = this.inputs;
    this.cap = make("button", { type: "button", role: "switch", "aria-label": this.described.label }, make("span", {}));
    this.cap.onclick = (event) => {
      const on = this.hands.inputs.get(input.name).value > (input.low + input.high) / 2;
      this.hands.put(POINTER, input.name, on ? input.low : input.high, event.timeStamp, false);
    };
    this.body.append(this.cap);
    this.key(0, 1, "more");
  }
  show(values) {
    const [input] = this.inputs, on = values(input.name) > (input.low + input.high) / 2;
    this.cap.setAttribute("aria-checked", on);
    this.told.textContent = on ? "on" : "off";
  }
}

class Selector extends Widget {
  build() {
    const [input] = this.inputs;
    const group = make("div", { className: "options", role: "radiogroup", "aria-label": this.described.label });
    this.buttons = this.described.options.map((option, k) => {
      const button = make("button", { type: "button", role: "radio" }, option);
      button.onclick = (event) => this.hands.put(POINTER, input.name, input.low + k * (input.step || 1), event.timeStamp, false);
      group.append(button);
      return button;
    });
    this.body.append(group);
    this.key(0, 0, "left"); this.key(0, 1, "right");
  }
  show(values) {
    const [input] = this.inputs, now = Math.round((values(input.name) - input.low) / (input.step || 1));
    this.buttons.forEach((button, k) => button.setAttribute("aria-checked", k === now));
  }
}

class Lamp extends Widget {
  build() {
    this.bulb = make("div", { className: "bulb", style: `--glow: ${this.described.color ?? "#2fae57"}` });
    this.body.append(this.bulb);
  }
  readValue(value) { this.bulb.classList.toggle("on", value > (this.described.threshold ?? 0.5)); }
}

class Gauge extends Widget {
  build() {
    this.needle = draw("path", { d: "M -3 6 L 0 -36 L 3 6 Z", class: "needle" });
    const { low, high } = this.described, scale = draw("g", { class: "scale" });
    const count = 2 * divisions(high - low);
    for (let k = 0; k <= count; k++) {
      const angle = ARC * ((2 * k) / count - 1), [x, y] = around(42, angle), [u, v] = around(k % 2 ? 39 : 36, angle);
      scale.append(draw("line", { x1: x, y1: y, x2: u, y2: v }));
      if (k % 2 === 0) {
        const [p, q] = around(28, angle);
        scale.append(draw("text", { x: p, y: q + 2.5 }, short(low + ((high - low) * k) / count)));
      }
    }
    this.body.append(draw("svg", { viewBox: "-50 -50 100 92", class: "dial" },
      draw("path", { d: arc(45, -ARC, ARC), class: "range" }), scale, this.needle, draw("circle", { r: 4, class: "pin" })));
  }
  readValue(value, { unit }) {
    const { low, high } = this.described, share = Math.min(Math.max((value - low) / (high - low), -0.03), 1.03);
    this.needle.setAttribute("transform", `rotate(${ARC * (2 * share - 1)})`);
    // To a thousandth of its range: what stands still shows 0, not what rounding leaves.
    const digit = 10 ** Math.floor(Math.log10((high - low) / 1000));
    this.told.textContent = withUnit(Math.round(value / digit) * digit + 0, unit);
  }
}

class Text extends Widget {
  build() { this.body.append(this.written = make("p", {}, this.described.text ?? "")); }
  readValue(value) { this.written.textContent = (this.described.text || "{}").replace("{}", value.toFixed(this.described.digits)); }
}

const KINDS = {
  lever: Lever, joystick: Joystick, knob: Knob, button: Button, toggle: Toggle, selector: Selector, lamp: Lamp, gauge: Gauge, text: Text,
};
