import { until } from '@slipway/testing';
import { type RawData, WebSocket } from 'ws';
import { type RunningServer, TOKEN } from './running-server.js';

export interface LiveMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A live connection as agent-server makes one. What comes is kept. */
export class LiveClient {
  readonly messages: LiveMessage[] = [];
  /** All bytes, as text; invalid ones replaced. */
  text = '';
  byteLength = 0;
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** Whether it answers marks, as a terminal that shows what comes. */
  shows = true;
  /** The last mark that came. */
  mark = 0;

  private constructor(readonly socket: WebSocket) {
    const decoder = new TextDecoder();
    socket.on('message', (data: RawData, binary: boolean) => {
      const bytes = data as Buffer;
      if (binary) {
        this.byteLength += bytes.length;
        this.text += decoder.decode(bytes, { stream: true });
        return;
      }
      const message = JSON.parse(bytes.toString()) as LiveMessage;
      this.messages.push(message);
      if (message.type !== 'mark') return;
      this.mark = Number(message['at']);
      if (this.shows) this.seen();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => {});
  }

  static async open(
    server: RunningServer,
    address: string,
    headers: Record<string, string> = { 'x-session-api-key': TOKEN },
  ): Promise<LiveClient> {
    const client = new LiveClient(new WebSocket(`${server.url.replace('http', 'ws')}/live/${address}`, { headers }));
    await until('the connection', () => client.socket.readyState !== WebSocket.CONNECTING);
    return client;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  seen(): void {
    this.send({ type: 'seen', at: this.mark });
  }

  of(type: string): LiveMessage[] {
    return this.messages.filter((message) => message.type === type);
  }

  message(type: string): Promise<LiveMessage> {
    return until(`the message ${type}`, () => this.of(type).at(-1), 20_000);
  }

  shown(text: string): Promise<unknown> {
    return until(JSON.stringify(text), () => this.text.includes(text), 20_000);
  }

  close(): void {
    this.socket.terminate();
  }
}
