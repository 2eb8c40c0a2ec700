import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Envelope, secretContext } from '@slipway/auth/envelope';
import { MAX_SECRET_BYTES, Secret, SecretList, SecretPage } from '@slipway/contracts/secrets';
import { systemClock } from '@slipway/domain';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const VALUE = 'canary-value-of-a-secret';

describe('secrets', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let viewer: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    owner = await app.user('Olga');
    [member, viewer] = [await app.user('Mia'), await app.user('Vic')];
    for (const [user, role] of [
      [member, 'member'],
      [viewer, 'viewer'],
    ] as const)
      await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
        owner.orgId,
        user.userId,
        role,
      ]);
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/secrets${rest}`;
  const mine = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/me/secrets${rest}`;
  let count = 0;
  const name = (): string => {
    count += 1;
    return `NAME_${count}`;
  };
  const create = async (body: object, at = path(), by = owner): Promise<Secret> => {
    const answer = await app.http(by, 'POST', at, { name: name(), value: VALUE, ...body });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return Secret.parse(answer.body);
  };
  const audit = async (target: string): Promise<Array<{ action: string }>> =>
    (
      await app.owner.query(
        'SELECT action, detail, before, after, actor_id FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
        [target],
      )
    ).rows;
  const storedValue = async ({ id }: Secret): Promise<string> => {
    const { rows } = await app.owner.query('SELECT * FROM app.secret WHERE id = $1', [id]);
    const envelope = new Envelope(app.pool, app.box, systemClock);
    const { kind, scope, scope_value: scopeValue, name: stored, sealed: bytes, key_version: keyVersion } = rows[0];
    return envelope.open(owner.orgId, { bytes, keyVersion }, secretContext({ kind, scope, scopeValue, name: stored }));
  };

  it('are listed by name and receiver, and a value that went in stands in no answer and in no table but sealed', async () => {
    const conversation = await app.conversation(owner);
    const made = [
      await create({}),
      await create({ scope: 'environment', scopeValue: 'staging', description: 'for staging' }),
      await create({ scope: 'repository', scopeValue: 'https://GIT.example/Acme/App.git/' }),
      await create({ scope: 'conversation', scopeValue: conversation.id }),
      await create({ kind: 'git', host: 'GIT.example', username: 'robot' }),
    ];
    expect(made[2]).toMatchObject({ scope: 'repository', scopeValue: 'https://git.example/Acme/App' });
    expect(made[4]).toMatchObject({
      kind: 'git',
      host: 'git.example',
      username: 'robot',
      masked: true,
      lastUsedAt: null,
      createdBy: { label: 'Olga' },
    });
    expect(await Promise.all(made.map(storedValue))).toEqual(made.map(() => VALUE));
    const list = await app.http(member, 'GET', path('?limit=200'));
    expect(SecretPage.parse(list.body).data).toEqual(expect.arrayContaining(made));
    expect(
      SecretPage.parse((await app.http(owner, 'GET', path('?scope=environment&scopeValue=staging'))).body).data,
    ).toEqual([made[1]]);
    expect(
      SecretPage.parse(
        (
          await app.http(
            owner,
            'GET',
            path(`?scope=repository&scopeValue=${encodeURIComponent('https://git.example/Acme/App.git')}`),
          )
        ).body,
      ).data,
    ).toEqual([made[2]]);
    const { rows } = await app.owner.query<{ dump: string }>(
      `SELECT query_to_xml('SELECT * FROM app.secret', true, false, '')::text || query_to_xml('SELECT * FROM app.audit_entry', true, false, '')::text AS dump`,
    );
    for (const text of [JSON.stringify(made), JSON.stringify(list.body), rows[0]?.dump ?? VALUE])
      expect(text).not.toContain(VALUE);
  });

  it('are changed and deleted by who may, with an entry in the audit that has names and never values', async () => {
    const secret = await create({ kind: 'git', host: 'git.example' });
    const changed = await app.http(owner, 'PATCH', path(`/${secret.id}`), {
      value: 'another value of it',
      description: 'now described',
      username: 'robot',
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { id: secret.id, description: 'now described', username: 'robot' },
    ]);
    expect(await storedValue(secret)).toBe('another value of it');
    expect((await app.http(owner, 'PATCH', path(`/${secret.id}`), { description: 'again' })).status).toBe(200);
    expect(await storedValue(secret)).toBe('another value of it');
    expect((await app.http(owner, 'DELETE', path(`/${secret.id}`))).status).toBe(204);
    expect((await app.http(owner, 'DELETE', path(`/${secret.id}`))).status).toBe(404);
    const entries = await audit(secret.id);
    expect(entries.map(({ action }) => action)).toEqual([
      'secret.create',
      'secret.update',
      'secret.update',
      'secret.delete',
    ]);
    expect(entries[1]).toMatchObject({
      detail: { name: secret.name, newValue: true },
      before: { description: '', username: null },
      actor_id: owner.userId,
    });
    expect(JSON.stringify(entries)).not.toMatch(/canary|another value/);
  });

  it('are for admins to change, for members to see, and of another organization as if there were none', async () => {
    const secret = await create({});
    const stranger = await app.user();
    const calls = [
      ['GET', path(), undefined],
      ['POST', path(), { name: 'X', value: VALUE }],
      ['PATCH', path(`/${secret.id}`), { description: 'x' }],
      ['DELETE', path(`/${secret.id}`), undefined],
    ] as const;
    const statuses = async (user: User | null): Promise<number[]> =>
      Promise.all(calls.map(async ([method, at, body]) => (await app.http(user, method, at, body)).status));
    expect(await statuses(null)).toEqual([401, 401, 401, 401]);
    expect(await statuses(stranger)).toEqual([404, 404, 404, 404]);
    expect(await statuses(viewer)).toEqual([403, 403, 403, 403]);
    expect(await statuses(member)).toEqual([200, 403, 403, 403]);
    const foreign = await app.http(stranger, 'PATCH', `/api/v1/orgs/${stranger.orgId}/secrets/${secret.id}`, {
      description: 'x',
    });
    const missing = await app.http(stranger, 'PATCH', `/api/v1/orgs/${stranger.orgId}/secrets/sec_missing`, {
      description: 'x',
    });
    expect([foreign.status, { ...foreign.body, requestId: '', instance: '' }]).toEqual([
      404,
      { ...missing.body, requestId: '', instance: '' },
    ]);
  });

  it('of a user are theirs alone, whatever others may', async () => {
    const secret = await create({ kind: 'git', host: 'git.example' }, mine(), member);
    expect(secret).toMatchObject({ scope: 'person', scopeValue: member.userId });
    const seen = async (user: User): Promise<string[]> =>
      SecretList.parse((await app.http(user, 'GET', mine())).body).data.map(({ id }) => id);
    expect([await seen(member), await seen(owner)]).toEqual([[secret.id], []]);
    expect(
      SecretPage.parse((await app.http(owner, 'GET', path('?limit=200'))).body).data.map(({ id }) => id),
    ).not.toContain(secret.id);
    for (const at of [path(`/${secret.id}`), mine(`/${secret.id}`)]) {
      expect((await app.http(owner, 'PATCH', at, { value: 'taken over by others' })).status).toBe(404);
      expect((await app.http(owner, 'DELETE', at)).status).toBe(404);
    }
    expect((await app.http(viewer, 'GET', mine())).status).toBe(403);
    expect((await app.http(member, 'PATCH', mine(`/${secret.id}`), { value: 'my next token' })).status).toBe(200);
    expect(await storedValue(secret)).toBe('my next token');
    expect((await app.http(member, 'DELETE', mine(`/${secret.id}`))).status).toBe(204);
  });

  it('of a conversation are for those who may write in it, and there is none where there is no such conversation', async () => {
    const conversation = await app.conversation(owner);
    const at = (id: string, rest = ''): string => app.path(owner, id, `/secrets${rest}`);
    const secret = await create({}, at(conversation.id), member);
    expect(secret).toMatchObject({ scope: 'conversation', scopeValue: conversation.id });
    expect(SecretList.parse((await app.http(owner, 'GET', at(conversation.id))).body).data).toEqual([secret]);
    const missing = randomUUID();
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { name: 'X', value: VALUE }],
    ] as const) {
      expect((await app.http(owner, method, at(missing), body)).status).toBe(404);
      expect((await app.http(viewer, method, at(conversation.id), body)).status).toBe(403);
    }
    expect(
      (await app.http(owner, 'POST', path(), { name: 'X', value: VALUE, scope: 'conversation', scopeValue: missing }))
        .status,
    ).toBe(404);
    expect((await app.http(owner, 'DELETE', at((await app.conversation(owner)).id, `/${secret.id}`))).status).toBe(404);
    expect((await app.http(owner, 'DELETE', at(conversation.id, `/${secret.id}`))).status).toBe(204);
  });

  it('that are wrong are refused with the field, and nothing of the value is said back', async () => {
    const wrong: Array<[object, string]> = [
      [{ name: '1ABC' }, 'name'],
      [{ name: 'with-dash' }, 'name'],
      [{ name: 'LD_PRELOAD' }, 'name'],
      [{ name: 'PATH' }, 'name'],
      [{ name: 'GIT_SSH_COMMAND' }, 'name'],
      [{ value: '' }, 'value'],
      [{ value: `${VALUE}\u0000` }, 'value'],
      [{ value: `${VALUE}${'é'.repeat(MAX_SECRET_BYTES / 2)}` }, 'value'],
      [{ scope: 'environment', scopeValue: 'Not One' }, 'scopeValue'],
      [{ scope: 'repository', scopeValue: 'https://user:pw@git.example/a' }, 'scopeValue'],
      [{ scope: 'org', scopeValue: 'x' }, 'scopeValue'],
      [{ scope: 'person' }, 'scope'],
      [{ kind: 'git' }, 'host'],
      [{ kind: 'git', host: 'git.example/path' }, 'host'],
      [{ kind: 'git', host: 'git.example', value: `${VALUE}\nmore` }, 'value'],
      [{ host: 'https://login.example' }, 'host'],
      [{ username: 'robot' }, 'username'],
    ];
    for (const [body, field] of wrong) {
      const answer = await app.http<{ errors?: unknown }>(owner, 'POST', path(), {
        name: 'FINE',
        value: VALUE,
        ...body,
      });
      expect([field, answer.status, JSON.stringify(answer.body)]).toEqual([
        field,
        400,
        expect.stringContaining(`"${field}"`),
      ]);
      expect(JSON.stringify(answer.body)).not.toContain(VALUE);
    }
    expect((await create({ name: 'GIT_TOKEN' })).name).toBe('GIT_TOKEN');
  });

  it('have one name for the same receivers, and an end to their number', async () => {
    const secret = await create({});
    const again = await app.http(owner, 'POST', path(), { name: secret.name, value: VALUE });
    expect([again.status, again.body]).toMatchObject([409, { code: 'secret.name-taken' }]);
    await create({ name: secret.name, scope: 'environment', scopeValue: 'other' });
    await app.owner.query(
      `INSERT INTO app.secret (id, org_id, name, kind, scope, scope_value, description, sealed, key_version, masked, created_by, created_by_label, updated_by, updated_by_label)
       SELECT 'many' || n, $1, 'MANY_' || n, 'variable', 'environment', 'many', '', sealed, key_version, true, 'u', 'u', 'u', 'u' FROM app.secret, generate_series(1, 500) n WHERE id = $2`,
      [owner.orgId, secret.id],
    );
    const full = await app.http(owner, 'POST', path(), { name: name(), value: VALUE });
    expect([full.status, full.body]).toMatchObject([409, { code: 'secret.too-many' }]);
    let cursor = '';
    const names: string[] = [];
    for (;;) {
      const page = SecretPage.parse((await app.http(owner, 'GET', path(`?limit=150${cursor}`))).body);
      names.push(...page.data.map(({ name: each, id }) => `${each} ${id}`));
      if (page.page.nextCursor === null) break;
      cursor = `&cursor=${page.page.nextCursor}`;
    }
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(500);
    expect((await app.http(owner, 'GET', path('?cursor=nonsense'))).status).toBe(400);
    await app.owner.query("DELETE FROM app.secret WHERE scope_value = 'many'");
  });

  it('of members are refused where the organization does not let them bring any', async () => {
    const conversation = await app.conversation(owner);
    await app.owner.query(`UPDATE app.org SET settings = '{"memberSecrets": false}' WHERE id = $1`, [owner.orgId]);
    for (const at of [mine(), app.path(owner, conversation.id, '/secrets')]) {
      const refused = await app.http(member, 'POST', at, { name: name(), value: VALUE });
      expect([refused.status, refused.body]).toMatchObject([403, { code: 'secret.not-allowed' }]);
    }
    await create({});
    await app.owner.query(`UPDATE app.org SET settings = '{}' WHERE id = $1`, [owner.orgId]);
  });
});
