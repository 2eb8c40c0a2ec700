import { SlipwayError } from '@slipway/errors';
import { Gauge, type Registry } from '@slipway/telemetry/http';
import type { PoolContext } from '../pool/pool-context.js';
import { type KeptBytes, keptByOrg, sessionExists } from './kept-limit.queries.js';

/**
 * Poll interval of the size of saved workspaces. Milliseconds: so long an organization may go on past its limit, by
 * what its sandboxes at work may hold.
 */
const LOOK_MS = 10_000;
const GIB = 2 ** 30;

/**
 * Keeps one organization from filling the store of all: above its limit no new session starts. Running sessions go on
 * and are saved, and paused ones can be resumed, so nothing is lost. From the last poll, so that a claim needs no
 * further query; a replica whose poll fails keeps the last answer.
 */
export class KeptLimit {
  private full: ReadonlyMap<string, KeptBytes> = new Map();
  private total = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  /** @param defaultBytes of an organization whose row says nothing; 0 for no limit. */
  constructor(
    private readonly context: PoolContext,
    private readonly defaultBytes: number,
    private readonly lookMs: number = LOOK_MS,
  ) {}

  start(): void {
    void this.look();
  }

  /** @throws SlipwayError `storage.exhausted` for a session that is not there yet, of an organization at its limit. */
  async check(orgId: string, sessionId: string): Promise<void> {
    const kept = this.full.get(orgId);
    if (kept === undefined || (await sessionExists(this.context.db, orgId, sessionId))) return;
    const detail = `The kept workspaces of the organization take ${inGib(kept.bytes)} GiB; its limit is ${inGib(kept.limit)} GiB.`;
    throw new SlipwayError('storage.exhausted', detail);
  }

  /** Reads what is kept, and again after a while. Never rejects. */
  async look(): Promise<void> {
    clearTimeout(this.timer);
    try {
      const kept = await keptByOrg(this.context.db, this.defaultBytes);
      this.total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
      this.full = new Map(
        kept.filter(({ bytes, limit }) => limit > 0 && bytes >= limit).map((each) => [each.orgId, each]),
      );
    } catch (error) {
      if (!this.closed)
        this.context.logger.warn({ err: error }, 'failed to read the size of saved workspaces, the last answer counts');
    }
    if (this.closed) return;
    this.timer = setTimeout(() => void this.look(), this.lookMs);
    this.timer.unref();
  }

  expose(registry: Registry): void {
    const gauge = (name: string, help: string, value: () => number): void => {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(value());
        },
      });
    };
    gauge(
      'workspaces_kept_bytes',
      'What kept workspaces of all organizations take in the workspace store',
      () => this.total,
    );
    gauge(
      'workspaces_full_organizations',
      'Organizations whose kept workspaces are at their limit: no new session of theirs starts',
      () => this.full.size,
    );
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }
}

const inGib = (bytes: number): string => (bytes / GIB).toFixed(bytes < 10 * GIB ? 2 : 0);
