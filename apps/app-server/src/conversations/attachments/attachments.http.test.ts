import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Attachment, type AttachmentList, MAX_ATTACHMENT_BYTES } from '@slipway/contracts/conversations';
import { inOrg } from '@slipway/db/sql';
import { until } from '@slipway/testing';
import { endMembership } from '../../organizations/members/membership.queries.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

jest.setTimeout(120_000);

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HTML = Buffer.from('<!doctype html><script>alert(document.domain)</script>');

describe('attachments over HTTP', () => {
  let app: ConversationApp;
  let user: User;
  let id: string;
  beforeAll(async () => {
    app = await ConversationApp.start({ env: { ATTACHMENT_MAX_MB: '2' } });
    user = await app.user('Ada');
    id = (await app.conversation(user)).id;
  });
  afterAll(() => app?.close());

  interface Sent {
    readonly by?: User;
    readonly to?: string;
    readonly key?: string;
    readonly type?: string;
  }
  const upload = async (
    name: string,
    content: Buffer,
    { by = user, to = id, key, type = 'application/octet-stream' }: Sent = {},
  ) => {
    const url = `${app.url}/api/v1/orgs/${user.orgId}/conversations/${to}/attachments?name=${encodeURIComponent(name)}`;
    const headers = { cookie: by.cookie, 'content-type': type, origin: app.url };
    const answer = await fetch(url, {
      method: 'POST',
      headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
      body: new Uint8Array(content),
    });
    return { status: answer.status, body: (await answer.json()) as Attachment & { code?: string } };
  };
  const filesOf = (conversation: string, by: User = user) =>
    `/api/v1/orgs/${by.orgId}/conversations/${conversation}/attachments`;
  const read = (file: string, by: User = user, conversation = id) =>
    fetch(`${app.url}/api/v1/orgs/${user.orgId}/conversations/${conversation}/attachments/${file}/content`, {
      headers: { cookie: by.cookie },
    });
  const list = async (by: User = user, conversation = id) =>
    (await app.http<AttachmentList>(by, 'GET', `/api/v1/orgs/${user.orgId}/conversations/${conversation}/attachments`))
      .body.data;
  const say = (text: string, attachments: string[], by: User = user, conversation = id) =>
    app.http<{ id: string; code?: string; attachments: Attachment[] }>(
      by,
      'POST',
      `/api/v1/orgs/${user.orgId}/conversations/${conversation}/messages`,
      { text, attachments },
    );
  const joins = async (role: string): Promise<User> => {
    const joined = await app.user('Ben');
    await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      user.orgId,
      joined.userId,
      role,
    ]);
    return joined;
  };
  const storageOf = async (conversation: string) =>
    Number(
      (await app.owner.query('SELECT blob_bytes FROM app.conversation WHERE id = $1', [conversation])).rows[0]
        ?.blob_bytes,
    );

  it('are uploaded, sent with a message in its order, listed, and read back byte for byte', async () => {
    const log = Buffer.from(Array.from({ length: 40_000 }, (_, line) => `line ${line} of the log\n`).join(''));
    const [picture, text] = [await upload('screen.png', PNG), await upload('build.log', log)];
    expect(picture).toMatchObject({
      status: 201,
      body: { name: 'screen.png', mediaType: 'image/png', sizeBytes: PNG.length, messageId: null },
    });
    expect(text.body).toMatchObject({ mediaType: 'text/plain', sizeBytes: log.length });
    const sent = await say('look', [text.body.id, picture.body.id]);
    expect(sent.status).toBe(202);
    expect(sent.body.attachments.map(({ id: file }) => file)).toEqual([text.body.id, picture.body.id]);
    expect((await list()).find(({ id: file }) => file === text.body.id)?.messageId).toBe(sent.body.id);
    const answer = await read(text.body.id);
    expect(Buffer.from(await answer.arrayBuffer()).equals(log)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect((await read(picture.body.id)).headers.get('content-type')).toBe('image/png');
  });

  it('run in no browser: HTML by the name of a picture is text, to be saved, in a sandbox', async () => {
    const { body } = await upload('kitten.png', HTML, { type: 'application/octet-stream' });
    const answer = await read(body.id);
    expect(body.mediaType).toBe('text/plain');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename="kitten\.png"/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  it('have names that mislead nobody, in lists and in headers', async () => {
    for (const [given, name] of [
      ['../../etc/cron.d/x', 'x'],
      ['report\u202etxt.exe', 'reporttxt.exe'],
      ['a"\r\nset-cookie: x=1.txt', 'a-set-cookie- x=1.txt'],
      ['Größe (1).txt', 'Größe (1).txt'],
    ] as const) {
      const { body } = await upload(given, Buffer.from('x'));
      expect(body.name).toBe(name);
      const disposition = (await read(body.id)).headers.get('content-disposition') ?? '';
      expect(disposition).toMatch(/^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''[\w.%~!-]+$/);
      expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toBe(name);
    }
    expect((await upload('', Buffer.from('x'))).status).toBe(400);
  });

  it('refuses what is too large, empty or no file, and stores nothing of it', async () => {
    const before = await list();
    const large = Buffer.alloc(2 * 1024 * 1024 + 1, 'x');
    expect(MAX_ATTACHMENT_BYTES).toBeGreaterThan(large.length);
    expect(await upload('large.bin', large)).toMatchObject({ status: 413, body: { code: 'request.too-large' } });
    expect(await upload('empty.txt', Buffer.alloc(0))).toMatchObject({ status: 400 });
    expect(await upload('x.json', Buffer.from('{}'), { type: 'application/json' })).toMatchObject({
      status: 415,
      body: { code: 'request.not-bytes' },
    });
    expect((await upload('x.html', HTML, { type: 'text/html' })).status).toBeGreaterThanOrEqual(400);
    expect(await list()).toEqual(before);
  });

  it('with the same key are one file, and counted once', async () => {
    const key = randomUUID();
    const { id: to } = await app.conversation(user);
    const first = await upload('once.txt', Buffer.from('once'), { key, to });
    const again = await upload('once.txt', Buffer.from('once'), { key, to });
    expect(again).toEqual(first);
    expect(await list(user, to)).toHaveLength(1);
    expect(await storageOf(to)).toBe(4);
    expect((await upload('other.txt', Buffer.from('other'), { key, to })).body.code).toBe('idempotency.mismatch');
  });

  it('that were not sent are deleted by their owner, and give their storage back; sent ones stay', async () => {
    const { id: to } = await app.conversation(user);
    const [kept, gone] = [
      await upload('kept.txt', Buffer.from('kept'), { to }),
      await upload('gone.txt', Buffer.from('gone'), { to }),
    ];
    expect((await app.http(user, 'DELETE', `${filesOf(to)}/${gone.body.id}`)).status).toBe(204);
    expect((await app.http(user, 'DELETE', `${filesOf(to)}/${gone.body.id}`)).status).toBe(404);
    expect(await storageOf(to)).toBe(4);
    await say('with it', [kept.body.id], user, to);
    expect(await app.http(user, 'DELETE', `${filesOf(to)}/${kept.body.id}`)).toMatchObject({
      status: 409,
      body: { code: 'attachment.sent' },
    });
    const { rows } = await app.owner.query('SELECT app.recount_storage($1, $2) AS off', [user.orgId, to]);
    expect(Number(rows[0].off)).toBe(0);
  });

  it('of a message that is withdrawn can be sent again; nothing can be sent twice', async () => {
    const { id: to } = await app.conversation(user);
    const { body } = await upload('again.txt', Buffer.from('again'), { to });
    const first = await say('one', [body.id], user, to);
    expect(await say('two', [body.id], user, to)).toMatchObject({
      status: 409,
      body: { code: 'attachment.unavailable' },
    });
    expect((await app.http(user, 'DELETE', app.path(user, to, `/messages/${first.body.id}`))).status).toBe(204);
    expect((await say('three', [body.id], user, to)).status).toBe(202);
  });

  it('of another user, another conversation or another organization are as none', async () => {
    const ben = await joins('member');
    const { body: mine } = await upload('mine.txt', Buffer.from('mine'));
    expect((await list(ben)).map((file) => file.id)).not.toContain(mine.id);
    expect((await read(mine.id, ben)).status).toBe(404);
    expect((await app.http(ben, 'DELETE', app.path(user, id, `/attachments/${mine.id}`))).status).toBe(404);
    expect((await say('not mine', [mine.id], ben)).body.code).toBe('attachment.unavailable');
    const { id: other } = await app.conversation(user);
    expect((await read(mine.id, user, other)).status).toBe(404);
    expect((await say('not here', [mine.id], user, other)).body.code).toBe('attachment.unavailable');
    const stranger = await app.user('Eve');
    expect((await read(mine.id, stranger)).status).toBe(404);
    expect((await upload('x.txt', Buffer.from('x'), { by: stranger })).status).toBe(404);
    expect((await say('stolen', [mine.id], stranger)).status).toBe(404);
  });

  it('are read by viewers and sent by none; who was removed has nothing any more', async () => {
    const [viewer, member] = [await joins('viewer'), await joins('member')];
    const { body } = await upload('shown.txt', Buffer.from('shown'));
    await say('shown', [body.id]);
    expect((await read(body.id, viewer)).status).toBe(200);
    expect((await upload('x.txt', Buffer.from('x'), { by: viewer })).status).toBe(403);
    const { body: theirs } = await upload('theirs.txt', Buffer.from('theirs'), { by: member });
    await inOrg(app.pool, user.orgId, (client) => endMembership(client, user.orgId, member.userId));
    await until('the removal holds', async () => (await read(body.id, member)).status === 404);
    expect((await read(theirs.id, member)).status).toBe(404);
    expect((await upload('x.txt', Buffer.from('x'), { by: member })).status).toBe(404);
  });

  it('are as many as a conversation may hold', async () => {
    const { id: to } = await app.conversation(user);
    await app.owner.query(
      `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label)
       SELECT gen_random_uuid(), $1, $2, 'n', 't', 1, '\\x00', 'u', 'u' FROM generate_series(1, 200)`,
      [user.orgId, to],
    );
    expect(await upload('more.txt', Buffer.from('x'), { to })).toMatchObject({
      status: 409,
      body: { code: 'attachment.limit' },
    });
  });
});
