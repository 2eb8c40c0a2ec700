import { Inject, Injectable } from '@nestjs/common';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { MAX_QUEUED_MESSAGES } from '@slipway/contracts/conversations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type FixPullRequest,
  type MergePullRequest,
  type PublishPullRequest,
  type PullRequest,
  type PullRequestChecks,
  type PullRequestList,
} from '@slipway/contracts/repositories';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import {
  findRepositoryPlaces,
  listPullRequests,
  type PullRequestRow,
  requestFix,
  requestMerge,
  requestPublish,
  toPullRequest,
} from '@slipway/integrations/pull-requests';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJobAs } from '../../platform/outbox.queries.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertStorage } from '../../sandboxes/storage/full-storage.js';
import { assertBudget } from '../../spending/budgets/spent-budget.js';
import { askersOf } from '../confirmation/askers.queries.js';
import { findConversation, readSandbox } from '../conversations.queries.js';
import { queuedOf } from '../inbox.queries.js';
import { reachSandbox } from '../reach-sandbox.js';

/** A state older than this is polled again on request. Milliseconds. */
const STALE_MS = 30_000;

/** Pull requests of a conversation: asked for here, made by the worker. No provider is asked within a request. */
@Injectable()
export class PullRequestsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly keys: SandboxKeys,
    private readonly jobs: Jobs,
  ) {}

  /**
   * Wants the workspace published. What comes of it is in the row, and in the log of the conversation.
   * @throws SlipwayError `resource.not-found`, `pull-request.no-repository`, `pull-request.no-connection`,
   * `pull-request.ended`, `conversation.no-workspace`, `conversation.not-running`, `conversation.four-eyes`.
   */
  async publish(caller: Principal, id: string, body: PublishPullRequest): Promise<PullRequest> {
    const { orgId, actor } = caller;
    const sandbox = await readSandbox(this.pool, orgId, id);
    if (sandbox === null) throw notFound();
    const row = await inOrg(this.pool, orgId, async (client) => {
      const conversation = await findConversation(client, orgId, id);
      if (conversation === null) throw notFound();
      if (conversation.repository === null)
        throw new SlipwayError('pull-request.no-repository', 'It began with an empty workspace.');
      const [place] = await findRepositoryPlaces(client, orgId, conversation.repository);
      if (place === undefined)
        throw new SlipwayError('pull-request.no-connection', `No connection reaches ${conversation.repository}.`);
      assertOpen(
        (await listPullRequests(client, orgId, id)).find(
          (each) => each.host === place.connection.host && each.repository === place.repository,
        ),
      );
      if (sandbox.baseCommit === null)
        throw new SlipwayError('conversation.no-workspace', 'The repository is not cloned yet.');
      if (reachSandbox(this.keys, id, sandbox, ['run']) === null)
        throw new SlipwayError('conversation.not-running', 'Its sandbox is paused, and the workspace with it.');
      if (body.allowProtectedPaths) await this.assertMayAllow(client, caller, id, body.protectedChanges);
      const page = new URL(`/${orgId}/conversations/${id}`, this.config.PUBLIC_URL).href;
      const wanted = {
        ...body,
        by: { kind: actor.kind, id: actor.id, label: actor.label },
        page,
        at: this.clock.now().toISOString(),
      };
      const made = await requestPublish(client, orgId, { id: this.ids.uuid(), conversationId: id, place, wanted });
      await this.want(client, made);
      const detail = {
        repository: `${made.host}/${made.repository}`,
        pullRequest: made.id,
        ...(body.allowProtectedPaths
          ? {
              allowProtectedPaths: true,
              ...(body.protectedChanges === undefined ? {} : { protectedChanges: body.protectedChanges }),
            }
          : {}),
      };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'pull-request.publish', target: id, detail }));
      return made;
    });
    this.jobs.enqueueAs('pull-request', row.id, { orgId, pullRequestId: row.id });
    return toPullRequest(row);
  }

  /** @throws SlipwayError `resource.not-found` when there is no such conversation. */
  async list({ orgId }: Principal, id: string): Promise<PullRequestList> {
    const rows = await this.rows(orgId, id);
    for (const row of rows) this.lookAgain(row);
    return { data: rows.map(toPullRequest) };
  }

  /** @throws SlipwayError `resource.not-found` */
  async checks({ orgId }: Principal, id: string, number: string): Promise<PullRequestChecks> {
    const row = byNumber(await this.rows(orgId, id), number);
    this.lookAgain(row);
    return { headSha: row.headSha, refreshedAt: row.refreshedAt?.toISOString() ?? null, data: [...row.checkList] };
  }

  /**
   * Wants the agent asked to mend what stands against the pull request. The worker makes the message, with the logs of
   * the git host, and sends it once.
   * @throws SlipwayError `resource.not-found`, `pull-request.ended`, `pull-request.nothing-to-fix`,
   * `pull-request.no-connection`, `conversation.queue-full`, `budget.exhausted`, `storage.exhausted`.
   */
  async fix(caller: Principal, id: string, number: string, { what, checks }: FixPullRequest): Promise<PullRequest> {
    const { orgId, actor } = caller;
    const found = byNumber(await this.rows(orgId, id), number);
    assertOpen(found);
    if (found.connectionId === null)
      throw new SlipwayError('pull-request.no-connection', 'The connection that it was opened by is deleted.');
    if (!standsAgainst(found, what, checks))
      throw new SlipwayError(
        'pull-request.nothing-to-fix',
        what === 'conflicts' ? 'It has no conflicts, as last seen.' : 'None of these checks has failed, as last seen.',
      );
    const row = await inOrg(this.pool, orgId, async (client) => {
      if ((await queuedOf(client, orgId, id)).length >= MAX_QUEUED_MESSAGES)
        throw new SlipwayError('conversation.queue-full', `${MAX_QUEUED_MESSAGES} messages are waiting already.`, {
          retryAfterSeconds: 5,
        });
      await assertBudget(client, orgId, actor.id, this.clock.now());
      await assertStorage(client, orgId);
      const by = { kind: actor.kind, id: actor.id, label: actor.label };
      const at = this.clock.now().toISOString();
      const wanted = await requestFix(client, orgId, found.id, {
        what,
        checks: checks ?? null,
        message: this.ids.uuid(),
        automatic: false,
        by,
        at,
      });
      if (wanted === null) throw notFound();
      await this.want(client, wanted);
      return wanted;
    });
    this.jobs.enqueueAs('pull-request', row.id, { orgId, pullRequestId: row.id });
    return toPullRequest(row);
  }

  /**
   * Requests a merge at the head that the user saw; the worker asks the git host whether that user may write there.
   * @throws SlipwayError `resource.not-found`, `pull-request.needs-user`, `pull-request.ended`, `pull-request.moved`,
   * `pull-request.no-connection`.
   */
  async merge(caller: Principal, id: string, number: string, { headSha }: MergePullRequest): Promise<PullRequest> {
    const { orgId, actor } = caller;
    const found = byNumber(await this.rows(orgId, id), number);
    if (actor.kind !== 'user') throw new SlipwayError('pull-request.needs-person', 'A service account does not merge.');
    assertOpen(found);
    if (found.headSha !== headSha)
      throw new SlipwayError('pull-request.moved', `Its head is ${found.headSha?.slice(0, 12) ?? 'not published'}.`);
    if (found.connectionId === null)
      throw new SlipwayError('pull-request.no-connection', 'The connection that it was opened by is deleted.');
    const row = await inOrg(this.pool, orgId, async (client) => {
      const wanted = await requestMerge(client, orgId, found.id, {
        sha: headSha,
        by: { kind: actor.kind, id: actor.id, label: actor.label },
        at: this.clock.now().toISOString(),
      });
      if (wanted === null) throw notFound();
      await this.want(client, wanted);
      const detail = { repository: `${found.host}/${found.repository}`, number: found.number, sha: headSha };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'pull-request.merge', target: id, detail }));
      return wanted;
    });
    this.jobs.enqueueAs('pull-request', row.id, { orgId, pullRequestId: row.id });
    return toPullRequest(row);
  }

  /**
   * What is at protected paths runs with the repository's own rights as soon as it is pushed: under four eyes it needs
   * who approves an action.
   */
  private async assertMayAllow(
    client: PoolClient,
    { orgId, actor }: Principal,
    id: string,
    seen: string | undefined,
  ): Promise<void> {
    if (!(await readOrgSettings(client, orgId)).fourEyes) return;
    if (actor.kind !== 'user')
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization only users allow changes of protected paths; a service account does not.',
      );
    if ((await askersOf(client, orgId, id)).has(actor.id))
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization no user allows changes of protected paths that an agent made for them: another user has to.',
      );
    // The agent may go on: without a name the permission would be for whatever it writes until the worker comes.
    if (seen === undefined)
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization a permission is for the changes that were seen: publish without it first, look at the files, and send protectedChanges of the problem with it.',
      );
  }

  private rows(orgId: string, id: string): Promise<PullRequestRow[]> {
    return inOrg(this.pool, orgId, async (client) => {
      if ((await findConversation(client, orgId, id)) === null) throw notFound();
      return listPullRequests(client, orgId, id);
    });
  }

  private want(client: PoolClient, { id, orgId }: PullRequestRow): Promise<void> {
    return wantJobAs(client, 'pull-request', id, { orgId, pullRequestId: id });
  }

  /**
   * Deliveries keep it up to date; where none come, this does. A job that is lost costs nothing: the next view asks
   * again.
   */
  private lookAgain({ id, orgId, number, state, refreshedAt }: PullRequestRow): void {
    if (
      number === null ||
      state !== 'open' ||
      (refreshedAt !== null && this.clock.now().getTime() - refreshedAt.getTime() < STALE_MS)
    )
      return;
    this.jobs.enqueueAs('pull-request', id, { orgId, pullRequestId: id });
  }
}

function byNumber(rows: readonly PullRequestRow[], number: string): PullRequestRow {
  const found = rows.find((row) => row.number !== null && String(row.number) === number);
  if (found === undefined) throw notFound();
  return found;
}

function standsAgainst(
  { conflicts, checkList }: PullRequestRow,
  what: FixPullRequest['what'],
  ids: readonly string[] | undefined,
): boolean {
  if (what === 'conflicts') return conflicts === true;
  const failed = checkList.filter(({ state }) => state === 'failure').map((check) => check.id);
  return ids === undefined ? failed.length > 0 : ids.some((each) => failed.includes(each));
}

function assertOpen(row: PullRequestRow | undefined): void {
  if (row?.state === 'closed' || row?.state === 'merged')
    throw new SlipwayError('pull-request.ended', `Pull request ${row.number} is ${row.state}.`);
}
