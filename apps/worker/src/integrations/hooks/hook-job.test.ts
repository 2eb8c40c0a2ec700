import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { repairHooks } from '@slipway/integrations/hooks';
import type { Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import { DEVELOPER, type GitLabProject, type GitLabUser, MAINTAINER, ScriptedGitLab } from '@slipway/testing/gitlab';
import pg from 'pg';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { ConnectionCalls } from '../connection-calls.js';
import { HookJob } from './hook-job.js';
import { HookSelection } from './hook-selection.js';
import { hooksToCheck, selectionsToList } from './hooks.queries.js';

const ORG = 'org_hooks';
const never = new AbortController().signal;
const logger = createLogger('hooks-test', 'silent');

jest.setTimeout(120_000);

describe('webhooks that jobs make at a scripted GitLab', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let gitlab: ScriptedGitLab;
  let dispatch: ProviderDispatch;
  let envelope: Envelope;
  let ada: GitLabUser;
  let bot: GitLabUser;
  let connection: string;
  let shop: GitLabProject;
  let docs: GitLabProject;
  let jobs: HookJob;
  let selections: HookSelection;
  let added: Array<{ name: string; delayMs: number | undefined }> = [];

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    gitlab = await ScriptedGitLab.start();
    dispatch = new ProviderDispatch([new URL(gitlab.url).host]);
    envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
    [ada, bot] = [gitlab.user('ada'), gitlab.user('project_1_bot')];
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'hooks', 'Hooks', 'personal')`, [ORG]);
    const queue = {
      add: async (name: string, _payload: unknown, { delayMs }: { delayMs?: number }) =>
        void added.push({ name, delayMs }),
    } as unknown as Queue;
    const providers = new Map(Object.entries(PROVIDERS));
    const calls = new ConnectionCalls(new ConnectionCredentials(pool, envelope), dispatch, systemClock);
    jobs = new HookJob(pool, envelope, providers, calls, queue, systemClock, 'https://slipway.example', logger);
    selections = new HookSelection(pool, providers, calls, queue, logger);
  });
  afterAll(async () => {
    await gitlab?.close();
    await dispatch?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  beforeEach(async () => {
    gitlab.broken = null;
    gitlab.signsWebhooks = true;
    gitlab.projects.length = 0;
    added = [];
    await owner.query('DELETE FROM app.integration_connection');
    await owner.query('DELETE FROM app.outbox');
    connection = randomUUID();
    const name = randomUUID().slice(0, 8);
    shop = await gitlab.project({ path: `acme/${name}/shop`, owner: ada });
    docs = await gitlab.project({ path: `acme/${name}/docs`, owner: ada });
    shop.members.set(bot.id, MAINTAINER);
    docs.members.set(bot.id, DEVELOPER);
    const { host } = new URL(gitlab.url);
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label, hook_patterns)
       VALUES ($1, $2, 'gitlab', 'access-token', 'n', $3, 'signed', '{"ids":[],"mention":"slipway"}', $4, 'u', 'u', $5)`,
      [
        connection,
        ORG,
        host,
        JSON.stringify({ baseUrl: gitlab.url, labels: [], bots: [], confidential: false, defaultRepository: null }),
        ['acme/**', 'acme/gone'],
      ],
    );
    await seal('token', gitlab.token(bot, 'api'));
    await seal('webhook', `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  });

  const seal = async (kind: 'token' | 'webhook', value: string): Promise<void> => {
    const place = { id: randomUUID(), connectionId: connection, kind };
    const { bytes, keyVersion } = await envelope.seal(ORG, value, integrationSecretContext(place));
    await owner.query(
      `UPDATE app.integration_secret SET valid_until = now() + interval '1 day' WHERE connection_id = $1 AND kind = $2 AND kind = 'webhook'`,
      [connection, kind],
    );
    await owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [...[place.id, ORG, connection, kind, bytes, keyVersion]],
    );
  };
  interface Row {
    readonly id: string;
    readonly repository: string;
    readonly state: string;
    readonly detail: string | null;
  }
  const rows = async (): Promise<Row[]> =>
    (
      await owner.query<Row>(
        'SELECT id, repository, state, detail FROM app.integration_hook WHERE connection_id = $1 ORDER BY repository',
        [connection],
      )
    ).rows;
  const runAll = async (): Promise<void> => {
    for (const { id } of await rows()) await jobs.run({ orgId: ORG, hookId: id }, never);
  };
  const select = (): Promise<void> => selections.run({ orgId: ORG, connectionId: connection }, never);
  const states = async (): Promise<string[][]> =>
    (await rows()).map(({ repository, state }) => [repository.split('/').at(-1) ?? '', state]);
  const outboxJobs = async (): Promise<number> => (await owner.query('SELECT 1 FROM app.outbox')).rowCount ?? 0;

  it('are made for what patterns and names choose, and each says what became of it', async () => {
    await select();
    expect(await states()).toEqual([
      ['docs', 'queued'],
      ['shop', 'queued'],
      ['gone', 'queued'],
    ]);
    await runAll();
    expect(await states()).toEqual([
      ['docs', 'missing-right'],
      ['shop', 'installed'],
      ['gone', 'missing-right'],
    ]);
    expect(shop.hooks).toMatchObject([
      { url: `https://slipway.example/api/integration/gitlab/events/${connection}`, token: null },
    ]);
    expect((await rows())[0]?.detail).toContain('administrator');
    expect(await outboxJobs()).toBe(0);
    // Repeated, nothing is made twice; a right that was given since is used.
    docs.members.set(bot.id, MAINTAINER);
    await select();
    await runAll();
    expect([shop.hooks.length, docs.hooks.length, (await rows()).length]).toEqual([1, 1, 3]);
  });

  it('are repaired after a new secret and when they are gone, and one that GitLab switched off waits for a user', async () => {
    await select();
    await runAll();
    await seal('webhook', `whsec_${Buffer.alloc(32, 2).toString('base64')}`);
    await runAll();
    expect(shop.hooks[0]?.signingToken).toBe(`whsec_${Buffer.alloc(32, 2).toString('base64')}`);
    shop.hooks.length = 0;
    await runAll();
    expect(shop.hooks).toHaveLength(1);
    const [off] = shop.hooks;
    if (off !== undefined) off.alertStatus = 'disabled';
    await runAll();
    expect((await states())[1]).toEqual(['shop', 'disabled']);
    await inOrg(pool, ORG, (client) => repairHooks(client, ORG, connection));
    await runAll();
    expect([(await states())[1], shop.hooks[0] === off, shop.hooks.length]).toEqual([['shop', 'installed'], false, 1]);
  });

  it('have a secret token at a GitLab that does not sign, unless a delivery was signed before', async () => {
    gitlab.signsWebhooks = false;
    await select();
    await runAll();
    const signature = async (): Promise<unknown> =>
      (await owner.query('SELECT signature FROM app.integration_connection')).rows[0]?.signature;
    expect([await signature(), shop.hooks[0]?.token === null]).toEqual(['token', false]);
    await owner.query(`UPDATE app.integration_connection SET signature = 'signed', verified_at = now()`);
    await inOrg(pool, ORG, (client) => repairHooks(client, ORG, connection));
    await runAll();
    expect([await signature(), (await rows())[1]]).toMatchObject([
      'signed',
      { state: 'failed', detail: expect.stringContaining('does not sign') },
    ]);
  });

  it('wait for a GitLab that is away or limits calls, and need attention once for a token that it refuses', async () => {
    await select();
    const hookId = (await rows())[1]?.id ?? '';
    added = [];
    for (const [status, headers] of [
      [429, { 'retry-after': '120' }],
      [502, {}],
    ] as const) {
      gitlab.broken = { calls: /./, answer: (response) => void response.writeHead(status, headers).end() };
      await jobs.run({ orgId: ORG, hookId }, never);
    }
    expect(added.map(({ name }) => name)).toEqual(['integration-hook', 'integration-hook']);
    expect(added[0]?.delayMs).toBeGreaterThan(60_000);
    expect((await rows())[1]).toMatchObject({ state: 'queued', detail: expect.stringContaining('does not answer') });
    gitlab.broken = { calls: /./, answer: (response) => void response.writeHead(401).end() };
    await jobs.run({ orgId: ORG, hookId }, never);
    expect((await rows())[1]).toMatchObject({ state: 'failed', detail: expect.stringContaining('token') });
    expect((await owner.query('SELECT state FROM app.integration_connection')).rows).toEqual([
      { state: 'needs-attention' },
    ]);
    const asked = gitlab.asked.length;
    await runAll();
    expect(gitlab.asked).toHaveLength(asked);
  });

  it('are checked again a day later, and new repositories with them', async () => {
    await select();
    await runAll();
    expect([await hooksToCheck(pool, 24), await selectionsToList(pool, 24)]).toEqual([[], []]);
    await owner.query(`UPDATE app.integration_hook SET checked_at = now() - interval '25 hours'`);
    await owner.query(`UPDATE app.integration_connection SET hooks_listed_at = now() - interval '25 hours'`);
    expect([(await hooksToCheck(pool, 24)).length, await selectionsToList(pool, 24)]).toEqual([
      3,
      [{ orgId: ORG, connectionId: connection }],
    ]);
  });
});
