import type { SandboxAccess } from '@slipway/contracts/sandboxes';
import { type Lasted, lasting, type SignedInClient } from '@slipway/testing';
import { expect } from 'expect';
import { WebSocket } from 'undici';

/** Between two tries to come back. Milliseconds. */
const RETRY_MS = 50;

/**
 * An SDK's socket to the agent-server of one conversation, through sandbox-gateway: closed, for whatever reason, it
 * comes back.
 */
export class SandboxSocket {
  /** Each time without a socket, from the end of one to the next one's opening. */
  readonly outages: Lasted[] = [];
  /** Frames that came, on all of its sockets. */
  frames = 0;
  /** Close codes that were seen. */
  readonly codes: number[] = [];
  private readonly url: string;
  private readonly token: string;
  private socket: WebSocket | null = null;
  private out: (() => Lasted) | null = null;
  private ended = false;

  private constructor(access: SandboxAccess, conversation: string) {
    this.url = `${access.pathUrl.replace(/^http/, 'ws')}sockets/events/${conversation}`;
    this.token = access.token;
    this.connect();
  }

  /** @param path of the conversation in our API. */
  static async open(user: SignedInClient, path: string, conversation: string): Promise<SandboxSocket> {
    const response = await user.fetch(`${path}/sandbox-access`, { method: 'POST', json: { port: 'agent-server' } });
    expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)]);
    return new SandboxSocket((await response.json()) as SandboxAccess, conversation);
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  close(): void {
    this.ended = true;
    this.socket?.close();
  }

  private connect(): void {
    if (this.ended) return;
    const socket = new WebSocket(this.url, { headers: { authorization: `Bearer ${this.token}` } });
    this.socket = socket;
    socket.addEventListener('open', () => {
      if (this.out !== null) this.outages.push(this.out());
      this.out = null;
    });
    socket.addEventListener('message', () => {
      this.frames += 1;
    });
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', ({ code }) => {
      if (this.out === null) {
        this.out = lasting();
        this.codes.push(code);
      }
      setTimeout(() => this.connect(), RETRY_MS);
    });
  }
}
