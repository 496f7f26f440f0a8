// The operator's connection; the messages are described in operators.py.
import { Connection } from "./channel.js";

const BEAT = 100; // between signs of life while something is held [ms]
const REST = 1000; // and while nothing is [ms]
const KEPT = 20; // measurements of the server's clock

export class Link {
  /** `hear(message)` is called for every message, `state(open)` when the connection opens or is lost. */
  constructor(name, hear, state) {
    this.clocks = []; // [round trip [ms], server's clock less ours [s]]
    this.count = 0;
    this.busy = false;
    this.connection = new Connection(`operate/${name}`, (message) => {
      if ("pong" in message) this.compare(...message.pong);
      else hear(message);
    }, (open) => {
      this.clocks = []; // of another server, perhaps
      if (open) this.ping();
      state(open);
    });
    this.beat();
  }

  /** Put an input to a value and hold it, or let go there; `stamp` is when the event was [ms]. */
  put(input, value, hold, stamp) { this.send({ put: [input, value, hold], at: this.serverTime(stamp) }); }

  release(input, stamp) { this.send({ release: input, at: this.serverTime(stamp) }); }

  /** True while something is held: then signs of life are sent often. */
  hold(busy) {
    if (busy && !this.busy) this.ping();
    this.busy = busy;
  }

  ping() { this.send({ ping: performance.now() }); }

  send(message) { this.connection.send({ ...message, seq: this.count++ }); }

  beat() {
    this.ping();
    setTimeout(() => this.beat(), this.busy ? BEAT : REST);
  }

  /** The clocks differ by half a round trip at most: the shortest one tells best. */
  compare(sent, server) {
    const now = performance.now();
    this.clocks.push([now - sent, server - (sent + now) / 2000]);
    if (this.clocks.length > KEPT) this.clocks.shift();
  }

  serverTime(stamp) {
    if (!this.clocks.length) return null;
    const [, offset] = this.clocks.reduce((best, one) => (one[0] < best[0] ? one : best));
    return stamp / 1000 + offset;
  }
}
