import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type Attachment,
  type Conversation,
  MAX_MESSAGE_ATTACHMENTS,
  MAX_PENDING_ATTACHMENTS,
} from '@slipway/contracts/conversations';
import { inOrg } from '@slipway/db/sql';
import { endMembership } from '../../organizations/members/membership.queries.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

jest.setTimeout(120_000);

describe('files of a task, over HTTP', () => {
  let app: ConversationApp;
  let user: User;
  let colleague: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ env: { ATTACHMENT_MAX_MB: '2' } });
    user = await app.user('Ada');
    colleague = await joins('member');
  });
  afterAll(() => app?.close());
  beforeEach(() => app.owner.query('DELETE FROM app.attachment'));

  const joins = async (role: string): Promise<User> => {
    const joined = await app.user('Ben');
    await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      user.orgId,
      joined.userId,
      role,
    ]);
    return joined;
  };
  const files = () => `/api/v1/orgs/${user.orgId}/attachments`;
  const upload = async (
    name: string,
    content: string | Buffer,
    { by = user, key, type = 'application/octet-stream' }: { by?: User; key?: string; type?: string } = {},
  ) => {
    const answer = await fetch(`${app.url}${files()}?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: {
        cookie: by.cookie,
        'content-type': type,
        origin: app.url,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: typeof content === 'string' ? content : new Uint8Array(content),
    });
    return { status: answer.status, body: (await answer.json()) as Attachment & { code?: string } };
  };
  const give = (attachments: string[], by: User = user, headers: Record<string, string> = {}) =>
    app.http<Conversation & { code?: string }>(
      by,
      'POST',
      `/api/v1/orgs/${user.orgId}/conversations`,
      { prompt: 'Look.', attachments },
      headers,
    );
  const remove = (id: string, by: User = user) => app.http(by, 'DELETE', `${files()}/${id}`);
  const stored = async (): Promise<number> =>
    (await app.owner.query('SELECT count(*)::int AS count FROM app.attachment')).rows[0].count;
  const conversations = async (): Promise<number> =>
    (await app.owner.query('SELECT count(*)::int AS count FROM app.conversation WHERE org_id = $1', [user.orgId]))
      .rows[0].count;

  it('are uploaded before the conversation and go with its first message, in order and counted', async () => {
    const one = await upload('one.txt', 'one');
    const two = await upload('../two.txt', 'second');
    expect(one).toMatchObject({ status: 201, body: { name: 'one.txt', mediaType: 'text/plain', messageId: null } });
    const made = await give([two.body.id, one.body.id.toUpperCase()]);
    expect(made.status).toBe(201);
    const [first] = made.body.queued;
    expect(first?.attachments?.map(({ name, messageId }) => [name, messageId])).toEqual([
      ['two.txt', first?.id],
      ['one.txt', first?.id],
    ]);
    const content = await fetch(`${app.url}${app.path(user, made.body.id, `/attachments/${two.body.id}/content`)}`, {
      headers: { cookie: user.cookie },
    });
    expect(await content.text()).toBe('second');
    const { rows } = await app.owner.query(
      'SELECT blob_bytes::int AS bytes, app.recount_storage($1, $2)::int AS off FROM app.conversation WHERE id = $2',
      [user.orgId, made.body.id],
    );
    expect(rows).toEqual([{ bytes: 9, off: 0 }]);
    // They are the conversation's from now on.
    expect((await remove(one.body.id)).status).toBe(404);
    expect(await app.http(user, 'DELETE', app.path(user, made.body.id, `/attachments/${one.body.id}`))).toMatchObject({
      status: 409,
      body: { code: 'attachment.sent' },
    });
  });

  it('start nothing when one of them is not there, and are all kept for the next attempt', async () => {
    const { body } = await upload('kept.txt', 'kept');
    const before = await conversations();
    expect(await give([body.id, randomUUID()])).toMatchObject({
      status: 409,
      body: { code: 'attachment.unavailable' },
    });
    expect(await conversations()).toBe(before);
    expect((await give([body.id])).status).toBe(201);
    expect(await give([body.id])).toMatchObject({ status: 409, body: { code: 'attachment.unavailable' } });
    const many = Array.from({ length: MAX_MESSAGE_ATTACHMENTS + 1 }, () => randomUUID());
    expect((await give(many)).status).toBe(400);
  });

  it('of two tasks at the same moment go with one', async () => {
    const { body } = await upload('once.txt', 'once');
    const answers = await Promise.all([give([body.id]), give([body.id]), give([body.id])]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('are sent once by a request that is repeated, and uploaded once with the same key', async () => {
    const upKey = randomUUID();
    const first = await upload('once.txt', 'once', { key: upKey });
    expect(await upload('once.txt', 'once', { key: upKey })).toEqual(first);
    expect(await stored()).toBe(1);
    const key = { 'idempotency-key': randomUUID() };
    const made = await give([first.body.id], user, key);
    expect((await give([first.body.id], user, key)).body.id).toBe(made.body.id);
    expect(await stored()).toBe(1);
  });

  it('of another user or another organization are as none', async () => {
    const { body: mine } = await upload('mine.txt', 'mine');
    expect(await give([mine.id], colleague)).toMatchObject({ status: 409, body: { code: 'attachment.unavailable' } });
    expect((await remove(mine.id, colleague)).status).toBe(404);
    const stranger = await app.user('Eve');
    expect((await upload('x.txt', 'x', { by: stranger })).status).toBe(404);
    expect((await remove(mine.id, stranger)).status).toBe(404);
    const home = `/api/v1/orgs/${stranger.orgId}`;
    expect((await app.http(stranger, 'DELETE', `${home}/attachments/${mine.id}`)).status).toBe(404);
    expect(
      await app.http(stranger, 'POST', `${home}/conversations`, { prompt: 'x', attachments: [mine.id] }),
    ).toMatchObject({ status: 409, body: { code: 'attachment.unavailable' } });
    const { id } = await app.conversation(user);
    expect((await app.http(user, 'GET', app.path(user, id, `/attachments/${mine.id}/content`))).status).toBe(404);
    expect(
      await app.http(user, 'POST', app.path(user, id, '/messages'), { text: 'x', attachments: [mine.id] }),
    ).toMatchObject({ status: 409, body: { code: 'attachment.unavailable' } });
    expect((await remove(mine.id)).status).toBe(204);
    expect((await remove(mine.id)).status).toBe(404);
  });

  it('are refused to viewers, and gone with a user who leaves', async () => {
    const [viewer, leaver] = [await joins('viewer'), await joins('member')];
    expect((await upload('x.txt', 'x', { by: viewer })).status).toBe(403);
    await upload('theirs.txt', 'theirs', { by: leaver });
    await upload('mine.txt', 'mine');
    await inOrg(app.pool, user.orgId, (client) => endMembership(client, user.orgId, leaver.userId));
    const { rows } = await app.owner.query('SELECT name FROM app.attachment');
    expect(rows).toEqual([{ name: 'mine.txt' }]);
  });

  it('are bounded as those of a message, and in their number for each user', async () => {
    expect(await upload('large.bin', Buffer.alloc(2 * 1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { code: 'request.too-large' },
    });
    expect((await upload('empty.txt', '')).status).toBe(400);
    expect(await upload('x.json', '{}', { type: 'application/json' })).toMatchObject({ status: 415 });
    expect(await stored()).toBe(0);
    await app.owner.query(
      `INSERT INTO app.attachment (id, org_id, name, media_type, bytes, content, created_by, created_by_label)
       SELECT gen_random_uuid(), $1, 'n', 't', 1, '\\x00', $2, 'u' FROM generate_series(1, $3::int)`,
      [user.orgId, user.userId, MAX_PENDING_ATTACHMENTS - 1],
    );
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => upload(name, name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('attachment.limit');
    expect((await upload('theirs.txt', 'theirs', { by: colleague })).status).toBe(201);
  });
});
