import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { currentContext, inSpan, type Logger, runInContext, traceIdOf } from '@slipway/telemetry';
import { type ConversationRow, readConversation, takeConversation } from './conversation.queries.js';
import type { ConversationLocks } from './conversation-locks.js';
import { type Change, type ConversationLog, LostConversation } from './conversation-log.js';

/** A conversation that this worker alone works on. Ends with the lock. */
export interface HeldConversation {
  readonly orgId: string;
  readonly id: string;
  /** As it was when last read or written. */
  row: ConversationRow;
  /** Aborted when the job must end: shutdown, or the lock was lost. */
  readonly signal: AbortSignal;
  /** One transaction; updates `row`. @throws LostConversation */
  write(decide: (current: ConversationRow) => Change | null): Promise<void>;
  /** Reads `row` again. */
  refresh(): Promise<void>;
}

export interface ConversationAddress {
  readonly orgId: string;
  readonly conversationId: string;
}

export class ConversationHolder {
  constructor(
    private readonly pool: SqlPool,
    private readonly locks: ConversationLocks,
    private readonly log: ConversationLog,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {}

  /**
   * Runs `work` as the conversation's only worker, under its trace. A conversation that is gone, or that another worker
   * took over meanwhile, ends it in silence.
   */
  async hold(
    address: ConversationAddress,
    signal: AbortSignal,
    work: (held: HeldConversation) => Promise<void>,
  ): Promise<void> {
    const { orgId, conversationId: id } = address;
    await runInContext({ traceId: currentContext()?.traceId ?? traceIdOf(undefined), orgId, conversationId: id }, () =>
      this.locks.withLock(`conversation:${id}`, signal, async (held) => {
        const owner = this.ids.uuid();
        const row = await takeConversation(this.pool, orgId, id, owner);
        if (row === null) return;
        const context = currentContext();
        if (context !== undefined && row.traceparent !== null) context.traceId = traceIdOf(row.traceparent);
        const conversation: HeldConversation = {
          orgId,
          id,
          row,
          signal: held,
          write: async (decide) => {
            conversation.row = await this.log.write(orgId, id, owner, decide);
          },
          refresh: async () => {
            const now = await readConversation(this.pool, orgId, id);
            if (now === null || now.checkpoint.owner !== owner)
              throw new LostConversation(`conversation ${id} belongs to another worker`);
            conversation.row = now;
          },
        };
        try {
          await inSpan('conversation job', { parent: row.traceparent }, () => work(conversation));
        } catch (error) {
          if (!(error instanceof LostConversation)) throw error;
          this.logger.info({ conversation: id }, 'another worker took over the conversation');
        }
      }),
    );
  }
}
