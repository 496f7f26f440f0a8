// Controls of the panel, as the server describes them (gui.py). Each has `element`, `update(changed)` and, if it holds
// others, `inner`.
import { Picker } from "./picker.js";
import { Plot, short } from "./plot.js";

/** An element with attributes and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") element.style.cssText = value; // as an attribute the page's security policy would leave it out
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value);
  }
  element.append(...children);
  return element;
}

/** Make a control; `send(value)` tells the server what a visitor does. */
export function makeControl(control, send) {
  const id = `control-${control.id}`;
  return new KINDS[control.kind](control, id, send);
}

class Field {
  constructor(control, id, send) {
    this.control = control;
    this.id = id;
    this.send = (value) => { control.value = value; send(value); };
    this.build();
    this.update(control);
  }
  row(label, ...rest) {
    this.label = make("label", { for: this.id });
    this.element = make("div", { className: `control row${rest.length > 1 ? " wide" : ""}` }, this.label, ...rest);
  }
  update(changed) {
    if ("label" in changed && this.label) this.label.textContent = changed.label;
    if (changed.hint) this.element.title = changed.hint;
    if (this.label) { // which may be cut off, and lies above the title of the row
      this.label.title = [this.label.textContent, this.element.title].filter(Boolean).join(": ");
    }
    if ("disabled" in changed && this.input) this.input.disabled = Boolean(changed.disabled);
    if ("value" in changed) this.show(changed.value);
  }
  show() {}
}

class Button extends Field {
  build() {
    this.input = make("button", { type: "button", className: `press ${this.control.look}` });
    this.input.onclick = () => this.send(null);
    this.element = make("div", { className: "control" }, this.input);
  }
  update(changed) {
    super.update(changed);
    if ("label" in changed) this.input.textContent = changed.label;
  }
}

class Buttons extends Field {
  build() {
    const group = make("div", { className: "group", role: "group", "aria-label": this.control.label });
    for (const option of this.control.options) {
      const button = make("button", { type: "button" }, option);
      button.onclick = () => this.send(option);
      group.append(button);
    }
    this.element = make("div", { className: "control row" }, make("span", { className: "label" }, this.control.label), group);
  }
}

class Checkbox extends Field {
  build() {
    this.input = make("input", { type: "checkbox", id: this.id });
    this.input.onchange = () => this.send(this.input.checked);
    this.label = make("label", { for: this.id });
    this.element = make("div", { className: "control check" }, this.input, this.label);
  }
  show(value) { this.input.checked = value; }
}

class Slider extends Field {
  build() {
    this.input = make("input", { type: "range", id: this.id });
    this.told = make("output", { for: this.id });
    this.input.oninput = () => { this.tell(Number(this.input.value)); this.send(Number(this.input.value)); };
    this.input.onpointerdown = () => { this.held = true; };
    this.input.onpointerup = this.input.onpointercancel = () => { this.held = false; };
    this.row(null, this.input, this.told);
  }
  update(changed) {
    for (const [name, own] of [["min", "low"], ["max", "high"], ["step", "step"]]) {
      if (own in changed) this.input[name] = changed[own];
    }
    super.update(changed);
  }
  show(value) {
    if (this.held) return; // the visitor's own hand is on it
    this.input.value = value;
    this.tell(value);
  }
  tell(value) { this.told.textContent = `${short(value)}${this.control.unit ? ` ${this.control.unit}` : ""}`; }
}

class Dropdown extends Field {
  build() {
    this.input = make("select", { id: this.id });
    this.input.onchange = () => this.send(this.input.value);
    this.row(null, this.input);
  }
  update(changed) {
    if ("options" in changed) {
      this.input.replaceChildren(...changed.options.map((option) => make("option", { value: option }, option)));
      this.input.value = this.control.value;
    }
    super.update(changed);
  }
  show(value) { this.input.value = value; }
}

class Text extends Field {
  build() {
    this.input = make("input", { type: "text", id: this.id, autocomplete: "off", spellcheck: "false" });
    this.input.oninput = () => this.heard(this.input.value);
    this.row(null, this.input);
  }
  heard(text) { this.send(text); }
  show(value) { if (document.activeElement !== this.input) this.input.value = value; }
}

class NumberField extends Text {
  build() {
    super.build();
    this.input.inputMode = "decimal";
    this.input.onblur = () => { this.input.value = this.control.value; };
    if (this.control.unit) {
      this.element.classList.add("wide");
      this.element.append(make("span", { className: "unit" }, this.control.unit));
    }
  }
  heard(text) {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && (!this.control.whole || Number.isInteger(value))) this.send(value);
  }
}

class Html extends Field {
  build() { this.element = make("div", { className: "control html" }); }
  update(changed) { if ("content" in changed) this.element.innerHTML = changed.content; }
}

class Folder extends Field {
  build() {
    this.inner = make("div", { className: "filled" });
    this.heading = make("summary");
    this.element = make("details", { className: "control folder", open: true }, this.heading, this.inner);
  }
  update(changed) { if ("label" in changed) this.heading.textContent = changed.label; }
}

class Tabs extends Field {
  static chosen = null; // of the panel before, by name
  build() {
    this.list = make("div", { className: "tablist", role: "tablist" });
    this.inner = make("div");
    this.element = make("div", { className: "tabs" }, this.list, this.inner);
    this.pages = [];
    this.list.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = this.pages.findIndex((page) => !page.element.hidden);
      const next = this.pages[(at + step + this.pages.length) % this.pages.length];
      this.choose(next);
      next.tab.focus();
    };
  }
  update() {}
  take(page) {
    page.tab = make("button", { type: "button", role: "tab", id: `tab-${page.id}`, "aria-controls": page.id }, page.control.label);
    page.tab.onclick = () => this.choose(page);
    this.list.append(page.tab);
    this.pages.push(page);
    const wanted = this.pages.find((one) => one.control.label === Tabs.chosen) || this.pages[0];
    this.choose(wanted, false);
  }
  choose(page, remember = true) {
    if (remember) Tabs.chosen = page.control.label;
    for (const one of this.pages) {
      one.element.hidden = one !== page;
      one.tab.setAttribute("aria-selected", String(one === page));
      one.tab.tabIndex = one === page ? 0 : -1;
    }
  }
}

class Tab extends Field {
  build() { this.inner = this.element = make("div", { className: "filled", role: "tabpanel", id: this.id, "aria-labelledby": `tab-${this.id}` }); }
  update() {}
}

const KINDS = {
  button: Button, buttons: Buttons, checkbox: Checkbox, slider: Slider, dropdown: Dropdown, text: Text, number: NumberField,
  html: Html, folder: Folder, tabs: Tabs, tab: Tab, picker: Picker, plot: Plot,
};
