import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { findRepositoryPlaces, listPullRequests, requestPublish } from '@slipway/integrations/pull-requests';
import type { Queue } from '@slipway/queue';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import { recordAct } from '../integrations/acts.queries.js';
import { handledReplies, markHandled, readyReplies } from '../integrations/answers/replies.queries.js';
import { asksToPublish, readChangesCount, wantPullRequestJob } from './pull-requests.queries.js';

/**
 * Publishes by itself what was asked for in a thread at a git host, once for each message: the actor had write access
 * there, and the connection does not say `offered`. What was asked for on our own pages is offered there.
 */
export class AutomaticPublish {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly publicUrl: string | null,
  ) {}

  /** Called when a run has ended and its changes are kept. Repeatable. */
  async consider(conversation: ConversationRow): Promise<void> {
    const { orgId } = conversation;
    if (conversation.status !== 'finished' || conversation.repository === null || conversation.baseCommit === null)
      return;
    const pullRequestId = await inOrg(this.pool, orgId, (client) =>
      this.want(client, conversation, conversation.repository as string),
    );
    if (pullRequestId !== null) await this.queue.add('pull-request', { orgId, pullRequestId }, { key: pullRequestId });
  }

  private async want(client: PoolClient, { orgId, id }: ConversationRow, repository: string): Promise<string | null> {
    await markHandled(client, orgId, id);
    const [place] = await findRepositoryPlaces(client, orgId, repository);
    if (place === undefined) return null;
    // Nothing will be pushed for what asked.
    if ((await readChangesCount(client, orgId, id)) === 0) {
      await readyReplies(client, orgId, id, { ids: await handledReplies(client, orgId, id), sha: null });
      return null;
    }
    const before = (await listPullRequests(client, orgId, id)).find(
      (row) => row.host === place.connection.host && row.repository === place.repository,
    );
    const asked = await asksToPublish(client, orgId, id, {
      connectionId: place.connection.id,
      fix: before?.fix?.message ?? null,
    });
    if (asked === null) return null;
    // A round that Slipway made by itself ends with a push, or there is nothing new to check.
    const ownRound = asked.message === before?.fix?.message && before.fix.automatic;
    if (place.connection.settings.publish === 'offered' && !ownRound) return null;
    if (before?.state === 'closed' || before?.state === 'merged' || before?.wanted.message === asked.message)
      return null;
    const by =
      asked.message === before?.fix?.message ? before.fix.by : { kind: 'user', id: asked.userId, label: asked.label };
    const page = this.publicUrl === null ? null : new URL(`/${orgId}/conversations/${id}`, this.publicUrl).href;
    const wanted = {
      draft: before?.draft ?? true,
      allowProtectedPaths: false,
      by,
      page,
      at: this.clock.now().toISOString(),
      message: asked.message,
    };
    const made = await requestPublish(client, orgId, { id: this.ids.uuid(), conversationId: id, place, wanted });
    await wantPullRequestJob(client, orgId, made.id);
    const detail = { repository: `${made.host}/${made.repository}`, pullRequest: made.id, automatic: true };
    await recordAct(client, orgId, { id: this.ids.uuid(), action: 'pull-request.publish', target: id, by, detail });
    return made.id;
  }
}
