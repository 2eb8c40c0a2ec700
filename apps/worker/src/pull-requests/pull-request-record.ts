import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type PullRequestRow, toPullRequest } from '@slipway/integrations/pull-requests';
import type { ConversationLog } from '../conversations/conversation-log.js';
import { changePullRequest, type PullRequestChange } from './pull-requests.queries.js';

/** Writes what became of a pull request. */
export class PullRequestRecord {
  constructor(
    private readonly pool: SqlPool,
    private readonly log: ConversationLog,
  ) {}

  /** One transaction: the row, and the event of the conversation's log when there is something to say. */
  async write(row: PullRequestRow, change: PullRequestChange): Promise<void> {
    const { updatedAt, refreshedAt, ...shown } = toPullRequest({ ...row, ...change });
    const told = JSON.parse(JSON.stringify(shown)) as unknown;
    if (canonical(told) === canonical(row.told)) {
      await inOrg(this.pool, row.orgId, (client) => changePullRequest(client, row.orgId, row.id, change));
      return;
    }
    await this.log.write(row.orgId, row.conversationId, null, () => ({
      events: [{ kind: 'pull-request', pullRequest: { ...shown, updatedAt, refreshedAt } }],
      also: (client) => changePullRequest(client, row.orgId, row.id, { ...change, told }),
    }));
  }
}

/** The database gives keys back in its own order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
