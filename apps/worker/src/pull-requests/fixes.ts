import { MAX_QUEUED_MESSAGES } from '@slipway/contracts/conversations';
import { type ConversationQueue } from '@slipway/contracts/operate';
import { type FixStop } from '@slipway/contracts/repositories';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { PullRequestRow, RequestedFix, SentFix } from '@slipway/integrations/pull-requests';
import type { Queue } from '@slipway/queue';
import { currentTraceId, currentTraceparent } from '@slipway/telemetry';
import { readConversation } from '../conversations/conversation.queries.js';
import { lockInbox, want } from '../integrations/acts.queries.js';
import { fixDecision } from './fix-decision.js';
import { fixMessage } from './fix-message.js';
import { Later } from './outcome.js';
import type { Publisher, PublishPlace } from './publisher.js';
import { changePullRequest, type PullRequestChange } from './pull-requests.queries.js';

type OpenedRow = PullRequestRow & { readonly number: number };

/**
 * Sends the agent the problems of a pull request: on a user's request, or by itself, where the connection says so, a
 * bounded number of times.
 */
export class Fixes {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly publisher: Publisher,
  ) {}

  /**
   * Repeatable: a message has its id before it is made, and is sent in the transaction that says so. @returns whether
   * the row is another now.
   */
  async bring(row: OpenedRow, place: PublishPlace): Promise<boolean> {
    if (row.fixWanted !== null) return this.send(row, row.fixWanted, place);
    // As it is now: the job may have taken a while.
    const conversation = await readConversation(this.pool, row.orgId, row.conversationId);
    const { fixChecks = 'offered', fixRounds = 2 } = place.connection.settings;
    const decision =
      conversation === null
        ? ({ kind: 'none' } as const)
        : fixDecision(row, { fixChecks, fixRounds }, conversation.status);
    if (decision.kind === 'none') return false;
    if (decision.kind === 'stop') return this.stop(row, decision.why);
    const { by } = row.wanted;
    if (by.kind === 'user' && !(await this.mayWrite(row, place))) return this.stop(row, 'no-write-access');
    return this.send(
      row,
      {
        what: 'checks',
        checks: null,
        message: this.ids.uuid(),
        automatic: true,
        by,
        at: this.clock.now().toISOString(),
      },
      place,
    );
  }

  private async stop(row: OpenedRow, fixStopped: FixStop): Promise<boolean> {
    await inOrg(this.pool, row.orgId, (client) => changePullRequest(client, row.orgId, row.id, { fixStopped }));
    return true;
  }

  private async mayWrite(row: PullRequestRow, { connection, signal }: PublishPlace): Promise<boolean> {
    try {
      await this.publisher.assertMayWrite(row, row.wanted.by.id, connection, signal);
      return true;
    } catch (error) {
      if (
        error instanceof SlipwayError &&
        (error.code === 'pull-request.no-write-access' || error.code === 'pull-request.not-linked')
      )
        return false;
      throw error;
    }
  }

  private async send(row: OpenedRow, wanted: RequestedFix, { host, signal }: PublishPlace): Promise<boolean> {
    const { orgId, conversationId } = row;
    const text = await fixMessage(row, wanted, host.calls, [host.token]);
    signal.throwIfAborted();
    const { what, message, automatic, at, by } = wanted;
    const fix: SentFix = { what, message, automatic, at, by, sha: row.headSha ?? '' };
    // A user may have asked meanwhile: the next round handles it.
    const done: PullRequestChange = automatic ? { fixRounds: row.fixRounds + 1 } : { fixWanted: null };
    const job = await inOrg(this.pool, orgId, async (client) => {
      const inbox = text === null ? null : await lockInbox(client, orgId, conversationId);
      if (inbox !== null && inbox.waiting >= MAX_QUEUED_MESSAGES)
        throw new Later('The conversation has as many messages as can wait.', null);
      const isNew = inbox !== null && text !== null && (await insertFixMessage(client, row, wanted, text));
      await changePullRequest(
        client,
        orgId,
        row.id,
        isNew ? { ...done, fix, fixStopped: null } : automatic ? {} : done,
      );
      if (!isNew) return null;
      const next: ConversationQueue = inbox.live ? 'conversation-deliver' : 'conversation-start';
      await want(client, orgId, conversationId, { desired: 'run', job: next, traceparent: currentTraceparent() });
      return next;
    });
    if (job !== null) await this.queue.add(job, { orgId, conversationId }, { key: conversationId });
    return true;
  }
}

/** A message without an author in a thread. @returns false when it is there already. */
async function insertFixMessage(
  client: PoolClient,
  row: PullRequestRow,
  { message, by }: RequestedFix,
  text: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, trace_id) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
    [message, row.orgId, row.conversationId, text, by.id, by.label, currentTraceId()],
  );
  return rowCount === 1;
}
