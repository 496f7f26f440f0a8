// An operator's panel in an element of a page: its widgets, and keyboard, gamepad and pointers that move them.
import { make } from "./controls.js";
import { Gamepads } from "./gamepad.js";
import { Hands } from "./hands.js";
import { Keyboard } from "./keyboard.js";
import { Link } from "./link.js";
import { makeWidget } from "./widgets.js";

export class Operator {
  /** `hear(message)` gets what is not about levers, `state(open)` when the connection opens or is lost. */
  constructor(element, name, hear, state) {
    this.element = element;
    this.hear = hear;
    this.widgets = [];
    this.you = "";
    this.link = new Link(name, (message) => this.take(message), (open) => {
      this.hands?.dropAll();
      element.classList.toggle("lost", !open);
      state(open);
    });
    this.hands = new Hands(this.link, (input) => this.moved(input));
    this.keyboard = new Keyboard(this.hands);
    this.pads = new Gamepads(this.hands, (pad) => hear({ pad }));
  }

  /** Whether keys and sticks move levers; if not, all is let go. */
  listen(active) {
    this.keyboard.active = this.pads.active = active;
    if (!active) this.hands.dropAll();
  }

  take(message) {
    if ("operate" in message) this.build(message.operate);
    else if ("now" in message) this.show(message.now);
    else if ("you" in message) this.you = message.you;
    else if ("refused" in message) this.refuse(message.refused);
    else this.hear(message);
  }

  build({ groups, actions }) {
    this.widgets = [];
    this.actions = actions.map((action) => make("button", { type: "button", "aria-pressed": "false" }, action));
    for (const button of this.actions) button.onclick = () => { this.link.connection.send({ act: button.textContent }); button.blur(); };
    const inputs = [];
    this.element.replaceChildren(...groups.map((group) => {
      const inner = make("div", { className: "elements" });
      for (const described of group.elements) {
        const widget = makeWidget(described, this.hands);
        this.widgets.push(widget);
        inputs.push(...widget.inputs);
        if (described.place) widget.element.style.gridArea = `${described.place[0] + 1} / ${described.place[1] + 1}`;
        inner.append(widget.element);
      }
      inner.classList.toggle("placed", group.elements.some((one) => one.place));
      return make("section", { className: "operate", title: group.hint ?? "" }, ...(group.label ? [make("h2", {}, group.label)] : []), inner);
    }));
    if (actions.length) this.element.prepend(make("div", { className: "actions" }, ...this.actions));
    if (!groups.length) this.element.append(make("p", { className: "nothing" }, "There is nothing to drive here: no drives, and no panel."));
    this.hands.offer(inputs);
    this.keyboard.offer(inputs);
    this.pads.offer(inputs);
    for (const input of inputs) this.moved(input.name);
  }

  show({ values, held, readings, latency, on }) {
    for (const button of this.actions) button.setAttribute("aria-pressed", String(on.includes(button.textContent)));
    this.hands.owned(held, this.you);
    for (const [name, value] of Object.entries(values)) this.hands.follow(name, value);
    for (const widget of this.widgets) {
      const owner = widget.inputs.map((input) => held[input.name]).find((one) => one && one !== this.you);
      widget.mark(owner);
      widget.read(readings);
    }
    this.hear({ latency });
  }

  refuse({ input, why }) {
    this.hands.refused(input);
    this.hear({ tell: { text: why, kind: "error" } });
  }

  moved(input) {
    const value = (name) => this.hands.inputs.get(name)?.value ?? 0;
    for (const widget of this.widgets) if (widget.inputs.some((one) => one.name === input)) widget.show(value);
  }
}

/** Of 95 % of all events, the time to the step that obeyed them. */
export function latencyText([, most, count]) { return count ? `${(1000 * most).toFixed(1)} ms` : "–"; }

/** A gamepad by its name. */
export function padText(pad) { return pad ? `gamepad: ${pad.split("(")[0].trim()}` : "no gamepad"; }
