// The channel to the server; the messages are described in channel.py.
const RETRY = 1000; // [ms]

export class Channel {
  /** `hear(message)` is called for every message, `state(open)` when the connection opens or is lost. */
  constructor(name, hear, state) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/panel/${name}`;
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
