import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CreatedEgressRules, EgressRuleList, EgressTrial } from '@slipway/contracts/sandboxes';
import { MAX_EGRESS_RULES } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import type { Answer, User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { EgressWorld, type Sandbox } from './world.ts';

jest.setTimeout(60_000);

const NOTHING = { connections: 0, hosts: 0, conversations: 0 };
type Refusal = { code?: string; detail?: string };

describe('a change of rules', () => {
  let world: EgressWorld;
  let ada: User;
  let one: Sandbox;
  let other: Sandbox;
  beforeAll(async () => {
    // Credentials are kept only where there is a broker.
    world = await EgressWorld.start(0, { CREDENTIAL_CONTROL_SECRET: 'credential-control-of-tests-0123456789' });
  });
  afterAll(() => world?.close());
  const path = (more: string): string => `/api/v1/orgs/${ada.orgId}/${more}`;
  const trial = (change: object, as: User = ada): Promise<Answer<EgressTrial & Refusal>> =>
    world.app.http(as, 'POST', path('egress-rules/trial'), change);
  const tried = async (change: object): Promise<EgressTrial> => {
    const { status, body } = await trial(change);
    expect([status, body.detail]).toEqual([200, undefined]);
    return body;
  };
  const together = (rules: readonly object[]): Promise<Answer<CreatedEgressRules & Refusal>> =>
    world.app.http(ada, 'POST', path('egress-rules/bulk'), { rules });
  const rules = async (): Promise<EgressRuleList['data']> =>
    (await world.app.http<EgressRuleList>(ada, 'GET', path('egress-rules'))).body.data;
  /** As it was counted. */
  const counted = (
    sandbox: Sandbox,
    host: string,
    more: { verdict?: string; rule?: string; listed?: boolean; ago?: number } = {},
  ) =>
    world.app.owner.query(
      `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict, rule, listed, connections)
       VALUES ($1, $2, date_trunc('hour', now()) - make_interval(days => $3), $4, 443, $5, $6, $7, 3)`,
      [
        sandbox.org,
        sandbox.conversation,
        more.ago ?? 0,
        host,
        more.verdict ?? 'allowed',
        more.rule ?? '',
        more.listed ?? false,
      ],
    );
  const set = (settings: object) =>
    world.app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [ada.orgId, settings]);
  const begin = async (name: string): Promise<void> => {
    ada = await world.app.user(name);
    [one, other] = [await world.sandbox(ada), await world.sandbox(ada)];
  };

  it('that refuses says what it would have refused, of which conversations, and changes nothing', async () => {
    await begin('Ada');
    await world.rule(ada, { host: '*.cdn.example', action: 'allow' });
    for (const sandbox of [one, other]) await counted(sandbox, 'a.cdn.example', { rule: 'egr_before' });
    await counted(one, 'b.cdn.example', { rule: 'egr_before' });
    await counted(one, 'listed.cdn.example', { listed: true });
    // Not of the rule, not of the last 30 days, not decided by a rule, refused already.
    await counted(one, 'cdn.example');
    await counted(one, 'old.cdn.example', { ago: 31 });
    await counted(one, 'gone.cdn.example', { verdict: 'unresolved' });
    await counted(one, 'no.cdn.example', { verdict: 'rule' });
    const result = await tried({ rule: { host: '*.cdn.example', action: 'deny' } });
    expect(result).toEqual({
      tried: { connections: 15, hosts: 4, conversations: 2 },
      refused: { connections: 12, hosts: 3, conversations: 2 },
      asked: NOTHING,
      allowed: NOTHING,
      letThrough: null,
      limited: false,
      hosts: [
        { host: 'a.cdn.example', port: 443, effect: 'refused', connections: 6, conversations: 2 },
        { host: 'b.cdn.example', port: 443, effect: 'refused', connections: 3, conversations: 1 },
        { host: 'listed.cdn.example', port: 443, effect: 'refused', connections: 3, conversations: 1 },
      ],
      conversations: [
        { id: one.conversation, title: expect.any(String), connections: 9 },
        { id: other.conversation, title: expect.any(String), connections: 3 },
      ],
      complete: true,
    });
    expect(await rules()).toHaveLength(1);
    // For one conversation it is about that one.
    const narrow = { scope: 'conversation', scopeValue: other.conversation, host: 'a.cdn.example', action: 'deny' };
    expect((await tried({ rule: narrow })).refused).toEqual({ connections: 3, hosts: 1, conversations: 1 });
    const elsewhere = {
      scope: 'repository',
      scopeValue: 'https://git.example/a/b',
      host: 'a.cdn.example',
      action: 'deny',
    };
    expect((await tried({ rule: elsewhere })).refused).toEqual(NOTHING);
    await world.app.owner.query(
      "UPDATE app.conversation SET repository = 'https://git.example/a/b.git' WHERE id = $1",
      [one.conversation],
    );
    expect((await tried({ rule: elsewhere })).refused).toEqual({ connections: 3, hosts: 1, conversations: 1 });
  });

  it('that allows says what it would have let through; a port that it does not name, and what no rule decides, stay', async () => {
    await begin('Bo');
    await set({ egressUnknown: 'refuse' });
    await counted(one, 'api.example', { verdict: 'rule' });
    await counted(other, 'api.example', { verdict: 'asked' });
    await counted(one, 'api.example', { verdict: 'unreachable' });
    expect((await tried({ rule: { host: 'api.example', action: 'allow' } })).allowed).toEqual({
      connections: 6,
      hosts: 1,
      conversations: 2,
    });
    expect((await tried({ rule: { host: 'api.example:8443', action: 'allow' } })).allowed).toEqual(NOTHING);
    // A refusal comes first.
    await world.rule(ada, { host: 'api.example', action: 'deny' });
    expect((await tried({ rule: { host: 'api.example', action: 'allow' } })).allowed).toEqual(NOTHING);
    const [refusal] = await rules();
    expect((await tried({ remove: refusal?.id })).allowed).toEqual(NOTHING);
    await counted(one, 'listed.example', { verdict: 'rule', listed: true });
    await world.rule(ada, { host: 'listed.example', action: 'deny' });
    const [listed] = await rules();
    expect((await tried({ remove: listed?.id })).allowed).toEqual({ connections: 3, hosts: 1, conversations: 1 });
  });

  it('that removes a rule says what it let through, and about what a user would be asked without it', async () => {
    await begin('Cy');
    const { body: rule } = await world.rule(ada, { host: 'api.example', action: 'allow' });
    await counted(one, 'api.example', { rule: rule.id });
    await counted(other, 'api.example', { rule: 'egr_before' });
    expect(await tried({ remove: rule.id })).toMatchObject({
      letThrough: { connections: 3, hosts: 1, conversations: 1 },
      asked: { connections: 6, hosts: 1, conversations: 2 },
      refused: NOTHING,
    });
    await set({ egressUnknown: 'refuse' });
    expect(await tried({ remove: rule.id })).toMatchObject({ asked: NOTHING, refused: { connections: 6 } });
    // Another rule goes on to allow it.
    await world.rule(ada, { host: 'api.example:443', action: 'allow' });
    expect(await tried({ remove: rule.id })).toMatchObject({
      asked: NOTHING,
      refused: NOTHING,
      letThrough: { connections: 3 },
    });
    expect((await trial({ remove: 'egr_none' })).body.code).toBe('resource.not-found');
  });

  it('of unknown hosts says what it would have let through or refused; a credential’s place and the list stay open', async () => {
    await begin('Di');
    await counted(one, 'new.example', { verdict: 'asked' });
    await counted(one, 'seen.example', { rule: 'observed' });
    await counted(one, 'listed.example', { listed: true });
    await counted(one, 'place.example', { rule: 'credential:crd_1' });
    await counted(one, '10.0.0.1', { verdict: 'rule' });
    const credential = await world.app.http(ada, 'POST', path('credentials'), {
      name: 'API_TOKEN',
      value: 'a value of a test',
      use: { form: 'bearer', places: [{ host: 'place.example' }] },
    });
    expect(credential.status).toBe(201);
    expect(await tried({ egressUnknown: 'observe' })).toMatchObject({
      allowed: { connections: 3, hosts: 1 },
      refused: NOTHING,
      asked: NOTHING,
    });
    await set({ egressUnknown: 'observe' });
    const refuse = await tried({ egressUnknown: 'refuse' });
    expect(refuse.hosts.map(({ host, effect }) => [host, effect])).toEqual([['seen.example', 'refused']]);
    expect((await tried({ egressUnknown: 'ask' })).asked).toEqual({ connections: 3, hosts: 1, conversations: 1 });
  });

  it('that is limited to requests is tried as connections are, and says that no requests were counted', async () => {
    await begin('Eve');
    const limited = { host: 'api.example', action: 'allow', methods: ['GET'] };
    await counted(one, 'api.example', { verdict: 'asked' });
    expect(await tried({ rule: limited })).toMatchObject({ limited: true, allowed: { connections: 3 } });
    expect(await tried({ rule: { host: 'api.example', action: 'allow' } })).toMatchObject({ limited: false });
    // A limited refusal keeps no connection, and what is judged never goes in clear.
    await counted(one, 'open.example', { listed: true });
    const refusal = { host: 'open.example', action: 'deny', methods: ['POST'] };
    expect(await tried({ rule: refusal })).toMatchObject({ limited: true, refused: NOTHING });
    await world.app.owner.query("UPDATE app.egress_tally SET port = 80 WHERE org_id = $1 AND host = 'open.example'", [
      ada.orgId,
    ]);
    expect(await tried({ rule: refusal })).toMatchObject({ refused: { connections: 3 } });
    const { body: kept } = await world.rule(ada, limited);
    expect(await tried({ remove: kept.id })).toMatchObject({ limited: true, letThrough: NOTHING });
  });

  it('is decided as connections are: what the trial says is what egress-proxy then does', async () => {
    await begin('Ed');
    await set({ egressUnknown: 'refuse' });
    const target = world.name('real.example');
    const { body: allowed } = await world.rule(ada, { host: target, action: 'allow' });
    expect(await world.status(one, target)).toBe(200);
    await world.app.owner.query(
      `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict, rule, connections)
       SELECT $1, id, date_trunc('hour', now()), 'real.example', $2, 'allowed', $3, 1 FROM app.conversation WHERE org_id = $1`,
      [ada.orgId, world.origin.port, allowed.id],
    );
    const draft = { scope: 'conversation', scopeValue: one.conversation, host: target, action: 'deny' };
    const said = await tried({ rule: draft });
    expect(said.conversations.map(({ id }) => id)).toEqual([one.conversation]);
    expect([await world.status(one, target), await world.status(other, target)]).toEqual([200, 200]);
    expect((await world.rule(ada, draft)).status).toBe(201);
    await until('the proxy has heard of the rule', async () => (await world.status(one, target)) === 403);
    expect(await world.status(other, target)).toBe(200);
    expect((await trial({ rule: { host: '*.github.io', action: 'allow' } })).body.code).toBe('egress.too-wide');
    expect((await trial({ rule: { host: 'not a host', action: 'allow' } })).body.code).toBe('request.invalid');
    expect((await trial({})).body.code).toBe('request.invalid');
    expect((await trial({ remove: allowed.id, egressUnknown: 'ask' })).body.code).toBe('request.invalid');
  });

  it('adversary: a viewer tries nothing, a stranger finds nothing, a key without conversation:read learns no title', async () => {
    await begin('Flo');
    await counted(one, 'api.example');
    const viewer = await world.app.user('Vic');
    await world.app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      ada.orgId,
      viewer.userId,
    ]);
    const change = { rule: { host: 'api.example', action: 'deny' } };
    expect((await trial(change, viewer)).status).toBe(403);
    expect((await trial(change, await world.app.user('Stranger'))).status).toBe(404);
    const { body: key } = await world.app.http<{ token: string }>(ada, 'POST', path('api-keys'), {
      name: 'reads rules',
      scopes: ['egress:read'],
    });
    const answer = await fetch(`${world.app.url}${path('egress-rules/trial')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(change),
    });
    expect(await answer.json()).toMatchObject({ refused: { connections: 3, conversations: 1 }, conversations: [] });
    expect((await tried(change)).conversations).toHaveLength(1);
  });

  it('of many rules is made whole, an audit entry each, or not at all, with the host that is in the way', async () => {
    await begin('Gus');
    const hosts = ['a.example.com', 'b.example.com:8443', '*.c.example.com'];
    const made = await together(hosts.map((host) => ({ host, action: 'allow', reason: 'observed' })));
    expect([made.status, made.body.data.map(({ host }) => host)]).toEqual([201, hosts]);
    const ids = made.body.data.map(({ id }) => id);
    const entries = (await world.audit('egress-rule.create')).filter(({ target }) => ids.includes(target));
    expect(entries.map(({ actor_id }) => actor_id)).toEqual(ids.map(() => ada.userId));
    const before = await rules();
    const bad = await together([
      { host: 'd.example.com', action: 'allow' },
      { host: '*.github.io', action: 'allow' },
    ]);
    expect([bad.status, bad.body.code]).toEqual([422, 'egress.too-wide']);
    expect(bad.body.detail).toMatch(/^\*\.github\.io: .* No rule was added\.$/);
    expect((await together([])).body.code).toBe('request.invalid');
    const many = Array.from({ length: 101 }, (_, index) => ({ host: `h${index}.example.com`, action: 'allow' }));
    expect((await together(many)).body.code).toBe('request.invalid');
    expect(await rules()).toEqual(before);
    // Up to the limit and not past it.
    await world.app.owner.query(
      `INSERT INTO app.egress_rule (org_id, id, scope, host, below, action, created_by, created_by_label)
       SELECT $1, 'egr_' || n, 'organization', 'f' || n || '.example.com', false, 'allow', 'u', 'u' FROM generate_series(1, $2) n`,
      [ada.orgId, MAX_EGRESS_RULES - 3 - 1],
    );
    const last = [
      { host: 'y.example.com', action: 'allow' },
      { host: 'z.example.com', action: 'allow' },
    ];
    const full = await together(last);
    expect([full.body.code, full.body.detail?.startsWith('z.example.com: ')]).toEqual(['settings.too-many', true]);
    expect((await rules()).some(({ host }) => host === 'y.example.com')).toBe(false);
  });

  it('adversary: an admin under four eyes who hides their own request among many rules makes none of them', async () => {
    await begin('Hal');
    await set({ fourEyes: true });
    void world.status(one, world.name('mine.example'));
    await world.waiting(ada, one, 'mine.example');
    const hidden = await together([
      { host: 'a.example.com', action: 'allow' },
      { host: `mine.example:${world.origin.port}`, action: 'allow' },
    ]);
    expect([hidden.status, hidden.body.code]).toEqual([403, 'conversation.four-eyes']);
    expect(await rules()).toEqual([]);
    expect((await together([{ host: 'a.example.com', action: 'allow' }])).status).toBe(201);
  });
});
