import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Envelope } from '@slipway/auth/envelope';
import type {
  ConnectionWithSecret,
  IntegrationDelivery,
  IntegrationDeliveryPage,
  ThreadAnswerList,
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
import { ANSWER_SETTINGS, IntegrationAnswer } from '../../apps/worker/dist/integrations/answers/integration-answer.js';
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
const logger = createLogger('answers-test', 'silent');

describeUnless(missing)('what a thread on a real Gitea shows', () => {
  let gitea: Gitea;
  let shop: GiteaRepository;
  let mia: GiteaUser;
  let app: ConversationApp;
  let olga: User;
  let made: ConnectionWithSecret;
  let pool: SqlPool;
  let queue: Queue;
  let models: Server;
  let dispatch: ProviderDispatch;
  let answers: IntegrationAnswer;

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    const { host } = new URL(gitea.url);
    const ada = await gitea.admin.createUser('ada');
    const bot = await gitea.admin.createUser('slipway');
    shop = await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
    await shop.addCollaborator('slipway', 'admin');
    mia = await gitea.admin.createUser('mia');
    await shop.addCollaborator('mia', 'write');
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    olga = await app.user('Olga');
    const { body } = await app.http<ConnectionWithSecret>(olga, 'POST', path('/integrations/connections'), {
      provider: 'gitea',
      kind: 'token',
      name: 'Gitea',
      host,
      token: await bot.createToken('slipway', ['write:issue', 'read:repository']),
      settings: { baseUrl: gitea.url },
    });
    made = body;
    await shop.createWebhook({ url: made.connection.address ?? '', secret: made.webhookSecret ?? '' });
    await app.owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('l1', $1, 'gitea', $2, $3, $4, 'mia')`,
      [olga.orgId, host, String((await mia.self()).id), olga.userId],
    );
    await startWorking(host);
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
  const startWorking = async (host: string): Promise<void> => {
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
    answers = new IntegrationAnswer(
      pool,
      providers,
      calls,
      systemClock,
      { ...ANSWER_SETTINGS, publicUrl: 'https://slipway.test' },
      logger,
    );
    queue.handle('integration-delivery', (payload, signal) => decider.run(payload, signal), { concurrency: 4 });
    queue.handle('integration-answer', async (payload, signal) => void (await answers.run(payload, signal)), {
      concurrency: 4,
    });
  };

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}${rest}`;
  const log = async (): Promise<readonly IntegrationDelivery[]> =>
    (
      await app.http<IntegrationDeliveryPage>(
        olga,
        'GET',
        path(`/integrations/connections/${made.connection.id}/deliveries?limit=100`),
      )
    ).body.data;
  interface Comment {
    readonly id: number;
    readonly body: string;
    readonly user: { readonly login: string };
  }
  const comments = (issue: number): Promise<readonly Comment[]> => shop.call('GET', `/issues/${issue}/comments`);
  const ours = async (issue: number): Promise<readonly Comment[]> =>
    (await comments(issue)).filter((each) => each.user.login === 'slipway');
  const reactions = (of: string): Promise<ReadonlyArray<{ content: string; user: { login: string } }> | null> =>
    shop.call('GET', `${of}/reactions`);
  /** As a sandbox reports it. */
  const becomes = async (id: string, status: string, execution: string, said?: string): Promise<void> => {
    const events =
      said === undefined
        ? []
        : [{ source: 'agent', llm_message: { role: 'assistant', content: [{ type: 'text', text: said }] } }];
    const whole = events.map((each) => ({
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      kind: 'MessageEvent',
      ...each,
    }));
    await app.owner.query(
      `SELECT * FROM app.append_events($1, $2, NULL, NULL, $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7)`,
      [
        olga.orgId,
        id,
        whole.map(() => null),
        whole.map((each) => each.id),
        whole.map((each) => each.kind),
        whole.map((each) => JSON.stringify(each)),
        JSON.stringify({
          status,
          execution_status: execution,
          status_state: { execution, start: 'ready', halt: 'none' },
        }),
      ],
    );
  };
  const hears = async (conversation: string, issue: number): Promise<void> => {
    const { rows } = await app.owner.query<{ id: string }>(
      'SELECT id FROM app.inbox_message WHERE conversation_id = $1 ORDER BY position DESC LIMIT 1',
      [conversation],
    );
    const event = {
      id: rows[0]?.id,
      timestamp: new Date().toISOString(),
      kind: 'MessageEvent',
      source: 'user',
      llm_message: { role: 'user', content: [{ type: 'text', text: `#${issue}` }] },
    };
    await app.owner.query(
      `SELECT * FROM app.append_events($1, $2, NULL, NULL, ARRAY[NULL]::bigint[], ARRAY[$3]::uuid[], ARRAY['MessageEvent'], ARRAY[$4], '{}')`,
      [olga.orgId, conversation, event.id, JSON.stringify(event)],
    );
  };
  const decided = async (deed: () => Promise<unknown>): Promise<IntegrationDelivery> => {
    const known = new Set((await log()).map(({ id }) => id));
    await deed();
    return until(
      'it is decided',
      async () => (await log()).find((each) => !known.has(each.id) && each.state === 'done'),
      WAIT_MS,
    );
  };

  it('is eyes at once and one comment, edited until the run ends, which starts nothing itself', async () => {
    const { number } = await shop.createIssue('Total is wrong', 'It adds nothing.');
    let asked = { id: 0 };
    const { conversationId } = await decided(async () => {
      asked = await mia.repository('ada', 'shop').comment(number, '@slipway fix it');
    });
    const id = conversationId ?? '';
    await until(
      'it has eyes',
      async () =>
        (await reactions(`/issues/comments/${asked.id}`))?.some(
          (each) => each.content === 'eyes' && each.user.login === 'slipway',
        ),
      WAIT_MS,
    );
    const [comment] = await until(
      'it has a comment',
      async () => (await ours(number)).length === 1 && (await ours(number)),
      WAIT_MS,
    );
    expect(comment?.body).toContain('is starting');
    await hears(id, number);
    await becomes(id, 'finished', 'finished', 'The total is added.\n\ncc @mia');
    await answers.run({ orgId: olga.orgId, conversationId: id }, new AbortController().signal);
    expect(await ours(number)).toEqual([
      expect.objectContaining({ id: comment?.id, body: expect.stringContaining('> The total is added.') }),
    ]);
    const token = await mia.createToken('drawing', ['write:misc']);
    const drawn = async (text: string): Promise<string> =>
      (
        await fetch(`${gitea.url}/api/v1/markdown`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `token ${token}` },
          body: JSON.stringify({ Text: text, Mode: 'comment', Context: 'ada/shop' }),
        })
      ).text();
    const ofMia = `${gitea.url}/mia"`;
    expect(await drawn('cc @mia')).toContain(ofMia);
    expect(await drawn((await ours(number))[0]?.body ?? '')).not.toContain(ofMia);
    const { body } = await app.http<ThreadAnswerList>(olga, 'GET', path(`/conversations/${id}/answers`));
    expect(body.data).toEqual([
      expect.objectContaining({
        state: 'shown',
        problem: null,
        url: `${gitea.url}/ada/shop/issues/${number}#issuecomment-${comment?.id}`,
      }),
    ]);
    const own = await until(
      'our comments were heard',
      async () => (await log()).filter((each) => each.reason?.code === 'own-act').length >= 1 && (await log()),
      WAIT_MS,
    );
    expect(own.filter((each) => each.state === 'done')).toHaveLength(1);
    const reply = await decided(() => mia.repository('ada', 'shop').comment(number, '@slipway and a test'));
    expect([reply.reason?.code, reply.conversationId]).toEqual(['message-added', id]);
    await becomes(id, 'working', 'running');
    await until(
      'it shows that',
      async () => {
        await answers.run({ orgId: olga.orgId, conversationId: id }, new AbortController().signal);
        return (await ours(number))[0]?.body.includes('is working');
      },
      WAIT_MS,
    );
    expect(await ours(number)).toHaveLength(1);
  });

  it('comes after Gitea was away, once', async () => {
    const { number } = await shop.createIssue('Rounding');
    const { conversationId } = await decided(() => mia.repository('ada', 'shop').comment(number, '@slipway round it'));
    const id = conversationId ?? '';
    await until('it has a comment', async () => (await ours(number)).length === 1, WAIT_MS);
    await gitea.server.stop();
    try {
      await becomes(id, 'waiting', 'waiting_for_confirmation');
      expect(await answers.run({ orgId: olga.orgId, conversationId: id }, new AbortController().signal)).toBe(2_000);
      const { body } = await app.http<ThreadAnswerList>(olga, 'GET', path(`/conversations/${id}/answers`));
      expect(body.data).toEqual([
        expect.objectContaining({ state: 'waiting', problem: expect.stringContaining('does not answer') }),
      ]);
    } finally {
      await gitea.server.start();
    }
    await until(
      'it shows that',
      async () => {
        await answers.run({ orgId: olga.orgId, conversationId: id }, new AbortController().signal);
        return (await ours(number))[0]?.body.includes('waits for approval');
      },
      WAIT_MS,
    );
    expect(await ours(number)).toHaveLength(1);
  });
});
