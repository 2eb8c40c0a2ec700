import { randomUUID } from 'node:crypto';
import {
  type BrowserFrame,
  BrowserLiveMessage,
  type BrowserLiveRequest,
  type BrowserPageError,
  type BrowserState,
  decodeBrowserFrame,
} from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import type { Page } from 'playwright-core';
import { WebSocket } from 'ws';

/** A busy machine is slow, but not longer than this. Milliseconds. */
const PATIENCE_MS = 20_000;

/** A viewer of the browser, over a real socket. */
export class WatchingUser {
  readonly frames: BrowserFrame[] = [];
  readonly states: BrowserState[] = [];
  readonly errors: BrowserPageError[] = [];
  readonly notices: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  hold: string = randomUUID();

  private constructor(
    private readonly socket: WebSocket,
    /** Whether each frame is said to be seen as soon as it comes. */
    public looks: boolean,
  ) {
    socket.binaryType = 'nodebuffer';
    socket.on('message', (data, binary) => this.take(data as Buffer, binary));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => {});
  }

  static async open(url: string, token: string, looks: boolean): Promise<WatchingUser> {
    const user = new WatchingUser(new WebSocket(url, { headers: { 'x-session-api-key': token } }), looks);
    await until('the connection', () => user.socket.readyState === WebSocket.OPEN, PATIENCE_MS);
    return user;
  }

  /** Of the last frame; 0 when none has come. */
  get newest(): number {
    return this.frames.at(-1)?.number ?? 0;
  }

  send(request: BrowserLiveRequest): void {
    this.socket.send(JSON.stringify(request));
  }

  takeBrowser(name: string): void {
    this.send({ type: 'take', name, hold: this.hold });
  }

  /** The newest state that is so. */
  state(so: (state: BrowserState) => boolean): Promise<BrowserState> {
    return until(
      `a state in which ${so}; the last is ${JSON.stringify(this.states.at(-1))}`,
      () => this.states.slice(-1).find(so),
      PATIENCE_MS,
    );
  }

  /** The so-manieth frame of this connection. */
  frame(count: number): Promise<BrowserFrame> {
    return until(`frame ${count}`, () => this.frames[count - 1], PATIENCE_MS);
  }

  notice(words: string): Promise<string> {
    return until(`the notice: ${words}`, () => this.notices.find((text) => text.includes(words)), PATIENCE_MS);
  }

  sayWhatItSaw(): void {
    this.looks = true;
    this.send({ type: 'seen', frame: this.newest });
  }

  click(x: number, y: number): void {
    for (const act of ['move', 'press', 'release'] as const)
      this.send({
        type: 'pointer',
        act,
        x,
        y,
        button: act === 'move' ? 'none' : 'left',
        buttons: act === 'press' ? 1 : 0,
        clicks: act === 'move' ? 0 : 1,
        modifiers: 0,
      });
  }

  key(key: string): void {
    for (const act of ['press', 'release'] as const)
      this.send({
        type: 'key',
        act,
        key,
        code: `Key${key.toUpperCase()}`,
        keyCode: key.toUpperCase().charCodeAt(0),
        location: 0,
        modifiers: 0,
      });
  }

  /** What most of the last frame is, decoded by a browser. */
  async colourIn(page: Page | undefined): Promise<'red' | 'green' | 'blue' | 'other'> {
    const jpeg = Buffer.from(this.frames.at(-1)?.jpeg ?? []).toString('base64');
    const pixel = (await page?.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${jpeg}'), (character) => character.charCodeAt(0));
      const context = new OffscreenCanvas(8, 8).getContext('2d');
      context.drawImage(await createImageBitmap(new Blob([bytes])), 0, 0, 8, 8);
      return [...context.getImageData(6, 6, 1, 1).data];
    })()`)) as number[] | undefined;
    const [red = 0, green = 0, blue = 0] = pixel ?? [];
    return red > 200 && green < 60
      ? 'red'
      : green > 200 && red < 60
        ? 'green'
        : blue > 200 && red < 60
          ? 'blue'
          : 'other';
  }

  close(): void {
    this.socket.terminate();
  }

  private take(data: Buffer, binary: boolean): void {
    if (binary) {
      const frame = decodeBrowserFrame(new Uint8Array(data));
      if (frame === null) throw new Error('bytes that are no frame');
      this.frames.push(frame);
      if (this.looks) this.send({ type: 'seen', frame: frame.number });
      return;
    }
    const message = BrowserLiveMessage.parse(JSON.parse(data.toString()));
    if (message.type === 'state') this.states.push(message);
    else if (message.type === 'errors') this.errors.push(...message.errors);
    else this.notices.push(message.text);
  }
}
