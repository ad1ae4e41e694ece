/** The program behind the page, over a WebSocket. */
import type { Command, Listener, Message, Source } from './types';
import { receive } from './wire';

export class Connection implements Source {
  readonly live = true;
  private socket: WebSocket | undefined;

  /** The token is in the fragment of the address, which only the program that printed it knows. */
  constructor(private readonly token: string) {}

  start(listener: Listener): void {
    if (!this.token) {
      listener.closed('This address lacks its token: open the address that `drystone view` printed.');
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/live?token=${this.token}`);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = (event) => {
      if (typeof event.data === 'string') listener.message(JSON.parse(event.data) as Message);
      else receive(event.data as ArrayBuffer, listener);
    };
    socket.onclose = () => listener.closed('The program has ended, or this page was let go. Start `drystone view` again.');
    this.socket = socket;
  }

  send(command: Command): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
