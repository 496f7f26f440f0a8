// The picture: viser's client in a frame. A fresh one is loaded behind the old one, which stays until there is another.
const FRAMES = 4; // drawn before a fresh picture is shown

export class Canvas {
  constructor(stage, poster, name) {
    this.stage = stage;
    this.poster = poster;
    this.name = name;
    this.count = 0;
    this.shown = this.coming = null;
    this.listeners = []; // are given the window of every picture, which may have the focus
    this.fresh();
  }

  /** Load a picture anew. */
  fresh() {
    if (this.coming) this.coming.remove();
    const frame = document.createElement("iframe");
    frame.title = "3-D picture";
    frame.src = `/canvas/${this.name}.${this.count++}${location.search}`;
    this.coming = frame;
    this.stage.prepend(frame);
  }

  /** The server has given the coming picture something to show. */
  ready() {
    const frame = this.coming;
    if (!frame) return;
    let left = FRAMES;
    const next = () => {
      if (frame !== this.coming) return;
      const canvas = frame.contentDocument && frame.contentDocument.querySelector("canvas[data-engine]");
      if (canvas && --left <= 0) this.show(frame);
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  show(frame) {
    frame.classList.add("ready");
    if (this.shown) this.shown.remove();
    this.shown = frame;
    for (const listen of this.listeners) listen(frame.contentWindow);
    this.coming = null;
    this.poster.hidden = true;
    document.getElementById("loading").hidden = true;
  }
}
