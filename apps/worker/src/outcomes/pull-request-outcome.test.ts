import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import type { Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import { type GitLabProject, type GitLabThread, type GitLabUser, ScriptedGitLab } from '@slipway/testing/gitlab';
import pg from 'pg';
import { ConversationLocks } from '../conversations/conversation-locks.js';
import { ConnectionCalls } from '../integrations/connection-calls.js';
import { noteOutcome } from '../pull-requests/note-outcome.js';
import { queueDatabase, SECRET } from '../testing/harness.js';
import { PullRequestOutcomeJob } from './pull-request-outcome-job.js';
import { notePublished, putOffOthers, type SeenPullRequest, wantDueOutcomes } from './pull-request-outcomes.queries.js';

const ORG = 'org_outcomes';
const CONNECTION = '7d0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c44';
const DAY_MS = 86_400_000;
const never = new AbortController().signal;
const logger = createLogger('outcomes-test', 'silent');

interface Row {
  readonly id: string;
  readonly state: string;
  readonly merged_at: Date | null;
  readonly human_commits: number | null;
  readonly watched_days: number;
  readonly reverted_at: Date | null;
  readonly edited_at: Date | null;
  readonly edits_read: boolean;
  readonly next_at: Date | null;
  readonly problem: string | null;
  readonly first_review_at: Date | null;
}

describe('what became of a pull request', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let gitlab: ScriptedGitLab;
  let dispatch: ProviderDispatch;
  let locks: ConversationLocks;
  let ada: GitLabUser;
  let bot: GitLabUser;
  let project: GitLabProject;
  let host: string;
  let ahead = 0;
  const queue = { add: () => Promise.resolve() } as unknown as Queue;
  const clock = { now: () => new Date(Date.now() + ahead) };

  beforeAll(async () => {
    gitlab = await ScriptedGitLab.start();
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    locks = new ConversationLocks({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    host = new URL(gitlab.url).host;
    dispatch = new ProviderDispatch([host]);
    ada = gitlab.user('ada');
    bot = gitlab.user('project_1_bot_af31');
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'outcomes', 'O', 'personal')`, [ORG]);
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, 'gitlab', 'access-token', 'n', $3, 's', $4, $5, 'active', 'u', 'u')`,
      [
        CONNECTION,
        ORG,
        host,
        JSON.stringify({ ids: [String(bot.id)], mention: 'slipway' }),
        JSON.stringify({ baseUrl: gitlab.url, labels: [], bots: [] }),
      ],
    );
    const place = { id: 'secret-o', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await envelope().seal(ORG, gitlab.token(bot, 'api'), integrationSecretContext(place));
    await owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [...[place.id, ORG, CONNECTION, place.kind], ...[bytes, keyVersion]],
    );
  });
  beforeEach(async () => {
    ahead = 0;
    project = await gitlab.project({
      path: `ada/shop-${randomUUID().slice(0, 8)}`,
      owner: ada,
      files: { 'a.ts': '1\n', 'b.ts': '1\n' },
      visibility: 'private',
    });
    project.members.set(bot.id, 40);
  });
  afterAll(async () => {
    await Promise.all([gitlab?.close(), dispatch?.close(), locks?.close(), pool?.end(), owner?.end()]);
    await database?.close();
  });

  const envelope = (): Envelope => new Envelope(pool, new SecretBox(SECRET), systemClock);
  const job = (): PullRequestOutcomeJob => {
    const calls = new ConnectionCalls(new ConnectionCredentials(pool, envelope()), dispatch, clock);
    return new PullRequestOutcomeJob(pool, queue, locks, new Map(Object.entries(PROVIDERS)), calls, clock, logger);
  };
  const commit = (
    message: string,
    files: Record<string, string>,
    branch = 'main',
    newBranch?: string,
  ): Promise<string> =>
    project.repository.commit({ message, files, branch, ...(newBranch === undefined ? {} : { newBranch }) });
  /** As the job of a pull request does it after it has published. */
  const published = async (
    merge: GitLabThread,
    pushedSha: string,
    conversationId: string = randomUUID(),
  ): Promise<string> => {
    const seen: SeenPullRequest = {
      ...{
        state: 'open',
        repository: project.path,
        base: 'main',
        draft: false,
        mergedAt: null,
        closedAt: null,
        mergeSha: null,
        firstReviewAt: null,
        seenAt: new Date(0),
      },
    };
    const by = {
      provider: 'gitlab',
      host,
      number: merge.iid,
      connectionId: CONNECTION,
      conversationId,
      begunAt: new Date(),
      pushedSha,
    };
    await inOrg(pool, ORG, (client) => notePublished(client, ORG, by, seen));
    return (await row()).id;
  };
  const row = async (): Promise<Row> => {
    const { rows } = await owner.query<Row>('SELECT * FROM app.pull_request_outcome WHERE repository = $1', [
      project.path,
    ]);
    expect(rows.length).toBe(1);
    return rows[0] as Row;
  };
  /** A pull request that changes a.ts, with one commit of ours. */
  const opened = async (): Promise<{ merge: GitLabThread; id: string; ours: string }> => {
    const ours = await commit('Mend', { 'a.ts': '2\n' }, 'main', 'slipway/mend');
    const merge = gitlab.openMergeRequest(project, {
      title: 'Mend the total',
      description: '',
      author: bot,
      source: 'slipway/mend',
      target: 'main',
      sha: ours,
    });
    return { merge, ours, id: await published(merge, ours) };
  };
  const mergeIt = async (merge: GitLabThread): Promise<string> => {
    expect(await gitlab.merge(project, merge, ada)).toBe(true);
    return merge.merged?.commit ?? '';
  };
  /** After the merge, so many days. */
  const later = (days: number, message: string, files: Record<string, string>): Promise<string> =>
    project.repository.commit({ message, files, branch: 'main', at: new Date(Date.now() + days * DAY_MS) });
  const look = async (id: string, days = 0): Promise<Row> => {
    ahead = days * DAY_MS;
    await job().run({ orgId: ORG, outcomeId: id }, never);
    return row();
  };

  it('is learned without any delivery: merge, time, commits of people, and nothing of the 14 days yet', async () => {
    const { merge, id } = await opened();
    expect(await look(id)).toMatchObject({ state: 'open', merged_at: null, next_at: expect.any(Date) });
    await commit('By hand', { 'a.ts': '3\n' }, 'slipway/mend');
    await mergeIt(merge);
    const seen = await look(id);
    expect(seen).toMatchObject({
      state: 'merged',
      human_commits: 1,
      watched_days: 0,
      reverted_at: null,
      edited_at: null,
      problem: null,
    });
    expect(seen.next_at?.getTime()).toBe((seen.merged_at?.getTime() ?? 0) + DAY_MS);
  });

  it('is settled on day 14: neither reverted nor edited by what touches other files', async () => {
    const { merge, id } = await opened();
    await mergeIt(merge);
    await later(1, 'Elsewhere', { 'b.ts': '2\n' });
    expect(await look(id, 1.1)).toMatchObject({ watched_days: 1, reverted_at: null, edited_at: null });
    expect(await look(id, 8)).toMatchObject({ watched_days: 7 });
    expect(await look(id, 14.1)).toMatchObject({
      watched_days: 14,
      reverted_at: null,
      edited_at: null,
      edits_read: true,
      next_at: null,
    });
  });

  it('is edited by a later commit on one of its files', async () => {
    const { merge, id } = await opened();
    await mergeIt(merge);
    await later(3, 'Again', { 'a.ts': '9\n' });
    expect(await look(id, 1.1)).toMatchObject({ edited_at: null });
    expect(await look(id, 8)).toMatchObject({ reverted_at: null, edited_at: expect.any(Date) });
  });

  it('is not edited by what comes after the 14 days', async () => {
    const { merge, id } = await opened();
    await mergeIt(merge);
    await later(14.5, 'Late', { 'a.ts': '9\n' });
    expect(await look(id, 20)).toMatchObject({ watched_days: 14, edited_at: null });
  });

  it('is reverted by a commit that names its merge, which is no edit; adversary: a revert of that brings it in again', async () => {
    const { merge, id } = await opened();
    const merged = await mergeIt(merge);
    const revert = await later(0.5, `Revert "Mend the total"\n\nThis reverts commit ${merged}.`, { 'a.ts': '1\n' });
    expect(await look(id, 1.1)).toMatchObject({ reverted_at: expect.any(Date), edited_at: null });
    await later(2, `Reapply "Mend the total"\n\nThis reverts commit ${revert}.`, { 'a.ts': '2\n' });
    expect(await look(id, 8)).toMatchObject({ reverted_at: null, edited_at: null });
  });

  it('adversary: a delivery that claims a merge changes nothing that counts, since the host says otherwise', async () => {
    const { merge, id } = await opened();
    const conversation = randomUUID();
    await owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, connection_id, provider, host, repository, number, wanted, state) VALUES ($1, $2, $3, $4, 'gitlab', $5, $6, $7, '{}', 'open')`,
      [randomUUID(), ORG, conversation, CONNECTION, host, project.path, merge.iid],
    );
    const connection = { provider: 'gitlab', host } as Parameters<typeof noteOutcome>[2];
    const repository = { id: '1', fullName: project.path, private: true, defaultBranch: 'main' };
    await inOrg(pool, ORG, (client) =>
      noteOutcome(client, ORG, connection, { kind: 'pull-request', repository, number: merge.iid, state: 'merged' }),
    );
    expect(await row()).toMatchObject({ state: 'open', merged_at: null });
    expect(await look(id)).toMatchObject({ state: 'open', merged_at: null });
  });

  it('adversary: a merge that is delivered twice, and published by two conversations, counts once and at its first time', async () => {
    const { merge, id, ours } = await opened();
    expect(await published(merge, ours, randomUUID())).toBe(id);
    await mergeIt(merge);
    const first = await look(id);
    const again = await look(id, 0.5);
    expect([again.merged_at, again.human_commits]).toEqual([first.merged_at, 0]);
    const { rows } = await owner.query('SELECT 1 FROM app.pull_request_work WHERE pull_request_id = $1', [id]);
    expect(rows.length).toBe(2);
  });

  it('takes no push of another conversation for a commit of a user', async () => {
    const { merge, id } = await opened();
    const second = await commit('More', { 'a.ts': '3\n' }, 'slipway/mend');
    await owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, connection_id, provider, host, repository, number, wanted, state, pushed_sha)
       VALUES (gen_random_uuid(), $1, gen_random_uuid(), $2, 'gitlab', $3, $4, $5, '{}', 'open', $6)`,
      [ORG, CONNECTION, host, project.path, merge.iid, second],
    );
    await mergeIt(merge);
    expect(await look(id)).toMatchObject({ state: 'merged', human_commits: 0 });
  });

  it('stays unknown while the host cannot be asked, is asked when the host says, and is given up at last', async () => {
    const { merge, id } = await opened();
    await mergeIt(merge);
    await look(id);
    const answer = (status: number, headers: Record<string, string>) => ({
      calls: /GET .*\/repository\/commits/,
      answer: (response: { writeHead(status: number, headers: Record<string, string>): { end(text: string): void } }) =>
        void response.writeHead(status, headers).end('{}'),
    });
    gitlab.broken = answer(429, { 'retry-after': '7200' }) as unknown as typeof gitlab.broken;
    const limited = await look(id, 1.1);
    expect(limited).toMatchObject({ watched_days: 0, problem: expect.stringContaining('limits our calls') });
    expect((limited.next_at?.getTime() ?? 0) - clock.now().getTime()).toBeGreaterThan(7_000_000);
    gitlab.broken = answer(403, {}) as unknown as typeof gitlab.broken;
    expect(await look(id, 14.1)).toMatchObject({ watched_days: 0, next_at: expect.any(Date) });
    expect(await look(id, 29)).toMatchObject({
      state: 'merged',
      watched_days: 0,
      next_at: null,
      problem: expect.any(String),
    });
    gitlab.broken = null;
    expect(await look(id, 30)).toMatchObject({ watched_days: 14, reverted_at: null, problem: null });
  });

  it('counts the first review of a user, never our own', async () => {
    const { merge, id } = await opened();
    gitlab.approve(project, merge, bot);
    expect((await look(id)).first_review_at).toBeNull();
    gitlab.approve(project, merge, ada);
    const { first_review_at: first } = await look(id);
    expect(first).toEqual(expect.any(Date));
    expect((await look(id, 1)).first_review_at).toEqual(first);
  });

  it('is wanted by the sweep when it is due, once, in the organization that it is of', async () => {
    const { id } = await opened();
    await owner.query('UPDATE app.pull_request_outcome SET next_at = NULL WHERE id <> $1', [id]);
    await owner.query(`UPDATE app.pull_request_outcome SET next_at = now() - interval '1 minute' WHERE id = $1`, [id]);
    const due = () => wantDueOutcomes(pool, { ofOne: 2, most: 10 });
    expect(await due()).toEqual([{ orgId: ORG, outcomeId: id }]);
    expect(await due()).toEqual([]);
    await job().run({ orgId: 'org_other', outcomeId: id }, never);
    expect((await row()).state).toBe('open');
  });

  it('is asked after a few at a time of each organization, the longest due first, and not while the host limits the connection', async () => {
    await owner.query('UPDATE app.pull_request_outcome SET next_at = NULL');
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ('org_small', 'small', 'S', 'personal')`);
    for (const [org, numbers] of [
      [ORG, [1, 2, 3, 4]],
      ['org_small', [9]],
    ] as const)
      await owner.query(
        `INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, conversation_id, connection_id, begun_at, next_at)
         SELECT $1, 'gitlab', 'due.test', 'a/b', n, gen_random_uuid(), 'limited', now(), now() - n * interval '1 minute' FROM unnest($2::int[]) n`,
        [org, numbers],
      );
    const numbers = async (): Promise<number[]> => {
      const found = await wantDueOutcomes(pool, { ofOne: 2, most: 10 });
      const { rows } = await owner.query<{ number: number }>(
        'SELECT number FROM app.pull_request_outcome WHERE id = ANY ($1) ORDER BY 1',
        [found.map(({ outcomeId }) => outcomeId)],
      );
      return rows.map(({ number }) => number);
    };
    expect(await numbers()).toEqual([3, 4, 9]);
    await inOrg(pool, ORG, (client) => putOffOthers(client, ORG, 'limited', new Date(Date.now() + DAY_MS)));
    expect(await numbers()).toEqual([]);
    await inOrg(pool, 'org_small', (client) => putOffOthers(client, ORG, 'limited', new Date(0)));
    const { rows } = await owner.query<{ count: number }>(
      `SELECT count(*)::int FROM app.pull_request_outcome WHERE org_id = $1 AND next_at > now() + interval '23 hours'`,
      [ORG],
    );
    expect(rows[0]?.count).toBe(4);
  });
});
