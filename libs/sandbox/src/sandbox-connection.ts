import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './answer-reader.js';

export interface ConnectionRequest {
  /** Head and body, as they go over the wire. */
  readonly text: string;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

/** A kept connection broke before anything of an answer came. */
export class StaleConnection extends Error {}

/**
 * One connection to one sandbox, for one request at a time. Node's own client costs a multiple of the processor for the
 * same, and a claim is one of these requests and little else.
 */
export class SandboxConnection {
  private readonly socket: Socket;
  private used = false;
  private current: { readonly data: (chunk: Buffer) => void; readonly end: (error: Error | null) => void } | null =
    null;

  /** @param onGone it cannot be used any more. */
  constructor(
    readonly origin: string,
    onGone: (connection: SandboxConnection) => void,
  ) {
    const colon = origin.lastIndexOf(':');
    const port = Number(origin.slice(colon + 1));
    if (colon < 0 || !(port > 0 && port < 65_536)) throw new Error(`${origin} is no address of a sandbox`);
    this.socket = connect({
      host: origin.slice(0, colon).replace(/^\[|\]$/g, ''),
      port,
      noDelay: true,
      keepAlive: true,
    });
    this.socket.on('data', (chunk) => {
      // Unsolicited.
      if (this.current === null) this.socket.destroy();
      else this.current.data(chunk);
    });
    this.socket.on('error', (error) => this.current?.end(error));
    this.socket.on('end', () => this.current?.end(null));
    this.socket.on('close', () => {
      this.current?.end(null);
      onGone(this);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  /** Waits for its next request; does not keep the process alive. */
  rest(): void {
    this.socket.unref();
  }

  /**
   * @returns the answer; when it does not keep, the connection is closed. @throws Error when there is no whole answer
   * in time; StaleConnection when it may be sent again over another one.
   */
  send(request: ConnectionRequest): Promise<Answer> {
    const { signal, timeoutMs } = request;
    const reused = this.used;
    this.used = true;
    this.socket.ref();
    return new Promise((resolve, reject) => {
      const reader = new AnswerReader(request.maxAnswerBytes);
      let silent = true;
      let timer: NodeJS.Timeout | undefined;
      const settle = (answer: Answer | null, error: Error): void => {
        if (this.current === null) return;
        this.current = null;
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        if (answer?.keeps !== true) this.socket.destroy();
        if (answer === null) reject(error);
        else resolve(answer);
      };
      const onAbort = (): void =>
        settle(null, signal.reason instanceof Error ? signal.reason : new Error('the request was broken off'));
      this.current = {
        data: (chunk) => {
          silent = false;
          try {
            const answer = reader.push(chunk);
            if (answer !== null) settle(answer, NEVER);
          } catch (error) {
            settle(null, error as Error);
          }
        },
        end: (error) => {
          const broken = error ?? new Error('the connection was closed before the answer was whole');
          settle(
            error === null ? reader.end() : null,
            reused && silent ? new StaleConnection('the kept connection was closed', { cause: broken }) : broken,
          );
        },
      };
      if (timeoutMs !== undefined)
        timer = setTimeout(() => settle(null, new Error(`no whole answer within ${timeoutMs} ms`)), timeoutMs);
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.socket.write(request.text);
    });
  }
}

const NEVER = new Error('answered');
