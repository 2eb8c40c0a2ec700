import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import { SecretBox } from '@slipway/auth/secret-box';
import { Credential, OpenedCredentials } from '@slipway/contracts/credentials';
import { EgressDecision } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import type { TestApp } from '../../testing/test-app.js';
import { EgressControl } from '../egress/egress-control.js';

const PROXY = 'test-egress-control-test-egress-control';
const BROKER = 'test-credential-control-test-credential';
const OPEN = '/internal/credentials/v1/open';
const DECIDE = '/internal/egress/v1/decide';
const VALUE = 'canary-value-of-a-credential';
const HOST = 'api.example.com';

interface Signed {
  readonly secret?: string;
  readonly purpose?: string;
  readonly method?: string;
  readonly nonce?: string;
  readonly at?: Date;
}

describe('the internal port', () => {
  let app: ConversationApp;
  let ada: User;
  let bob: User;
  let url: string;
  beforeAll(async () => {
    app = await ConversationApp.start({
      env: { EGRESS_CONTROL_SECRET: PROXY, CREDENTIAL_CONTROL_SECRET: BROKER, INTERNAL_PORT: '0' },
    });
    [ada, bob] = [await app.user('Ada'), await app.user('Bob')];
    url = (app.replicas[0] as TestApp).app.get(EgressControl).url ?? '';
  });
  afterAll(() => app?.close());

  const send = async (path: string, question: unknown, signed: Signed = {}) => {
    const { secret = BROKER, purpose = 'slipway-credentials', method = 'POST', at = new Date() } = signed;
    const body = method === 'GET' ? '' : JSON.stringify(question);
    const signature = new InternalSignature(secret, purpose);
    const header = signature.sign({ method, path, body }, at, signed.nonce ?? randomBytes(16).toString('base64url'));
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { [SIGNATURE_HEADER]: header },
      ...(method === 'GET' ? {} : { body }),
      signal: AbortSignal.timeout(10_000),
    });
    return { response, header, signature };
  };
  const open = async (conversation: string, more: object = {}): Promise<OpenedCredentials> => {
    const question = { claim: `clm_${conversation}`, org: ada.orgId, conversation, host: HOST, port: 443, ...more };
    const { response, header, signature } = await send(OPEN, question);
    const body = await response.text();
    expect([response.status, signature.acceptsAnswer(header, body, response.headers.get(SIGNATURE_HEADER))]).toEqual([
      200,
      true,
    ]);
    expect([response.headers.get('content-type'), body]).toEqual(['text/plain', expect.not.stringContaining(VALUE)]);
    const box = new SecretBox(BROKER);
    const sealed = Buffer.from(body, 'base64');
    expect(() => box.decrypt(sealed, 'opened:another question')).toThrow();
    return OpenedCredentials.parse(JSON.parse(box.decrypt(sealed, `opened:${header}`)));
  };
  const decide = async (conversation: string | null, more: object = {}): Promise<EgressDecision> => {
    const { response } = await send(
      DECIDE,
      {
        claim: 'clm_x',
        org: ada.orgId,
        conversation,
        host: HOST,
        port: 443,
        actionId: null,
        openedBy: null,
        listed: false,
        ...more,
      },
      { secret: PROXY, purpose: 'slipway-egress-control' },
    );
    expect(response.status).toBe(200);
    return EgressDecision.parse(await response.json());
  };
  const at = (user: User, rest = ''): string => `/api/v1/orgs/${user.orgId}/credentials${rest}`;
  const create = async (body: object = {}): Promise<Credential> =>
    Credential.parse(
      (
        await app.http(ada, 'POST', at(ada), {
          name: `NAME_${randomUUID().slice(0, 8)}`,
          value: VALUE,
          use: { form: 'bearer', places: [{ host: HOST }, { host: 'other.example.com' }] },
          ...body,
        })
      ).body,
    );
  const forget = () => app.owner.query('DELETE FROM app.credential');
  const conversation = async (
    user = ada,
    work: { environment?: string; repository?: string } = {},
  ): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.owner.query('UPDATE app.conversation SET environment = $2, repository = $3 WHERE id = $1', [
      id,
      work.environment ?? null,
      work.repository ?? null,
    ]);
    return id;
  };
  const uses = async (id: string) =>
    (
      await app.owner.query("SELECT detail FROM app.audit_entry WHERE action = 'credential.use' AND target = $1", [id])
    ).rows.map(({ detail }) => detail);

  it('gives a conversation its own, the narrowest first, with their places at the host alone', async () => {
    const wide = await create({ name: 'WIDE' });
    const staging = await create({ name: 'STAGING', scope: 'environment', scopeValue: 'staging' });
    const shop = await create({
      name: 'SHOP',
      scope: 'repository',
      scopeValue: 'https://git.example.com/acme/shop.git',
    });
    await create({ scope: 'environment', scopeValue: 'production' });
    await create({ scope: 'repository', scopeValue: 'https://git.example.com/acme/other' });
    await create({ use: { form: 'bearer', places: [{ host: HOST, port: 8443 }, { host: 'other.example.com' }] } });
    const id = await conversation(ada, { environment: 'staging', repository: 'https://GIT.example.com/acme/shop.git' });
    const { credentials, ttlMs } = await open(id);
    expect(credentials.map((each) => each.name)).toEqual(['SHOP', 'STAGING', 'WIDE']);
    expect(credentials.map((each) => each.id)).toEqual([shop.id, staging.id, wide.id]);
    for (const { use, value, reference } of credentials) {
      expect([use.places.map(({ host }) => host), value, reference]).toEqual([[HOST], VALUE, null]);
    }
    expect(ttlMs).toBeLessThanOrEqual(60_000);
    expect((await open(await conversation())).credentials.map((each) => each.name)).toEqual(['WIDE']);
    expect((await open(id, { host: 'API.example.com.' })).credentials).toHaveLength(3);
    expect((await open(id, { port: 8443 })).credentials).toHaveLength(1);
    expect((await open(id, { host: 'evil.example.com' })).credentials).toEqual([]);
    expect((await open(id, { port: 80 })).credentials).toEqual([]);
    await forget();
  });

  it('makes a reference that is the same for the same conversation and another for another', async () => {
    await create({ name: 'KEY', use: { form: 'placeholder', shape: 'sk-', places: [{ host: HOST }] } });
    const [one, other] = [await conversation(), await conversation()];
    const reference = async (id: string) => (await open(id)).credentials[0]?.reference;
    const first = await reference(one);
    expect(first).toMatch(/^sk-slp_ref_KEY_[A-Za-z0-9_-]{16}$/);
    expect([await reference(one), (await reference(other)) === first]).toEqual([first, false]);
    await forget();
  });

  it('gives a token of the conversation for the form that keeps no value, and no other conversation’s', async () => {
    const made = await create({
      name: 'WORKLOAD',
      value: undefined,
      use: { form: 'workload-token', audience: 'https://api.example.com', places: [{ host: HOST }] },
    });
    const id = await conversation(ada, { environment: 'staging', repository: 'https://git.example.com/acme/shop.git' });
    const other = await conversation();
    const claims = async (of: string) => {
      const [given] = (await open(of)).credentials;
      expect(given).toMatchObject({ id: made.id, value: '' });
      return JSON.parse(Buffer.from(given?.identity?.split('.')[1] ?? '', 'base64url').toString());
    };
    expect(await claims(id)).toMatchObject({
      sub: `org:${ada.orgId}:env:staging:repo:git.example.com/acme/shop`,
      aud: 'https://api.example.com',
      conversation_id: id,
      claim_id: `clm_${id}`,
      user: ada.userId,
    });
    expect(await claims(other)).toMatchObject({ sub: `org:${ada.orgId}:env::repo:`, conversation_id: other });
    // Places are sealed although there is no value.
    await app.owner.query(
      "UPDATE app.credential SET use = jsonb_set(use, '{audience}', '\"elsewhere\"') WHERE id = $1",
      [made.id],
    );
    const question = { claim: 'c', org: ada.orgId, conversation: id, host: HOST, port: 443 };
    expect((await send(OPEN, question)).response.status).toBe(503);
    await forget();
  });

  it('notes a use once a claim, before the value is given', async () => {
    const made = await create({ name: 'NOTED' });
    const id = await conversation();
    await open(id);
    await open(id);
    expect(await uses(made.id)).toEqual([{ name: 'NOTED', claim: `clm_${id}`, conversation: id, host: HOST }]);
    await open(id, { claim: 'clm_second' });
    expect(await uses(made.id)).toHaveLength(2);
    const shown = Credential.parse((await app.http(ada, 'GET', at(ada, `/${made.id}`))).body);
    expect(shown.lastUsedAt).not.toBeNull();
    expect(await Promise.all(Array.from({ length: 8 }, () => open(id, { claim: 'clm_third' })))).toHaveLength(8);
    expect(await uses(made.id)).toHaveLength(3);
    await forget();
  });

  it('gives nothing for another organization, a deleted conversation, or a credential that is gone or resting', async () => {
    const made = await create({ name: 'GONE' });
    const id = await conversation();
    const theirs = await conversation(bob);
    expect((await open(id)).credentials).toHaveLength(1);
    expect((await open(theirs)).credentials).toEqual([]);
    expect((await open(id, { org: bob.orgId })).credentials).toEqual([]);
    expect((await open(theirs, { org: bob.orgId })).credentials).toEqual([]);
    expect((await open('no-conversation')).credentials).toEqual([]);
    expect((await open(randomUUID())).credentials).toEqual([]);
    const reflected = { claim: 'clm_x', org: ada.orgId, conversation: id, credential: made.id, host: HOST };
    const { response } = await send('/internal/credentials/v1/reflected', { ...reflected, org: bob.orgId });
    expect([response.status, (await open(id)).credentials.length]).toEqual([200, 1]);
    expect((await send('/internal/credentials/v1/reflected', reflected)).response.status).toBe(200);
    expect(await open(id)).toMatchObject({ credentials: [], resting: ['GONE'] });
    await send('/internal/credentials/v1/reflected', reflected);
    const { rows } = await app.owner.query(
      "SELECT actor_id, detail FROM app.audit_entry WHERE action = 'credential.rest' AND target = $1",
      [made.id],
    );
    expect(rows).toEqual([
      {
        actor_id: 'credential-broker',
        detail: { name: 'GONE', claim: 'clm_x', conversation: id, host: HOST, reason: 'reflected' },
      },
    ]);
    await app.http(ada, 'PATCH', at(ada, `/${made.id}`), { state: 'active' });
    expect((await open(id)).credentials).toHaveLength(1);
    await app.owner.query('UPDATE app.conversation SET deleted_at = now() WHERE id = $1', [id]);
    expect((await open(id)).credentials).toEqual([]);
    const other = await conversation();
    await app.http(ada, 'DELETE', at(ada, `/${made.id}`));
    expect(await open(other)).toMatchObject({ credentials: [], resting: [] });
  });

  it('answers 503 and no part of it for a value that does not open, such as one whose places were changed', async () => {
    const made = await create();
    const id = await conversation();
    await app.owner.query(
      `UPDATE app.credential SET use = jsonb_set(use, '{places,1,host}', '"evil.example.com"'), hosts = hosts || '{evil.example.com:443}' WHERE id = $1`,
      [made.id],
    );
    for (const host of [HOST, 'evil.example.com']) {
      const { response } = await send(OPEN, { claim: 'c', org: ada.orgId, conversation: id, host, port: 443 });
      expect([response.status, await response.text()]).toEqual([503, '']);
    }
    expect(await uses(made.id)).toEqual([]);
    await forget();
  });

  it('adversary: opens nothing that is replayed, late, signed with the other secret, or for another path', async () => {
    const id = await conversation();
    const question = { claim: 'c', org: ada.orgId, conversation: id, host: HOST, port: 443 };
    const status = async (path: string, signed: Signed, asked: unknown = question): Promise<number> =>
      (await send(path, asked, signed)).response.status;
    const nonce = randomBytes(16).toString('base64url');
    const now = new Date();
    expect(await status(OPEN, { nonce, at: now })).toBe(200);
    expect(await status(OPEN, { nonce, at: now })).toBe(403);
    expect(await status(OPEN, { at: new Date(Date.now() - 40_000) })).toBe(403);
    expect(await status(OPEN, { secret: PROXY })).toBe(403);
    expect(await status(OPEN, { secret: PROXY, purpose: 'slipway-egress-control' })).toBe(403);
    expect(await status(OPEN, { purpose: 'slipway-egress-control' })).toBe(403);
    const decision = {
      claim: 'c',
      org: ada.orgId,
      conversation: id,
      host: HOST,
      port: 443,
      actionId: null,
      openedBy: null,
    };
    expect(await status(DECIDE, {}, decision)).toBe(403);
    expect(await status(DECIDE, { purpose: 'slipway-egress-control' }, decision)).toBe(403);
    for (const path of ['/internal/credentials/v1/changes', '/internal/egress/v1/changes'])
      for (const secret of [PROXY, BROKER]) {
        const own = path.includes('credentials') === (secret === BROKER);
        const purpose = secret === BROKER ? 'slipway-credentials' : 'slipway-egress-control';
        const { response } = await send(path, '', { method: 'GET', secret, purpose });
        expect([path, response.status]).toEqual([path, own ? 200 : 403]);
        await response.body?.cancel();
      }
    expect(await status(OPEN, {}, { ...question, more: 1 })).toBe(400);
    expect(await status(OPEN, {}, { ...question, claim: 'x'.repeat(9_000) })).toBe(413);
    expect(await status('/internal/credentials/v1/constructor', {})).toBe(404);
    expect(await status('/api/v1/me', {})).toBe(404);
    expect(await status('/internal/credentials/v1/decide', {}, decision)).toBe(404);
  });

  it('tells the broker of each change of a credential', async () => {
    const { response } = await send('/internal/credentials/v1/changes', '', { method: 'GET' });
    let heard = '';
    const reading = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) heard += Buffer.from(chunk);
    })().catch(() => {});
    const { id } = await create();
    const count = (): number => heard.split(ada.orgId).length - 1;
    await until('its making is heard', () => Promise.resolve(count() === 1));
    await app.http(ada, 'PATCH', at(ada, `/${id}`), { value: 'another' });
    await until('its value is heard', () => Promise.resolve(count() === 2));
    await app.http(ada, 'DELETE', at(ada, `/${id}`));
    await until('its end is heard', () => Promise.resolve(count() === 3));
    await (app.replicas[0] as TestApp).app.get(EgressControl).onApplicationShutdown();
    await reading;
    await (app.replicas[0] as TestApp).app.get(EgressControl).onApplicationBootstrap();
    url = (app.replicas[0] as TestApp).app.get(EgressControl).url ?? '';
  });

  describe('about a connection', () => {
    const rule = async (body: object): Promise<string> =>
      (await app.http<{ id: string }>(ada, 'POST', `/api/v1/orgs/${ada.orgId}/egress-rules`, body)).body.id;
    const clear = async (): Promise<void> => {
      await forget();
      await app.owner.query('DELETE FROM app.egress_rule');
    };

    it('lets a listed host pass unless a rule refuses it, for whoever asks', async () => {
      const id = await conversation();
      const allowed = { decision: 'allow', rule: null, brokered: false };
      for (const asker of [id, null, randomUUID(), 'no-conversation'])
        expect(await decide(asker, { listed: true })).toMatchObject(allowed);
      expect(await decide(null, { listed: true, org: 'org_unknown' })).toMatchObject(allowed);
      expect(await decide(randomUUID())).toMatchObject({ decision: 'deny' });
      const refusal = await rule({ host: '*.example.com', action: 'deny' });
      for (const asker of [id, null, randomUUID()])
        expect(await decide(asker, { listed: true })).toMatchObject({ decision: 'deny', rule: refusal });
      await clear();
    });

    it('leads the place of a credential through the broker, without a rule too, and never past a refusal', async () => {
      const id = await conversation(ada, { environment: 'staging' });
      expect(await decide(id)).toMatchObject({ decision: 'ask', brokered: false });
      const made = await create({ scope: 'environment', scopeValue: 'staging' });
      const through = { decision: 'allow', rule: `credential:${made.id}`, brokered: true };
      expect(await decide(id)).toMatchObject(through);
      expect(await decide(id, { listed: true })).toMatchObject(through);
      expect(await decide(id, { openedBy: through.rule })).toMatchObject(through);
      // In clear it would pass unjudged: egress-proxy refuses what is brokered at port 80.
      expect(await decide(id, { port: 80, listed: true })).toMatchObject(through);
      expect(await decide(id, { port: 8443 })).toMatchObject({ decision: 'ask', brokered: false });
      expect(await decide(await conversation(), { listed: true })).toMatchObject({
        decision: 'allow',
        brokered: false,
      });
      // A sandbox of a conversation that is gone has no credential, and does not pass unopened.
      expect(await decide(randomUUID(), { listed: true })).toMatchObject({ decision: 'deny' });
      const allowed = await rule({ host: HOST, action: 'allow' });
      expect(await decide(id)).toMatchObject({ decision: 'allow', rule: allowed, brokered: true });
      const refusal = await rule({ host: HOST, action: 'deny' });
      expect(await decide(id, { listed: true })).toMatchObject({ decision: 'deny', rule: refusal });
      await clear();
    });

    it('keeps the place of a resting one from passing unopened, and cuts what was open by one that is gone', async () => {
      const id = await conversation();
      const made = await create();
      const openedBy = `credential:${made.id}`;
      await app.owner.query("UPDATE app.credential SET state = 'resting' WHERE id = $1", [made.id]);
      expect(await decide(id, { openedBy })).toMatchObject({ decision: 'allow', rule: openedBy, brokered: true });
      await app.http(ada, 'DELETE', at(ada, `/${made.id}`));
      expect(await decide(id, { openedBy })).toMatchObject({ decision: 'deny', brokered: false });
      expect(await decide(id, { openedBy, listed: true })).toMatchObject({ decision: 'allow', brokered: false });
      await clear();
    });
  });
});
