import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type BulkEditResult,
  type Conversation,
  ConversationSummary,
  MAX_TAGS,
  pageOf,
} from '@slipway/contracts/conversations';
import type { Problem } from '@slipway/contracts/errors';
import { Company } from '../../testing/company.js';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';

jest.setTimeout(120_000);
const Page = pageOf(ConversationSummary);

describe('edits of conversations', () => {
  let app: ConversationApp;
  let company: Company;
  let member: User;
  let other: User;
  let viewer: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    company = await Company.open(app);
    [member, other, viewer] = [
      await company.member('member'),
      await company.member('member'),
      await company.member('viewer'),
    ];
  });
  afterAll(() => app?.close());

  const at = (id: string, rest = ''): string => company.path(`/conversations/${id}${rest}`);
  const create = async (user: User = member, title = 'A task'): Promise<string> => {
    const { status, body } = await app.http<{ id: string }>(user, 'POST', company.path('/conversations'), {
      prompt: 'Do it',
      title,
    });
    expect(status).toBe(201);
    return body.id;
  };
  const edit = (id: string, body: unknown, user: User = member) => app.http<Conversation>(user, 'PATCH', at(id), body);
  const bulk = (body: unknown, user: User = member) =>
    app.http<BulkEditResult>(user, 'POST', company.path('/conversations/bulk'), body);
  const list = async (query: string, user: User = member): Promise<ConversationSummary[]> => {
    const { status, body } = await app.http(user, 'GET', company.path(`/conversations?limit=200&${query}`));
    expect([query, status]).toEqual([query, 200]);
    return Page.parse(body).data;
  };
  const ids = async (query: string, user: User = member): Promise<string[]> =>
    (await list(query, user)).map(({ id }) => id);

  it('rename for all users, and the log says so', async () => {
    const id = await create();
    expect((await edit(id, { title: '  Über den Fluß ' })).body).toMatchObject({ title: 'Über den Fluß' });
    expect((await app.http<Conversation>(other, 'GET', at(id))).body.title).toBe('Über den Fluß');
    expect((await app.log(id)).at(-1)?.event).toMatchObject({ key: 'title', value: 'Über den Fluß' });
    const { head } = (await edit(id, { title: 'Über den Fluß' })).body;
    expect((await app.log(id)).length).toBe(head);
    expect((await company.audit()).filter(({ target }) => target === id).map(({ action }) => action)).toEqual([
      'conversation.create',
      'conversation.rename',
    ]);
  });

  it('pin for the caller alone', async () => {
    const id = await create();
    expect((await edit(id, { pinned: true })).body.pinned).toBe(true);
    expect((await edit(id, { pinned: true })).status).toBe(200);
    expect(await ids('pinned=true')).toEqual([id]);
    expect((await list('')).find((each) => each.id === id)?.pinned).toBe(true);
    expect(await ids('pinned=true', other)).toEqual([]);
    expect((await list('', other)).find((each) => each.id === id)?.pinned).toBe(false);
    expect((await app.http<Conversation>(other, 'GET', at(id))).body.pinned).toBe(false);
    await edit(id, { pinned: false });
    expect(await ids('pinned=true')).toEqual([]);
  });

  it('tag, each tag once and in order, and the list finds one of them', async () => {
    const [id, without] = [await create(), await create()];
    const tags = ['b "q" \\', 'ä', 'b "q" \\', '😀'];
    expect((await edit(id, { tags })).body.tags).toEqual(['b "q" \\', 'ä', '😀']);
    expect(await ids(`tag=${encodeURIComponent('b "q" \\')}`)).toEqual([id]);
    expect(await ids('tag=b')).toEqual([]);
    expect((await list('tag=%F0%9F%98%80&sort=updated'))[0]?.tags).toEqual(['b "q" \\', 'ä', '😀']);
    const { results } = (await bulk({ action: 'tag', ids: [id, without], add: ['new', 'ä'], remove: ['😀'] })).body;
    expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect((await list('tag=new')).map((each) => each.tags)).toEqual([
      ['new', 'ä'],
      ['b "q" \\', 'ä', 'new'],
    ]);
  });

  it('archive for all users: out of the list, and back', async () => {
    const id = await create();
    expect((await edit(id, { archived: true })).body.archivedAt).not.toBeNull();
    for (const sort of ['created', 'updated', 'cost']) expect(await ids(`sort=${sort}`)).not.toContain(id);
    expect(await ids('shown=archived', other)).toEqual([id]);
    expect(await ids('shown=all')).toContain(id);
    const before = (await app.http<Conversation>(member, 'GET', at(id))).body.archivedAt;
    expect((await edit(id, { archived: true })).body.archivedAt).toBe(before);
    expect((await edit(id, { archived: false })).body.archivedAt).toBeNull();
    expect(await ids('')).toContain(id);
    expect((await company.audit()).filter(({ target }) => target === id).map(({ action }) => action)).toEqual([
      'conversation.create',
      'conversation.archive',
      'conversation.unarchive',
    ]);
  });

  it('refuse what is too long, too much, hidden or nothing at all, and change nothing then', async () => {
    const id = await create(member, 'As it was');
    for (const body of [
      {},
      { title: '' },
      { title: ' ' },
      { title: 'x'.repeat(201) },
      { title: 'a\nb' },
      { title: 'safe\u202etxt.exe' },
      { title: '\ud800' },
      { tags: Array.from({ length: MAX_TAGS + 1 }, (_, index) => `t${index}`) },
      { tags: ['x'.repeat(51)] },
      { tags: ['a\u2066b'] },
      { tags: ['a\u0000b'] },
      { tags: 'a' },
      { pinned: 'yes' },
      { deletedAt: null },
      { title: 'Good', owner: 'usr_x' },
    ])
      expect([body, (await edit(id, body)).status]).toEqual([body, 400]);
    expect((await app.http<Conversation>(member, 'GET', at(id))).body).toMatchObject({ title: 'As it was', tags: [] });
    const full = Array.from({ length: MAX_TAGS }, (_, index) => `t${index}`);
    await edit(id, { tags: full });
    expect((await bulk({ action: 'tag', ids: [id], add: ['more'] })).body.results).toEqual([
      expect.objectContaining({ id, outcome: 'failed', code: 'request.invalid' }),
    ]);
    for (const body of [
      { action: 'archive', ids: [] },
      { action: 'archive', ids: ['x'] },
      { action: 'archive', ids: Array.from({ length: 101 }, () => randomUUID()) },
      { action: 'burn', ids: [id] },
    ])
      expect((await bulk(body)).status).toBe(400);
  });

  it('are for who may write: a viewer is refused, a stranger and a former member find nothing', async () => {
    const id = await create();
    expect((await edit(id, { pinned: true }, viewer)).status).toBe(403);
    expect((await bulk({ action: 'archive', ids: [id] }, viewer)).status).toBe(403);
    expect((await app.http(viewer, 'DELETE', at(id))).status).toBe(403);
    expect((await app.http(viewer, 'POST', at(id, '/restore'))).status).toBe(403);
    const stranger = await app.user();
    expect((await edit(id, { pinned: true }, stranger)).status).toBe(404);
    expect((await app.http(stranger, 'DELETE', at(id))).status).toBe(404);
    const former = await company.member('member');
    await app.owner.query('DELETE FROM app.membership WHERE user_id = $1 AND org_id = $2', [
      former.userId,
      company.org.id,
    ]);
    expect((await bulk({ action: 'delete', ids: [id] }, former)).status).toBe(404);
    expect((await app.http<Conversation>(member, 'GET', at(id))).body).toMatchObject({
      pinned: false,
      deletedAt: null,
    });
  });

  it('in bulk answer for each id, once and in order, and one that fails changes no other', async () => {
    const stranger = await app.user();
    const [mine, theirs, gone] = [await create(), await create(other), randomUUID()];
    const foreign = (await app.conversation(stranger)).id;
    const wanted = [foreign, mine, gone, theirs, mine.toUpperCase()];
    const answers = async (action: string) =>
      (await bulk({ action, ids: wanted })).body.results.map(({ id, code }) => [id, code]);
    for (const _again of [1, 2])
      expect(await answers('delete')).toEqual([
        [foreign, 'resource.not-found'],
        [mine, null],
        [gone, 'resource.not-found'],
        [theirs, 'permission.denied'],
      ]);
    expect((await app.http(stranger, 'GET', app.path(stranger, foreign))).status).toBe(200);
    expect(await ids('')).toContain(theirs);
    expect(await answers('restore')).toEqual([
      [foreign, 'resource.not-found'],
      [mine, null],
      [gone, 'resource.not-found'],
      [theirs, 'permission.denied'],
    ]);
    expect((await bulk({ action: 'stop', ids: [mine, theirs] })).body.results.map(({ code }) => code)).toEqual([
      null,
      null,
    ]);
    expect((await bulk({ action: 'delete', ids: [theirs] }, company.owner)).body.results[0]?.outcome).toBe('done');
  });

  it('delete into a trash from which it comes back with all that it had', async () => {
    const id = await create(member, 'Precious');
    await app.started(id);
    await app.ingest({ ...member, orgId: company.org.id }, id, [{ producerSeq: 1, event: thought('work') }]);
    await edit(id, { tags: ['keep'], pinned: true });
    const before = await app.log(id);
    expect((await app.http(member, 'DELETE', at(id))).status).toBe(204);
    expect((await app.http(member, 'DELETE', at(id))).status).toBe(204);
    expect(await ids('shown=all')).not.toContain(id);
    const [row] = (await list('shown=deleted', viewer)).filter((each) => each.id === id);
    expect(row).toMatchObject({ title: 'Precious', tags: ['keep'], deletedAt: expect.any(String) });
    expect(
      (await app.ingest({ ...member, orgId: company.org.id }, id, [{ producerSeq: 2, event: thought('late') }])).status,
    ).toBe(404);
    const { rows } = await app.owner.query('SELECT queue FROM app.outbox WHERE key = $1', [id]);
    expect(rows).toEqual([{ queue: 'conversation-pause' }]);
    expect((await app.http<Problem>(other, 'POST', at(id, '/restore'))).status).toBe(403);
    expect((await app.http<Conversation>(member, 'POST', at(id, '/restore'))).body).toMatchObject({
      id,
      tags: ['keep'],
      pinned: true,
      deletedAt: null,
    });
    expect((await app.http(member, 'POST', at(id, '/restore'))).status).toBe(200);
    expect((await app.log(id)).slice(0, before.length)).toEqual(before);
    expect(await ids('')).toContain(id);
    expect((await company.audit()).filter(({ target }) => target === id).map(({ action }) => action)).toEqual([
      'conversation.create',
      'conversation.delete',
      'conversation.restore',
    ]);
  });

  it('stop what runs before it is deleted: its sandbox may write no more, and the log has the end', async () => {
    const id = await create();
    await app.started(id);
    const { rows: before } = await app.owner.query<{ epoch: number }>(
      `UPDATE app.conversation SET desired = 'run', status = 'working', execution_status = 'running',
         status_state = '{"start":"ready","execution":"running","halt":"none"}' WHERE id = $1 RETURNING epoch`,
      [id],
    );
    expect((await app.http(member, 'DELETE', at(id))).status).toBe(204);
    const { rows } = await app.owner.query<{ desired: string; epoch: number; execution_status: string }>(
      'SELECT desired, epoch, execution_status FROM app.conversation WHERE id = $1',
      [id],
    );
    expect(rows[0]).toMatchObject({ desired: 'rest', execution_status: 'paused' });
    expect(rows[0]?.epoch).toBeGreaterThan(before[0]?.epoch ?? 0);
    expect((await app.log(id)).map(({ event }) => event.kind)).toContain('InterruptEvent');
  });
});
