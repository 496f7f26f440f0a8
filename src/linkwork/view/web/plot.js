// A curve over time on a 2-D canvas.
const LEFT = 46, BOTTOM = 18, TOP = 6, RIGHT = 8;

export class Plot {
  constructor(control) {
    this.control = control;
    this.element = document.createElement("div");
    this.element.className = "control plot";
    this.element.innerHTML = '<div class="legend"><b></b><span></span></div><canvas role="img"></canvas>';
    this.canvas = this.element.querySelector("canvas");
    this.name = this.element.querySelector("b");
    this.now = this.element.querySelector("span");
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.update(control);
  }

  update(changed) {
    if ("label" in changed) { this.name.textContent = this.name.title = changed.label; this.canvas.setAttribute("aria-label", changed.label); }
    this.draw();
  }

  draw() {
    const { canvas, control } = this, [times, values] = control.data;
    const width = canvas.clientWidth, height = canvas.clientHeight, sharp = window.devicePixelRatio || 1;
    if (!width || !height) return; // on a tab that is not seen
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const known = values.filter((value) => value !== null);
    if (times.length < 2 || !known.length) { this.now.textContent = ""; return; }
    this.now.textContent = short(known[known.length - 1]);
    let low = Math.min(...known), high = Math.max(...known);
    const least = 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-9);
    if (high - low < least) { low -= Math.abs(low) * 0.05 || 1; high += Math.abs(high) * 0.05 || 1; }
    const room = 0.06 * (high - low), first = times[0], last = times[times.length - 1];
    low -= room; high += room;
    const x = (t) => LEFT + (width - LEFT - RIGHT) * (t - first) / (last - first || 1);
    const y = (v) => TOP + (height - TOP - BOTTOM) * (high - v) / (high - low);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = "#5d6977";
    pen.strokeStyle = "#e7ebf0";
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const v of ticks(low, high, 4)) { line(pen, LEFT, y(v), width - RIGHT, y(v)); pen.fillText(short(v), LEFT - 5, y(v)); }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const t of ticks(first, last, 5)) { line(pen, x(t), TOP, x(t), height - BOTTOM); pen.fillText(`${short(t)} s`, x(t), height - BOTTOM + 4); }
    pen.strokeStyle = control.color;
    pen.lineWidth = 1.8;
    pen.lineJoin = "round";
    pen.beginPath();
    let down = false;
    times.forEach((t, k) => {
      if (values[k] === null) { down = false; return; }
      pen[down ? "lineTo" : "moveTo"](x(t), y(values[k]));
      down = true;
    });
    pen.stroke();
  }
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke();
}

/** Round numbers between two others, about so many. */
export function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || rough;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 20; k++) found.push(k * step);
  return found;
}

/** A number in a few characters. */
export function short(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(1);
  return String(Number(value.toPrecision(4)));
}
