import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '@slipway/telemetry';

/** One step of a stop; the next begins when it has ended, has failed, or is late. */
export interface StopStep {
  readonly name: string;
  /** Longest that the step may take. Milliseconds. */
  readonly withinMs: number;
  /** `late` aborts at the bound; what goes on after it is not waited for. */
  readonly run: (late: AbortSignal) => unknown;
}

/**
 * Time over which the drain disconnects clients while new ones still come in, spread over `drainMs`. Milliseconds; 0:
 * at once.
 */
export interface DrainWork {
  readonly name: string;
  readonly run: (drainMs: number) => unknown;
}

export interface GracefulStopOptions {
  readonly logger: Logger;
  /**
   * How long the process goes on as before after the first signal, but for `/ready`, which says 503. Seconds. In
   * Kubernetes longer than what it takes until no load balancer sends new connections here (the chart sets it); 0 where
   * nothing stands before the process.
   */
  readonly drainSeconds: number;
  /** That of this process when not given. */
  readonly exit?: (code: number) => void;
}

/** Work of the drain may be late by this much. Milliseconds. */
const DRAIN_SLACK_MS = 2_000;
/** For the last words of answers that are broken off. Milliseconds. */
const LAST_WORD_MS = 200;

/**
 * Ends a service without lost requests. On the first SIGTERM or SIGINT:
 *
 * 1. `stopping` aborts: `/ready` says 503 (`installTelemetry` takes the signal), answers carry `Connection: close`.
 * 2. For `drainSeconds` everything is served as before, new connections too, while the drain sends long-lived clients
 * elsewhere.
 * 3. The steps, one after the other, each within its bound and with a line in the log: first `requests(…)`, then what
 * closes the service.
 * 4. Exit 0; 1 when a step failed or was late, so that it shows. A second signal ends the process at once, with 1.
 *
 * The longest stop is therefore the drain, 2 s, and the bounds of all steps: `terminationGracePeriodSeconds` has to be
 * above it.
 */
export class GracefulStop {
  readonly #begun = new AbortController();
  /** Aborted when the stop begins. */
  readonly stopping: AbortSignal = this.#begun.signal;
  readonly #servers = new Set<TrackedServer>();
  readonly #logger: Logger;
  readonly #drainMs: number;
  readonly #exit: (code: number) => void;

  constructor(options: GracefulStopOptions) {
    this.#logger = options.logger;
    this.#drainMs = options.drainSeconds * 1_000;
    this.#exit = options.exit ?? ((code) => process.exit(code));
  }

  /** Follows the connections of a server from now on. Call before it listens. */
  serve(server: Server): void {
    this.#servers.add(new TrackedServer(server, this.stopping));
  }

  /**
   * The step that ends the servers: takes no new connection, ends idle ones (upgraded ones count as idle), lets
   * requests under way finish. What is under way at the bound is broken off, 200 ms after `breakOff` was called to say
   * so to the clients.
   */
  requests(withinMs: number, breakOff: () => void = () => {}): StopStep {
    const run = async (late: AbortSignal): Promise<void> => {
      const lastWords = AbortSignal.timeout(Math.max(0, withinMs - LAST_WORD_MS));
      lastWords.addEventListener('abort', breakOff, { once: true });
      try {
        await Promise.all([...this.#servers].map((server) => server.close(late)));
      } finally {
        lastWords.removeEventListener('abort', breakOff);
      }
    };
    return { name: 'requests', withinMs, run };
  }

  /** Listens for SIGTERM and SIGINT. */
  onSignals(steps: readonly StopStep[], draining: readonly DrainWork[] = []): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (!this.stopping.aborted) return void this.stop(signal, steps, draining);
        this.#logger.warn({ signal }, 'second signal received, ending at once');
        this.#exit(1);
      });
    }
  }

  /** The whole stop, once. Never rejects; ends in `exit`. */
  async stop(reason: string, steps: readonly StopStep[], draining: readonly DrainWork[] = []): Promise<void> {
    if (this.stopping.aborted) return;
    const began = performance.now();
    this.#logger.info({ signal: reason, drain_seconds: this.#drainMs / 1_000 }, 'stopping');
    this.#begun.abort(new Error(`stopping after ${reason}`));
    const drained = Promise.all(
      draining.map(({ name, run }) =>
        this.#within({
          name: `drain of ${name}`,
          withinMs: this.#drainMs + DRAIN_SLACK_MS,
          run: () => run(this.#drainMs),
        }),
      ),
    );
    await wait(this.#drainMs);
    let clean = (await drained).every(Boolean);
    for (const step of steps) clean = (await this.#within(step)) && clean;
    this.#logger.info({ elapsed_ms: Math.round(performance.now() - began), clean }, 'stopped');
    this.#exit(clean ? 0 : 1);
  }

  /** @returns whether the step ended well and in time. */
  async #within({ name, withinMs, run }: StopStep): Promise<boolean> {
    const began = performance.now();
    const over = new AbortController();
    const late = AbortSignal.timeout(withinMs);
    try {
      const work = Promise.resolve().then(() => run(late));
      const bound = wait(withinMs, 'late' as const, { signal: over.signal }).catch(() => 'late' as const);
      const outcome = await Promise.race([work.then(() => 'done' as const), bound]);
      work.catch((error: unknown) => {
        if (outcome === 'late') this.#logger.warn({ err: error, step: name }, 'stop: late step failed');
      });
      const line = { step: name, elapsed_ms: Math.round(performance.now() - began) };
      if (outcome === 'done') this.#logger.info(line, 'stop: step done');
      else this.#logger.error({ ...line, within_ms: withinMs }, 'stop: step exceeded its time and is not awaited');
      return outcome === 'done';
    } catch (error) {
      this.#logger.error({ err: error, step: name }, 'stop: step failed');
      return false;
    } finally {
      over.abort();
    }
  }
}

/** The connections of one server, and the answers that are under way on each. */
class TrackedServer {
  readonly #connections = new Map<Socket, Set<ServerResponse>>();
  #closing = false;
  #emptied: () => void = () => {};

  constructor(
    private readonly server: Server,
    stopping: AbortSignal,
  ) {
    server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, new Set());
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#connections.size === 0) this.#emptied();
      });
      // Arrived between the last check of the listener and its end.
      if (this.#closing) socket.destroySoon();
    });
    // Before the request's handler.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      const { socket } = response;
      if (stopping.aborted) response.shouldKeepAlive = false;
      if (socket === null) return;
      const answers = this.#connections.get(socket);
      answers?.add(response);
      response.once('close', () => {
        answers?.delete(response);
        if (this.#closing && answers?.size === 0) socket.destroySoon();
      });
    });
    stopping.addEventListener('abort', () => {
      for (const answers of this.#connections.values())
        for (const response of answers) if (!response.headersSent) response.shouldKeepAlive = false;
    });
  }

  /** Resolves when no connection is left. @throws when some were cut at `late`. */
  async close(late: AbortSignal): Promise<void> {
    this.#closing = true;
    this.server.close();
    const empty = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const [socket, answers] of this.#connections) if (answers.size === 0) socket.destroySoon();
    if (this.#connections.size === 0) return;
    let cut = 0;
    const cutAll = (): void => {
      cut = this.#connections.size;
      for (const socket of this.#connections.keys()) socket.destroy();
    };
    late.addEventListener('abort', cutAll, { once: true });
    await empty;
    late.removeEventListener('abort', cutAll);
    if (cut > 0) throw new Error(`${cut} connections were cut in the middle of a request`);
  }
}
