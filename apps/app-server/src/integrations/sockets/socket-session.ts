import { ProviderRefusal } from '@slipway/integrations';
import type { Logger } from '@slipway/telemetry';
import { type LinkOptions, SocketLink } from './socket-link.js';

export interface SessionOptions extends Omit<LinkOptions, 'socket'> {
  readonly connectionId: string;
  /** Asks the provider for a socket, and begins to open it. */
  readonly open: () => Promise<LinkOptions['socket']>;
  /** A socket delivers. */
  readonly onReady: () => Promise<void>;
  /** The provider opens none: its token is worth nothing, or sockets are switched off there. */
  readonly onRefused: () => Promise<void>;
  readonly logger: Logger;
  /** Between two attempts, doubling, and the longest. Milliseconds. */
  readonly pauses: { readonly first: number; readonly longest: number };
  readonly now: () => Date;
}

/** A socket that lived so long was a good one: the next one is not waited for. Milliseconds. */
const GOOD_MS = 10_000;

/**
 * Keeps one socket to a provider for as long as it runs. A socket that is to end is replaced first: the old one
 * delivers until the new one does.
 */
export class SocketSession {
  private readonly closing = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private current: SocketLink | null = null;

  constructor(private readonly options: SessionOptions) {}

  start(): void {
    this.running = this.run(this.closing.signal);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
    await this.current?.close();
    this.current = null;
  }

  private async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      let wait: number | null = null;
      try {
        const link = await this.link(signal);
        const before = this.current;
        this.current = link;
        void before?.close();
        await this.options.onReady();
        const { refused } = await Promise.race([link.leaving, aborted(signal)]);
        if (refused) await this.options.onRefused();
        if (!refused && performance.now() - began > GOOD_MS) failures = 0;
        else failures += 1;
        wait = refused ? this.options.pauses.longest : failures <= 1 ? 0 : this.pause(failures);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        wait = await this.failed(error, failures);
      }
      await pause(wait, signal);
    }
  }

  /** A socket that delivers. @throws what kept it from being one. */
  private async link(signal: AbortSignal): Promise<SocketLink> {
    const socket = await this.options.open();
    const link = new SocketLink({ ...this.options, socket });
    try {
      await Promise.race([link.ready(), aborted(signal).then(() => Promise.reject(new Error('the process ends')))]);
      return link;
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  private async failed(error: unknown, failures: number): Promise<number> {
    const { logger, connectionId, onRefused, pauses, now } = this.options;
    // The message of a refusal holds nothing that was sent.
    const problem = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    logger.warn({ connection_id: connectionId, problem, failures }, 'socket to a provider not opened, will retry');
    if (!(error instanceof ProviderRefusal)) return this.pause(failures);
    if (error.kind === 'credential') {
      await onRefused().catch(() => {});
      return pauses.longest;
    }
    return Math.max(this.pause(failures), error.retryAt === null ? 0 : error.retryAt.getTime() - now().getTime());
  }

  private pause(failures: number): number {
    const { first, longest } = this.options.pauses;
    return Math.min(first * 2 ** Math.min(failures - 1, 16), longest);
  }
}

function aborted(signal: AbortSignal): Promise<{ readonly refused: boolean }> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve({ refused: false });
    else signal.addEventListener('abort', () => resolve({ refused: false }), { once: true });
  });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    }),
    aborted(signal),
  ]);
  clearTimeout(timer);
}
