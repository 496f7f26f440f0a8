// The page of the control diagram: draws what the server sends, with live values, and tells it what an editor does.
import { Connection, newName } from "./channel.js";
import { make } from "./controls.js";
import { Hand } from "./diagram_hand.js";
import { Form } from "./diagram_form.js";
import { short } from "./plot.js";

const NOTICE = 9000; // how long what went wrong is shown [ms]
const READABLE = 0.5; // no diagram opens smaller than that
const find = (id) => document.getElementById(id);
const sheet = find("sheet"), drawing = find("drawing"), scroll = find("scroll");
let told = { inside: "", editable: false, faults: [], wires: [] }, known = false, zoom = 1, live = {};

const connection = new Connection(`edit/${newName()}`, hear, (open) => {
  find("lost").hidden = open || !known;
  find("lost").textContent = "The connection to the simulator is lost; what was not saved is kept there. Reconnecting …";
  known ||= open;
  if (open && told.inside) connection.send({ open: told.inside });
});
const act = (...deed) => connection.send({ do: deed });
const form = new Form(find("form"), act);
const hand = new Hand(drawing, {
  act, chosen: () => choose(), open: (inside) => connection.send({ open: inside }),
  editable: () => told.editable, zoom: () => zoom,
});

function hear(message) {
  if ("diagram" in message) show(message.diagram);
  else if ("live" in message) { live = message.live; values(); }
  else if ("form" in message) form.show(message.form, told.wires);
  else if ("chosen" in message) hand.choose([message.chosen]);
  else if ("palette" in message) palette(message.palette);
  else if ("tell" in message) tell(message.tell);
  else if ("note" in message) for (const [key, value] of Object.entries(message.note)) NOTES[key]?.(value);
}

function show(now) {
  const first = !told.svg && now.svg;
  told = now;
  drawing.innerHTML = now.svg; // made by the server, every text in it escaped
  sheet.classList.toggle("editable", now.editable);
  find("undo").disabled = !now.undo;
  find("redo").disabled = !now.redo;
  find("save").disabled = !now.dirty;
  find("reload").disabled = !now.editable;
  find("palette").hidden = !now.editable;
  find("about").textContent = now.file ? `${now.file}${now.dirty ? " (not saved)" : ""}` : now.name ? "can be looked at, not edited: it is no model file" : "";
  find("faults").replaceChildren(...now.faults.map((fault) => {
    const item = make("li", { role: "alert" }, `${fault.block}: ${fault.what}`);
    item.onclick = () => hand.choose([fault.block]);
    return item;
  }));
  const blank = !drawing.querySelector(".box");
  find("empty").hidden = !blank;
  find("empty").textContent = now.trouble || (now.editable ? "There are no blocks yet: take one from the list." : "This model has no control diagram.");
  crumbs(now.inside);
  find("wires").replaceChildren(...(now.wires ?? []).map((wire) => make("option", { value: wire })));
  hand.renew();
  if (first) fit(READABLE);
  values();
}

function crumbs(inside) {
  const parts = inside ? inside.split(".") : [];
  const buttons = ["diagram", ...parts].map((name, k) => {
    const button = make("button", { type: "button" }, name);
    button.onclick = () => connection.send({ open: parts.slice(0, k).join(".") });
    return button;
  });
  find("crumbs").replaceChildren(...(inside ? buttons.flatMap((one, k) => (k ? ["›", one] : [one])) : []));
}

function values() {
  for (const text of drawing.querySelectorAll(".value")) {
    const value = live[text.dataset.value];
    text.textContent = value === undefined || value === null ? "" : short(value);
  }
}

/** Other blocks were chosen. */
function choose() {
  const names = hand.names();
  find("delete").disabled = !told.editable || !(names.length || hand.link);
  find("group").disabled = !told.editable || !names.length;
  if (names.length === 1) connection.send({ form: names[0] });
  else form.blank(names.length ? `${names.length} blocks are chosen.` : hand.link ? "Delete cuts the wire; the button turns its sign." : "", hand.link);
}

function palette(families) {
  find("families").replaceChildren(...families.map(({ family, blocks }) => make("details", { open: true }, make("summary", {}, family), ...blocks.map((block) => {
    const button = make("button", { type: "button", title: block.about }, block.kind.replaceAll("_", " "));
    button.onclick = () => act("add", block.kind);
    return button;
  }))));
}

find("search").oninput = () => {
  const wanted = find("search").value.toLowerCase();
  for (const button of find("families").querySelectorAll("button")) button.hidden = !(button.textContent + button.title).toLowerCase().includes(wanted);
};

// Tools

function scaled(factor) {
  zoom = Math.min(Math.max(factor, 0.2), 3);
  drawing.style.transform = `scale(${zoom})`;
}

/** Show the whole diagram, but no smaller than `least`: the rest is scrolled to. */
function fit(least) {
  const svg = drawing.querySelector("svg");
  if (!svg) return;
  const whole = Math.min((scroll.clientWidth - 24) / svg.width.baseVal.value, (scroll.clientHeight - 100) / svg.height.baseVal.value, 1.4);
  scaled(Math.max(whole, least));
}

function remove() {
  if (hand.link) act("cut", ...hand.link);
  else if (hand.names().length) act("delete", hand.names());
}

find("in").onclick = () => scaled(zoom * 1.25);
find("out").onclick = () => scaled(zoom / 1.25);
find("fit").onclick = () => fit(0);
for (const deed of ["undo", "redo", "save", "reload"]) find(deed).onclick = () => act(deed);
find("delete").onclick = remove;
find("group").onclick = () => act("group", hand.names(), "");
scroll.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  scaled(zoom * Math.exp(-event.deltaY / 400));
}, { passive: false });
window.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea")) return;
  const key = event.key.toLowerCase(), control = event.ctrlKey || event.metaKey;
  const deed = control && key === "z" ? (event.shiftKey ? "redo" : "undo") : control && key === "y" ? "redo" : control && key === "s" ? "save" : null;
  if (deed) { event.preventDefault(); act(deed); }
  else if (key === "delete" || key === "backspace") { event.preventDefault(); remove(); }
  else if (key === "escape") hand.choose([]);
});
window.addEventListener("beforeunload", (event) => { if (told.dirty) event.preventDefault(); });

const NOTES = {
  status(now) {
    document.title = now.subject ? `${now.subject}: diagram – Linkwork` : "Diagram – Linkwork";
    find("now").textContent = now.subject;
    find("time").textContent = now.time;
    find("factor").textContent = now.factor;
  },
};

function tell({ text, kind }) {
  for (const one of find("notices").children) if (one.firstChild.textContent === text) one.remove();
  const close = make("button", { type: "button", "aria-label": "close" }, "×");
  const notice = make("div", { className: `notice ${kind}`, role: "alert" }, text, close);
  close.onclick = () => notice.remove();
  find("notices").append(notice);
  setTimeout(() => notice.remove(), NOTICE);
}
