// The gallery: a strip of scenes below the picture, or all of them with what they are about.
import { make } from "./controls.js";

export class Gallery {
  constructor(open) {
    this.element = document.getElementById("gallery");
    this.cards = document.getElementById("cards");
    this.toggle = document.getElementById("scenes");
    this.all = document.getElementById("all");
    this.search = document.getElementById("search");
    this.open = open;
    this.strip = location.pathname === "/gallery";
    this.element.hidden = !this.strip;
    this.toggle.onclick = () => this.expand(!this.element.classList.contains("all"));
    this.all.onclick = () => this.expand(!this.element.classList.contains("all"));
    this.search.oninput = () => this.filter(this.search.value);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") this.expand(false); });
    this.fill();
  }

  async fill() {
    const scenes = await (await fetch("/gallery/scenes")).json();
    this.cards.replaceChildren(...scenes.map((scene) => this.card(scene)));
    this.mark(this.now);
  }

  card({ name, description, source }) {
    const picture = make("img", { src: `/gallery/picture/${name}`, alt: "", width: "320", height: "200", loading: "lazy" });
    picture.onload = () => picture.classList.add("there");
    const card = make("button", { type: "button", className: "card", title: description, "data-scene": name },
      picture, make("h2", {}, name), make("p", {}, description), make("p", { className: "source" }, source));
    card.onclick = () => { this.expand(false); this.open(name); };
    return card;
  }

  expand(all) {
    if (all === this.element.classList.contains("all")) return;
    this.element.classList.toggle("all", all);
    this.element.hidden = !all && !this.strip;
    this.toggle.setAttribute("aria-expanded", String(all));
    this.all.textContent = all ? "Close" : "Show all";
    (all ? this.search : this.toggle).focus();
  }

  filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of this.cards.children) {
      const told = card.textContent.toLowerCase();
      card.hidden = !words.every((word) => told.includes(word));
    }
  }

  mark(name) {
    this.now = name;
    for (const card of this.cards.children) card.classList.toggle("now", card.dataset.scene === name);
    const now = this.cards.querySelector(".now");
    if (!now) return;
    const [strip, card] = [this.cards.getBoundingClientRect(), now.getBoundingClientRect()];
    this.cards.scrollLeft += card.left + card.width / 2 - strip.left - strip.width / 2; // `scrollIntoView` moves the page, too
  }
}
