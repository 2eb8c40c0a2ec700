// An issue delegated at Linear: from the delivery to Linear's first activity, to the first event of its conversation,
// and to the message in the agent's own log. The whole stack, a scripted Linear.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { linearVendor } from '@slipway/integrations/testing';
import {
  createSampleRepository,
  type SignedInClient,
  signIn,
  startGitServer,
  startModelServer,
} from '@slipway/testing';
import pg from 'pg';
import { freePortRange } from '../deploy/local/free-ports.ts';
import { startStack } from '../deploy/local/stack.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Delegations, one after the other, each a conversation of its own with a warm sandbox. */
const SAMPLES = quick(30, 1);
const WARM_UP = quick(3, 0);
/** Poll interval of the database. Milliseconds. */
const LOOK_MS = 5;
const LONGEST_MS = 60_000;
const KEY = 'sk-of-the-script';

interface Sample {
  readonly acknowledged: number;
  readonly activity: number;
  readonly event: number;
  readonly message: number;
}

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-delegated-'));
  await createSampleRepository(folder, 'shop.git', { 'total.js': 'export const total = 1;\n' });
  const git = await startGitServer(folder);
  const linear = linearVendor();
  const vendor = await linear.start();
  const model = await startModelServer({
    script: () => ({ toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }),
    apiKey: KEY,
  });
  const host = new URL(vendor).host;
  const stack = await startStack({
    port: await freePortRange(),
    dataDirectory: path.join(folder, 'data'),
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LLM_BASE_URL: model.url,
      LLM_API_KEY: KEY,
      LLM_MODEL: 'scripted',
      ORG_SANDBOX_LIMIT: '60',
      INTEGRATION_PRIVATE_HOSTS: host,
      LOG_LEVEL: 'warn',
    },
    log: () => {},
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
  });
  const database = new pg.Client({ connectionString: stack.ownerUrl });
  try {
    await database.connect();
    const user = await signIn(stack.url);
    const orgId = user.me.orgs[0]?.id ?? '';
    const hook = await connect(user, orgId, { vendor, repository: `${git.url}/shop.git` });
    await database.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('bench', $1, 'linear', $2, 'ann', $3, 'ann')`,
      [orgId, host, user.me.id],
    );
    const samples: Sample[] = [];
    for (let index = 0; index < WARM_UP + SAMPLES; index += 1) {
      const sample = await delegate(hook, linear, database);
      if (index >= WARM_UP) samples.push(sample);
      await rest(user, orgId, database);
    }
    for (const name of ['acknowledged', 'activity', 'event', 'message'] as const)
      for (const p of [0.5, 0.99])
        report.figure({
          figure: `${name}_p${p * 100}`,
          value: percentile(
            samples.map((each) => each[name]),
            p,
          ),
          unit: 'ms',
          n: samples.length,
        });
  } finally {
    await database.end();
    await stack.stop();
    linear.close();
    await Promise.all([model.close(), git.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Hook {
  readonly url: string;
  readonly secret: string;
}

async function connect(
  user: SignedInClient,
  orgId: string,
  { vendor, repository }: { vendor: string; repository: string },
): Promise<Hook> {
  const json = {
    ...{ provider: 'linear', name: 'Linear', host: new URL(vendor).host, token: 'lin_api_of-the-bench', account: 'o1' },
    own: { ids: ['app-user'], mention: 'slipway' },
    settings: { baseUrl: vendor, defaultRepository: repository },
  };
  const answer = await user.fetch(`/api/v1/orgs/${orgId}/integrations/connections`, { method: 'POST', json });
  if (answer.status !== 201) throw new Error(`connecting was answered ${answer.status}: ${await answer.text()}`);
  const { connection, webhookSecret } = (await answer.json()) as ConnectionWithSecret;
  return { url: connection.address ?? '', secret: webhookSecret ?? '' };
}

function deliver({ url, secret }: Hook, session: string): Promise<Response> {
  const creator = { id: 'ann', name: 'Ann' };
  const issue = {
    id: `issue-${session}`,
    identifier: 'SHOP-1',
    title: 'Total',
    url: 'https://linear.app/i',
    description: 'Add it up.',
    team: { id: 't', key: 'SHOP' },
  };
  const body = JSON.stringify({
    ...{
      type: 'AgentSessionEvent',
      action: 'created',
      organizationId: 'o1',
      appUserId: 'app-user',
      webhookTimestamp: Date.now(),
    },
    agentSession: {
      ...{
        id: session,
        url: `https://linear.app/acme/issue/SHOP-1#${session}`,
        creator,
        issue,
        createdAt: new Date().toISOString(),
      },
      comment: { id: `comment-${session}`, body: 'Please fix the total.' },
    },
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'linear-delivery': randomUUID(),
    'linear-event': 'AgentSessionEvent',
    'linear-signature': signature,
  };
  return fetch(url, { method: 'POST', headers, body });
}

async function delegate(hook: Hook, linear: ReturnType<typeof linearVendor>, database: pg.Client): Promise<Sample> {
  linear.messages.splice(0);
  const known = (await database.query<{ id: string }>('SELECT id FROM app.conversation')).rows.map(({ id }) => id);
  const began = performance.now();
  const since = (): number => performance.now() - began;
  const seen: { activity?: number; event?: number; message?: number } = {};
  const answer = await deliver(hook, `session-${randomUUID()}`);
  const acknowledged = since();
  if (answer.status !== 200) throw new Error(`the delivery was answered ${answer.status}: ${await answer.text()}`);
  while (seen.activity === undefined || seen.event === undefined || seen.message === undefined) {
    if (since() > LONGEST_MS)
      throw new Error(
        `not seen within ${LONGEST_MS} ms: ${JSON.stringify({ seen, calls: linear.calls.slice(-5), why: await reasons(database) })}`,
      );
    if (linear.messages.length > 0) seen.activity ??= since();
    const { rows } = await database.query<{ kind: string }>(
      `SELECT e.kind FROM app.event e JOIN app.conversation c ON c.id = e.conversation_id WHERE NOT (c.id = ANY ($1::uuid[]))`,
      [known],
    );
    if (rows.length > 0) seen.event ??= since();
    if (rows.some(({ kind }) => kind === 'MessageEvent')) seen.message ??= since();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { acknowledged, activity: seen.activity, event: seen.event, message: seen.message };
}

const reasons = async (database: pg.Client): Promise<unknown> =>
  (await database.query('SELECT state, reason FROM app.integration_delivery')).rows.at(-1);

/** Gives the sandbox back, so that the next one is warm: also one that is not running yet. */
async function rest(user: SignedInClient, orgId: string, database: pg.Client): Promise<void> {
  const asked = new Set<string>();
  const end = performance.now() + LONGEST_MS;
  while (performance.now() < end) {
    const { rows } = await database.query<{ id: string; status: string }>(
      `SELECT id, sandbox_status AS status FROM app.conversation WHERE sandbox_status <> 'PAUSED'`,
    );
    if (rows.length === 0) return;
    for (const { id, status } of rows)
      if (status === 'RUNNING' && !asked.has(id)) {
        asked.add(id);
        await user.fetch(`/api/v1/orgs/${orgId}/conversations/${id}/pause`, { method: 'POST' });
      }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`a sandbox was not given back within ${LONGEST_MS} ms`);
}
