import { AsyncLocalStorage } from 'node:async_hooks';
import type { generateKeyPairSync } from 'node:crypto';
import type { SecretBox } from '@slipway/auth/secret-box';
import { systemClock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { Counter, Histogram, Registry } from '@slipway/telemetry/http';
import { Activator } from '../claims/activator.js';
import { Claims } from '../claims/claims.js';
import { WarmSlots } from '../claims/warm-slots.js';
import type { Step } from '../failpoints.js';
import { NoteOutbox } from '../pool/note-outbox.js';
import type { PoolContext } from '../pool/pool-context.js';
import { Reaper } from '../pool/reaper.js';
import { KeptLimit } from '../sessions/kept-limit.js';
import { SessionReads } from '../sessions/session-reads.js';
import { SessionsService } from '../sessions/sessions.service.js';

/** How long a claim may stay bound. Milliseconds. */
export const DEADLINE_MS = 30_000;

export type Result =
  | { readonly result: 'crashed' }
  | { readonly result: 'answered'; readonly url: string; readonly status: string; readonly detail: string | undefined }
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'done' };

/** What one operation has done so far. */
interface Trace {
  steps: number;
  readonly crashAt: number | Step | null;
  /**
   * Called when it comes to a step after its process has died: it goes no further, no `catch` and no `finally` either.
   */
  readonly park: () => void;
}

/** One runtime-api process of a world, with its own leased slots. It dies as a whole, with all work under way. */
export class WorldReplica {
  readonly warmSlots: WarmSlots;
  readonly reaper: Reaper;
  readonly notes: NoteOutbox;
  readonly service: SessionsService;
  readonly reads: SessionReads;
  readonly context: PoolContext;
  private readonly traces = new AsyncLocalStorage<Trace>();
  private readonly death = Promise.withResolvers<Result>();
  private readonly under = new Set<Promise<void>>();
  dead = false;
  /** Where it died. */
  diedAt: Step | null = null;

  constructor(
    readonly replicaId: string,
    contextWith: (failpoints: PoolContext['failpoints']) => PoolContext,
    keys: { box: SecretBox; activation: ReturnType<typeof generateKeyPairSync>; cap: number },
    monotonicMs: () => number,
  ) {
    this.context = contextWith((step) => this.step(step));
    this.warmSlots = new WarmSlots(this.context, {
      replicaId,
      leaseSeconds: 15,
      deadlineMs: DEADLINE_MS,
      defaultCap: keys.cap,
      monotonicMs,
    });
    this.reaper = new Reaper(this.context);
    this.notes = new NoteOutbox(this.context);
    const supply = { kick: () => {}, taken: () => {} };
    const activator = new Activator(this.context, this.warmSlots, keys.box, keys.activation.privateKey, systemClock);
    const metrics = {
      claims: new Counter({ name: 'claims', help: '-', labelNames: ['result' as const], registers: [new Registry()] }),
      durations: new Histogram({ name: 'durations', help: '-', registers: [new Registry()] }),
    };
    const claims = new Claims(this.context, this.warmSlots, supply, activator, metrics);
    this.reads = new SessionReads(this.context, claims, keys.box, keys.activation.privateKey);
    this.service = new SessionsService(this.context, claims, supply, new KeptLimit(this.context, 0), this.reads);
  }

  /** Does something here; `crashAt`: the process dies when this comes to that step, by its name or counted from 1. */
  async run(crashAt: number | Step | null, work: () => Promise<Result>): Promise<Result> {
    const parked = Promise.withResolvers<void>();
    const done = this.traces.run({ steps: 0, crashAt, park: parked.resolve }, work).catch((error: unknown): Result => {
      if (error instanceof SlipwayError) return { result: 'refused', code: error.code };
      throw error;
    });
    const over = Promise.race([parked.promise, done.then(() => {})]);
    this.under.add(over);
    void over.catch(() => {}).finally(() => this.under.delete(over));
    return Promise.race([this.death.promise, done]);
  }

  /** Everything that was on its way when the process died has come to its end. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.under);
    await this.warmSlots.settled();
  }

  private step(step: Step): Promise<void> | undefined {
    const trace = this.traces.getStore();
    if (trace !== undefined) {
      trace.steps += 1;
      if (!this.dead && (trace.steps === trace.crashAt || step === trace.crashAt)) {
        this.dead = true;
        this.diedAt = step;
        this.death.resolve({ result: 'crashed' });
      }
    }
    if (!this.dead) return undefined;
    trace?.park();
    return new Promise<void>(() => {});
  }
}
