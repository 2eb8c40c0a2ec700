import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { AdmitFrame } from './client-frames.js';
import { refusalOf } from './upgrade.js';

/** OpenHands' clients send no key when they connect, but as their first frame, and within this. Milliseconds. */
const FIRST_FRAME_MS = 10_000;
/** Bytes read from an unauthenticated client before it is disconnected; a token is far shorter. */
const MAX_UNPROVED = 64 * 1024;
/** Close codes as agent-server's own. */
const CLOSE_AUTH = 4001;
const CLOSE_LATER = 1013;
/** Longest message either way. Bytes; agent-server's own limit is lower. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** What may wait for an end that reads slowly before the other end is no longer read. Bytes. */
const HIGH_WATER = 1024 * 1024;
const PING_MS = 20_000;

const server = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
  clientTracking: false,
});

interface Sandbox {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly use: (end: (code: number, reason: string) => void) => () => void;
  /** Called for each message of the client, by its length. Bytes. */
  readonly said: (length: number) => void;
  /**
   * Each message of the client waits for it; one that is refused closes the socket (`refusalOf`). `null`: nothing
   * waits.
   */
  readonly admit: AdmitFrame | null;
}

/** An agent-server socket that says who it is only after it is open: `/sockets/…`, as OpenHands' clients open it. */
export function isFirstFrameSocket(path: string): boolean {
  return path.startsWith('/sockets/');
}

/**
 * Accepts the socket, reads `{"type":"auth","session_api_key":…}`, and opens the same one at the sandbox once `letIn`
 * has found that token good. Messages go through one by one from then on; an end that does not answer pings is gone
 * after two of them.
 *
 * @param letIn where to go on with this token; throws what becomes the close code 4001 (do not retry) or 1013 (try
 * later).
 */
export async function relayAfterFirstFrame(
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  letIn: (token: string) => Promise<Sandbox>,
): Promise<void> {
  const client = await new Promise<WebSocket>((resolve) => server.handleUpgrade(request, stream, head, resolve));
  client.on('error', () => client.terminate());
  // A client need not wait between its first frame and the next; what is here before it is paused is kept.
  const early: Array<readonly [RawData, boolean]> = [];
  const token = await firstFrameToken(client, stream, early);
  if (token === null) return close(client, CLOSE_AUTH, 'send {"type":"auth","session_api_key":TOKEN} first');
  try {
    const { url, headers, use, said, admit } = await letIn(token);
    const sandbox = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE,
      handshakeTimeout: FIRST_FRAME_MS,
    });
    await new Promise((resolve, reject) => {
      sandbox.once('open', () => {
        // What comes right behind the answer waits until a listener is attached.
        sandbox.pause();
        resolve(null);
      });
      sandbox.once('error', reject);
      client.once('close', () => sandbox.terminate());
    });
    const done = use((code, reason) => {
      close(client, code, reason);
      close(sandbox, 1001, 'access has ended');
    });
    sandbox.once('close', done);
    client.removeAllListeners('message');
    client.on('message', (data) => said((data as Buffer).length));
    const inTurn = new InTurn(client, sandbox, admit);
    for (const [data, binary] of early) {
      said((data as Buffer).length);
      inTurn.send(data, binary);
    }
    join(client, sandbox, inTurn);
    sandbox.resume();
    client.resume();
  } catch (error) {
    const later = (error as { code?: unknown } | null)?.code !== 'auth.missing';
    close(
      client,
      later ? CLOSE_LATER : CLOSE_AUTH,
      String((error as { detail?: unknown } | null)?.detail ?? 'the sandbox does not answer').slice(0, 120),
    );
  }
}

/** Says goodbye, and does not wait for an answer. */
function close(socket: WebSocket, code: number, reason: string): void {
  socket.resume();
  socket.close(code, reason);
  void wait(200, undefined, { ref: false }).then(() => socket.terminate());
}

/** What the client says, in its order, each when it is admitted. */
class InTurn {
  private waiting = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: WebSocket,
    private readonly sandbox: WebSocket,
    private readonly admit: AdmitFrame | null,
  ) {}

  send(data: RawData, binary: boolean): void {
    const { admit } = this;
    if (admit === null) {
      this.pass(data, binary);
      return;
    }
    // What was read already still comes; no more is.
    this.client.pause();
    this.waiting += 1;
    this.last = this.last
      .then(() => admit(binary ? null : data.toString()))
      .then(() => {
        this.waiting -= 1;
        this.pass(data, binary);
        if (this.waiting === 0 && this.sandbox.bufferedAmount <= HIGH_WATER) this.client.resume();
      });
    // Nothing after what was refused goes on: the promise stays rejected.
    this.last.catch((error: unknown) => close(this.client, ...refusalOf(error)));
  }

  /** After all that was said before, unless it was refused. */
  finally(then: () => void): void {
    if (this.waiting === 0) then();
    else void this.last.then(then, then);
  }

  private pass(data: RawData, binary: boolean): void {
    const { client, sandbox } = this;
    if (sandbox.readyState !== WebSocket.OPEN) return;
    sandbox.send(data as Buffer, { binary }, () => {
      if (sandbox.bufferedAmount <= HIGH_WATER && this.waiting === 0) client.resume();
    });
    if (sandbox.bufferedAmount > HIGH_WATER) client.pause();
  }
}

function join(client: WebSocket, sandbox: WebSocket, inTurn: InTurn): void {
  for (const [from, to] of [
    [client, sandbox],
    [sandbox, client],
  ] as const) {
    let answered = true;
    const ping = setInterval(() => {
      if (!answered) return from.terminate();
      answered = false;
      from.ping();
    }, PING_MS).unref();
    from.on('pong', () => {
      answered = true;
    });
    from.on('error', () => from.terminate());
    from.on('message', (data: RawData, binary: boolean) => {
      answered = true;
      if (from === client) return inTurn.send(data, binary);
      if (to.readyState !== WebSocket.OPEN) return;
      to.send(data as Buffer, { binary }, () => {
        if (to.bufferedAmount <= HIGH_WATER) from.resume();
      });
      if (to.bufferedAmount > HIGH_WATER) from.pause();
    });
    from.once('close', (code, reason) => {
      clearInterval(ping);
      inTurn.finally(() => {
        // 1005 and 1006 are never sent: they say that nothing was.
        if (code === 1005 || code === 1006 || code === 1015) to.close();
        else to.close(code, reason);
      });
    });
  }
}

/**
 * The token of the first frame, or `null` when it is something else or does not come. What follows it goes into
 * `early`, until the listener is detached.
 */
function firstFrameToken(
  socket: WebSocket,
  stream: Duplex,
  early: Array<readonly [RawData, boolean]>,
): Promise<string | null> {
  return new Promise((resolve) => {
    let unproved = 0;
    const count = (piece: Buffer): void => {
      unproved += piece.length;
      if (unproved > MAX_UNPROVED && !ended) socket.terminate();
    };
    let ended = false;
    const end = (token: string | null): void => {
      ended = true;
      clearTimeout(timer);
      stream.off('data', count);
      socket.off('message', read);
      socket.off('close', gone);
      socket.on('message', (data, binary) => void early.push([data, binary]));
      // Before anything else is read.
      socket.pause();
      resolve(token);
    };
    const gone = (): void => end(null);
    const read = (data: RawData, binary: boolean): void => {
      try {
        const frame = JSON.parse(binary ? '' : data.toString()) as { type?: unknown; session_api_key?: unknown };
        end(frame.type === 'auth' && typeof frame.session_api_key === 'string' ? frame.session_api_key : null);
      } catch {
        end(null);
      }
    };
    const timer = setTimeout(gone, FIRST_FRAME_MS);
    // Behind the socket's own reading: a piece with the whole first frame has ended this by then.
    stream.on('data', count);
    socket.on('message', read);
    socket.once('close', gone);
  });
}
