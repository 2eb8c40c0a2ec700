import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { type BilledTurn, type BillingServer, createTestDatabase, startBillingServer, until } from '@slipway/testing';
import { loadConfig } from '../../config.js';
import { startGateway } from '../../gateway.js';

const MASTER_KEY = 'master-key-of-the-tests-0123456789abcdef';
const PROVIDER_KEY = 'sk-provider-0123456789abcdef';
/** USD for a million tokens: what the file of models says, and what the provider bills. */
const PRICE = { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 };
const TIERS = { priority: 2 };
/** USD for a count of tokens, where the model has it. */
const COUNT = 0.001;
/** USD for a search, where the model has it; and the context that each may fill. Tokens. */
const SEARCH = 0.01;
export const SEARCHED_CONTEXT = 20_000;

export interface BilledCallPlan {
  readonly gateway: number;
  readonly path: '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1/messages/count_tokens';
  readonly model: 'gpt' | 'claude' | 'pair' | 'gpt-web' | 'claude-web';
  readonly body: Readonly<Record<string, unknown>>;
  /** What the provider does; the second of a pair has its own. */
  readonly turns: readonly BilledTurn[];
  /** The caller goes away when the provider has the request. */
  readonly aborts: boolean;
}

export interface TrialResult {
  readonly limitUsd: number;
  readonly billUsd: number;
  readonly ledgerUsd: number;
  /** Calls that a provider has seen, and that were refused before. */
  readonly sent: number;
  readonly refused: number;
}

export interface BilledGateways {
  /** Calls of a new organization with one budget, all at once. */
  trial(limitUsd: number, calls: readonly BilledCallPlan[]): Promise<TrialResult>;
  /** One call with a key of an organization. */
  post(gateway: number, url: string, body: object, key: string): Promise<Response>;
  key(orgId: string): Promise<string>;
  readonly owner: SqlPool;
  readonly providers: readonly BillingServer[];
  close(): Promise<void>;
}

/**
 * Three gateways on one Postgres, in front of two providers that bill; `pair` is a model of both, the first of which is
 * asked first.
 */
export async function startBilledGateways(): Promise<BilledGateways> {
  const plans = new Map<string, BilledCallPlan>();
  const seen = new Map<string, number>();
  const markOf = (raw: Buffer): string => /mark-[0-9a-f-]{36}/.exec(raw.toString('utf8'))?.[0] ?? '';
  const script = ({ raw }: { raw: Buffer }): BilledTurn => {
    const mark = markOf(raw);
    const turns = plans.get(mark)?.turns ?? [];
    const at = seen.get(mark) ?? 0;
    seen.set(mark, at + 1);
    return turns[Math.min(at, turns.length - 1)] ?? { text: 'an answer' };
  };
  const billed = { ...PRICE, serviceTiers: TIERS };
  // As servers of others than OpenAI: another name of the limit is none.
  const models = {
    gpt: { ...billed, search: SEARCH, chatLimit: 'max_tokens' },
    claude: { ...billed, search: SEARCH, count: COUNT },
  };
  const providers = await Promise.all([1, 2].map(() => startBillingServer({ models, script, apiKey: PROVIDER_KEY })));
  const [one, two] = providers as [BillingServer, BillingServer];
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-billed-'));
  const file = path.join(folder, 'models.json');
  const facts = { price: { ...PRICE, serviceTiers: TIERS }, contextWindow: 400_000, maxOutput: 64_000 };
  const openai = (server: BillingServer, id: string): object => ({
    id,
    provider: 'openai',
    baseUrl: server.url,
    model: 'gpt',
    apiKeyEnv: 'A_KEY',
    speaks: ['chat', 'responses'],
    firstByteTimeoutSeconds: 20,
  });
  const counting = { ...facts, price: { ...facts.price, perThousand: { countTokens: COUNT * 1_000 } } };
  const searching = {
    ...facts,
    price: { ...facts.price, perThousand: { webSearch: SEARCH * 1_000 } },
    contextWindow: SEARCHED_CONTEXT,
    maxSearches: 4,
  };
  const claude = { provider: 'anthropic', baseUrl: one.url, model: 'claude', apiKeyEnv: 'A_KEY' };
  await writeFile(
    file,
    JSON.stringify({
      models: [
        { name: 'gpt', deployments: [openai(one, 'gpt-one')], facts },
        { name: 'claude', deployments: [claude], facts: counting },
        { name: 'gpt-web', deployments: [{ ...openai(one, 'gpt-web'), speaks: ['responses'] }], facts: searching },
        { name: 'claude-web', deployments: [{ ...claude, id: 'claude-web' }], facts: searching },
        { name: 'pair', deployments: [openai(one, 'pair-one'), openai(two, 'pair-two')], facts },
      ],
    }),
  );
  const database = await createTestDatabase();
  const owner = createPool({ url: database.ownerUrl, max: 3, applicationName: 'test', onError: () => {} });
  const logger = createLogger('llm-gateway', process.env['TEST_LOG_LEVEL'] ?? 'silent');
  const started = await Promise.all(
    [1, 2, 3].map(async () => {
      const config = loadConfig({
        DATABASE_URL: database.urls.gateway,
        LLM_GATEWAY_MASTER_KEY: MASTER_KEY,
        PORT: '0',
        LLM_MODELS_FILE: file,
        A_KEY: PROVIDER_KEY,
        BUDGET_WAIT_SECONDS: '0',
      });
      const stop = new GracefulStop({ logger, drainSeconds: 0, exit: () => {} });
      return { gateway: await startGateway(config, logger, stop), stop };
    }),
  );
  const post = (gateway: number, url: string, body: object, key: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${started[gateway]?.gateway.url}${url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  const keyOf = async (orgId: string): Promise<string> => {
    const response = await post(
      0,
      '/key/generate',
      { metadata: { org_id: orgId, conversation_id: randomUUID() } },
      MASTER_KEY,
    );
    return ((await response.json()) as { key: string }).key;
  };
  const billOf = (): number => providers.reduce((sum, server) => sum + server.bill().usd, 0);

  /** Whether a provider saw it. */
  const make = async (plan: BilledCallPlan, key: string): Promise<boolean> => {
    const mark = `mark-${randomUUID()}`;
    plans.set(mark, plan);
    const controller = new AbortController();
    const said = plan.path === '/v1/responses' ? { input: mark } : { messages: [{ role: 'user', content: mark }] };
    const answered = post(plan.gateway, plan.path, { model: plan.model, ...said, ...plan.body }, key, controller.signal)
      .then(async (response) => {
        await response.text();
        return response.status;
      })
      .catch(() => null);
    if (plan.aborts) {
      let over = false;
      void answered.then(() => {
        over = true;
      });
      await until('the provider has it, or it is refused', () => seen.has(mark) || over);
      controller.abort();
    }
    await answered;
    return seen.has(mark) || (plan.path.endsWith('count_tokens') && (await answered) === 200);
  };

  return {
    providers,
    owner,
    post,
    key: keyOf,
    trial: async (limitUsd, calls) => {
      const orgId = `org_${randomUUID()}`;
      await owner.query(
        `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ($1, 'org', '', $2, 'month')`,
        [orgId, limitUsd],
      );
      const key = await keyOf(orgId);
      const before = billOf();
      const seenByProvider = await Promise.all(calls.map((call) => make(call, key)));
      const sent = seenByProvider.filter(Boolean).length;
      const ledgerUsd = await until('a row for the end of each call', async () => {
        const { rows } = await owner.query<{ ends: string; usd: string }>(
          'SELECT count(DISTINCT request_id) AS ends, coalesce(sum(cost_usd), 0) AS usd FROM gateway.ledger WHERE org_id = $1',
          [orgId],
        );
        return Number(rows[0]?.ends) >= sent ? { usd: Number(rows[0]?.usd) } : null;
      });
      return { limitUsd, billUsd: billOf() - before, ledgerUsd: ledgerUsd.usd, sent, refused: calls.length - sent };
    },
    close: async () => {
      for (const { gateway, stop } of started)
        await stop.stop('the end of the test', [
          stop.requests(500, () => gateway.breakOff()),
          { name: 'ledger', withinMs: 8_000, run: () => gateway.close() },
        ]);
      for (const server of providers) await server.close();
      await owner.end();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
