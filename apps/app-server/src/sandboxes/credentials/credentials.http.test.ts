import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { credentialContext, Envelope } from '@slipway/auth/envelope';
import { Credential, CredentialPage, type CredentialUse, WithheldSecrets } from '@slipway/contracts/credentials';
import { Secret } from '@slipway/contracts/secrets';
import { systemClock } from '@slipway/domain';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const VALUE = 'canary-value-of-a-credential';
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const SECRETS = {
  EGRESS_CONTROL_SECRET: 'test-egress-control-test-egress-control',
  CREDENTIAL_CONTROL_SECRET: 'test-credential-control-test-credential',
  INTERNAL_PORT: '0',
};

describe('brokered credentials', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let viewer: User;
  let stranger: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ env: SECRETS });
    owner = await app.user('Olga');
    [member, viewer, stranger] = [await app.user('Mia'), await app.user('Vic'), await app.user('Sam')];
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

  const path = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/credentials${rest}`;
  const secrets = (): string => `/api/v1/orgs/${owner.orgId}/secrets`;
  const use = (host = 'api.example.com', more: object = {}): object => ({
    form: 'bearer',
    places: [{ host }],
    ...more,
  });
  let count = 0;
  const name = (): string => {
    count += 1;
    return `NAME_${count}`;
  };
  const create = async (body: object = {}): Promise<Credential> => {
    const answer = await app.http(owner, 'POST', path(), { name: name(), value: VALUE, use: use(), ...body });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return Credential.parse(answer.body);
  };
  const audit = async (target: string) =>
    (
      await app.owner.query(
        'SELECT action, detail, before, after, actor_id FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
        [target],
      )
    ).rows;
  const stored = async (id: string) =>
    (await app.owner.query('SELECT * FROM app.credential WHERE id = $1', [id])).rows[0];
  const opened = async (
    id: string,
    other: Partial<{ id: string; name: string; use: unknown }> = {},
  ): Promise<string> => {
    const row = await stored(id);
    return new Envelope(app.pool, app.box, systemClock).open(
      owner.orgId,
      { bytes: row.sealed, keyVersion: row.key_version },
      credentialContext({ id, name: row.name, scope: row.scope, scopeValue: row.scope_value, use: row.use, ...other }),
    );
  };

  it('are listed by name with their places, and a value that went in stands in no answer and in no table but sealed', async () => {
    const made = [
      await create(),
      await create({ scope: 'environment', scopeValue: 'staging', description: 'for staging' }),
      await create({ scope: 'repository', scopeValue: 'https://GIT.example.com/Acme/App.git/' }),
      await create({
        use: { form: 'basic', username: 'robot', places: [{ host: 'GIT.example.com', port: 8443, git: { push: [] } }] },
      }),
    ];
    expect(made[0]).toMatchObject({
      scope: 'org',
      scopeValue: null,
      state: 'active',
      use: { form: 'bearer', places: [{ host: 'api.example.com', port: 443, foreign: 'refuse' }] },
      createdBy: { label: 'Olga' },
      lastUsedAt: null,
    });
    expect(made[2]?.scopeValue).toBe('https://git.example.com/Acme/App');
    expect((await stored(made[3]?.id ?? '')).hosts).toEqual(['git.example.com:8443', 'git.example.com:80']);
    expect(await Promise.all(made.map(({ id }) => opened(id)))).toEqual(made.map(() => VALUE));
    const list = await app.http(member, 'GET', path('?limit=200'));
    expect(CredentialPage.parse(list.body)).toMatchObject({ data: made, available: true });
    const first = CredentialPage.parse((await app.http(owner, 'GET', path('?limit=3'))).body);
    const rest = CredentialPage.parse(
      (await app.http(owner, 'GET', path(`?limit=3&cursor=${first.page.nextCursor}`))).body,
    );
    expect([...first.data, ...rest.data]).toEqual(made);
    expect((await app.http(owner, 'GET', path('?cursor=nonsense'))).status).toBe(400);
    expect(Credential.parse((await app.http(member, 'GET', path(`/${made[1]?.id}`))).body)).toEqual(made[1]);
    const { rows } = await app.owner.query(
      'SELECT c::text FROM app.credential c UNION ALL SELECT a::text FROM app.audit_entry a',
    );
    expect(JSON.stringify([list.body, rows])).not.toContain(VALUE);
    expect((await audit(made[1]?.id ?? ''))[0]).toMatchObject({
      action: 'credential.create',
      actor_id: owner.userId,
      detail: { scope: 'environment', scopeValue: 'staging', form: 'bearer' },
    });
  });

  it('of a form that keeps no value take none, and change their places without one', async () => {
    const form = { form: 'workload-token', audience: 'https://api.example.com' };
    const body = (more: object) => ({ name: name(), use: use('api.example.com', form), ...more });
    for (const more of [{ value: VALUE }, { fromSecret: 'sec_1' }])
      expect((await app.http(owner, 'POST', path(), body(more))).status).toBe(400);
    const { id } = await create({ value: undefined, use: use('api.example.com', form) });
    expect(await opened(id)).toBe('');
    expect((await app.http(owner, 'PATCH', path(`/${id}`), { value: VALUE })).status).toBe(400);
    const moved = await app.http(owner, 'PATCH', path(`/${id}`), { use: use('other.example.com', form) });
    expect([moved.status, await opened(id)]).toEqual([200, '']);
    // Back to one that has a value, and it is needed.
    expect((await app.http(owner, 'PATCH', path(`/${id}`), { use: use() })).status).toBe(400);
    expect((await app.http(owner, 'PATCH', path(`/${id}`), { use: use(), value: VALUE })).status).toBe(200);
    expect(await opened(id)).toBe(VALUE);
    expect((await audit(id)).map(({ detail }) => [detail.form, detail.newValue])).toEqual([
      ['workload-token', undefined],
      ['workload-token', false],
      ['workload-token', true],
    ]);
  });

  it('adversary: a value that does not fit its form is refused by name, and is in no answer', async () => {
    const tokenUrl = 'https://login.example.com/token';
    const refresh = { form: 'oauth-refresh-token', tokenUrl, clientId: 'c' };
    const app1 = { form: 'github-app', appId: '1', installationId: '42', account: 'acme' };
    const exchange = { form: 'token-exchange', tokenUrl, subjectAudience: 'a' };
    for (const [form, value, ok] of [
      [refresh, VALUE, false],
      [refresh, JSON.stringify({ refreshToken: VALUE }), false],
      [refresh, JSON.stringify({ refreshToken: `${VALUE}\n`, clientSecret: VALUE }), false],
      [refresh, JSON.stringify({ refreshToken: VALUE, clientSecret: VALUE }), true],
      [{ ...refresh, clientAuth: 'none' }, JSON.stringify({ refreshToken: VALUE }), true],
      [{ ...refresh, tokenUrl: 'https://login.internal/token' }, '{"refreshToken":"x","clientSecret":"y"}', false],
      [exchange, VALUE, false],
      [{ ...exchange, clientAuth: 'basic' }, VALUE, false],
      [{ ...exchange, clientAuth: 'basic', clientId: 'c' }, VALUE, true],
      [{ ...exchange, tokenUrl: 'http://login.example.com/token' }, undefined, false],
      [exchange, undefined, true],
      [{ ...app1, apiUrl: 'https://github.internal/api/v3' }, RSA, false],
      [app1, VALUE, false],
      [app1, RSA, true],
      [app1, EC, false],
      [app1, RSA.replaceAll(/[A-Z]{3}/g, 'AAA'), false],
      [{ form: 'mtls' }, RSA, false],
      [{ form: 'mtls' }, `-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n${RSA}`, false],
    ] as const) {
      const body = { name: name(), value, use: use('api.example.com', form) };
      const answer = await app.http(owner, 'POST', path(), body);
      expect([form, value, answer.status === 201]).toEqual([form, value, ok]);
      expect(JSON.stringify(answer.body)).not.toContain(VALUE);
    }
    // Of one that is there, by its own form.
    const { id } = await create({
      value: '{"refreshToken":"x","clientSecret":"y"}',
      use: use('api.example.com', refresh),
    });
    expect((await app.http(owner, 'PATCH', path(`/${id}`), { value: VALUE })).status).toBe(400);
  });

  it('open for no other credential, name or places', async () => {
    const { id, use: own } = await create();
    const [place] = own.places;
    for (const other of [
      { id: 'crd_other' },
      { name: 'OTHER' },
      { use: { ...own, places: [{ ...place, host: 'evil.example.com' }] } },
      { use: { ...own, places: [...own.places, { ...place, host: 'evil.example.com' }] } },
      { use: { ...own, form: 'placeholder', shape: '' } },
    ])
      await expect(opened(id, other)).rejects.toThrow();
    // The database keeps keys in an order of its own.
    const turned = { places: [Object.fromEntries(Object.entries(place ?? {}).reverse())], form: own.form };
    expect(await opened(id, { use: turned })).toBe(VALUE);
  });

  it('are changed by admins alone, and are nobody else’s', async () => {
    const { id } = await create();
    const body = { name: 'X', value: VALUE, use: use() };
    for (const [user, read, write] of [
      [member, 200, 403],
      [viewer, 403, 403],
      [stranger, 404, 404],
    ] as const) {
      expect((await app.http(user, 'GET', path())).status).toBe(read);
      expect((await app.http(user, 'GET', path(`/${id}`))).status).toBe(read);
      expect((await app.http(user, 'POST', path(), body)).status).toBe(write);
      expect((await app.http(user, 'PATCH', path(`/${id}`), { description: 'x' })).status).toBe(write);
      expect((await app.http(user, 'DELETE', path(`/${id}`))).status).toBe(write);
    }
    const theirs = `/api/v1/orgs/${stranger.orgId}/credentials/${id}`;
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        (await app.http(stranger, method, theirs, method === 'PATCH' ? { description: 'x' } : undefined)).status,
      ).toBe(404);
  });

  it('are given another value or other places, the places with the value alone, and rest no more when an admin says so', async () => {
    const { id } = await create();
    const patch = (body: object) => app.http(owner, 'PATCH', path(`/${id}`), body);
    const alone = await patch({ use: use('other.example.com') });
    expect([alone.status, JSON.stringify(alone.body)]).toEqual([400, expect.stringContaining('sealed for its places')]);
    expect((await patch({ value: 'another value' })).status).toBe(200);
    expect(await opened(id)).toBe('another value');
    const moved = await patch({ value: 'third value', use: use('other.example.com'), description: 'moved' });
    expect(moved.body).toMatchObject({ description: 'moved', use: { places: [{ host: 'other.example.com' }] } });
    expect([await opened(id), (await stored(id)).hosts]).toEqual([
      'third value',
      ['other.example.com:443', 'other.example.com:80'],
    ]);
    await app.owner.query("UPDATE app.credential SET state = 'resting' WHERE id = $1", [id]);
    expect((await patch({ description: 'still' })).body).toMatchObject({ state: 'resting' });
    expect((await patch({ state: 'active' })).body).toMatchObject({ state: 'active' });
    expect((await patch({ state: 'resting' })).status).toBe(400);
    const entries = await audit(id);
    expect(entries.map(({ action }) => action)).toEqual(['credential.create', ...Array(4).fill('credential.update')]);
    expect(entries[4]).toMatchObject({
      before: { state: 'resting' },
      after: { state: 'active' },
      detail: { newValue: false },
    });
    expect((await app.http(owner, 'DELETE', path(`/${id}`))).status).toBe(204);
    expect((await patch({ description: 'x' })).status).toBe(404);
    expect((await audit(id)).at(-1)).toMatchObject({ action: 'credential.delete' });
  });

  it('have one name for the same conversations, and an end to their number', async () => {
    const { name: taken, id } = await create();
    const again = await app.http(owner, 'POST', path(), { name: taken, value: VALUE, use: use() });
    expect([again.status, again.body]).toMatchObject([409, { code: 'credential.name-taken' }]);
    await create({ name: taken, scope: 'environment', scopeValue: 'other' });
    await app.owner.query(
      `INSERT INTO app.credential (id, org_id, name, description, form, scope, scope_value, use, hosts, sealed, key_version, reference_key, created_by, created_by_label, updated_by, updated_by_label)
       SELECT 'many' || n, org_id, 'MANY_' || n, '', form, 'environment', 'many', use, hosts, sealed, key_version, reference_key, 'u', 'u', 'u', 'u'
       FROM app.credential, generate_series(1, 200) n WHERE id = $1`,
      [id],
    );
    const full = await app.http(owner, 'POST', path(), { name: name(), value: VALUE, use: use() });
    expect([full.status, full.body]).toMatchObject([409, { code: 'credential.too-many' }]);
    await app.owner.query("DELETE FROM app.credential WHERE scope_value = 'many'");
  });

  it('that are wrong are refused with the field, and nothing of the value is said back', async () => {
    const wrong: Array<[object, string]> = [
      [{ name: 'with-dash' }, 'name'],
      [{ name: 'LD_PRELOAD' }, 'name'],
      [{ value: `${VALUE}\nmore` }, 'value'],
      [{ value: undefined }, 'value'],
      [{ fromSecret: 'sec_x' }, 'value'],
      [{ scope: 'environment', scopeValue: 'Not One' }, 'scopeValue'],
      [{ scope: 'org', scopeValue: 'x' }, 'scopeValue'],
      [{ scope: 'person' }, 'scope'],
      [{ use: { form: 'header', header: 'Host', places: [{ host: 'api.example.com' }] } }, 'use.header'],
      [{ use: { form: 'bearer', places: [] } }, 'use.places'],
      [{ use: { form: 'bearer', places: [{ host: '10.0.0.1' }] } }, 'use.places.0.host'],
      [{ use: { form: 'bearer', places: [{ host: 'api.example.com', paths: ['/a/../b'] }] } }, 'use.places.0.paths.0'],
    ];
    for (const [body, field] of wrong) {
      const answer = await app.http(owner, 'POST', path(), { name: 'FINE', value: VALUE, use: use(), ...body });
      expect([field, answer.status, JSON.stringify(answer.body)]).toEqual([
        field,
        400,
        expect.stringContaining(`"${field}"`),
      ]);
      expect(JSON.stringify(answer.body)).not.toContain(VALUE);
    }
  });

  it('have places of one owner on the internet alone, however they are written', async () => {
    for (const host of [
      'kubernetes.default.svc',
      'metadata.google.internal',
      'db.local',
      'co.uk',
      'router.home.arpa',
    ]) {
      const refused = await app.http(owner, 'POST', path(), { name: 'FINE', value: VALUE, use: use(host) });
      expect([host, refused.status, refused.body]).toMatchObject([
        host,
        422,
        { code: 'credential.place-refused', fields: [{ path: 'use.places.0.host' }] },
      ]);
    }
    const oauth = (tokenUrl: string) => ({
      form: 'oauth-client-credentials',
      tokenUrl,
      clientId: 'agents',
      places: [{ host: 'api.example.com' }],
    });
    for (const [tokenUrl, status, body] of [
      [
        'https://keycloak.internal/token',
        422,
        { code: 'credential.place-refused', fields: [{ path: 'use.tokenUrl' }] },
      ],
      ['https://co.uk/token', 422, { code: 'credential.place-refused' }],
      ['http://login.example.com/token', 400, { code: 'request.invalid', fields: [{ path: 'use.tokenUrl' }] }],
      ['https://me:secret@login.example.com/token', 400, { code: 'request.invalid' }],
    ] as const) {
      const refused = await app.http(owner, 'POST', path(), { name: 'OAUTH', value: VALUE, use: oauth(tokenUrl) });
      expect([tokenUrl, refused.status, refused.body]).toMatchObject([tokenUrl, status, body]);
    }
    const made = await create({ use: oauth('https://login.example.com/token') });
    expect(made.use).toMatchObject({ form: 'oauth-client-credentials', scope: '', audience: '', clientAuth: 'basic' });
    const { id } = await create({ use: use('s3.amazonaws.com') });
    const moved = await app.http(owner, 'PATCH', path(`/${id}`), { value: VALUE, use: use('vault.internal') });
    expect([moved.status, moved.body]).toMatchObject([422, { code: 'credential.place-refused' }]);
  });

  it('take the value of a secret, which is gone then, in one step of the audit each', async () => {
    const secret = async (body: object = {}): Promise<Secret> =>
      Secret.parse(
        (await app.http(owner, 'POST', secrets(), { name: name(), value: 'value of a secret', ...body })).body,
      );
    const from = await secret();
    const made = await create({ value: undefined, fromSecret: from.id });
    expect(await opened(made.id)).toBe('value of a secret');
    expect((await audit(from.id)).at(-1)).toMatchObject({ action: 'secret.delete', detail: { movedTo: made.id } });
    expect((await audit(made.id))[0]).toMatchObject({ action: 'credential.create', detail: { fromSecret: from.name } });
    const move = (id: string, more: object = {}) =>
      app.http(owner, 'POST', path(), { name: name(), use: use(), fromSecret: id, ...more });
    expect((await move(from.id)).status).toBe(404);
    const lines = await secret({ value: 'one\ntwo' });
    expect((await move(lines.id)).status).toBe(400);
    const kept = await secret();
    expect((await move(kept.id, { name: made.name })).body).toMatchObject({ code: 'credential.name-taken' });
    const mine = Secret.parse(
      (await app.http(owner, 'POST', `/api/v1/orgs/${owner.orgId}/me/secrets`, { name: 'MINE', value: 'x' })).body,
    );
    expect((await move(mine.id)).status).toBe(404);
    const twice = await Promise.all([move(kept.id), move(kept.id)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 404]);
    const preview = WithheldSecrets.parse((await app.http(member, 'GET', path('/preview'))).body);
    expect(preview).toEqual({
      data: [{ id: lines.id, name: lines.name, kind: 'variable', scope: 'org' }],
      count: 2,
      personal: 1,
    });
    expect((await app.http(viewer, 'GET', path('/preview'))).status).toBe(403);
  });

  it('notify at each change but of what says only when they were used', async () => {
    const heard: string[] = [];
    const listener = await app.owner.connect();
    listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await listener.query('LISTEN slipway_egress');
    const drained = async (): Promise<number> => {
      await listener.query('SELECT 1');
      return heard.splice(0).filter((org) => org === owner.orgId).length;
    };
    const { id } = await create();
    expect(await drained()).toBe(1);
    await app.owner.query('UPDATE app.credential SET last_used_at = now() WHERE id = $1', [id]);
    expect(await drained()).toBe(0);
    for (const change of [{ value: 'new' }, { state: 'active' }]) {
      await app.http(owner, 'PATCH', path(`/${id}`), change);
      expect(await drained()).toBe(1);
    }
    await app.http(owner, 'DELETE', path(`/${id}`));
    expect(await drained()).toBe(1);
    listener.release(true);
  });

  it('cannot be made where no process could use them', async () => {
    const bare = await ConversationApp.start();
    try {
      const user = await bare.user();
      const at = `/api/v1/orgs/${user.orgId}/credentials`;
      const refused = await bare.http(user, 'POST', at, { name: 'X', value: VALUE, use: use() as CredentialUse });
      expect([refused.status, refused.body]).toMatchObject([409, { code: 'credential.unavailable' }]);
      expect((await bare.http(user, 'GET', at)).body).toMatchObject({ data: [], available: false });
    } finally {
      await bare.close();
    }
  });
});
