import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  CreatedProgramKey,
  Organization,
  OrganizationInvited,
  OrganizationMe,
  OrganizationMember,
  OrganizationPage,
  ProgramKey,
} from '@slipway/contracts/openhands';
import { Company } from '../testing/company.js';
import { ConversationApp, type User } from '../testing/conversation-app.js';
import { withKey } from '../testing/with-key.js';

interface Page<T> {
  readonly items: T[];
  readonly next_page_id: string | null;
}

describe('OpenHands’ organizations and keys', () => {
  let app: ConversationApp;
  let company: Company;
  let owner: User;
  let member: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    company = await Company.open(app);
    owner = company.owner;
    member = await company.member('member', 'Grace');
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/organizations/${company.org.id}${rest}`;
  const keyIn = (user: User, orgId: string, body: object) =>
    app.http<CreatedProgramKey>(user, 'POST', '/api/keys', body, { 'x-org-id': orgId });

  it('a user’s organizations, one of them, and who they are there, by OpenHands’ names', async () => {
    const { status, body } = await app.http<OrganizationPage>(owner, 'GET', '/api/organizations');
    expect([status, body]).toEqual([
      200,
      {
        items: [
          expect.objectContaining({ id: owner.orgId, is_personal: true, role: 'owner' }),
          expect.objectContaining({ id: company.org.id, is_personal: false }),
        ],
        next_page_id: null,
        current_org_id: owner.orgId,
      },
    ]);
    expect((await app.http<Organization>(owner, 'GET', path())).body).toEqual(body.items[1]);
    const me = (await app.http<OrganizationMe>(member, 'GET', path('/me'))).body;
    expect(me).toMatchObject({
      org_id: company.org.id,
      user_id: member.userId,
      role: 'member',
      status: 'active',
      permissions: expect.arrayContaining(['org:read']),
    });
  });

  it('makes one and renames it, and takes no field that it would not keep', async () => {
    const made = await app.http<Organization>(owner, 'POST', '/api/organizations', {
      name: 'Second',
      contact_name: 'Ada',
      contact_email: 'ada@example.test',
    });
    expect([made.status, made.body]).toMatchObject([201, { name: 'Second', role: 'owner', is_personal: false }]);
    const one = `/api/organizations/${made.body.id}`;
    expect((await app.http<Organization>(owner, 'PATCH', one, { name: 'Renamed' })).body.name).toBe('Renamed');
    expect((await app.http(owner, 'PATCH', one, { billing_margin: 1 })).status).toBe(400);
    expect((await app.http<Organization>(owner, 'GET', one)).body.name).toBe('Renamed');
  });

  it('members page by page, another role, and out', async () => {
    const passing = await company.member('member', 'Passing');
    const first = (await app.http<Page<OrganizationMember>>(owner, 'GET', path('/members?limit=1'))).body;
    expect([first.items.length, first.next_page_id]).toEqual([1, expect.any(String)]);
    const found: OrganizationMember[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const rest = next === '' ? '' : `&page_id=${next}`;
      const page: Page<OrganizationMember> = (
        await app.http<Page<OrganizationMember>>(owner, 'GET', path(`/members?limit=1${rest}`))
      ).body;
      found.push(...page.items);
      next = page.next_page_id;
    }
    expect(new Set(found.map(({ user_id }) => user_id))).toEqual(
      new Set([owner.userId, member.userId, passing.userId]),
    );
    expect((await app.http<number>(owner, 'GET', path('/members/count'))).body).toBe(3);
    expect((await app.http<number>(owner, 'GET', path('/members/count?email=passing'))).body).toBe(1);
    const changed = await app.http<OrganizationMember>(owner, 'PATCH', path(`/members/${passing.userId}`), {
      role: 'admin',
    });
    expect(changed.body).toMatchObject({ user_id: passing.userId, role: 'admin', role_rank: 20, status: 'active' });
    expect((await app.http(member, 'DELETE', path(`/members/${passing.userId}`))).status).toBe(403);
    expect((await app.http(owner, 'DELETE', path(`/members/${passing.userId}`))).status).toBe(200);
    expect(Object.keys(await company.roles())).not.toContain(passing.userId);
    expect((await company.audit()).map(({ action, target }) => [action, target])).toEqual(
      expect.arrayContaining([
        ['member.set-role', passing.userId],
        ['member.remove', passing.userId],
      ]),
    );
  });

  it('invites addresses, each with an outcome; one is taken back, one is accepted by its token', async () => {
    const guest = await app.user('Guest');
    await company.address(guest, 'guest@example.test');
    const invited = await app.http<OrganizationInvited>(owner, 'POST', path('/members/invite'), {
      emails: ['guest@example.test', 'gone@example.test', 'nothing'],
    });
    expect(invited.status).toBe(201);
    expect(invited.body.failed).toEqual([{ email: 'nothing', error: 'is no e-mail address' }]);
    const [first, second] = invited.body.successful;
    expect(first).toMatchObject({
      email: 'guest@example.test',
      role: 'member',
      status: 'pending',
      link: expect.stringContaining('/invite/'),
    });
    expect((await app.http(owner, 'DELETE', path(`/members/invite/${second?.id}`))).status).toBe(200);
    const token = first?.link?.split('/').at(-1) ?? '';
    const joined = await app.http(guest, 'POST', '/api/organizations/members/invite/accept', { token });
    expect([joined.status, joined.body]).toEqual([
      200,
      { success: true, org_id: company.org.id, org_name: company.org.name, role: 'member' },
    ]);
    const { items } = (await app.http<Page<{ email: string; status: string }>>(owner, 'GET', path('/members/invite')))
      .body;
    expect(Object.fromEntries(items.map(({ email, status }) => [email, status]))).toEqual({
      'guest@example.test': 'accepted',
      'gone@example.test': 'revoked',
    });
  });

  it('a key may what its maker may, in the organization that was named, and shows its last use, lifetime and end', async () => {
    const made = await keyIn(member, company.org.id, { name: 'a program', org_id: company.org.id });
    expect([made.status, made.body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^key_/),
        name: 'a program',
        key: expect.stringMatching(/^slp_/),
        created_at: expect.any(String),
        last_used_at: null,
        not_before: null,
        expires_at: expect.any(String),
      },
    ]);
    const use = <T = Record<string, unknown>>(method: string, at: string) =>
      withKey<T>(app.url, made.body.key, method, at);
    expect((await use<OrganizationPage>('GET', '/api/organizations')).body).toMatchObject({
      items: [{ id: company.org.id, role: 'member' }],
      current_org_id: company.org.id,
    });
    expect((await use<OrganizationMe>('GET', path('/me'))).body).toMatchObject({
      user_id: member.userId,
      role: 'member',
    });
    expect((await use('PATCH', path())).status).toBe(403);
    // Its address names no organization: it is the key's.
    expect((await use<ProgramKey[]>('GET', '/api/keys')).body.map(({ id }) => id)).toEqual([made.body.id]);
    expect((await app.http<ProgramKey[]>(member, 'GET', '/api/keys')).body).toEqual([]);
    const listed = (await app.http<ProgramKey[]>(member, 'GET', '/api/keys', undefined, { 'x-org-id': company.org.id }))
      .body;
    expect(listed.map(({ id, name }) => [id, name])).toEqual([[made.body.id, 'a program']]);
    expect(
      (await app.http(member, 'DELETE', `/api/keys/${made.body.id}`, undefined, { 'x-org-id': company.org.id })).status,
    ).toBe(200);
    expect(
      (await app.http<ProgramKey[]>(member, 'GET', '/api/keys', undefined, { 'x-org-id': company.org.id })).body,
    ).toEqual([]);
    expect((await keyIn(member, company.org.id, { name: 'x', expires_at: '2001-01-01T00:00:00Z' })).status).toBe(400);
    expect((await keyIn(member, member.orgId, { name: 'x', org_id: company.org.id })).status).toBe(400);
  });

  it('an organization that one does not belong to is as one that is not there, in the address and in X-Org-Id', async () => {
    const stranger = await app.user('Mallory');
    const plain = ({ status, body }: { status: number; body: Record<string, unknown> }, id: string) => ({
      status,
      body: JSON.stringify({ ...body, requestId: undefined }).replaceAll(id, '<id>'),
    });
    const missing = 'org_00000000000000000000000000';
    const asks = (id: string) => [
      app.http(stranger, 'GET', `/api/organizations/${id}`),
      app.http(stranger, 'GET', `/api/organizations/${id}/members`),
      app.http(stranger, 'GET', '/api/keys', undefined, { 'x-org-id': id }),
      app.http(stranger, 'POST', '/api/keys', { name: 'x' }, { 'x-org-id': id }),
      app.http(stranger, 'GET', '/api/conversations', undefined, { 'x-org-id': id }),
    ];
    const [theirs, none] = [await Promise.all(asks(company.org.id)), await Promise.all(asks(missing))];
    expect(theirs.map((each) => each.status)).toEqual([404, 404, 404, 404, 404]);
    expect(theirs.map((each) => plain(each, company.org.id))).toEqual(none.map((each) => plain(each, missing)));
  });
});
