import type { LoggedPrompt } from '@slipway/contracts/models';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { maskSecrets } from './mask-secrets.js';

/** Of a request and of its answer, this much is kept. Bytes. */
export const MAX_LOGGED = 256 * 1024;
/** Calls that wait to be written; further ones are left out, and that is said. */
const MAX_WAITING = 200;
/** How old the policies may be. Milliseconds. */
const READ_POLICIES_MS = 2_000;
const SWEEP_MS = 600_000;

export interface LoggedCall {
  readonly orgId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly requestId: string;
  readonly model: string;
  readonly outcome: string;
  readonly asked: Buffer;
  readonly answered: Buffer;
}

interface Policies {
  has(orgId: string): boolean;
}

export interface PromptStore {
  /** Whose calls are kept. */
  readonly policies: () => Promise<Policies>;
  readonly insert: (orgId: string, entry: Omit<LoggedPrompt, 'id'>) => Promise<void>;
  readonly sweep: (now: Date) => Promise<{ more: boolean }>;
}

export interface PromptLogOptions {
  readonly store: PromptStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Stores prompts and answers, with what resembles a secret masked, for organizations whose policy says so. Written
 * beside the calls, one after the other; a failed write is logged and skipped, and no call fails for it. Until the
 * policies were first read none applies.
 */
export class PromptLog {
  private policies: Policies = new Map();
  private readonly waiting: LoggedCall[] = [];
  private writing: Promise<void> | null = null;
  private leftOut = 0;
  private timer: NodeJS.Timeout | null = null;
  private round: Promise<void> = Promise.resolve();
  private sweptAt = Number.NEGATIVE_INFINITY;
  private closed = false;

  constructor(private readonly options: PromptLogOptions) {}

  start(): void {
    this.round = this.look().then(() => {
      if (!this.closed) this.timer = setTimeout(() => this.start(), READ_POLICIES_MS).unref();
    });
  }

  wants(orgId: string): boolean {
    return this.policies.has(orgId);
  }

  add(call: LoggedCall): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.leftOut += 1;
      return;
    }
    this.waiting.push(call);
    this.writing ??= this.write().finally(() => {
      this.writing = null;
    });
  }

  /** After the last call. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.round;
    await this.writing;
  }

  /** Reads the policies; now and then lets go what is too old. */
  private async look(): Promise<void> {
    const { store, clock, logger } = this.options;
    try {
      this.policies = await store.policies();
      const now = clock.now();
      if (now.getTime() - this.sweptAt < SWEEP_MS) return;
      while ((await store.sweep(now)).more) if (this.closed) return;
      this.sweptAt = now.getTime();
    } catch (err) {
      logger.warn({ err }, 'failed to read prompt log policies, the last ones hold');
    }
  }

  private async write(): Promise<void> {
    const { store, clock, logger } = this.options;
    for (let call = this.waiting.shift(); call !== undefined; call = this.waiting.shift()) {
      try {
        const { orgId, conversationId, userId, requestId, model, outcome } = call;
        // No text of a database can hold NUL.
        const text = (bytes: Buffer): string =>
          maskSecrets(bytes.toString('utf8', 0, MAX_LOGGED)).replaceAll('\0', '\u2400');
        const entry = { at: clock.now().toISOString(), conversationId, userId, requestId, model, outcome };
        await store.insert(orgId, { ...entry, asked: text(call.asked), answered: text(call.answered) });
      } catch (err) {
        this.leftOut += 1;
        logger.warn({ err, left_out: this.leftOut }, 'failed to write a call to the prompt log');
      }
    }
  }
}
