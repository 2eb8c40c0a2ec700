import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_PATCH_BYTES } from '@slipway/agent-client';
import { Conversation, type ConversationSummary } from '@slipway/contracts/conversations';
import { stopwatch } from '@slipway/testing';
import { ConversationApp, executionStatus, thought, type User } from '../testing/conversation-app.js';

const repositoryAt = (path: string) => ({
  path,
  kind: 'repository',
  branch: 'main',
  head: 'abcd1234',
  upstream: null,
  ahead: null,
  behind: null,
  operation: null,
  problem: null,
});

describe('stop, pause and resume', () => {
  let app: ConversationApp;
  let user: User;
  const post = async (id: string, verb: string): Promise<Conversation> => {
    const answer = await app.http(user, 'POST', app.path(user, id, `/${verb}`));
    expect(answer.status).toBe(202);
    return Conversation.parse(answer.body);
  };
  const row = async (id: string) =>
    (
      await app.owner.query<{ desired: string; epoch: number; queues: string[] | null }>(
        `SELECT desired, epoch, (SELECT array_agg(queue ORDER BY queue) FROM app.outbox WHERE key = $1::text) AS queues FROM app.conversation WHERE id = $1::uuid`,
        [id],
      )
    ).rows[0];
  const kinds = async (id: string) =>
    (await app.log(id)).map(({ event }) =>
      event.kind === 'ConversationStateUpdateEvent' ? `${event.key}=${String(event.value)}` : event.kind,
    );

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
  });
  afterAll(() => app?.close());

  it('a stop goes straight to the sandbox, with its key, and leaves the log to it', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await app.ingest(user, id, [{ producerSeq: 1, event: executionStatus('running') }]);
    await post(id, 'stop');
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/interrupt`]);
    expect(await kinds(id)).toEqual(['execution_status=running']);
  });

  it('the list says who stopped a conversation and which limit or failure ended its run, until it goes on', async () => {
    const listed = async (id: string) => {
      const { body } = await app.http<{ data: ConversationSummary[] }>(user, 'GET', `${app.path(user)}?limit=200`);
      const found = body.data.find((each) => each.id === id);
      return [found?.status, found?.stopReason];
    };
    const sandbox = await app.fakeSandbox(() => ({ status: 500 }));
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await app.ingest(user, id, [{ producerSeq: 1, event: executionStatus('running') }]);
    expect(await listed(id)).toEqual(['working', null]);
    await post(id, 'stop');
    const { rows } = await app.owner.query<{ label: string }>(
      'SELECT halted_by AS label FROM app.conversation WHERE id = $1',
      [id],
    );
    expect(rows[0]?.label).toMatch(/./);
    expect(await listed(id)).toEqual(['stopped', { code: null, by: rows[0]?.label }]);
    await post(id, 'resume');
    expect(await listed(id)).toEqual(['stopped', null]);

    const { id: spent } = await app.conversation(user);
    await app.started(spent, 1, sandbox);
    await app.ingest(user, spent, [
      { producerSeq: 1, event: executionStatus('running') },
      {
        producerSeq: 2,
        event: {
          id: randomUUID(),
          timestamp: '2026-11-23T00:00:00Z',
          source: 'environment',
          kind: 'ConversationErrorEvent',
          code: 'agent.budget-limit',
          detail: 'This conversation cost $1.00.',
        },
      },
      { producerSeq: 3, event: executionStatus('paused') },
    ]);
    expect(await listed(spent)).toEqual(['paused', { code: 'agent.budget-limit', by: null }]);
    await app.ingest(user, spent, [{ producerSeq: 4, event: executionStatus('running') }]);
    expect(await listed(spent)).toEqual(['working', null]);
  });

  it('a stop of a sandbox that does not answer ends its writing: the log says so, and nothing comes after', async () => {
    for (const sandbox of [await app.fakeSandbox(() => ({ status: 500 })), await app.fakeSandbox(() => 'hang')]) {
      const { id } = await app.conversation(user);
      await app.started(id, 1, sandbox);
      await app.ingest(user, id, [{ producerSeq: 1, event: executionStatus('running') }]);
      const passed = stopwatch();
      const stopped = await post(id, 'stop');
      expect(passed()).toBeLessThan(4_000);
      expect(stopped).toMatchObject({ status: 'stopped', executionStatus: 'paused' });
      expect(await kinds(id)).toEqual(['execution_status=running', 'InterruptEvent', 'execution_status=paused']);
      expect(await row(id)).toEqual({
        desired: 'rest',
        epoch: 2,
        queues: ['conversation-pause', 'conversation-start'],
      });
      expect(await app.ingest(user, id, [{ producerSeq: 2, event: thought('still here') }])).toMatchObject({
        status: 409,
        body: { code: 'ingest.stale-epoch' },
      });
      expect((await kinds(id)).length).toBe(3);
    }
  });

  it('a stop of a sandbox that does not answer holds also when the log does not say that it works', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 500 }));
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await post(id, 'stop');
    expect(await kinds(id)).toEqual(['InterruptEvent']);
    expect(await row(id)).toMatchObject({ desired: 'rest', epoch: 2 });
  });

  it('a stop during a pause does not wait for the step under way', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 200 }));
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await post(id, 'pause');
    await post(id, 'stop');
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/interrupt`]);
  });

  it('a stop while it starts is at once in the log, and the start finds that it is not wanted', async () => {
    const { id } = await app.conversation(user);
    expect(await post(id, 'stop')).toMatchObject({ status: 'stopped' });
    expect(await kinds(id)).toEqual(['InterruptEvent']);
    expect(await row(id)).toMatchObject({ desired: 'rest' });
    await post(id, 'stop');
    expect(await kinds(id)).toEqual(['InterruptEvent']);
  });

  it('a pause asks for the sandbox to be given back, a resume for one; repeating either changes nothing', async () => {
    const { id } = await app.conversation(user);
    await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20) });
    await app.owner.query('DELETE FROM app.outbox');
    await post(id, 'pause');
    expect(await row(id)).toMatchObject({ desired: 'rest', queues: ['conversation-pause'] });
    await post(id, 'pause');
    await app.owner.query(`UPDATE app.conversation SET sandbox_status = 'PAUSED' WHERE id = $1`, [id]);
    await app.owner.query('DELETE FROM app.outbox');
    await post(id, 'pause');
    expect(await row(id)).toMatchObject({ desired: 'rest', queues: null });
    await post(id, 'resume');
    await post(id, 'resume');
    expect(await row(id)).toMatchObject({ desired: 'run', queues: ['conversation-start'] });
  });

  it('a resume of a conversation whose sandbox runs lets the agent go on at once', async () => {
    const sandbox = await app.fakeSandbox(() => ({ status: 409, body: '{"code":"conversation.busy"}' }));
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await app.owner.query('DELETE FROM app.outbox');
    await post(id, 'resume');
    expect(sandbox.asked).toEqual([`POST /api/conversations/${id}/run`]);
    expect(await row(id)).toMatchObject({ desired: 'run', queues: null });
  });

  it('each of them is in the record of who did what', async () => {
    const { id } = await app.conversation(user);
    for (const verb of ['pause', 'resume', 'stop']) await post(id, verb);
    const { rows } = await app.owner.query<{ action: string }>(
      `SELECT action FROM app.audit_entry WHERE target = $1 AND actor_id = $2 ORDER BY created_at, id`,
      [id, user.userId],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'conversation.create',
      'conversation.pause',
      'conversation.resume',
      'conversation.stop',
    ]);
  });

  describe('changes and diff', () => {
    const patch = [
      'diff --git a/a.txt b/a.txt',
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -1 +1 @@',
      '-old',
      '+new',
      'diff --git a/b c.txt b/b c.txt',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/b c.txt',
      '@@ -0,0 +1 @@',
      '+diff --git x',
      '',
    ].join('\n');

    it('come from the sandbox while it answers', async () => {
      const sandbox = await app.fakeSandbox((request) =>
        request.url?.startsWith('/api/git/changes')
          ? { status: 200, body: '[{"status":"UPDATED","path":"a.txt","additions":1,"deletions":1}]' }
          : { status: 200, body: patch },
      );
      const { id } = await app.conversation(user);
      await app.started(id, 1, { ...sandbox, workingDir: '/workspace/a b' });
      expect((await app.http(user, 'GET', app.path(user, id, '/changes'))).body).toEqual({
        files: [{ path: 'a.txt', status: 'UPDATED', additions: 1, deletions: 1, binary: false }],
        folders: [],
        left: 0,
        base: null,
        live: true,
      });
      const diff = await app.http<string>(user, 'GET', app.path(user, id, '/diff?path=a.txt'));
      expect([diff.status, diff.body, diff.headers.get('content-type')]).toEqual([
        200,
        patch,
        'text/x-diff; charset=utf-8',
      ]);
      expect(sandbox.asked).toEqual([
        'GET /api/git/changes?path=%2Fworkspace%2Fa%20b&at_most=5000',
        `GET /api/git/patch?path=%2Fworkspace%2Fa%20b&max_bytes=${MAX_PATCH_BYTES}&file=a.txt`,
      ]);
    });

    it('are those since the last message, of one commit, or of another repository, as they are asked for', async () => {
      const sandbox = await app.fakeSandbox((request) => {
        const url = new URL(request.url ?? '', 'http://sandbox');
        if (url.pathname === '/api/git/repositories')
          return {
            status: 200,
            body: JSON.stringify({ repositories: [repositoryAt('other'), repositoryAt('project')], cut: false }),
          };
        if (url.pathname === '/api/git/commits')
          return {
            status: 200,
            body: JSON.stringify({
              commits: [
                {
                  sha: 'abcd1234',
                  short_sha: 'abcd',
                  subject: 's',
                  author: 'a',
                  timestamp: '2026-11-22T10:00:00+01:00',
                  files: 2,
                  since_base: null,
                },
              ],
              has_more: true,
              next_page_id: 'abcd1234.1',
            }),
          };
        if (url.searchParams.get('turn') !== null && url.pathname === '/api/git/patch')
          return { status: 409, body: '{"code":"changes.turn-unknown","detail":"It is newer."}' };
        return { status: 200, body: '[]' };
      });
      const { id } = await app.conversation(user);
      await app.started(id, 1, { ...sandbox, workingDir: '/workspace/project' });
      const get = async (route: string): Promise<unknown> =>
        (await app.http(user, 'GET', app.path(user, id, route))).body;
      const empty = { files: [], folders: [], left: 0, base: null, live: true };
      expect(await get('/changes?against=turn')).toEqual(empty);
      expect(await get('/changes?against=abcd1234&repository=other')).toEqual(empty);
      expect(await get('/changes?repository=project')).toEqual(empty);
      expect(await get('/repositories')).toEqual({
        data: [
          { ...repositoryAt('project'), own: true },
          { ...repositoryAt('other'), own: false },
        ],
        cut: false,
        live: true,
      });
      expect(await get('/commits?limit=1&cursor=ffff0000.1')).toEqual({
        data: [
          { hash: 'abcd1234', subject: 's', author: 'a', at: '2026-11-22T10:00:00+01:00', files: 2, ofThisWork: null },
        ],
        page: { nextCursor: 'abcd1234.1' },
      });
      expect(sandbox.asked).toEqual([
        `GET /api/git/changes?path=%2Fworkspace%2Fproject&turn=${id}&at_most=5000`,
        'GET /api/git/changes?path=other&commit=abcd1234&at_most=5000',
        'GET /api/git/changes?path=%2Fworkspace%2Fproject&at_most=5000',
        'GET /api/git/repositories?path=.',
        'GET /api/git/commits?path=%2Fworkspace%2Fproject&limit=1&page_id=ffff0000.1',
      ]);
      expect(await app.http(user, 'GET', app.path(user, id, '/diff?against=turn'))).toMatchObject({
        status: 409,
        body: { code: 'changes.turn-unknown' },
      });
      expect(await app.http(user, 'GET', app.path(user, id, '/changes?against=yesterday'))).toMatchObject({
        status: 400,
        body: { code: 'request.invalid' },
      });
    });

    it('say that only those against the base were kept, when the sandbox is away', async () => {
      const { id } = await app.conversation(user);
      // Requested by each view of a conversation: no refusal, whatever its sandbox does.
      const repositories = async (): Promise<unknown> => {
        const { status, body } = await app.http(user, 'GET', app.path(user, id, '/repositories'));
        return { status, body };
      };
      const noneKnown = { status: 200, body: { data: [], cut: false, live: false } };
      expect(await app.http(user, 'GET', app.path(user, id, '/commits'))).toMatchObject({
        status: 409,
        body: { code: 'conversation.no-workspace' },
      });
      expect(await repositories()).toEqual(noneKnown);
      await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20), workingDir: '/workspace/project' });
      expect(await app.http(user, 'GET', app.path(user, id, '/commits'))).toMatchObject({
        status: 502,
        body: { code: 'sandbox.unreachable' },
      });
      expect(await repositories()).toEqual(noneKnown);
      await app.owner.query(`UPDATE app.conversation SET sandbox_status = 'PAUSED' WHERE id = $1`, [id]);
      expect(await repositories()).toEqual(noneKnown);
      for (const route of ['/commits', '/changes?against=turn', '/diff?against=abcd1234', '/changes?repository=other'])
        expect(await app.http(user, 'GET', app.path(user, id, route))).toMatchObject({
          status: 409,
          body: { code: 'changes.not-kept' },
        });
    });

    it('are what was last seen when it does not, within six seconds', async () => {
      const sandbox = await app.fakeSandbox(() => 'hang');
      const { id } = await app.conversation(user);
      await app.started(id, 1, sandbox);
      await app.owner.query(
        `INSERT INTO app.workspace_snapshot (conversation_id, org_id, changes, patch) VALUES ($1, $2, '[{"status":"ADDED","path":"b c.txt"}]', $3)`,
        [id, user.orgId, patch],
      );
      const passed = stopwatch();
      expect((await app.http(user, 'GET', app.path(user, id, '/changes'))).body).toEqual({
        files: [{ path: 'b c.txt', status: 'ADDED', additions: 0, deletions: 0, binary: false }],
        folders: [],
        left: 0,
        base: null,
        live: false,
      });
      expect(passed()).toBeLessThan(6_000);
      await sandbox.close();
      expect((await app.http<string>(user, 'GET', app.path(user, id, '/diff?path=b%20c.txt'))).body).toBe(
        patch.slice(patch.indexOf('diff --git a/b c')),
      );
      expect((await app.http<string>(user, 'GET', app.path(user, id, '/diff'))).body).toBe(patch);
    });

    it('409 before there is a workspace, 502 when it never answered', async () => {
      const { id } = await app.conversation(user);
      expect(await app.http(user, 'GET', app.path(user, id, '/changes'))).toMatchObject({
        status: 409,
        body: { code: 'conversation.no-workspace' },
      });
      await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20) });
      expect(await app.http(user, 'GET', app.path(user, id, '/diff'))).toMatchObject({
        status: 502,
        body: { code: 'sandbox.unreachable' },
      });
    });
  });
});
