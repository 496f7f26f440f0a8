// The panel: controls in controls, as messages of the server come in.
import { makeControl } from "./controls.js";

export class Panel {
  constructor(element, send) {
    this.element = element;
    this.send = send;
    this.controls = new Map();
  }

  hear(message) {
    if ("panel" in message) this.rebuild(message.panel);
    else if ("add" in message) this.add(message.add);
    else if ("set" in message) {
      const { id, ...changed } = message.set, found = this.controls.get(id);
      if (!found) return; // of a panel that is no more
      Object.assign(found.control, changed);
      found.update(changed);
    } else if ("remove" in message) {
      const found = this.controls.get(message.remove);
      if (!found) return;
      found.element.remove();
      this.controls.delete(message.remove);
    }
  }

  /** Another panel; it stays scrolled to where it was, and folders that were closed stay so. */
  rebuild(controls) {
    const top = this.element.scrollTop, closed = new Set();
    for (const folder of this.element.querySelectorAll("details.folder:not([open]) > summary")) closed.add(folder.textContent);
    this.element.replaceChildren();
    this.controls.clear();
    for (const control of controls) this.add(control);
    for (const summary of this.element.querySelectorAll("details.folder > summary")) {
      if (closed.has(summary.textContent)) summary.parentElement.open = false;
    }
    this.element.scrollTop = top;
  }

  add(control) {
    const made = makeControl(control, (value) => {
      this.send(control.kind === "button" ? { click: control.id } : { set: [control.id, value] });
    });
    this.controls.set(control.id, made);
    const holder = this.controls.get(control.in);
    (holder ? holder.inner : this.element).append(made.element);
    if (control.kind === "tab") holder.take(made);
  }
}
