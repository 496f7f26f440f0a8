// The operator's panel below the picture: there when it is wanted, and keys push levers only then.
import { Operator, latencyText, padText } from "./operator.js";

export class OperatorStrip {
  constructor(element, button, name, canvas, tell) {
    this.operator = null;
    button.onclick = () => {
      element.hidden = !element.hidden;
      button.setAttribute("aria-expanded", String(!element.hidden));
      if (!this.operator) this.begin(element, name, canvas, tell);
      this.operator.listen(!element.hidden);
    };
  }

  begin(element, name, canvas, tell) {
    const find = (id) => element.querySelector(`#${id}`);
    this.operator = new Operator(find("levers"), name, (message) => {
      if ("latency" in message) find("latency").textContent = latencyText(message.latency);
      else if ("pad" in message) find("pad").textContent = padText(message.pad);
      else if ("tell" in message) tell(message.tell);
    }, () => {});
    canvas.listeners.push((frame) => this.operator.keyboard.listen(frame));
    if (canvas.shown) this.operator.keyboard.listen(canvas.shown.contentWindow);
  }
}
