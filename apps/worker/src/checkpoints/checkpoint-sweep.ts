import { MAX_DELETED_PACKS, MAX_LISTED_PACKS } from '@slipway/contracts/sandboxes';
import { claimPacks, doomPacks, expireCheckpoints, finishPacks, PACK_GRACE_HOURS } from '@slipway/db/checkpoints';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { PackPlace, RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';
import { SweepRuns } from '../sweeps/leads/sweep-runs.js';
import { dueConversations, orgsToCollect, unknownPacks, unreferencedPacks } from './checkpoint-sweep.queries.js';

/** Between two rounds, and between two searches for objects without a row. Milliseconds. */
const ROUND_MS = 600_000;
const ORPHANS_MS = 6 * 3_600_000;
/** Age of an object without a row when it is deleted: twice that of the oldest transfer that is committed. Hours. */
export const ORPHAN_HOURS = 48;
/** Conversations, and packs, of one search. */
const CONVERSATIONS = 5_000;
const PACKS = 50_000;
/** Packs that are doomed in one transaction, and checkpoints of a conversation that expire in one. */
const BATCH = 500;

export interface SweepOptions {
  readonly pool: SqlPool;
  readonly runtime: Pick<RuntimeApiClient, 'packs' | 'deletePacks'>;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From doomed to deleted. Seconds; `PACK_GRACE_HOURS` when not given. */
  readonly graceSeconds?: number;
}

/** What one round did. */
export interface Swept {
  expired: number;
  doomed: number;
  deleted: number;
  orphans: number;
}

/**
 * Lets checkpoints expire and deletes the packs that none refers to. One worker does it, whichever holds the lock; two
 * at once would be harmless.
 */
export class CheckpointSweep {
  private readonly lead: Lead;
  private readonly runs: SweepRuns;
  private readonly graceSeconds: number;
  private orphansDueAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: SweepOptions) {
    const { locks, logger } = options;
    this.graceSeconds = options.graceSeconds ?? PACK_GRACE_HOURS * 3_600;
    this.runs = new SweepRuns(options.pool);
    this.lead = new Lead({
      name: 'checkpoints',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: async (signal) => void (await this.round(signal)),
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round, if this worker leads. */
  tick(): Promise<void> {
    return this.lead.tick();
  }

  /** A store that is away only delays what it is needed for. @throws when the database does not answer. */
  async round(signal: AbortSignal): Promise<Swept> {
    const swept: Swept = { expired: 0, doomed: 0, deleted: 0, orphans: 0 };
    await this.expire(swept, signal);
    await this.doom(swept, signal);
    await this.runs.completed('checkpoints');
    try {
      for (const orgId of await orgsToCollect(this.options.pool, this.graceSeconds))
        await this.collect(orgId, swept, signal);
      await this.collectOrphans(swept, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.options.logger.warn({ err: error }, 'packs not deleted, will retry');
    }
    if (Object.values(swept).some((count) => count > 0)) this.options.logger.info({ ...swept }, 'checkpoints swept');
    return swept;
  }

  private async expire(swept: Swept, signal: AbortSignal): Promise<void> {
    const { pool } = this.options;
    for (const { orgId, conversationId, days } of await dueConversations(pool, CONVERSATIONS)) {
      signal.throwIfAborted();
      swept.expired += await expireCheckpoints(pool, orgId, { conversationId, days, limit: BATCH });
    }
  }

  private async doom(swept: Swept, signal: AbortSignal): Promise<void> {
    for (const { orgId, ids } of await unreferencedPacks(this.options.pool, PACKS))
      for (let at = 0; at < ids.length; at += BATCH) {
        signal.throwIfAborted();
        swept.doomed += await doomPacks(this.options.pool, orgId, ids.slice(at, at + BATCH));
      }
  }

  private async collect(orgId: string, swept: Swept, signal: AbortSignal): Promise<void> {
    const { pool, runtime } = this.options;
    for (;;) {
      signal.throwIfAborted();
      const ids = await claimPacks(pool, orgId, { graceSeconds: this.graceSeconds, limit: MAX_DELETED_PACKS });
      if (ids.length === 0) return;
      await runtime.deletePacks(orgId, ids, signal);
      swept.deleted += await finishPacks(pool, orgId, ids);
      if (ids.length < MAX_DELETED_PACKS) return;
    }
  }

  /** Uploads whose commit never came, and what a deleted organization had. */
  private async collectOrphans(swept: Swept, signal: AbortSignal): Promise<void> {
    const now = this.options.clock.now().getTime();
    if (now < this.orphansDueAt) return;
    let after: PackPlace | null = null;
    for (;;) {
      const page = await this.options.runtime.packs(after, signal);
      const old = new Map<string, string[]>();
      for (const { org_id, pack_id, stored_at } of page) {
        after = { orgId: org_id, packId: pack_id };
        if (now - Date.parse(stored_at) < ORPHAN_HOURS * 3_600_000) continue;
        old.set(org_id, [...(old.get(org_id) ?? []), pack_id]);
      }
      for (const [orgId, ids] of old) swept.orphans += await this.deleteUnknown(orgId, ids, signal);
      if (page.length < MAX_LISTED_PACKS) break;
    }
    this.orphansDueAt = now + ORPHANS_MS;
  }

  private async deleteUnknown(orgId: string, ids: readonly string[], signal: AbortSignal): Promise<number> {
    const unknown = await unknownPacks(this.options.pool, orgId, ids);
    for (let at = 0; at < unknown.length; at += MAX_DELETED_PACKS)
      await this.options.runtime.deletePacks(orgId, unknown.slice(at, at + MAX_DELETED_PACKS), signal);
    return unknown.length;
  }
}
