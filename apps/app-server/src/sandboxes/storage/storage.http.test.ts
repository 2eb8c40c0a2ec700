import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { Storage } from '@slipway/contracts/sandboxes';
import { asSystem, inOrg } from '@slipway/db/sql';
import { Company } from '../../testing/company.js';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';
import { orgsToWarn, takeWarning } from './storage.queries.js';

const BLOCK = 64 * 1024;

describe('the storage of an organization', () => {
  let app: ConversationApp;
  let company: Company;
  let member: User;
  let other: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    company = await Company.open(app);
    [member, other] = [await company.member('member'), await company.member('member')];
  });
  afterAll(() => app?.close());

  const create = async (user: User): Promise<string> => {
    const { status, body } = await app.http<{ id: string }>(user, 'POST', company.path('/conversations'), {
      prompt: 'Do something',
    });
    expect(status).toBe(201);
    return body.id;
  };
  const fill = async (id: string, texts: readonly string[]): Promise<void> => {
    await app.started(id);
    const events = texts.map((text, index) => ({ producerSeq: index + 1, event: thought(text) }));
    expect((await app.ingest({ ...member, orgId: company.org.id }, id, events)).status).toBe(200);
  };
  const storage = async (user: User = company.owner): Promise<Storage> =>
    (await app.http<Storage>(user, 'GET', company.path('/storage'))).body;
  const remove = (user: User | null, id: string) =>
    app.http<Problem>(user, 'DELETE', company.path(`/conversations/${id}?permanently=true`));
  const limit = (bytes: number | null) =>
    app.owner.query(
      'INSERT INTO app.org_storage (org_id, limit_bytes) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET limit_bytes = excluded.limit_bytes',
      [company.org.id, bytes],
    );

  it('is shown by kind, with its limit and the largest conversations first', async () => {
    const [small, large] = [await create(member), await create(member)];
    await fill(large, ['x'.repeat(30_000), 'y'.repeat(200_000)]);
    await limit(10 * BLOCK);
    const shown = await storage();
    expect(shown).toMatchObject({
      state: 'ok',
      used: 5 * BLOCK,
      limit: 10 * BLOCK,
      reserve: 1_048_576,
      conversations: 2,
    });
    expect(shown.kinds.payloads).toBe(200_000);
    expect(Object.values(shown.kinds).reduce((sum, bytes) => sum + bytes)).toBe(shown.used);
    expect(shown.largest.map(({ id, bytes }) => [id, bytes])).toEqual([
      [large, 4 * BLOCK],
      [small, BLOCK],
    ]);
    await limit(6 * BLOCK);
    expect((await storage()).state).toBe('near');
    await limit(5 * BLOCK);
    expect((await storage()).state).toBe('full');
    await limit(null);
  });

  it('is for those who may read usage: a member is refused, whoever is no member finds nothing, and no route sets a limit', async () => {
    expect((await app.http(member, 'GET', company.path('/storage'))).status).toBe(403);
    expect((await app.http(await app.user(), 'GET', company.path('/storage'))).status).toBe(404);
    for (const method of ['PUT', 'PATCH', 'POST'])
      expect((await app.http(company.owner, method, company.path('/storage'), { limit: 1 })).status).toBe(404);
  });

  it('is given back when a conversation is deleted, which is gone for all users at once and in the audit', async () => {
    const id = await create(member);
    await fill(id, ['z'.repeat(150_000)]);
    const before = (await storage()).used;
    expect((await remove(member, id)).status).toBe(204);
    expect((await storage()).used).toBe(before - 3 * BLOCK);
    expect((await app.http(company.owner, 'GET', company.path(`/conversations/${id}`))).status).toBe(404);
    expect((await app.http(company.owner, 'GET', company.path(`/conversations/${id}/events`))).status).toBe(404);
    expect(
      (await app.ingest({ ...member, orgId: company.org.id }, id, [{ producerSeq: 2, event: thought('late') }])).status,
    ).toBe(404);
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'conversation.delete',
      target: id,
      before: { bytes: 3 * BLOCK },
    });
    const { rows } = await app.owner.query('SELECT queue FROM app.outbox WHERE key = $1', [id]);
    expect(rows).toEqual([{ queue: 'conversation-delete' }]);
    expect((await remove(member, id)).status).toBe(404);
  });

  it('a hostile member does not delete what another has made, an admin may, and another organization finds nothing', async () => {
    const id = await create(member);
    expect((await remove(other, id)).body).toMatchObject({ status: 403, code: 'permission.denied' });
    expect((await remove(await app.user(), id)).status).toBe(404);
    expect((await app.http(await app.user(), 'GET', company.path(`/conversations/${id}`))).status).toBe(404);
    const stranger = await app.user();
    expect((await app.http(stranger, 'DELETE', app.path(stranger, id))).status).toBe(404);
    expect((await app.http(company.owner, 'GET', company.path(`/conversations/${id}`))).status).toBe(200);
    expect((await remove(company.owner, id)).status).toBe(204);
  });

  it('is warned of once at each share, and again only after it was well below', async () => {
    const orgId = company.org.id;
    const warn = async (): Promise<number | null> => {
      if (!(await asSystem(app.pool, 'slipway_app_system', 'test', orgsToWarn)).includes(orgId)) return null;
      const taken = await Promise.all([1, 2].map(() => inOrg(app.pool, orgId, (client) => takeWarning(client, orgId))));
      return taken.find((each) => each !== null)?.percent ?? 0;
    };
    const used = 1_000 * BLOCK;
    await app.owner.query('UPDATE app.org_storage SET used_bytes = $2 WHERE org_id = $1', [orgId, used]);
    const at = async (share: number): Promise<number | null> => {
      await limit(Math.floor(used / share));
      return warn();
    };
    expect([
      await at(0.5),
      await at(0.85),
      await at(0.85),
      await at(0.75),
      await at(0.85),
      await at(1),
      await at(1),
      await at(0.6),
      await at(0.85),
    ]).toEqual([null, 80, null, null, null, 100, null, 0, 80]);
    await limit(null);
  });
});
