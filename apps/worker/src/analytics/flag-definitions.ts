import { confirmDefinitions, readDefinitions, writeDefinitions } from '@slipway/analytics/flags';
import { type DefinitionsSource, fetchDefinitions } from '@slipway/analytics/posthog';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';

/** Between two rounds. Milliseconds. */
const ROUND_MS = 5_000;
/** PostHog is asked in every sixth round; after refusals in twice as many each time, up to this. */
const ROUNDS = 6;
const MAX_ROUNDS = 60;

export interface FlagReaderOptions {
  readonly pool: SqlPool;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly logger: Logger;
}

/**
 * Keeps the definitions of flags in the database, where every app-server reads them. An answer that is none leaves the
 * last ones, however old.
 */
export class FlagReader {
  private readonly lead: Lead;
  private pause = 0;
  private refusals = 0;

  constructor(
    private readonly source: DefinitionsSource,
    private readonly options: FlagReaderOptions,
  ) {
    const { locks, logger } = options;
    this.lead = new Lead({ name: 'flag-definitions', everyMs: ROUND_MS, locks, logger, round: () => this.run() });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. Rejects when the database does not answer. */
  async run(): Promise<void> {
    if (this.pause > 0) {
      this.pause -= 1;
      return;
    }
    const { pool, logger } = this.options;
    const known = await readDefinitions(pool);
    const found = await fetchDefinitions(this.source, known?.etag ?? null);
    if (found.kind === 'failed') {
      this.pause = Math.min(MAX_ROUNDS, ROUNDS * 2 ** this.refusals) - 1;
      this.refusals += 1;
      logger.warn(
        { reason: found.reason, known_since: known?.fetchedAt.toISOString() ?? null },
        'failed to read flag definitions, the last ones hold',
      );
      return;
    }
    this.refusals = 0;
    this.pause = ROUNDS - 1;
    if (found.kind === 'changed') await writeDefinitions(pool, found.definitions, found.etag);
    else await confirmDefinitions(pool);
  }
}
