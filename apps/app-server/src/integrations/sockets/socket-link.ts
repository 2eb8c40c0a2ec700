import type { SocketAccess } from '@slipway/integrations';
import type { ProviderDispatch } from '@slipway/integrations/dispatch';

type WebSocket = ReturnType<ProviderDispatch['socket']>;

/** What a socket must say within this time to be one. Milliseconds. */
const READY_MS = 15_000;
/**
 * A socket over which nothing has come for so long is dead, whatever stands between. Milliseconds; we ask in the
 * meantime.
 */
const SILENCE_MS = 45_000;
const BEAT_MS = 15_000;
/** Deliveries of one socket at a time. What comes beyond is not acknowledged, so that it comes again. */
const MAX_AT_ONCE = 32;

export interface LinkOptions {
  readonly socket: WebSocket;
  readonly access: SocketAccess;
  /** Keeps a delivery. @returns what answers it at once; `null`: nothing. */
  readonly deliver: (body: object) => Promise<object | null>;
  readonly onLost: (error: unknown) => void;
}

/** One socket, from its greeting to its end. An envelope is acknowledged once its delivery is kept, and not before. */
export class SocketLink {
  private readonly leave = Promise.withResolvers<{ readonly refused: boolean }>();
  private readonly greeted = Promise.withResolvers<void>();
  private readonly end = Promise.withResolvers<void>();
  private readonly under = new Set<Promise<void>>();
  private heardAt = performance.now();
  private readonly beat: NodeJS.Timeout;
  private readonly late: NodeJS.Timeout;

  constructor(private readonly options: LinkOptions) {
    const { socket } = options;
    const heard = (): void => {
      this.heardAt = performance.now();
    };
    this.greeted.promise.catch(() => {});
    this.late = setTimeout(() => socket.terminate(), READY_MS);
    this.beat = setInterval(() => {
      if (performance.now() - this.heardAt > SILENCE_MS) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }, BEAT_MS);
    socket.on('ping', heard);
    socket.on('pong', heard);
    socket.on('message', (data, isBinary) => {
      heard();
      if (!isBinary) this.hear(String(data));
    });
    socket.on('error', (error) => this.greeted.reject(error));
    socket.on('close', () => {
      clearTimeout(this.late);
      clearInterval(this.beat);
      this.greeted.reject(new Error('the socket was closed before its greeting'));
      this.leave.resolve({ refused: false });
      this.end.resolve();
    });
  }

  /** @throws what ended the socket before its greeting. */
  ready(): Promise<void> {
    return this.greeted.promise;
  }

  /** Resolves when another socket is to take its place. */
  get leaving(): Promise<{ readonly refused: boolean }> {
    return this.leave.promise;
  }

  /** Ends it once what is under way is acknowledged, after two seconds at the latest. */
  async close(): Promise<void> {
    const { socket } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 2_000);
    });
    await Promise.race([Promise.allSettled(this.under), patience]);
    socket.close(1_000);
    await Promise.race([this.end.promise, patience]);
    clearTimeout(timer);
    socket.terminate();
  }

  private hear(text: string): void {
    const frame = this.options.access.read(parsed(text));
    if (frame.kind === 'ready') {
      clearTimeout(this.late);
      this.greeted.resolve();
    } else if (frame.kind === 'leave') {
      if (frame.refused) this.greeted.reject(new Error('the provider has switched sockets off'));
      this.leave.resolve({ refused: frame.refused });
    } else if (frame.kind === 'delivery' && this.under.size < MAX_AT_ONCE) {
      const taking = this.take(frame.envelope, frame.body).finally(() => this.under.delete(taking));
      this.under.add(taking);
    }
  }

  private async take(envelope: string, body: object): Promise<void> {
    const { socket, access, deliver, onLost } = this.options;
    try {
      const answer = await deliver(body);
      if (socket.readyState === socket.OPEN) socket.send(access.acknowledge(envelope, answer));
    } catch (error) {
      onLost(error);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
