import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { deliveryContext, Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { type NewApp, PROVIDERS } from '@slipway/integrations';
import { findBot, InstalledApps, installationSource, sealedInstallation, writeFacts } from '@slipway/integrations/apps';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { packDelivery, type StoredConnection } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { type ScriptedAccount, ScriptedGitHub, type ScriptedInstallation } from '@slipway/integrations/testing';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { ConnectionCalls, connectWith } from '../connection-calls.js';
import { DeliveryReader } from '../delivery-reader.js';
import { IntegrationDelivery } from '../integration-delivery.js';
import { DeliveryRecovery } from './delivery-recovery.js';
import { dueForRecovery } from './recovery.queries.js';

const ORG = 'org_apps';
const CONNECTION = '2a6d8f0e-3f1d-4c8e-9a57-2f6f4f0d7c33';
const OCTOCAT: ScriptedAccount = { id: 1, login: 'octocat', type: 'User' };
const ACME: ScriptedAccount = { id: 2, login: 'acme', type: 'Organization' };
const logger = createLogger('apps-test', 'silent');
const never = new AbortController().signal;
/** Nothing here asks for an act. */
const NOTHING_ACTED = { queueJobs: () => Promise.resolve() };

jest.setTimeout(120_000);

describe('the app of a connection', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let github: ScriptedGitHub;
  let receiver: Server;
  let dispatch: ProviderDispatch;
  let envelope: Envelope;
  let app: NewApp;
  let installation: ScriptedInstallation;
  let apps: InstalledApps;
  let now = Date.now();
  /** What the intake answers; `away`: it takes nothing. */
  let away = false;
  const clock = { now: () => new Date(now) };
  const providers = new Map(Object.entries(PROVIDERS));

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    envelope = new Envelope(pool, new SecretBox(SECRET), clock);
    github = await ScriptedGitHub.start();
    github.now = () => now;
    dispatch = new ProviderDispatch([github.host]);
    // The intake without its signatures, which are app-server's: the same function of the database.
    receiver = createServer((request, response) => {
      void (async () => {
        const raw = await buffer(request);
        if (away) return response.writeHead(502).end();
        await arrive(
          raw,
          Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        );
        response.writeHead(200).end();
      })();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'apps', 'Apps', 'personal')`, [ORG]);
    await register();
  });
  afterAll(async () => {
    receiver?.closeAllConnections();
    receiver?.close();
    github?.close();
    await dispatch?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  afterEach(() => {
    away = false;
    github.broken.clear();
  });

  const register = async (): Promise<void> => {
    const access = PROVIDERS.github.apps;
    if (access === undefined) throw new Error('GitHub has apps');
    const deliveriesUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const urls = {
      deliveriesUrl,
      registeredUrl: 'http://127.0.0.1:9/r',
      homeUrl: 'http://127.0.0.1:9/',
      callbackUrls: ['http://127.0.0.1:9/i'],
    };
    const form = access.registration({ baseUrl: github.url, owner: 'acme', name: 'Slipway', state: 's', ...urls });
    const connect = connectWith(dispatch, clock);
    const code =
      (await github.confirmManifest(form.action, form.fields['manifest'] ?? '')).searchParams.get('code') ?? '';
    app = await access.register(connect(access.apiUrl(github.url), null), code);
    github.roles.set('octocat acme', 'admin');
    ({ installation } = github.install(
      access.installUrl({ baseUrl: github.url, slug: app.slug, state: 's' }),
      OCTOCAT,
      ACME,
      ['acme/shop', 'acme/docs'],
    ));
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, account, signature, own, settings, state, verified_at, created_by, created_by_label)
       VALUES ($1, $2, 'github', 'app', 'n', $3, $4, 'sha256', '{"ids":[],"mention":"slipway"}', $5, 'active', now(), 'u', 'u')`,
      [
        CONNECTION,
        ORG,
        github.host,
        String(installation.id),
        JSON.stringify({ baseUrl: github.url, labels: [], bots: [], confidential: false, defaultRepository: null }),
      ],
    );
    const { clientId, clientSecret, privateKey } = app;
    await seal('app', JSON.stringify({ clientId, clientSecret, privateKey }));
    await owner.query(
      `INSERT INTO app.integration_app (connection_id, org_id, app_id, slug, state) VALUES ($1, $2, $3, $4, 'registered')`,
      [CONNECTION, ORG, app.id, app.slug],
    );
    apps = new InstalledApps({ pool, envelope, providers, platform: {}, connect, now: () => clock.now() });
    await bind();
  };
  const seal = async (kind: string, value: string): Promise<void> => {
    const place = { id: randomUUID(), connectionId: CONNECTION, kind };
    const { bytes, keyVersion } = await envelope.seal(ORG, value, integrationSecretContext(place));
    await owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [place.id, ...[ORG, CONNECTION, kind, bytes, keyVersion]],
    );
  };
  /** As app-server does after a user verified it. */
  const bind = async (): Promise<void> => {
    const opened = await apps.open(ORG, CONNECTION);
    if (opened === null) throw new Error('no app');
    const facts = await apps.facts(opened, String(installation.id));
    await seal('app-installation', sealedInstallation(String(installation.id)));
    await inOrg(pool, ORG, (client) => writeFacts(client, ORG, { connectionId: CONNECTION, facts, at: clock.now() }));
    await owner.query(
      `INSERT INTO app.integration_account_claim (provider, host, account_id, org_id, connection_id) VALUES ('github', $1, '2', $2, $3) ON CONFLICT DO NOTHING`,
      [...[github.host, ORG, CONNECTION]],
    );
  };
  const arrive = async (raw: Buffer, headers: Record<string, string>): Promise<void> => {
    const id = randomUUID();
    const sealed = await envelope.seal(
      ORG,
      await packDelivery({ headers, raw }),
      deliveryContext({ id, connectionId: CONNECTION }),
    );
    const { rows } = await inOrg(pool, ORG, (client) =>
      client.query('SELECT app.take_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
        ...[
          ORG,
          CONNECTION,
          id,
          headers['x-github-delivery'],
          headers['x-github-event'],
          sealed.bytes,
          sealed.keyVersion,
          raw.length,
          randomUUID(),
        ],
      ]),
    );
    expect(rows).toHaveLength(1);
  };
  const decideAll = async (): Promise<string[]> => {
    const { rows } = await owner.query<{ id: string }>(
      `SELECT id FROM app.integration_delivery WHERE state = 'received' ORDER BY received_at, id`,
    );
    const deliveries = new IntegrationDelivery(
      ...([
        pool,
        new DeliveryReader(pool, envelope, providers, calls(), logger),
        providers,
        () => Promise.reject(new Error('nobody is asked')),
      ] as const),
      ...([
        NOTHING_ACTED as never,
        undefined as never,
        clock,
        logger,
        (orgId: string, id: string) => apps.refresh(orgId, id),
      ] as const),
    );
    for (const { id } of rows) await deliveries.run({ orgId: ORG, deliveryId: id }, never).catch(() => {});
    const decided = await owner.query<{ reason: string }>(
      'SELECT reason FROM app.integration_delivery WHERE id = ANY ($1) ORDER BY received_at, id',
      [rows.map(({ id }) => id)],
    );
    return decided.rows.map(({ reason }) => reason);
  };
  const deliver = async (event: string, body: object): Promise<string[]> => {
    expect(await github.deliver(Number(app.id), event, body)).toBe(200);
    return decideAll();
  };
  const state = async (): Promise<unknown[]> => {
    const { rows } = await owner.query(
      'SELECT a.state AS app, c.state, c.account FROM app.integration_app a JOIN app.integration_connection c ON c.id = a.connection_id',
    );
    return [rows[0].app, rows[0].state, rows[0].account];
  };
  const stored = async (): Promise<StoredConnection> =>
    (
      await owner.query(
        'SELECT id, provider, host, account, state, own, settings FROM app.integration_connection WHERE id = $1',
        [CONNECTION],
      )
    ).rows[0];
  const credentials = (): ConnectionCredentials =>
    new ConnectionCredentials(pool, envelope, [installationSource(apps)]);
  const at = () => ({ id: installation.id, account: { ...ACME }, app_id: Number(app.id) });
  const calls = (): ConnectionCalls => new ConnectionCalls(credentials(), dispatch, clock);
  const recovery = (): DeliveryRecovery => new DeliveryRecovery(pool, providers, apps, calls(), clock, logger);
  const recover = (): Promise<void> => recovery().run({ orgId: ORG, connectionId: CONNECTION }, never);

  it('knows who it is by the provider’s word, so that its own acts start nothing', async () => {
    const { own } = await stored();
    expect(own.ids).toEqual(expect.arrayContaining([app.id, '90000']));
    expect(await inOrg(pool, ORG, (client) => findBot(client, ORG, CONNECTION))).toEqual({
      id: '90000',
      login: 'slipway[bot]',
    });
    const issue = {
      id: 5,
      number: 1,
      title: 't',
      body: '@slipway do it',
      node_id: 'n',
      html_url: 'https://h/1',
      state: 'open',
      user: OCTOCAT,
    };
    const repository = { id: 9, full_name: 'acme/shop', private: true, fork: false, default_branch: 'main' };
    const sender = { id: 90_000, login: 'slipway[bot]', type: 'Bot' };
    expect(await deliver('issues', { action: 'opened', issue, repository, sender, installation: at() })).toEqual([
      'own-act',
    ]);
  });

  it('calls by tokens of one repository and one step, of either form, and keeps them in memory alone', async () => {
    const minted = github.minted.length;
    for (const form of ['classic', 'stateless'] as const) {
      github.tokenForm = form;
      const step = form === 'classic' ? 'publish' : 'answer';
      const credential = await credentials().credential(ORG, await stored(), { repository: 'acme/shop', step });
      expect(credential?.expiresAt?.getTime()).toBeGreaterThan(now);
      const { token } = github.minted.at(-1) ?? {};
      expect([credential?.token, token?.length]).toEqual([token, form === 'classic' ? 40 : expect.any(Number)]);
      const { rows } = await owner.query(
        `SELECT (SELECT count(*)::int FROM app.integration_secret WHERE position($1::bytea IN sealed) > 0) AS n`,
        [Buffer.from(token ?? '')],
      );
      expect(rows[0].n).toBe(0);
    }
    github.tokenForm = 'classic';
    expect(github.minted.slice(minted).map(({ repositories }) => repositories)).toEqual([['acme/shop'], ['acme/shop']]);
    // Without a repository it reads names and nothing else.
    await credentials().credential(ORG, await stored());
    expect(github.minted.at(-1)).toMatchObject({ repositories: null, permissions: { metadata: 'read' } });
    const refused = (await credentials().credential(ORG, await stored(), { repository: 'acme/shop', step: 'publish' }))
      ?.token;
    expect(
      (await credentials().credential(ORG, await stored(), { repository: 'acme/shop', step: 'publish', refused: 'x' }))
        ?.token,
    ).not.toBe(refused);
  });

  it('adversary: what another installation of the app delivers is not acted on', async () => {
    const issue = {
      id: 5,
      number: 2,
      title: 't',
      body: '@slipway do it',
      node_id: 'n',
      html_url: 'https://h/1',
      state: 'open',
      user: OCTOCAT,
    };
    const body = {
      action: 'opened',
      issue,
      repository: { id: 9, full_name: 'rival/shop', private: true, fork: false, default_branch: 'main' },
      sender: OCTOCAT,
    };
    expect(await deliver('issues', { ...body, installation: { id: 424_242 } })).toEqual(['other-installation']);
    expect(await deliver('issues', body)).toEqual(['other-installation']);
    expect(
      await deliver('installation', { action: 'deleted', installation: { id: 424_242 }, sender: OCTOCAT }),
    ).toEqual(['other-installation']);
    expect(await state()).toEqual(['installed', 'active', String(installation.id)]);
  });

  it('is suspended and resumed as the provider reports, and the provider’s current state counts', async () => {
    installation.suspended = true;
    await deliver('installation', { action: 'suspend', installation: at(), sender: OCTOCAT });
    expect(await state()).toEqual(['suspended', 'needs-attention', String(installation.id)]);
    await expect(credentials().credential(ORG, await stored(), { repository: 'acme/shop' })).rejects.toMatchObject({
      kind: 'credential',
    });
    installation.suspended = false;
    await deliver('installation', { action: 'unsuspend', installation: at(), sender: OCTOCAT });
    expect(await state()).toEqual(['installed', 'active', String(installation.id)]);
    // An old one that comes late.
    await deliver('installation', { action: 'suspend', installation: at(), sender: OCTOCAT });
    expect(await state()).toEqual(['installed', 'active', String(installation.id)]);
  });

  it('takes new permissions and repositories as soon as they are reported', async () => {
    installation.permissions = { ...installation.permissions, contents: 'read' };
    installation.repositories.push('acme/third');
    await deliver('installation_repositories', { action: 'added', installation: at(), sender: OCTOCAT });
    const facts = async () => (await owner.query('SELECT repositories, permissions FROM app.integration_app')).rows[0];
    expect(await facts()).toMatchObject({ repositories: 3, permissions: { contents: 'read' } });
    await expect(
      credentials().credential(ORG, await stored(), { repository: 'acme/shop', step: 'publish' }),
    ).rejects.toMatchObject({ kind: 'forbidden' });
    installation.permissions = { ...installation.permissions, contents: 'write' };
    await deliver('installation', { action: 'new_permissions_accepted', installation: at(), sender: OCTOCAT });
    expect(
      (await credentials().credential(ORG, await stored(), { repository: 'acme/shop', step: 'publish' }))?.token,
    ).toMatch(/^ghs_/);
  });

  it('unlinks who takes back the authorization', async () => {
    await owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('l1', $1, 'github', $2, '1', 'usr_mia', 'octocat')`,
      [ORG, github.host],
    );
    await deliver('github_app_authorization', { action: 'revoked', sender: OCTOCAT });
    const { rows } = await owner.query(
      `SELECT actor_kind, detail ->> 'reason' AS reason FROM app.audit_entry WHERE target = 'l1'`,
    );
    expect([(await owner.query('SELECT 1 FROM app.linked_account')).rowCount, rows]).toEqual([
      0,
      [{ actor_kind: 'integration', reason: 'revoked at the provider' }],
    ]);
  });

  it('has what came while we were away sent again, each once, and marks it as recovered', async () => {
    now += 60_000;
    away = true;
    for (let index = 0; index < 3; index += 1)
      await github.deliver(Number(app.id), 'ping', { zen: `missed ${index}`, installation: at() });
    away = false;
    await github.deliver(Number(app.id), 'ping', { zen: 'taken', installation: at() });
    now += 60_000;
    const before = github.attempts.length;
    await Promise.all([recover(), recover()]);
    await until(
      'three deliveries come again',
      () => github.attempts.filter(({ redelivery, status }) => redelivery && status === 200).length === 3,
      20_000,
    );
    const missed = async (): Promise<unknown[]> =>
      (
        await owner.query(
          `SELECT d.id FROM app.integration_delivery d JOIN app.integration_recovery r ON r.connection_id = d.connection_id AND r.delivery_id = d.delivery_id`,
        )
      ).rows;
    expect([github.attempts.length - before, (await missed()).length]).toEqual([3, 3]);
    await decideAll();
    now += 300_000;
    await recover();
    expect([github.attempts.length - before, (await missed()).length]).toEqual([3, 3]);
    expect(await dueForRecovery(pool, ['github'], 270, 10)).toEqual([]);
  });

  it('asks for no more than the provider lets it, and goes on in the next round', async () => {
    now += 600_000;
    away = true;
    for (let index = 0; index < 3; index += 1)
      await github.deliver(Number(app.id), 'ping', { zen: `limited ${index}`, installation: at() });
    away = false;
    const [, second] = github.attempts;
    const path = `/app/hook/deliveries/${second?.id}/attempts`;
    github.broken.set(
      path,
      (response) =>
        void response
          .writeHead(403, { 'retry-after': '60' })
          .end('{"message":"You have exceeded a secondary rate limit"}'),
    );
    await recover();
    const asked = async (): Promise<number> =>
      (await owner.query('SELECT 1 FROM app.integration_recovery WHERE failed_at > $1', [new Date(now - 1_000)]))
        .rowCount ?? 0;
    expect(await asked()).toBe(1);
    github.broken.clear();
    await recover();
    expect(await asked()).toBe(3);
  });

  it('tries nothing again that was tried twice, or is older than the provider keeps', async () => {
    now += 600_000;
    await recover();
    away = true;
    const guid = randomUUID();
    await github.deliver(Number(app.id), 'ping', { zen: 'twice' }, { guid });
    await github.deliver(Number(app.id), 'ping', { zen: 'twice' }, { guid });
    await github.deliver(Number(app.id), 'ping', { zen: 'old' });
    const before = github.attempts.length;
    now += 4 * 24 * 60 * 60_000;
    await recover();
    expect(github.attempts.length).toBe(before);
  });

  it('ends with its credential and its claim when it is uninstalled', async () => {
    await deliver('installation', { action: 'deleted', installation: at(), sender: OCTOCAT });
    expect(await state()).toEqual(['removed', 'needs-attention', null]);
    expect(await credentials().credential(ORG, await stored(), { repository: 'acme/shop' })).toBeNull();
    expect((await owner.query('SELECT 1 FROM app.integration_account_claim')).rowCount).toBe(0);
    // Installed again: not verified yet.
    await deliver('installation', { action: 'created', installation: { ...at(), id: 777 }, sender: OCTOCAT });
    expect(await state()).toEqual(['approved', 'needs-attention', null]);
    expect(await credentials().credential(ORG, await stored(), { repository: 'acme/shop' })).toBeNull();
  });
});
