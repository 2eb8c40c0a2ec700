import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  MAX_ORG_PROMPTS,
  MAX_SAVED_PROMPT_LENGTH,
  MAX_USER_PROMPTS,
  Prompt,
  PromptPage,
} from '@slipway/contracts/conversations';
import { inOrg } from '@slipway/db/sql';
import { endMembership } from '../../organizations/members/membership.queries.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('saved prompts', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let other: User;
  let viewer: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    owner = await app.user('Olga');
    [member, other, viewer] = [await app.user('Mia'), await app.user('Otto'), await app.user('Vic')];
    for (const [user, role] of [
      [member, 'member'],
      [other, 'admin'],
      [viewer, 'viewer'],
    ] as const)
      await join(user, role);
  });
  afterAll(() => app?.close());
  beforeEach(() => app.owner.query('DELETE FROM app.prompt'));

  const join = (user: User, role: string) =>
    app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      owner.orgId,
      user.userId,
      role,
    ]);
  const path = (rest = '', org = owner.orgId): string => `/api/v1/orgs/${org}/prompts${rest}`;
  const post = (by: User | null, body: object) => app.http(by, 'POST', path(), { text: 'Do it.', ...body });
  const create = async (by: User, body: object): Promise<Prompt> => {
    const answer = await post(by, body);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return Prompt.parse(answer.body);
  };
  const page = async (by: User, query = ''): Promise<PromptPage> => {
    const answer = await app.http(by, 'GET', path(query));
    expect(answer.status).toBe(200);
    return PromptPage.parse(answer.body);
  };
  const names = async (by: User, query = ''): Promise<string[]> => (await page(by, query)).data.map(({ name }) => name);
  const audited = async (target: string): Promise<Array<Record<string, unknown>>> =>
    (
      await app.owner.query(
        'SELECT action, actor_id, detail, before, after FROM app.audit_entry WHERE target = $1 ORDER BY created_at, id',
        [target],
      )
    ).rows;

  it('are listed by name, one’s own beside the organization’s, with text and who wrote them', async () => {
    const own = await create(member, { name: 'b-own', description: ' Mine ', text: ' Fix {{test}}.\n' });
    const shared = await create(owner, { name: 'a-shared', scope: 'org' });
    expect(own).toMatchObject({
      name: 'b-own',
      description: 'Mine',
      text: ' Fix {{test}}.\n',
      scope: 'user',
      createdBy: { id: member.userId, label: 'Mia' },
    });
    expect((await page(member)).data).toEqual([shared, own]);
    expect((await page(member, '?scope=user')).data).toEqual([own]);
    expect((await page(member, '?scope=org')).data).toEqual([shared]);
  });

  it('are searched in name and description, names that begin so first, page by page', async () => {
    for (const [name, description] of [
      ['a-test', ''],
      ['explain', 'How a TEST works'],
      ['test-b', ''],
      ['test-a', ''],
      ['release', '100% _done_'],
    ])
      await create(member, { name, description });
    expect(await names(member, '?search=TEST')).toEqual(['test-a', 'test-b', 'a-test', 'explain']);
    expect(await names(member, `?search=${encodeURIComponent('% _')}`)).toEqual(['release']);
    expect(await names(member, '?search=nothing')).toEqual([]);
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next = await page(member, `?search=test&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...next.data.map(({ name }) => name));
      cursor = next.page.nextCursor;
    }
    expect(found).toEqual(['test-a', 'test-b', 'a-test', 'explain']);
    expect((await app.http(member, 'GET', path('?cursor=x'))).status).toBe(400);
  });

  it('have a name that is unique in its scope, when made and when renamed', async () => {
    const shared = await create(owner, { name: 'fix', scope: 'org' });
    const own = await create(member, { name: 'fix' });
    await create(other, { name: 'fix' });
    const second = await create(member, { name: 'second' });
    const taken = { status: 409, body: { code: 'prompt.name-taken', fields: [{ path: 'name' }] } };
    expect(await post(member, { name: 'fix' })).toMatchObject(taken);
    expect(await post(owner, { name: 'fix', scope: 'org' })).toMatchObject(taken);
    expect(await app.http(member, 'PATCH', path(`/${second.id}`), { name: 'fix' })).toMatchObject(taken);
    const renamed = await app.http<Prompt>(member, 'PATCH', path(`/${own.id}`), { name: 'fix', text: 'Again.' });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'fix', text: 'Again.', description: '' } });
    expect((await page(member, '?scope=org')).data).toEqual([shared]);
  });

  it('of many that are renamed to one name at the same moment, one gets it', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => create(member, { name })));
    const answers = await Promise.all(
      made.map(({ id }) => app.http(member, 'PATCH', path(`/${id}`), { name: 'wanted' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(await names(member, '?search=wanted')).toEqual(['wanted']);
  });

  it('of a user are as if there were none for everyone else, admins and owners too', async () => {
    const { id } = await create(member, { name: 'private', text: 'canary' });
    for (const user of [owner, other, viewer]) expect(JSON.stringify(await page(user))).not.toContain('canary');
    for (const user of [owner, other])
      for (const [method, body] of [
        ['PATCH', { text: 'x' }],
        ['DELETE', undefined],
      ] as const) {
        const theirs = await app.http(user, method, path(`/${id}`), body);
        const missing = await app.http(user, method, path('/prm_00000000000000000000000000'), body);
        expect(theirs).toMatchObject({ status: 404, body: { code: 'resource.not-found' } });
        expect({ ...(theirs.body as object), requestId: '', instance: '' }).toEqual({
          ...(missing.body as object),
          requestId: '',
          instance: '',
        });
      }
    expect(await names(member)).toEqual(['private']);
  });

  it('of the organization are written by admins and owners, and read by all its members', async () => {
    const { id } = await create(other, { name: 'shared', scope: 'org' });
    for (const user of [owner, other, member, viewer]) expect(await names(user)).toEqual(['shared']);
    for (const user of [member, viewer]) {
      const denied = { status: 403, body: { code: 'permission.denied' } };
      expect(await post(user, { name: 'x', scope: 'org' })).toMatchObject(denied);
      expect(await app.http(user, 'PATCH', path(`/${id}`), { text: 'x' })).toMatchObject(denied);
      expect(await app.http(user, 'DELETE', path(`/${id}`))).toMatchObject(denied);
    }
    expect((await post(viewer, { name: 'own' })).status).toBe(403);
    expect(await app.http(owner, 'PATCH', path(`/${id}`), { text: 'Better.' })).toMatchObject({
      status: 200,
      body: { text: 'Better.', updatedBy: { label: 'Olga' }, createdBy: { label: 'Otto' } },
    });
    expect((await app.http(owner, 'DELETE', path(`/${id}`))).status).toBe(204);
    expect((await app.http(owner, 'DELETE', path(`/${id}`))).status).toBe(404);
  });

  it('of a service account are the organization’s alone: it has none of its own', async () => {
    const root = `/api/v1/orgs/${owner.orgId}`;
    const account = await app.http<{ id: string }>(owner, 'POST', `${root}/service-accounts`, {
      name: 'robot',
      role: 'admin',
    });
    const key = await app.http<{ token: string }>(owner, 'POST', `${root}/api-keys`, {
      name: 'k',
      scopes: ['prompt:read', 'prompt:write'],
      serviceAccountId: account.body.id,
    });
    const asRobot = (method: string, body?: object) =>
      app.http(null, method, path(), body, { authorization: `Bearer ${key.body.token}` });
    await create(owner, { name: 'own' });
    await create(owner, { name: 'shared', scope: 'org' });
    expect((await asRobot('GET')).body).toMatchObject({ data: [{ name: 'shared' }] });
    for (const scope of ['user', 'org'])
      expect(await asRobot('POST', { name: 'x', text: 'x', scope })).toMatchObject({
        status: 403,
        body: { code: 'permission.denied' },
      });
  });

  it('of an organization are as if there were none for another one', async () => {
    const { id } = await create(owner, { name: 'shared', scope: 'org' });
    const stranger = await app.user();
    expect((await app.http(null, 'GET', path())).status).toBe(401);
    expect((await app.http(stranger, 'GET', path())).status).toBe(404);
    expect((await app.http(stranger, 'POST', path(), { name: 'x', text: 'x' })).status).toBe(404);
    for (const org of [owner.orgId, stranger.orgId]) {
      expect((await app.http(stranger, 'PATCH', path(`/${id}`, org), { text: 'x' })).status).toBe(404);
      expect((await app.http(stranger, 'DELETE', path(`/${id}`, org))).status).toBe(404);
    }
    expect((await app.http(stranger, 'GET', path('', stranger.orgId))).body).toMatchObject({ data: [] });
    expect(await names(owner)).toEqual(['shared']);
  });

  it('of the organization are audited without their text, and a user’s own are not', async () => {
    const own = await create(member, { name: 'own' });
    await app.http(member, 'PATCH', path(`/${own.id}`), { text: 'x' });
    await app.http(member, 'DELETE', path(`/${own.id}`));
    expect(await audited(own.id)).toEqual([]);
    const { id } = await create(owner, { name: 'shared', scope: 'org', text: 'canary one' });
    await app.http(owner, 'PATCH', path(`/${id}`), { name: 'better', text: 'canary two' });
    await app.http(owner, 'DELETE', path(`/${id}`));
    const entries = await audited(id);
    expect(entries).toMatchObject([
      { action: 'prompt.create', actor_id: owner.userId, after: { name: 'shared' } },
      {
        action: 'prompt.update',
        detail: { name: 'shared', newText: true },
        before: { name: 'shared' },
        after: { name: 'better' },
      },
      { action: 'prompt.delete', before: { name: 'better' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('canary');
  });

  it('of a user who leaves are deleted, and what they wrote for the organization stays', async () => {
    const leaver = await app.user('Lea');
    await join(leaver, 'admin');
    await create(leaver, { name: 'own' });
    await create(leaver, { name: 'shared', scope: 'org' });
    await create(member, { name: 'theirs' });
    await inOrg(app.pool, owner.orgId, (client) => endMembership(client, owner.orgId, leaver.userId));
    const { rows } = await app.owner.query('SELECT name FROM app.prompt ORDER BY name');
    expect(rows).toEqual([{ name: 'shared' }, { name: 'theirs' }]);
  });

  it('are bounded, in what is in them and in their number', async () => {
    const refused = { status: 400, body: { code: 'request.invalid' } };
    for (const body of [
      { name: 'Upper' },
      { name: '-x' },
      { name: '' },
      { name: 'x'.repeat(65) },
      { name: 'x', text: ' \n' },
      { name: 'x', text: 'a\u0000b' },
      { name: 'x', text: 'x'.repeat(MAX_SAVED_PROMPT_LENGTH + 1) },
      { name: 'x', description: 'two\nlines' },
      { name: 'x', description: 'x'.repeat(201) },
      { name: 'x', scope: 'everyone' },
      { name: 'x', userId: owner.userId },
    ])
      expect([body, await post(member, body)]).toMatchObject([body, refused]);
    // The longest of the letters that take the most bytes.
    await create(member, { name: 'x'.repeat(64), text: '字'.repeat(MAX_SAVED_PROMPT_LENGTH) });
    for (const [user, of, limit, scope] of [
      [member, member.userId, MAX_USER_PROMPTS, 'user'],
      [owner, '', MAX_ORG_PROMPTS, 'org'],
    ] as const) {
      await app.owner.query(
        `INSERT INTO app.prompt (id, org_id, user_id, name, description, text, created_by, created_by_label, updated_by, updated_by_label)
         SELECT $2 || 'prm_' || n, $1, $2, 'p' || n, '', 't', 'u', 'u', 'u', 'u' FROM generate_series(1, $3::int) n`,
        [owner.orgId, of, limit],
      );
      expect(await post(user, { name: 'more', scope })).toMatchObject({
        status: 409,
        body: { code: 'prompt.too-many' },
      });
    }
  });
});
