// What a mouse or finger does in the diagram: choose, move blocks, draw wires from outputs to inputs, open components.
const FAR = 5; // a pointer that moves less has clicked [px]
const DOUBLE = 500; // between two clicks that open something [ms]
const WIDTH = 128, HEIGHT = 52; // units of a block's `spot`, as layout.py counts

export class Hand {
  constructor(drawing, page) {
    this.drawing = drawing;
    this.page = page;
    this.boxes = new Set();
    this.link = null; // [block, path] of the wire that was chosen
    this.drag = null;
    this.clicked = [null, 0]; // which box was clicked last, and when
    drawing.addEventListener("pointerdown", (event) => this.press(event));
    drawing.addEventListener("pointermove", (event) => this.pull(event));
    drawing.addEventListener("pointerup", (event) => this.lift(event));
    drawing.addEventListener("pointercancel", () => this.forget());
    drawing.parentElement.addEventListener("pointerdown", (event) => { if (!event.target.closest(".box, .link")) this.choose([]); });
  }

  names() { return [...this.boxes]; }

  choose(names) {
    this.boxes = new Set(names);
    this.link = null;
    this.renew();
  }

  /** Mark what is chosen, in a drawing that may be another one. */
  renew() {
    const there = new Set([...this.drawing.querySelectorAll(".box")].map((box) => box.dataset.box));
    for (const name of this.boxes) if (!there.has(name)) this.boxes.delete(name);
    for (const box of this.drawing.querySelectorAll(".box")) box.classList.toggle("chosen", this.boxes.has(box.dataset.box));
    let linked = false;
    for (const link of this.drawing.querySelectorAll(".link")) {
      const chosen = this.link !== null && link.dataset.block === this.link[0] && link.dataset.path === this.link[1];
      link.classList.toggle("chosen", chosen);
      linked ||= chosen;
    }
    if (!linked) this.link = null;
    this.page.chosen();
  }

  place(event) {
    const box = this.drawing.querySelector("svg").getBoundingClientRect();
    return [(event.clientX - box.left) / this.page.zoom(), (event.clientY - box.top) / this.page.zoom()];
  }

  press(event) {
    if (event.button > 0) return;
    const socket = event.target.closest(".socket"), box = event.target.closest(".box"), link = event.target.closest(".link");
    if (socket && this.page.editable()) {
      const rubber = document.createElementNS("http://www.w3.org/2000/svg", "path");
      rubber.setAttribute("class", "rubber");
      this.drawing.querySelector("svg").append(rubber);
      this.drag = { kind: "wire", output: socket.dataset.output, rubber, from: this.place(event), at: [event.clientX, event.clientY] };
    } else if (box) {
      const place = box.transform.baseVal.consolidate().matrix;
      this.drag = { kind: "box", box, from: this.place(event), start: [place.e, place.f], at: [event.clientX, event.clientY], far: false };
    } else if (link) {
      this.boxes.clear();
      this.link = [link.dataset.block, link.dataset.path];
      this.renew();
    }
    if (this.drag) this.drawing.setPointerCapture(event.pointerId);
  }

  pull(event) {
    const { drag } = this;
    if (!drag) return;
    const [x, y] = this.place(event), [u, v] = drag.from;
    if (drag.kind === "wire") drag.rubber.setAttribute("d", `M ${u} ${v} C ${(u + x) / 2} ${v} ${(u + x) / 2} ${y} ${x} ${y}`);
    else {
      drag.far ||= Math.hypot(event.clientX - drag.at[0], event.clientY - drag.at[1]) > FAR;
      if (drag.far && this.page.editable()) drag.box.setAttribute("transform", `translate(${drag.start[0] + x - u} ${drag.start[1] + y - v})`);
    }
  }

  lift(event) {
    const { drag } = this;
    this.forget();
    if (!drag) return;
    if (drag.kind === "wire") this.join(drag.output, document.elementFromPoint(event.clientX, event.clientY));
    else if (!drag.far || !this.page.editable()) {
      const name = drag.box.dataset.box, [before, then] = this.clicked;
      this.clicked = [name, event.timeStamp];
      // No dblclick is told of the box, since the drawing has captured the pointer.
      if (before === name && event.timeStamp - then < DOUBLE && drag.box.classList.contains("instance")) this.page.open(name);
      else if (!event.shiftKey) this.choose([name]);
      else {
        if (!this.boxes.delete(name)) this.boxes.add(name);
        this.link = null;
        this.renew();
      }
    } else {
      const [x, y] = this.place(event), { width, height } = drag.box.querySelector("rect").getBBox();
      const { x: right, y: down } = this.drawing.querySelector("svg").dataset; // all of it was moved so far
      const middle = [drag.start[0] + x - drag.from[0] + width / 2, drag.start[1] + y - drag.from[1] + height / 2];
      this.page.act("move", drag.box.dataset.box, [(middle[0] - right) / WIDTH, (middle[1] - down) / HEIGHT]);
    }
  }

  /** A wire was drawn to something: an input, or a block, whose first open input takes it. */
  join(output, end) {
    const plug = end?.closest(".plug"), box = end?.closest(".box");
    if (plug) this.page.act("connect", plug.dataset.block, plug.dataset.path, output);
    else if (box) {
      const plugs = [...box.querySelectorAll(".plug")], open = plugs.find((one) => one.dataset.open !== undefined);
      const listed = plugs.find((one) => one.dataset.path.includes("/"));
      if (open) this.page.act("connect", open.dataset.block, open.dataset.path, output);
      else if (listed) this.page.act("connect", listed.dataset.block, `${listed.dataset.path.split("/")[0]}/+`, output);
      else if (plugs.length) this.page.act("connect", plugs[0].dataset.block, plugs[0].dataset.path, output);
    }
  }

  forget() {
    this.drag?.rubber?.remove();
    this.drag = null;
  }
}
