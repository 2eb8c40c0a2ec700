import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KeptDraft, MAX_DRAFT_BYTES } from '@slipway/contracts/conversations';
import { inOrg } from '@slipway/db/sql';
import { endMembership } from '../../organizations/members/membership.queries.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('drafts over HTTP', () => {
  let app: ConversationApp;
  let user: User;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ada');
  });
  afterAll(() => app?.close());

  const path = (subject: string, of: User = user) => `/api/v1/orgs/${of.orgId}/drafts/${subject}`;
  const keep = async (subject: string, text: string, version: number) =>
    (await app.http<KeptDraft>(user, 'PUT', path(subject), { text, version })).body;
  const read = async (subject: string, by: User = user) => (await app.http<KeptDraft>(by, 'GET', path(subject))).body;

  it('are written on one device and continued on another', async () => {
    const { id } = await app.conversation(user);
    expect(await read(id)).toEqual({ text: '', version: 0, updatedAt: null });
    const first = await keep(id, 'on the phone', 0);
    expect(first).toMatchObject({ text: 'on the phone', replaced: null });
    expect(await read(id)).toMatchObject({ text: 'on the phone', version: first.version });
    expect(await keep(id, 'on the phone, and at the desk', first.version)).toMatchObject({ replaced: null });
  });

  it('of two devices that did not know of each other the newest wins, and the other text is answered', async () => {
    const one = await keep('new-task', 'from one', 0);
    const other = await keep('new-task', 'from the other', 0);
    expect(other).toMatchObject({ text: 'from the other', replaced: 'from one' });
    expect(other.version).toBeGreaterThan(one.version);
  });

  it('are cleared by what was sent, and not when another device has written since', async () => {
    const { id } = await app.conversation(user);
    const sent = await keep(id, 'sent', 0);
    const since = await keep(id, 'written since', sent.version);
    expect((await app.http(user, 'DELETE', `${path(id)}?version=${sent.version}`)).status).toBe(204);
    expect(await read(id)).toMatchObject({ text: 'written since' });
    expect((await app.http(user, 'DELETE', `${path(id)}?version=${since.version}`)).status).toBe(204);
    expect(await read(id)).toMatchObject({ text: '', version: 0 });
    expect((await keep(id, 'the next', since.version)).version).toBeGreaterThan(since.version);
  });

  it('are seen by their writer alone, and gone when the writer has left', async () => {
    const { id } = await app.conversation(user);
    await keep(id, 'mine', 0);
    const colleague = await app.user('Ben');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      user.orgId,
      colleague.userId,
    ]);
    expect(await read(id, colleague)).toMatchObject({ text: '', version: 0 });
    await app.http(colleague, 'PUT', path(id), { text: 'theirs', version: 0 });
    expect(await read(id)).toMatchObject({ text: 'mine' });
    await inOrg(app.pool, user.orgId, (client) => endMembership(client, user.orgId, colleague.userId));
    const { rows } = await app.owner.query('SELECT 1 FROM app.message_draft WHERE user_id = $1', [colleague.userId]);
    expect(rows).toEqual([]);
  });

  it(`refuses more than ${MAX_DRAFT_BYTES} bytes, NUL, and what no draft can be about`, async () => {
    const put = (subject: string, text: string) => app.http(user, 'PUT', path(subject), { text, version: 0 });
    expect((await put('new-task', 'é'.repeat(MAX_DRAFT_BYTES / 2))).status).toBe(200);
    expect(await put('new-task', `${'é'.repeat(MAX_DRAFT_BYTES / 2)}x`)).toMatchObject({
      status: 400,
      body: { code: 'request.invalid' },
    });
    expect((await put('new-task', 'a\u0000b')).status).toBe(400);
    for (const subject of ['new', randomUUID()]) {
      expect((await put(subject, 'x')).status).toBe(404);
      expect((await app.http(user, 'GET', path(subject))).status).toBe(404);
      expect((await app.http(user, 'DELETE', path(subject))).status).toBe(404);
    }
    const stranger = await app.user();
    expect((await put((await app.conversation(stranger)).id, 'x')).status).toBe(404);
  });
});
