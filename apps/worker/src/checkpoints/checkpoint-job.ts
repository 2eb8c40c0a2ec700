import type { CapturedCheckpoint } from '@slipway/contracts/agent';
import { ERRORS } from '@slipway/contracts/errors';
import type { QueuePayload } from '@slipway/contracts/operate';
import type { TakenCheckpoints } from '@slipway/contracts/sandboxes';
import { type Committed, commitCheckpoint, newestCheckpoint, packsOf } from '@slipway/db/checkpoints';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { type ConversationRow, readConversation } from '../conversations/conversation.queries.js';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import type { CheckpointPacks } from './checkpoint-packs.js';

/** Transfers in one run of the job; what was captured meanwhile has a job of its own. */
const MAX_TRANSFERS = 4;
/**
 * A checkpoint with more packs is not followed: everything is captured and stored anew, in few. Each pack is two reads
 * of the store at every transfer.
 */
const MAX_PACKS = 100;
/** Outcomes after which there is nothing to do: another sandbox writes, or the conversation is gone. */
const OVER: ReadonlySet<Committed['outcome']> = new Set(['gone', 'stale']);

/** What the conversation's newest durable checkpoint is, and when that was read, by the database's clock. */
interface Newest {
  readonly have: { readonly id: string; readonly packs: Awaited<ReturnType<CheckpointPacks['open']>> } | null;
  readonly begun: Date;
}

/**
 * Makes durable what a sandbox has captured. Needs no lock: a commit is fenced by the epoch, and repeating it is
 * harmless; of two at once one stores its packs in vain.
 */
export class CheckpointJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly runtime: RuntimeApiClient,
    private readonly packs: CheckpointPacks,
    /** Bytes of packs for each member of an organization; `null`: no limit. */
    private readonly seatBytes: number | null,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, conversationId }: QueuePayload<'conversation-checkpoint'>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, 'conversation-checkpoint', conversationId);
    const row = await readConversation(this.pool, orgId, conversationId);
    if (row?.sandboxStatus === 'RUNNING') await this.keep(row, signal);
    // A request made since then has another id, stays, and is handled again.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }

  /** @throws what another try may mend. */
  private async keep(row: ConversationRow, signal: AbortSignal): Promise<void> {
    try {
      for (let transfer = 0; transfer < MAX_TRANSFERS; transfer += 1) if (await this.transfer(row, signal)) return;
    } catch (error) {
      if (!(error instanceof SlipwayError) || ERRORS[error.code].retry !== 'never') throw error;
      // Without a sandbox there is nothing to read; what is broken is not better the next time.
      if (error.code !== 'resource.not-found')
        this.logger.warn({ err: error, conversation_id: row.id }, 'failed to keep the captured files');
    }
  }

  /** @returns whether nothing is left to do. */
  private async transfer(row: ConversationRow, signal: AbortSignal): Promise<boolean> {
    const { have, begun } = await this.newest(row);
    const taken = await this.runtime.takeCheckpoints(
      row.orgId,
      { sessionId: row.id, conversation: row.id, have },
      signal,
    );
    if (taken.captured.length === 0) return true;
    const outcome = await this.commit(row, taken, taken.base === null ? null : have, begun);
    if (outcome === 'ok') return false;
    if (OVER.has(outcome)) return true;
    if (outcome === 'early' || outcome === 'missing')
      throw new SlipwayError('service.unavailable', `The checkpoint cannot be stored yet (${outcome}).`, {
        retryAfterSeconds: 1,
      });
    this.logger.warn({ conversation_id: row.id, org_id: row.orgId, outcome }, 'checkpoint not stored');
    return true;
  }

  private async commit(
    row: ConversationRow,
    { captured, packs, base }: TakenCheckpoints,
    have: Newest['have'],
    begun: Date,
  ): Promise<Committed['outcome']> {
    const sealed = await this.packs.seal(row.orgId, packs);
    const held = have?.packs.map(({ id }) => id) ?? [];
    let parent = base;
    let stored: string[] = [];
    for (const checkpoint of captured) {
      const committed = await commitCheckpoint(this.pool, row.orgId, {
        ...rowOf(checkpoint),
        conversationId: row.id,
        epoch: row.epoch,
        parent,
        held: [...held, ...stored],
        packs: stored.length === 0 ? sealed : [],
        begun,
        seatBytes: this.seatBytes,
      });
      if (committed.outcome !== 'ok') return committed.outcome;
      stored = sealed.map(({ id }) => id);
      parent = checkpoint.id;
    }
    return 'ok';
  }

  private newest({ orgId, id }: ConversationRow): Promise<Newest> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rows } = await client.query<{ now: Date }>('SELECT now() AS now');
      const found = await newestCheckpoint(client, orgId, { conversationId: id, seq: null });
      const packs = found === null ? [] : await packsOf(client, orgId, found.id);
      return { found, packs, begun: rows[0]?.now as Date };
    }).then(async ({ found, packs, begun }) => ({
      have:
        found === null || packs.length > MAX_PACKS
          ? null
          : { id: found.id, packs: await this.packs.open(orgId, packs) },
      begun,
    }));
  }
}

function rowOf(checkpoint: CapturedCheckpoint) {
  const { id, after, root, contentHash, reason, complete, files, bytes, takenAt } = checkpoint;
  const { deferred, skipped, torn } = checkpoint;
  return {
    id,
    after,
    root: Buffer.from(root, 'hex'),
    contentHash: Buffer.from(contentHash, 'hex'),
    about: {
      reason,
      // Whether a program of the agent still runs is not known yet.
      quiet: torn.count === 0,
      complete,
      skipped: { deferred, skipped, torn },
      secrets: [],
      files,
      logicalBytes: bytes,
      takenAt: new Date(takenAt),
    },
  };
}
