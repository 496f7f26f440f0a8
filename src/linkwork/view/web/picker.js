// One of very many names: groups that open, and a field that searches all of them.
const MOST = 200; // names in the list at once

export class Picker {
  constructor(control, id, choose) {
    this.control = control;
    this.choose = choose;
    this.element = document.createElement("div");
    this.element.className = "control row";
    this.element.innerHTML =
      `<label for="${id}"></label><button type="button" class="pick" id="${id}" aria-haspopup="listbox" aria-expanded="false"></button>`;
    this.button = this.element.querySelector("button");
    this.button.onclick = () => (this.box ? this.close() : this.open());
    this.update(control);
  }

  update(changed) {
    if ("label" in changed) this.element.querySelector("label").textContent = changed.label;
    if ("value" in changed) this.button.textContent = this.button.title = changed.value;
  }

  open() {
    this.box = document.createElement("div");
    this.box.className = "picker";
    this.box.innerHTML = '<input type="search" placeholder="Search, e.g. wheel speed" aria-label="Search signals"><div class="list" role="listbox"></div>';
    this.element.append(this.box);
    this.button.setAttribute("aria-expanded", "true");
    const field = this.box.querySelector("input");
    field.oninput = () => this.list(field.value);
    this.box.onkeydown = (event) => this.key(event);
    this.list("");
    field.focus();
  }

  close() {
    this.box.remove();
    this.box = null;
    this.button.setAttribute("aria-expanded", "false");
    this.button.focus();
  }

  key(event) {
    if (event.key === "Escape") { event.stopPropagation(); this.close(); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const stops = [...this.box.querySelectorAll("input, summary, .option")].filter((one) => one.offsetParent !== null);
    const at = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    (stops[at] || stops[0]).focus();
  }

  /** All groups, closed; or the names that have every word of a search. */
  list(search) {
    const list = this.box.querySelector(".list"), words = search.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    let left = MOST, more = 0;
    for (const [group, names] of this.control.options) {
      const found = words.length ? names.filter((name) => words.every((word) => name.toLowerCase().includes(word))) : names;
      if (!found.length) continue;
      if (group === "") { list.append(...found.map((name) => this.option(name))); continue; }
      const details = document.createElement("details"), summary = document.createElement("summary");
      summary.textContent = `${group} (${found.length})`;
      details.append(summary);
      const fill = () => { if (details.childElementCount === 1) details.append(...found.map((name) => this.option(name))); };
      details.ontoggle = fill;
      if (words.length && left > 0) {
        const some = found.slice(0, left);
        details.append(...some.map((name) => this.option(name)));
        more += found.length - some.length;
        left -= some.length;
        details.open = true;
      }
      list.append(details);
    }
    if (!list.childElementCount || more > 0) {
      const note = document.createElement("div");
      note.className = "more";
      note.textContent = more > 0 ? `and ${more} more` : "no signal has this in its name";
      list.append(note);
    }
  }

  option(name) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "option";
    button.setAttribute("role", "option");
    button.setAttribute("aria-selected", String(name === this.control.value));
    button.textContent = name;
    button.onclick = () => { this.control.value = name; this.update({ value: name }); this.close(); this.choose(name); };
    return button;
  }
}
