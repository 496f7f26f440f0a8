// Connections to the server; the messages of the page are described in channel.py.
const RETRY = 1000; // [ms]

export class Connection {
  /** `hear(message)` is called for every message, `state(open)` when the connection opens or is lost. */
  constructor(path, hear, state) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${path}`;
    this.hear = hear;
    this.state = state;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(this.url);
    this.socket.onopen = () => this.state(true);
    this.socket.onmessage = (event) => { for (const message of JSON.parse(event.data)) this.hear(message); };
    this.socket.onclose = () => {
      this.state(false);
      setTimeout(() => this.connect(), RETRY);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

/** A name for this page, which its connections and its picture share. */
export function newName() {
  return [...crypto.getRandomValues(new Uint32Array(3))].map((part) => part.toString(36)).join("");
}
