// The operator's panel as a page of its own: for a second screen, or a phone.
import { newName } from "./channel.js";
import { make } from "./controls.js";
import { Operator, latencyText, padText } from "./operator.js";

const NOTICE = 6000; // how long what went wrong is shown [ms]
const find = (id) => document.getElementById(id);
let known = false, over = false;

new Operator(find("levers"), newName(), hear, (open) => {
  find("lost").hidden = open || !known;
  find("lost").textContent = over ? "The simulation has ended. Levers are let go." : "The connection is lost: levers have sprung back. Reconnecting …";
  known ||= open;
  if (open) over = false;
});

function hear(message) {
  if ("note" in message) for (const [key, value] of Object.entries(message.note)) NOTES[key]?.(value);
  else if ("latency" in message) find("latency").textContent = latencyText(message.latency);
  else if ("pad" in message) find("pad").textContent = padText(message.pad);
  else if ("tell" in message) tell(message.tell);
}

const NOTES = {
  status(now) {
    document.title = now.subject ? `${now.subject}: panel – Linkwork` : "Panel – Linkwork";
    find("now").textContent = now.subject;
    find("time").textContent = now.time;
    find("factor").textContent = now.factor;
    find("warnings").textContent = now.warnings.join("\n");
  },
  trouble(text) { find("trouble").textContent = text ?? ""; find("trouble").hidden = !text; },
  ended(now) { over = now; },
};

function tell({ text }) {
  for (const one of find("notices").children) if (one.textContent === text) one.remove();
  const notice = make("div", { className: "notice error", role: "alert" }, text);
  find("notices").append(notice);
  setTimeout(() => notice.remove(), NOTICE);
}
