import { createSocket, type Socket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { OrgDomain, OrgDomainList } from '@slipway/contracts/organizations';
import { FEATURES } from '../../app.module.js';
import { Company } from '../../testing/company.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { DomainChecks } from './domain-checks.js';
import { DomainJoin } from './domain-join.js';
import { DomainsModule } from './domains.module.js';

/** Answers TXT questions over UDP as RFC 1035 says: what `records` has, NXDOMAIN, or SERVFAIL while it is `broken`. */
class NameServer {
  readonly records = new Map<string, string[]>();
  broken = false;
  private constructor(
    private readonly socket: Socket,
    readonly address: string,
  ) {
    socket.on('message', (question, from) => socket.send(this.answer(question), from.port, from.address));
  }

  static async open(): Promise<NameServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new NameServer(socket, `127.0.0.1:${socket.address().port}`);
  }

  close(): void {
    this.socket.close();
  }

  private answer(question: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const asked = question.subarray(12, at + 5);
    const found = this.broken ? [] : (this.records.get(labels.join('.').toLowerCase()) ?? []);
    const header = Buffer.alloc(12);
    question.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (this.broken ? 2 : found.length === 0 ? 3 : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found.length, 6);
    const answers = found.map((text) => {
      const data = Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(16, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    return Buffer.concat([header, asked, ...answers]);
  }
}

describe('domains of an organization', () => {
  let app: ConversationApp;
  let names: NameServer;
  let domains: DomainJoin;
  let checks: DomainChecks;
  beforeAll(async () => {
    names = await NameServer.open();
    const features = FEATURES.map((feature) =>
      'module' in feature && feature.module === DomainsModule ? DomainsModule.register([names.address]) : feature,
    );
    app = await ConversationApp.start({ features });
    const { app: nest } = app.replicas[0] as (typeof app.replicas)[number];
    domains = nest.get(DomainJoin, { strict: false });
    checks = nest.get(DomainChecks, { strict: false });
  });
  afterAll(async () => {
    await app?.close();
    names?.close();
  });

  const call = (
    user: User,
    company: Company,
    method: string,
    rest = '',
    body?: unknown,
  ): Promise<Answer<OrgDomain & Problem>> => app.http(user, method, company.path(`/domains${rest}`), body);
  /** Claims, sets the record, verifies. */
  const prove = async (company: Company, domain: string): Promise<Answer<OrgDomain & Problem>> => {
    const { body } = await call(company.owner, company, 'POST', '', { domain });
    names.records.set(body.record.name, ['v=something else', body.record.value]);
    return call(company.owner, company, 'POST', `/${domain}/verify`);
  };
  const arrival = async (email: string, verified = true): Promise<User> => {
    const user = await app.user('Newcomer');
    await app.owner.query('UPDATE app.user_account SET email = $2, email_verified = $3 WHERE id = $1', [
      user.userId,
      email,
      verified,
    ]);
    return user;
  };

  it('are claimed with a record that stays the same, and verified when the DNS has it', async () => {
    const company = await Company.open(app, 'Proof');
    const claimed = await call(company.owner, company, 'POST', '', { domain: ' Proof.Example ' });
    expect([claimed.status, claimed.body]).toMatchObject([
      201,
      { domain: 'proof.example', state: 'pending', record: { name: '_slipway-challenge.proof.example' } },
    ]);
    expect((await call(company.owner, company, 'POST', '', { domain: 'proof.example' })).body.record).toEqual(
      claimed.body.record,
    );
    const early = await call(company.owner, company, 'POST', '/proof.example/verify');
    expect([early.status, early.body.code]).toEqual([422, 'domain.not-verified']);
    names.records.set(claimed.body.record.name, ['slipway-domain-verification=of-another']);
    expect((await call(company.owner, company, 'POST', '/proof.example/verify')).status).toBe(422);
    names.records.set(claimed.body.record.name, [claimed.body.record.value]);
    const verified = await call(company.owner, company, 'POST', '/PROOF.example/verify');
    expect([verified.status, verified.body.state]).toEqual([200, 'verified']);
    names.records.clear();
    expect((await call(company.owner, company, 'POST', '/proof.example/verify')).body.state).toBe('verified');
    expect((await company.audit()).map(({ action }) => action)).toEqual([
      'org.create',
      'domain.claim',
      'domain.verify',
      'domain.record-missing',
    ]);
  });

  it('are not verified while the DNS gives no certain answer', async () => {
    const company = await Company.open(app, 'Silent');
    await call(company.owner, company, 'POST', '', { domain: 'silent.example' });
    names.broken = true;
    const answer = await call(company.owner, company, 'POST', '/silent.example/verify');
    names.broken = false;
    expect([answer.status, answer.body.code]).toEqual([503, 'domain.lookup-failed']);
    expect((await call(company.owner, company, 'GET')).body).toMatchObject({
      data: [{ state: 'pending', verifiedAt: null }],
    });
  });

  it('belong to one organization at a time; others may claim them and verify them once they are released', async () => {
    const [first, second] = [await Company.open(app, 'First'), await Company.open(app, 'Second')];
    expect((await prove(first, 'one.example')).status).toBe(200);
    const taken = await prove(second, 'one.example');
    expect([taken.status, taken.body.code]).toEqual([409, 'domain.taken']);
    expect((await call(first.owner, first, 'DELETE', '/one.example')).status).toBe(204);
    expect((await call(second.owner, second, 'POST', '/one.example/verify')).body.state).toBe('verified');
  });

  it('cannot be those of public mail providers, nor what is no domain, nor a person’s', async () => {
    const company = await Company.open(app, 'Public');
    const open = await call(company.owner, company, 'POST', '', { domain: 'GMail.com' });
    expect([open.status, open.body.code]).toEqual([422, 'domain.public']);
    for (const domain of ['localhost', '1.2.3.4', 'a..example', '-a.example', 'http://a.example', 'a.example.', ''])
      expect([domain, (await call(company.owner, company, 'POST', '', { domain })).status]).toEqual([domain, 400]);
    expect(
      (
        await app.http<Problem>(company.owner, 'POST', `/api/v1/orgs/${company.owner.orgId}/domains`, {
          domain: 'p.example',
        })
      ).body.code,
    ).toBe('org.personal');
    expect((await call(await company.member('member'), company, 'GET')).status).toBe(403);
    const other = await Company.open(app, 'Stranger');
    await call(company.owner, company, 'POST', '', { domain: 'mine.example' });
    for (const [method, rest] of [
      ['POST', '/mine.example/verify'],
      ['DELETE', '/mine.example'],
      ['DELETE', '/%00'],
    ] as const)
      expect([rest, (await call(other.owner, other, method, rest)).status]).toEqual([rest, 404]);
  });

  it('take in who signs in with a confirmed address, with the role that is set, once, and no other', async () => {
    const company = await Company.open(app, 'Joiners');
    const early = await call(company.owner, company, 'POST', '', { domain: 'join.example' });
    expect(early.status).toBe(201);
    expect((await call(company.owner, company, 'PATCH', '/join.example', { autoJoinRole: 'member' })).body.code).toBe(
      'domain.not-verified',
    );
    await prove(company, 'join.example');
    const [user, liar, sub, other] = [
      await arrival('A@Join.example'),
      await arrival('b@join.example', false),
      await arrival('c@sub.join.example'),
      await arrival('join.example@other.example'),
    ];
    expect(await domains.joinByDomain(user.userId)).toBe(null);
    expect((await call(company.owner, company, 'PATCH', '/join.example', { autoJoinRole: 'owner' })).status).toBe(400);
    expect(
      (await call(company.owner, company, 'PATCH', '/join.example', { autoJoinRole: 'viewer' })).body.autoJoinRole,
    ).toBe('viewer');
    expect(await Promise.all([user, user].map(({ userId }) => domains.joinByDomain(userId)))).toEqual(
      expect.arrayContaining([company.org.id, null]),
    );
    for (const { userId } of [liar, sub, other]) expect(await domains.joinByDomain(userId)).toBe(null);
    expect(await company.roles()).toEqual({ [company.owner.userId]: 'owner', [user.userId]: 'viewer' });
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'member.join',
      actor_id: user.userId,
      after: { role: 'viewer' },
    });
    const { body } = await app.http<OrgDomainList>(company.owner, 'GET', company.path('/domains'));
    expect(body.data.map(({ domain, autoJoinRole }) => [domain, autoJoinRole])).toEqual([['join.example', 'viewer']]);
  });

  it('admit no user for an attacker who has bought the lapsed domain, and have to be verified again after seven days', async () => {
    const company = await Company.open(app, 'Lapsed');
    await prove(company, 'lapsed.example');
    await call(company.owner, company, 'PATCH', '/lapsed.example', { autoJoinRole: 'member' });
    const aged = (days: number) =>
      app.owner.query(
        `UPDATE app.org_domain SET checked_at = now() - $1 * interval '1 day', confirmed_at = now() - $1 * interval '1 day',
           missing_since = missing_since - $1 * interval '1 day' WHERE domain = 'lapsed.example'`,
        [days],
      );
    await aged(2);
    const colleague = await arrival('colleague@lapsed.example');
    expect(await domains.joinByDomain(colleague.userId)).toBe(company.org.id);

    names.broken = true;
    await aged(2);
    expect(await domains.joinByDomain((await arrival('during-an-outage@lapsed.example')).userId)).toBe(company.org.id);
    await aged(8);
    expect(await domains.joinByDomain((await arrival('after-a-week-of-outage@lapsed.example')).userId)).toBe(null);
    names.broken = false;

    await aged(2);
    const [record] = [...names.records].filter(([name]) => name.endsWith('lapsed.example'));
    names.records.delete(record?.[0] ?? '');
    const attacker = await arrival('attacker@lapsed.example');
    expect(await domains.joinByDomain(attacker.userId)).toBe(null);
    const missing = (await app.http<OrgDomainList>(company.owner, 'GET', company.path('/domains'))).body.data[0];
    expect(missing).toMatchObject({ state: 'verified', recordMissingSince: expect.any(String) });

    names.records.set(record?.[0] ?? '', record?.[1] ?? []);
    expect((await call(company.owner, company, 'POST', '/lapsed.example/verify')).body).toMatchObject({
      state: 'verified',
      recordMissingSince: null,
    });
    names.records.delete(record?.[0] ?? '');
    await aged(2);
    await checks.sweep();
    expect(await domains.joinByDomain(attacker.userId)).toBe(null);
    await aged(8);
    await checks.sweep();
    expect((await call(company.owner, company, 'GET')).body).toMatchObject({
      data: [{ state: 'pending', autoJoinRole: null }],
    });
    expect(
      (await company.audit())
        .map(({ action }) => action)
        .filter((action) => action.startsWith('domain.'))
        .slice(-4),
    ).toEqual(['domain.record-missing', 'domain.record-found', 'domain.record-missing', 'domain.unverify']);
  });

  it('do not bring back who was removed or has left', async () => {
    const company = await Company.open(app, 'Once');
    await prove(company, 'once.example');
    await call(company.owner, company, 'PATCH', '/once.example', { autoJoinRole: 'member' });
    const [removed, left] = [await arrival('r@once.example'), await arrival('l@once.example')];
    for (const { userId } of [removed, left]) await domains.joinByDomain(userId);
    expect((await app.http(company.owner, 'DELETE', company.path(`/members/${removed.userId}`))).status).toBe(200);
    expect((await app.http(left, 'POST', company.path('/leave'))).status).toBe(200);
    for (const { userId } of [removed, left]) expect(await domains.joinByDomain(userId)).toBe(null);
  });
});
