// The form of a block: its name and its fields, as one would write them in the file.
import { make } from "./controls.js";

export class Form {
  constructor(element, act) {
    this.element = element;
    this.act = act;
    this.blank("");
  }

  blank(text, link = null) {
    const hint = text || "Click a block to see what it does. Drag from an output to an input to connect them; drag a block to place it.";
    this.element.replaceChildren(make("p", { className: "hint" }, hint));
    if (link) this.button("Turn the sign (−)", "negate", ...link);
  }

  button(label, ...deed) {
    const button = make("button", { type: "button" }, label);
    button.onclick = () => this.act(...deed);
    this.element.append(button);
  }

  show(form) {
    const writing = document.activeElement?.closest("#form") && document.activeElement.name;
    const own = form.name.split(".").at(-1);
    this.element.replaceChildren(make("h2", {}, own), make("p", { className: "kind" }, form.kind.replaceAll("_", " ")));
    for (const fault of form.faults) this.element.append(make("p", { className: "fault", role: "alert" }, fault));
    this.element.append(make("p", { className: "about" }, form.about));
    if (form.locked) this.element.append(make("p", { className: "fault" }, form.locked));
    else if (form.fields.length) this.field("name", own, "what it is called", (text) => this.act("rename", form.name, text), {});
    for (const { name, text, type, default: usual, meaning, input } of form.fields) {
      const shown = usual === "required" || usual === "None" ? "" : usual;
      const field = this.field(name, text, `${meaning} ${type}`, (value) => this.act("put", form.name, name, value), { placeholder: shown, disabled: Boolean(form.locked) });
      if (input && !text.startsWith("[")) field.setAttribute("list", "wires");
      if (name === writing) field.focus();
    }
    if (form.spot) this.button("Place it by layout", "move", form.name, null);
  }

  field(name, text, meaning, changed, attributes) {
    const input = make("input", { type: "text", name, value: text, autocomplete: "off", spellcheck: "false", "aria-label": name, ...attributes });
    input.value = text;
    input.onchange = () => changed(input.value);
    this.element.append(make("label", { className: "field" }, make("b", {}, name), make("span", { className: "soft" }, meaning), input));
    return input;
  }
}
