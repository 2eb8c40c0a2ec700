import { createPool, type SqlPool } from '@slipway/db/sql';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type ModelServer, startModelServer, type TestDatabase, until } from '@slipway/testing';
import { loadConfig } from './config.js';
import { type Gateway, startGateway } from './gateway.js';
import type { LedgerEntry } from './ledger/ledger-entry.js';

export const MASTER_KEY = 'master-key-of-the-tests-0123456789abcdef';
export const PROVIDER_KEY = 'sk-provider-0123456789abcdef';
export const MODEL = 'gpt-4o';

/** A row of the ledger, by its columns. */
export interface LedgerRow {
  readonly org_id: string;
  readonly conversation_id: string;
  readonly model: string;
  readonly purpose: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly usage_source: LedgerEntry['usageSource'];
  readonly cost_usd: string;
  readonly cost_known: boolean;
  readonly status: LedgerEntry['status'];
  readonly error_code: string | null;
  readonly streamed: boolean;
  readonly trace_id: string;
}

export interface TestGateway {
  readonly gateway: Gateway;
  readonly model: ModelServer;
  readonly database: TestDatabase;
  /** As the owner: sees every row. */
  readonly owner: SqlPool;
  post(
    path: string,
    body: unknown,
    key: string,
    more?: { signal?: AbortSignal; headers?: Record<string, string> },
  ): Promise<Response>;
  /** A new key of a conversation. */
  key(conversationId?: string, more?: Record<string, unknown>): Promise<string>;
  /** Rows of a conversation, as soon as there are `count`. */
  ledger(conversationId: string, count: number): Promise<LedgerRow[]>;
  close(): Promise<void>;
}

export const CONVERSATION = '01890000-0000-7000-8000-000000000001';

/** The real gateway on a real database, with a scripted model server as its provider. */
export async function startTestGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const database = await createTestDatabase();
  const model = await startModelServer({ script: [], apiKey: PROVIDER_KEY });
  const config = loadConfig({
    DATABASE_URL: database.urls.gateway,
    LLM_GATEWAY_MASTER_KEY: MASTER_KEY,
    PORT: '0',
    LLM_BASE_URL: model.url,
    LLM_API_KEY: PROVIDER_KEY,
    LLM_MODEL: MODEL,
    DEMO_MODEL_DELAY_MS: '0',
    ...env,
  });
  const logger = createLogger('llm-gateway', process.env['TEST_LOG_LEVEL'] ?? 'silent');
  const stop = new GracefulStop({ logger, drainSeconds: 0, exit: () => {} });
  const gateway = await startGateway(config, logger, stop);
  const owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
  const post: TestGateway['post'] = (path, body, key, more = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...more.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
  return {
    gateway,
    model,
    database,
    owner,
    post,
    key: async (conversationId = CONVERSATION, more = {}) => {
      const response = await post(
        '/key/generate',
        { metadata: { org_id: 'org_1', conversation_id: conversationId }, ...more },
        MASTER_KEY,
      );
      return ((await response.json()) as { key: string }).key;
    },
    ledger: (conversationId, count) =>
      until(`${count} ledger rows`, async () => {
        const { rows } = await owner.query<LedgerRow>(
          'SELECT * FROM gateway.ledger WHERE conversation_id = $1 ORDER BY started_at, id',
          [conversationId],
        );
        return rows.length >= count ? rows : null;
      }),
    close: async () => {
      await stop.stop('the end of the test', [
        stop.requests(500, () => gateway.breakOff()),
        { name: 'ledger', withinMs: 8_000, run: () => gateway.close() },
      ]);
      await model.close();
      await owner.end();
      await database.close();
    },
  };
}
