// The page: status, picture, panel, gallery, and what the server has to say.
import { Canvas } from "./canvas.js";
import { Connection, newName } from "./channel.js";
import { make } from "./controls.js";
import { Gallery } from "./gallery.js";
import { OperatorStrip } from "./operator_strip.js";
import { Panel } from "./panel.js";

const NOTICE = 12000; // how long what went wrong is shown [ms]
const find = (id) => document.getElementById(id);
const name = newName();

const canvas = new Canvas(find("stage"), find("poster"), name);
const gallery = new Gallery((scene) => channel.send({ open: scene }));
new OperatorStrip(find("operator"), find("operate"), name, canvas, tell);
const panel = new Panel(find("panel"), (message) => channel.send(message));
let connected = false, ended = false;
const channel = new Connection(`panel/${name}`, hear, state);

function hear(message) {
  if ("note" in message) for (const [key, value] of Object.entries(message.note)) NOTES[key](value);
  else if ("tell" in message) tell(message.tell);
  else if ("download" in message) make("a", { href: message.download.url, download: message.download.name }).click();
  else if ("canvas" in message) { if (message.canvas) canvas.ready(); else canvas.fresh(); }
  else panel.hear(message);
}

function state(open) {
  if (open) {
    if (connected === null) canvas.fresh(); // another server, or the same after a while
    connected = true;
    ended = false;
    find("ended").hidden = true;
  } else if (connected) {
    connected = null;
    find("ended").replaceChildren(
      ended ? "The simulation has ended." : "The connection to the simulator is lost.",
      make("small", {}, "You see its last moment; reconnecting when it is there again …"));
    find("ended").hidden = false;
    find("progress").hidden = true;
  }
}

const NOTES = {
  status(now) {
    document.title = now.subject ? `${now.subject} – Linkwork` : "Linkwork";
    if (find("now").textContent !== now.subject) find("notices").replaceChildren(); // they are of something else
    find("now").textContent = now.subject;
    if (now.subject) find("loading").textContent = `Loading the picture of ${now.subject} …`;
    find("about").textContent = find("about").title = now.about;
    find("time").textContent = now.time;
    find("factor").textContent = now.factor;
    find("method").textContent = now.method;
    const badge = find("badge");
    badge.hidden = !now.badge;
    badge.textContent = now.badge;
    const told = [...find("warnings").children].map((one) => one.textContent);
    if (told.join("\n") !== now.warnings.join("\n")) {
      find("warnings").replaceChildren(...now.warnings.map((text) => make("div", {}, text)));
    }
    if (now.scene !== gallery.now) {
      if (!canvas.shown && gallery.now !== undefined) find("poster").src = `/gallery/now/picture?${now.scene}`;
      gallery.mark(now.scene);
    }
  },
  progress(now) {
    const bar = find("progress");
    bar.hidden = !now;
    if (!now) return;
    bar.classList.toggle("unknown", now.share === null);
    find("done").style.width = `${100 * (now.share ?? 0)}%`;
    if (now.share === null) bar.removeAttribute("aria-valuenow");
    else bar.setAttribute("aria-valuenow", Math.round(100 * now.share));
    find("doing").textContent = now.text;
  },
  trouble(text) {
    find("trouble").hidden = !text;
    find("trouble").textContent = text ?? "";
  },
  ended(now) { ended = now; },
};

function tell({ text, kind }) {
  for (const one of find("notices").children) if (one.firstChild.textContent === text) one.remove(); // it is said anew
  const close = make("button", { type: "button", "aria-label": "close" }, "×");
  const notice = make("div", { className: `notice ${kind}`, role: "alert" }, text, close);
  close.onclick = () => notice.remove();
  find("notices").append(notice);
  setTimeout(() => notice.remove(), NOTICE);
}
