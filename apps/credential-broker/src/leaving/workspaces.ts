import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokerLine } from '@slipway/contracts/credentials';
import type { WorkspacePrints, WorkspacePrintsQuestion } from '@slipway/contracts/sandboxes';
import type { Logger } from '@slipway/telemetry';
import { PrintSet } from './print-set.js';

/** What a workspace was holds so long, and that its sandbox did not say it. Milliseconds. */
const FRESH_MS = 10_000;
const SILENT_MS = 30_000;
/** One that nobody asks about is forgotten. Milliseconds. */
const IDLE_MS = 60_000;
/** A sandbox that reads a large workspace gets farther with each attempt. Milliseconds. */
const ATTEMPTS = 4;
const PAUSE_MS = 500;
/** Of all tables; past these the oldest go. Bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Bytes that are compared of one conversation, and of all, at once and a second: a share of a processor each. */
const OF_ONE = { burst: 16 * 1024 * 1024, rate: 1024 * 1024 };
const OF_ALL = { burst: 64 * 1024 * 1024, rate: 16 * 1024 * 1024 };

interface Known {
  prints: PrintSet | null;
  /** When it was asked for, last answered and last used. */
  askedAt: number;
  usedAt: number;
  asking: Promise<PrintSet | null> | null;
  readonly share: Share;
}

export interface WorkspacesOptions {
  readonly ask: (question: WorkspacePrintsQuestion) => Promise<WorkspacePrints | null>;
  readonly logger: Logger;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * Fingerprints of the workspaces whose sandboxes send something, asked for when a body begins and at most every 10 s.
 * Nothing waits for them but the comparison.
 */
export class Workspaces {
  private readonly known = new Map<string, Known>();
  private readonly all: Share;
  private readonly closing = new AbortController();
  private readonly now: () => number;
  private readonly pause: (ms: number) => Promise<void>;

  constructor(private readonly options: WorkspacesOptions) {
    this.now = options.now ?? (() => performance.now());
    this.all = new Share(OF_ALL, this.now());
    const { signal } = this.closing;
    this.pause = options.pause ?? ((ms) => sleep(ms, undefined, { signal, ref: false }));
  }

  /** @returns `null` where its sandbox does not say them. Never fails. */
  async of(line: BrokerLine): Promise<PrintSet | null> {
    const known = this.knownOf(line);
    const keptMs = known.prints === null ? SILENT_MS : FRESH_MS;
    if (known.asking === null && this.now() - known.askedAt < keptMs) return known.prints;
    known.asking ??= this.ask(line, known).finally(() => {
      known.asking = null;
    });
    return known.asking;
  }

  /** Whether so many more bytes of the conversation may be compared now; they are then used. */
  take(line: BrokerLine, bytes: number): boolean {
    const { share } = this.knownOf(line);
    const now = this.now();
    if (!share.has(bytes, now) || !this.all.has(bytes, now)) return false;
    share.left -= bytes;
    this.all.left -= bytes;
    return true;
  }

  close(): void {
    this.closing.abort();
    this.known.clear();
  }

  private async ask({ org, claim, conversation }: BrokerLine, known: Known): Promise<PrintSet | null> {
    known.askedAt = this.now();
    known.prints = null;
    for (let attempt = 1; attempt <= ATTEMPTS && !this.closing.signal.aborted; attempt += 1) {
      if (attempt > 1) await this.pause(PAUSE_MS).catch(() => {});
      try {
        const said = await this.options.ask({ org, claim, conversation });
        if (said === null) continue;
        known.prints = new PrintSet(said);
        this.shrink(known);
        break;
      } catch (err) {
        this.options.logger.debug({ err, org_id: org, conversation_id: conversation }, 'workspace not compared');
      }
    }
    return known.prints;
  }

  private knownOf({ org, claim, conversation }: BrokerLine): Known {
    const key = JSON.stringify([org, claim, conversation]);
    const now = this.now();
    const known = this.known.get(key) ?? {
      prints: null,
      askedAt: Number.NEGATIVE_INFINITY,
      usedAt: now,
      asking: null,
      share: new Share(OF_ONE, now),
    };
    known.usedAt = now;
    // The one that was used last stands last.
    this.known.delete(key);
    this.known.set(key, known);
    for (const [other, { usedAt }] of this.known) {
      if (now - usedAt < IDLE_MS) break;
      this.known.delete(other);
    }
    return known;
  }

  private shrink(kept: Known): void {
    let bytes = 0;
    for (const { prints } of this.known.values()) bytes += prints?.bytes ?? 0;
    for (const known of this.known.values()) {
      if (bytes <= MAX_BYTES) return;
      if (known === kept || known.prints === null) continue;
      bytes -= known.prints.bytes;
      known.prints = null;
      known.askedAt = Number.NEGATIVE_INFINITY;
    }
  }
}

/** A token bucket. */
class Share {
  left: number;

  constructor(
    private readonly bound: { readonly burst: number; readonly rate: number },
    private at: number,
  ) {
    this.left = bound.burst;
  }

  has(bytes: number, now: number): boolean {
    const { burst, rate } = this.bound;
    this.left = Math.min(burst, this.left + ((now - this.at) / 1_000) * rate);
    this.at = now;
    return bytes <= this.left;
  }
}
