import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Checkpoint, CheckpointPage, Conversation } from '@slipway/contracts/conversations';
import { createSampleRepository, until } from '@slipway/testing';
import { OpenStack } from './open-stack.ts';
import { killAll, processesOf, stillAlive } from './processes.ts';
import { register } from './register.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

jest.setTimeout(120_000);

describe('the files of a conversation outlive its sandbox', () => {
  let open: OpenStack;
  beforeAll(async () => {
    open = await OpenStack.open();
    await createSampleRepository(open.repositories, 'sample.git', { 'README.md': '# Sample\n', 'src/a.ts': 'a\n' });
  });
  afterAll(() => open?.close());

  const list = async (talk: Talk, query = ''): Promise<CheckpointPage> => {
    const answer = await open.user.fetch(`${talk.path}/checkpoints${query}`);
    expect(answer.status).toBe(200);
    return CheckpointPage.parse(await answer.json());
  };
  /** Once the newest is of the end of the last turn. */
  const durable = (talk: Talk): Promise<Checkpoint> =>
    until('a durable checkpoint of the last turn', async () => {
      const [newest] = (await list(talk)).data;
      const ended = talk.watcher.log.findLast(
        ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status',
      );
      return newest !== undefined && newest.seq === ended?.seq ? newest : undefined;
    });
  /** The folder of its workspace on this machine, with `workspace`, `home` and `conversations` in it. */
  const folderOf = (talk: Talk): string => {
    const all = path.join(open.stack.dataDirectory, 'sandboxes', 'workspaces');
    const name = readdirSync(all).find((each) => existsSync(path.join(all, each, 'conversations', talk.id)));
    return path.join(all, name as string);
  };
  /** As a node that is gone: processes and files, at once. */
  const lose = async (talk: Talk): Promise<void> => {
    const folder = folderOf(talk);
    const processes = processesOf(folder);
    expect(processes.length).toBeGreaterThanOrEqual(2);
    killAll(folder);
    await until('nothing of it runs', () => stillAlive(processes).length === 0);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  it('lost with its node: another one has them as they were at the end of the turn, ignored files and commits too', async () => {
    const work = [
      'mkdir -p build && echo built > build/out.txt && echo build/ > .gitignore',
      'git add -A && git -c user.name=t -c user.email=t@t commit -qm work && printf "no commit\\n" > src/b.ts',
      'chmod 750 src/a.ts && ln -s a.ts src/link && echo note > ~/note.txt',
    ].join(' && ');
    const talk = await open.talk('lost', [terminal(work), finish()], {
      repository: `${open.git.url}/sample.git`,
    });
    await talk.ended('finished');
    const checkpoint = await durable(talk);
    expect(checkpoint).toMatchObject({ reason: 'rest', complete: true, name: null });
    const commit = readFileSync(path.join(folderOf(talk), 'workspace/sample/.git/HEAD'), 'utf8');
    // After the end of the turn: no checkpoint has it.
    writeFileSync(path.join(folderOf(talk), 'workspace/sample/late.txt'), 'late');
    await lose(talk);

    const message = await talk.send(open.book.write('found', [terminal('echo more > more.txt'), finish()]));
    await talk.ended('finished', message);
    const now = path.join(folderOf(talk), 'workspace/sample');
    expect(readFileSync(path.join(now, 'build/out.txt'), 'utf8')).toBe('built\n');
    expect(readFileSync(path.join(now, 'src/b.ts'), 'utf8')).toBe('no commit\n');
    expect(readFileSync(path.join(now, 'src/link'), 'utf8')).toBe('a\n');
    expect(readFileSync(path.join(now, '.git/HEAD'), 'utf8')).toBe(commit);
    expect(readFileSync(path.join(folderOf(talk), 'home/note.txt'), 'utf8')).toBe('note\n');
    expect(existsSync(path.join(now, 'late.txt'))).toBe(false);
    await talk.expectWholeLog();
    const notices = talk.of('MessageEvent').map((event) => JSON.stringify(event.llm_message));
    expect(notices.filter((text) => text.includes('were restored'))).toHaveLength(1);
    // The next one follows it: what is there already is not stored again.
    const next = await durable(talk);
    expect(next.newBytes).toBeLessThan(checkpoint.newBytes);
  });

  it('forked: another conversation has its log and files of then, and neither sees what the other does', async () => {
    const talk = await open.talk('forked', [terminal('echo one > work.txt'), finish()], {
      repository: `${open.git.url}/sample.git`,
    });
    await talk.ended('finished');
    const point = await durable(talk);
    const more = open.book.write('forked later', [terminal('echo two > work.txt'), finish()]);
    await talk.ended('finished', await talk.send(more));
    const later = await durable(talk);

    const prompt = open.book.write('the fork', [terminal('cat work.txt; echo fork > work.txt'), finish()]);
    const fork = async (body: object, key?: string): Promise<Response> =>
      open.user.fetch(`${talk.path}/forks`, {
        method: 'POST',
        json: { prompt, ...body },
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      });
    expect((await fork({ at: { seq: 1 } })).status).toBe(409);
    expect((await fork({ at: { checkpoint: open.user.me.id } })).status).toBe(400);
    // Between two turns: the checkpoint of the first one.
    const [made, again] = await Promise.all([
      fork({ at: { seq: later.seq - 1 } }, 'once'),
      fork({ at: { seq: later.seq - 1 } }, 'once'),
    ]);
    const forked = Conversation.parse(await (made.status === 201 ? made : again).json());
    expect(forked).toMatchObject({
      forkedFrom: { conversation: talk.id, seq: point.seq },
      costUsd: '0',
      title: expect.stringMatching(/ \(fork\)$/),
    });
    const own = open.follow(forked.id);
    await until('the fork has come to its end', () =>
      own.watcher.log.some(
        ({ seq, event }) =>
          seq > point.seq && event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished',
      ),
    );
    await own.expectWholeLog();
    expect(own.watcher.log.slice(0, point.seq).map(({ event }) => event)).toEqual(
      talk.watcher.log.slice(0, point.seq).map(({ event }) => event),
    );
    const printed = own.of('ObservationEvent').map(({ observation }) => JSON.stringify(observation));
    expect(printed.at(-2)).toContain('one');
    expect(
      own
        .of('MessageEvent')
        .map((event) => JSON.stringify(event.llm_message))
        .join(),
    ).toContain('was forked from another one');
    const work = (of: Talk): string => readFileSync(path.join(folderOf(of), 'workspace/sample/work.txt'), 'utf8');
    expect([work(talk), work(own)]).toEqual(['two\n', 'fork\n']);
    // What was forked from is kept.
    expect((await open.user.fetch(`${talk.path}/checkpoints/${point.id}`, { method: 'DELETE' })).status).toBe(409);
    const stranger = await register(open.url, 'Third User', 'third');
    expect(
      (await stranger.fetch(`${talk.path}/forks`, { method: 'POST', json: { prompt, at: { seq: later.seq } } })).status,
    ).toBe(404);
  });

  it('are stored anew in few packs when a checkpoint has come to have very many', async () => {
    const talk = await open.talk('many packs', [terminal('date >> one'), finish()]);
    await talk.ended('finished');
    const before = await durable(talk);
    await open.query(
      `WITH made AS (
         INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by)
         SELECT p.org_id, md5(random()::text || n), p.bytes, 0, p.wrapped_key, p.key_version, p.stored_by
         FROM app.checkpoint_pack r JOIN app.pack p ON p.id = r.pack_id, generate_series(1, 100) n WHERE r.checkpoint_id = $1
         RETURNING org_id, id)
       INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id) SELECT org_id, $1, id FROM made`,
      [before.id],
    );
    await talk.ended('finished', await talk.send('Go on.'));
    const packsOf = async (): Promise<number> => {
      const [newest] = (await list(talk)).data;
      const [row] = await open.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM app.checkpoint_pack WHERE checkpoint_id = $1',
        [newest?.id],
      );
      return newest?.id === before.id ? Number.POSITIVE_INFINITY : (row?.count ?? 0);
    };
    await until('a checkpoint of few packs', async () => (await packsOf()) < 5, 30_000);
  });

  it('are listed newest first, named, kept, and deleted, by members of the organization alone', async () => {
    const talk = await open.talk('listed', [terminal('date >> one'), finish()]);
    await talk.ended('finished');
    await durable(talk);
    await talk.ended('finished', await talk.send('Go on.'));
    const newest = await durable(talk);
    const all = (await list(talk)).data;
    expect(all.map(({ seq }) => seq)).toEqual([...all.map(({ seq }) => seq)].sort((one, two) => two - one));
    const first = await list(talk, '?limit=1');
    expect(first.data).toEqual([newest]);
    const second = await list(talk, `?limit=1&cursor=${first.page.nextCursor}`);
    expect(second.data).toEqual([all[1]]);

    const at = `${talk.path}/checkpoints/${all[1]?.id}`;
    const named = await open.user.fetch(at, { method: 'PATCH', json: { name: 'Before the tests' } });
    expect([named.status, await named.json()]).toEqual([200, { ...all[1], name: 'Before the tests' }]);
    expect((await open.user.fetch(at, { method: 'PATCH', json: { name: '' } })).status).toBe(400);

    const stranger = await register(open.url, 'Other User', 'other');
    for (const [method, json] of [
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await stranger.fetch(at, { method, json })).status).toBe(404);
    expect((await stranger.fetch(`${talk.path}/checkpoints`)).status).toBe(404);

    expect((await open.user.fetch(at, { method: 'DELETE' })).status).toBe(204);
    expect((await open.user.fetch(at, { method: 'DELETE' })).status).toBe(404);
    expect((await list(talk)).data.map(({ id }) => id)).not.toContain(all[1]?.id);
    const audit = await open.query<{ action: string }>('SELECT action FROM app.audit_entry WHERE target = $1', [
      all[1]?.id,
    ]);
    expect(audit.map(({ action }) => action).sort()).toEqual(['checkpoint.delete', 'checkpoint.rename']);
  });
});
