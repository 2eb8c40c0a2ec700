import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Envelope } from '@slipway/auth/envelope';
import type {
  ConnectionWithSecret,
  IntegrationConnection,
  IntegrationDelivery,
  IntegrationDeliveryPage,
} from '@slipway/contracts/integrations';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createQueue, type Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { type Gitea, type GiteaRepository, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { LlmGatewayClient } from '../../apps/worker/dist/clients/llm-gateway.client.js';
import { Acts } from '../../apps/worker/dist/integrations/acts.js';
import { RepositoryChoices } from '../../apps/worker/dist/integrations/choice/repository-choices.js';
import { ConnectionCalls } from '../../apps/worker/dist/integrations/connection-calls.js';
import { DefaultRepository } from '../../apps/worker/dist/integrations/default-repository.js';
import { DeliveryReader } from '../../apps/worker/dist/integrations/delivery-reader.js';
import { IntegrationDelivery as Decider } from '../../apps/worker/dist/integrations/integration-delivery.js';
import { ThreadReader } from '../../apps/worker/dist/integrations/thread-context.js';
import { ProviderAccess } from '../../apps/worker/dist/integrations/write-access.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const WAIT_MS = 60_000;
const logger = createLogger('write-access-test', 'silent');

describeUnless(missing)('what people ask for on a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let shop: GiteaRepository;
  let app: ConversationApp;
  let olga: User;
  let host: string;
  let made: ConnectionWithSecret;
  let pool: SqlPool;
  let queue: Queue;
  let models: Server;
  let dispatch: ProviderDispatch;

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    host = new URL(gitea.url).host;
    ada = await gitea.admin.createUser('ada');
    shop = await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
    await shop.createLabel('slipway');
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    olga = await app.user('Olga');
    made = (
      await app.http<ConnectionWithSecret>(olga, 'POST', path('/connections'), {
        provider: 'gitea',
        kind: 'token',
        name: 'Gitea',
        host,
        token: await ada.createToken('slipway', ['read:repository']),
        settings: { baseUrl: `${gitea.url}/` },
      })
    ).body;
    await shop.createWebhook({ url: made.connection.address ?? '', secret: made.webhookSecret ?? '' });
    await startDeciding();
  });
  afterAll(async () => {
    await queue?.close();
    await dispatch?.close();
    await pool?.end();
    models?.close();
    await app?.close();
    await gitea?.close();
  });

  /** The worker's part, with jobs from the queue that app-server fills. */
  const startDeciding = async (): Promise<void> => {
    const databaseUrl = app.database.urls.app;
    pool = createPool({ url: databaseUrl, max: 8, applicationName: 'test', onError: () => {} });
    queue = await createQueue({ databaseUrl, applicationName: 'test', logger });
    models = createServer((_request, response) => {
      const data = [{ id: 'usual', object: 'model', created: 0, owned_by: 'x', default: true }];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
    });
    await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve));
    dispatch = new ProviderDispatch([host]);
    const gateway = new LlmGatewayClient({
      url: `http://127.0.0.1:${(models.address() as AddressInfo).port}`,
      masterKey: randomUUID(),
    });
    const envelope = new Envelope(pool, app.box, systemClock);
    const providers = new Map(Object.entries(PROVIDERS));
    const calls = new ConnectionCalls(new ConnectionCredentials(pool, envelope), dispatch, systemClock);
    const access = new ProviderAccess(pool, providers, calls, systemClock, logger);
    const acts = new Acts(
      pool,
      queue,
      gateway,
      createIds(systemClock),
      new ThreadReader(pool, providers, calls, access.ask, logger),
      new DefaultRepository(pool, providers, access.ask),
      new RepositoryChoices(pool, envelope, providers),
    );
    const reader = new DeliveryReader(pool, envelope, providers, calls, logger);
    const decider = new Decider(pool, reader, providers, access.ask, acts, queue, systemClock, logger);
    queue.handle('integration-delivery', (payload, signal) => decider.run(payload, signal), { concurrency: 4 });
  };

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}/integrations${rest}`;
  const deliveries = (rest = ''): string => path(`/connections/${made.connection.id}/deliveries${rest}`);
  const connection = async (): Promise<IntegrationConnection> =>
    (await app.http<IntegrationConnection>(olga, 'GET', path(`/connections/${made.connection.id}`))).body;
  const log = async (): Promise<readonly IntegrationDelivery[]> =>
    (await app.http<IntegrationDeliveryPage>(olga, 'GET', deliveries('?limit=100'))).body.data;
  const reason = async (id: string): Promise<string | undefined> =>
    (await log()).find((each) => each.id === id)?.reason?.code;

  /** What the deed's delivery was decided to be; deliveries that ask for nothing come beside it. */
  const decided = async (deed: () => Promise<unknown>): Promise<IntegrationDelivery> => {
    const known = new Set((await log()).map(({ id }) => id));
    await deed();
    const asks = (each: IntegrationDelivery): boolean =>
      !known.has(each.id) && (each.state === 'done' || each.state === 'refused');
    return until('it is decided', async () => (await log()).find(asks), WAIT_MS);
  };
  const again = async (id: string): Promise<void> => {
    expect((await app.http(olga, 'POST', deliveries(`/${id}/redeliver`))).status).toBe(202);
  };
  const collaborator = async (login: string, right: 'read' | 'write'): Promise<GiteaUser> => {
    const user = await gitea.admin.createUser(login);
    await shop.addCollaborator(login, right);
    return user;
  };
  /** As when they had linked the account. */
  const link = async (id: number, login: string): Promise<void> => {
    const { userId } = await app.user(login);
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      olga.orgId,
      userId,
    ]);
    await app.owner.query(
      `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ('gitea', $1, $2, $3, $4)`,
      [host, String(id), userId, login],
    );
  };
  const linked = async (login: string, right: 'read' | 'write'): Promise<GiteaRepository> => {
    const user = await collaborator(login, right);
    await link((await user.self()).id, login);
    return user.repository('ada', 'shop');
  };
  /** A mention that was refused because the account was not linked, which it is by now. */
  const waitingFor = async (login: string): Promise<{ id: string; user: GiteaUser }> => {
    const user = await collaborator(login, 'write');
    const { number } = await shop.createIssue(`Of ${login}`);
    const { id, reason: why } = await decided(() => user.repository('ada', 'shop').comment(number, '@slipway fix it'));
    expect(why?.code).toBe('actor-not-linked');
    await link((await user.self()).id, login);
    return { id, user };
  };

  it('starts a conversation about its repository when who labels an issue may write', async () => {
    const mia = await linked('mia', 'write');
    const { number } = await shop.createIssue('Total is wrong', 'It adds nothing.');
    const { state, reason: why, conversationId } = await decided(() => mia.addLabels(number, ['slipway']));
    expect([state, why?.code]).toEqual(['done', 'conversation-started']);
    const { rows } = await app.owner.query('SELECT repository FROM app.conversation WHERE id = $1', [conversationId]);
    expect(rows).toEqual([{ repository: `${gitea.url}/ada/shop` }]);
  });

  it('adversary: a user who may only read starts nothing', async () => {
    const rob = await linked('rob', 'read');
    const { number } = await shop.createIssue('Mine');
    const { state, reason: why, conversationId } = await decided(() => rob.comment(number, '@slipway push this'));
    expect([state, why?.code, conversationId]).toEqual(['refused', 'no-write-access', null]);
  });

  it('adversary: an account that takes over another’s login lends them no right', async () => {
    const { id } = await waitingFor('eve');
    const rename = (from: string, to: string): Promise<unknown> =>
      gitea.admin.call('POST', `/admin/users/${from}/rename`, { new_username: to });
    await rename('eve', 'eve-before');
    await shop.call('DELETE', '/collaborators/eve-before');
    await collaborator('mallory', 'write');
    await rename('mallory', 'eve');
    await again(id);
    expect(await until('it is decided', () => reason(id), WAIT_MS)).toBe('other-account');
  });

  it('waits with its reason while Gitea is away, and is decided when it is back', async () => {
    const { id } = await waitingFor('nia');
    await gitea.server.stop();
    try {
      await again(id);
      await until('it waits', async () => (await reason(id)) === 'provider-away', WAIT_MS);
      expect((await log()).find((each) => each.id === id)).toMatchObject({
        state: 'received',
        reason: { detail: `${host} does not answer.` },
        decidedAt: null,
      });
      expect((await app.owner.query('SELECT 1 FROM app.outbox WHERE key = $1', [id])).rowCount).toBe(1);
    } finally {
      await gitea.server.start();
    }
    await until('it is decided', async () => (await reason(id)) === 'conversation-started', WAIT_MS);
    await until(
      'nothing is wanted any more',
      async () => (await app.owner.query('SELECT 1 FROM app.outbox WHERE key = $1', [id])).rowCount === 0,
      WAIT_MS,
    );
  });

  it('is refused with a token that Gitea does not take, which the connection shows until there is another', async () => {
    const { id } = await waitingFor('olu');
    const at = path(`/connections/${made.connection.id}`);
    const change = async (token: string | null): Promise<void> =>
      expect((await app.http(olga, 'PATCH', at, { token })).status).toBe(200);
    await change('not-a-token-of-gitea');
    await again(id);
    expect(await until('it is decided', () => reason(id), WAIT_MS)).toBe('permission-unknown');
    expect(await connection()).toMatchObject({
      state: 'needs-attention',
      stateReason: expect.stringContaining('token'),
    });
    await change(null);
    await again(id);
    await until(
      'it says that there is none',
      async () =>
        (await log()).find((each) => each.id === id)?.reason?.detail === 'The connection has no access token.',
      WAIT_MS,
    );
    await change(await ada.createToken('another', ['read:repository']));
    expect(await connection()).toMatchObject({ state: 'active', stateReason: null });
    await again(id);
    await until('it is decided', async () => (await reason(id)) === 'conversation-started', WAIT_MS);
  });

  describe('and in Slack, without a named repository', () => {
    const SIGNING = 'the-signing-secret-of-the-app';
    let slack: ConnectionWithSecret;
    beforeAll(async () => {
      if (missing !== null) return;
      await ada.createRepository({ name: 'vault', private: true, files: { 'total.js': 'export const total = 1;\n' } });
      const body = {
        ...{ provider: 'slack', name: 'Slack', webhookSecret: SIGNING, own: { ids: ['UBOT'], mention: 'UBOT' } },
        settings: { defaultRepository: `${gitea.url}/ada/vault` },
      };
      const answer = await app.http<ConnectionWithSecret>(olga, 'POST', path('/connections'), body);
      expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
      slack = answer.body;
    });

    /** A user with an account here, in Slack and at Gitea. */
    const colleague = async (login: string, slackId: string, right: 'read' | 'write'): Promise<void> => {
      const user = await gitea.admin.createUser(login);
      await ada.repository('ada', 'vault').addCollaborator(login, right);
      await link((await user.self()).id, login);
      await app.owner.query(
        `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) SELECT 'slack', 'slack.com', $1, user_id, $2 FROM app.external_identity WHERE login = $2 AND provider = 'gitea'`,
        [slackId, login],
      );
    };
    const say = async (user: string, words: string, ts: string): Promise<IntegrationDelivery> => {
      const event = {
        type: 'app_mention',
        user,
        text: `<@UBOT> ${words}`,
        ts,
        channel: 'C1',
        channel_type: 'channel',
        team: 'T1',
      };
      const raw = JSON.stringify({ type: 'event_callback', team_id: 'T1', event_id: `Ev${ts}`, event });
      const at = String(Math.floor(Date.now() / 1000));
      const signature = `v0=${createHmac('sha256', SIGNING).update(`v0:${at}:${raw}`).digest('hex')}`;
      const headers = {
        'content-type': 'application/json',
        'x-slack-request-timestamp': at,
        'x-slack-signature': signature,
      };
      expect((await fetch(slack.connection.address ?? '', { method: 'POST', headers, body: raw })).status).toBe(200);
      const all = path(`/connections/${slack.connection.id}/deliveries?limit=100`);
      const asks = (each: IntegrationDelivery): boolean => each.state === 'done' || each.state === 'refused';
      const known = new Set(heard);
      const found = await until(
        'it is decided',
        async () =>
          (await app.http<IntegrationDeliveryPage>(olga, 'GET', all)).body.data.find(
            (each) => !known.has(each.id) && asks(each),
          ),
        WAIT_MS,
      );
      heard.push(found.id);
      return found;
    };
    const heard: string[] = [];
    const begun = async (id: string | null): Promise<unknown[]> =>
      (
        await app.owner.query(
          `SELECT c.repository, g.connection_id = $2 AS granted, g.full_name FROM app.conversation c LEFT JOIN app.repository_grant g ON g.conversation_id = c.id WHERE c.id = $1`,
          [id, made.connection.id],
        )
      ).rows;

    it('starts a conversation about the default one, which is private, for who may write there', async () => {
      await colleague('wanda', 'U1', 'write');
      const { reason: why, conversationId } = await say('U1', 'fix the total', '1700000000.000100');
      expect(why?.code).toBe('conversation-started');
      expect(await begun(conversationId)).toEqual([
        { repository: `${gitea.url}/ada/vault`, granted: true, full_name: 'ada/vault' },
      ]);
    });

    it('adversary: a member who may not write there is lent no right by the chat', async () => {
      await colleague('rita', 'U2', 'read');
      const { conversationId } = await say('U2', 'show me the vault', '1700000000.000200');
      expect(await begun(conversationId)).toEqual([
        { repository: `${gitea.url}/ada/vault`, granted: null, full_name: null },
      ]);
    });

    it('adversary: an unlinked user of the workspace starts nothing', async () => {
      expect((await say('U3', 'print every secret', '1700000000.000300')).reason?.code).toBe('actor-not-linked');
    });
  });
});
