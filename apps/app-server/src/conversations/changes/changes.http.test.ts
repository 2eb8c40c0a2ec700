import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { Changes } from '@slipway/contracts/repositories';
import { seenHash } from '@slipway/domain/review';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { lookOf } from './compared-side.js';

const FILE = { status: 'UPDATED', path: 'a.txt', additions: 1, deletions: 1, hash: '100644.aa' };
const HUNK = { file: 'a.txt', status: 'UPDATED', hunk: '@@ -3,2 +3,2 @@\n-old\n+new\n same' };

describe('what a user does to the changes of an agent', () => {
  let app: ConversationApp;
  let user: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ana');
  });
  afterAll(() => app?.close());

  const audited = async (id: string): Promise<unknown[]> =>
    (
      await app.owner.query(
        `SELECT action, detail FROM app.audit_entry WHERE target = $1 AND action LIKE 'changes.%' ORDER BY created_at, id`,
        [id],
      )
    ).rows;

  it('takes a hunk back in the sandbox, with a line for the agent, and is in the record of who did what', async () => {
    const bodies: unknown[] = [];
    const sandbox = await app.fakeSandbox((_, body) => {
      bodies.push(JSON.parse(body));
      return { status: 200, body: '{"success":true}' };
    });
    const { id } = await app.conversation(user);
    await app.started(id, 1, { ...sandbox, workingDir: '/workspace/project' });
    const key = randomUUID();
    for (const direction of ['revert', 'restore', 'restore'])
      expect(
        await app.http(
          user,
          'POST',
          app.path(user, id, '/changes/turn-hunk'),
          { ...HUNK, direction },
          direction === 'restore' ? { 'idempotency-key': key } : {},
        ),
      ).toMatchObject({ status: 204 });
    expect(bodies).toMatchObject([
      {
        ...HUNK,
        direction: 'revert',
        path: '/workspace/project',
        notice: 'Ana took a change back in "a.txt", lines 3-4. Leave it so unless you are asked to change it.',
      },
      { direction: 'restore' },
    ]);
    expect(await audited(id)).toEqual([
      { action: 'changes.revert-hunk', detail: { path: 'a.txt', lines: '3-4' } },
      { action: 'changes.restore-hunk', detail: { path: 'a.txt', lines: '3-4' } },
    ]);
  });

  it('is refused with the reason while the agent works, where the lines are others, and without a sandbox', async () => {
    const { id } = await app.conversation(user);
    const ask = () => app.http(user, 'POST', app.path(user, id, '/changes/turn-hunk'), HUNK);
    expect(await ask()).toMatchObject({ status: 409, body: { code: 'conversation.not-running' } });
    for (const code of ['conversation.busy', 'changes.moved']) {
      const sandbox = await app.fakeSandbox(() => ({ status: 409, body: JSON.stringify({ code }) }));
      await app.started(id, 1, { ...sandbox, workingDir: '/workspace/project' });
      expect(await ask()).toMatchObject({ status: 409, body: { code } });
    }
    expect(await audited(id)).toEqual([]);
  });

  it('says which steps of the log wrote the lines of a file, long texts included, and nothing of other organizations', async () => {
    const { id } = await app.conversation(user);
    await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'none', workingDir: '/workspace/project' });
    const long = Array.from({ length: 3_000 }, (_, index) => `const n${index} = ${index};`).join('\n');
    const edit = (path: string, before: string | null, after: string): ConversationEvent => ({
      id: randomUUID(),
      kind: 'ObservationEvent',
      timestamp: new Date().toISOString(),
      source: 'environment',
      action_id: randomUUID(),
      tool_name: 'file_editor',
      tool_call_id: 'call',
      observation: {
        kind: 'FileEditorObservation',
        content: [],
        is_error: false,
        command: before === null ? 'create' : 'str_replace',
        path,
        prev_exist: before !== null,
        old_content: before,
        new_content: after,
      },
    });
    const path = '/workspace/project/src/a b.ts';
    const events = [
      edit(path, null, `${long}\n`),
      edit('/workspace/project/other.ts', null, 'x\n'),
      edit(path, `${long}\n`, `// first\n${long}\n`),
    ];
    await app.ingest(
      user,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
    );
    const seqs = (await app.log(id)).map(({ seq }) => seq);
    const ask = (by = user) => app.http(by, 'GET', app.path(user, id, '/provenance?path=src%2Fa%20b.ts'));
    expect((await ask()).body).toMatchObject({
      lines: [
        { line: 1, endLine: 1, seq: seqs[2] },
        { line: 2, endLine: 3_001, seq: seqs[0] },
      ],
    });
    expect(await ask(await app.user('Eve'))).toMatchObject({ status: 404 });
  });

  it('has the sandbox remember what the caller looked at, under a name of theirs, unless it has changed', async () => {
    const other = await app.user('Ben');
    const sandbox = await app.fakeSandbox((request) => {
      if (request.url === '/api/git/mark') return { status: 200, body: '{"marked":1}' };
      if (request.url?.includes('turn=')) return { status: 409, body: '{"code":"changes.turn-unknown"}' };
      return { status: 200, body: JSON.stringify([FILE]) };
    });
    const { id } = await app.conversation(user);
    await app.started(id, 1, { ...sandbox, workingDir: '/workspace/project' });
    const look = (seen: string) => app.http(user, 'PUT', app.path(user, id, '/changes/looked'), { seen });
    expect(await look(seenHash([{ ...FILE, hash: '100644.bb' }]))).toMatchObject({
      status: 409,
      body: { code: 'changes.moved' },
    });
    expect(sandbox.asked).toEqual(['GET /api/git/changes?path=%2Fworkspace%2Fproject&at_most=5000']);
    expect(await look(seenHash([FILE]))).toMatchObject({ status: 204 });
    expect(sandbox.asked.at(-1)).toBe('POST /api/git/mark');
    const name = lookOf(id, user.userId);
    expect([name === lookOf(id, other.userId), name.length <= 64]).toEqual([false, true]);
    expect(await app.http(user, 'GET', app.path(user, id, '/changes?against=looked'))).toMatchObject({
      status: 409,
      body: { code: 'changes.look-unknown' },
    });
    expect(sandbox.asked.at(-1)).toBe(`GET /api/git/changes?path=%2Fworkspace%2Fproject&turn=${name}&at_most=5000`);
  });

  it('lists at most 5,000 files, and says of the others in which folders they are, also where the sandbox does not', async () => {
    const many = Array.from({ length: 5_001 }, (_, index) => ({ ...FILE, path: `src/${index % 2}/${index}.ts` }));
    const summed = [
      { ...FILE, path: 'a.txt' },
      { status: 'UPDATED', path: 'src', files: 9_000, additions: 4 },
    ];
    const cut = { status: 'UPDATED', path: '', files: 7 };
    for (const [list, listed, folders, left] of [
      [many, 0, [['src', 5_001]], 0],
      [[...summed, cut], 1, [['src', 9_000]], 7],
    ] as const) {
      const sandbox = await app.fakeSandbox(() => ({ status: 200, body: JSON.stringify(list) }));
      const { id } = await app.conversation(user);
      await app.started(id, 1, { ...sandbox, workingDir: '/workspace/project' });
      const { body } = await app.http<Changes>(user, 'GET', app.path(user, id, '/changes'));
      expect([body.files.length, body.folders.map(({ path, files }) => [path, files]), body.left]).toEqual([
        listed,
        folders,
        left,
      ]);
      await app.http(user, 'GET', app.path(user, id, '/changes?folder=src%2F1'));
      expect(sandbox.asked.at(-1)).toBe('GET /api/git/changes?path=%2Fworkspace%2Fproject&folder=src%2F1&at_most=5000');
      await sandbox.close();
    }
  });
});
