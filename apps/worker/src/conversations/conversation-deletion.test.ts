import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import pg from 'pg';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { type Harness, ORG, openHarness, SECRET } from '../testing/harness.js';
import { ConversationDeletion } from './conversation-deletion.js';
import { deleteSomePayloads } from './conversation-deletion.queries.js';
import { ConversationLocks } from './conversation-locks.js';

const logger = createLogger('deletion-test', 'silent');
const never = new AbortController().signal;

describe('a deleted conversation', () => {
  let harness: Harness;
  let owner: pg.Pool;
  let locks: ConversationLocks;
  let deletion: ConversationDeletion;
  beforeAll(async () => {
    harness = await openHarness();
    owner = new pg.Pool({ connectionString: harness.database.ownerUrl, max: 4 });
    locks = new ConversationLocks({ databaseUrl: harness.database.urls.app, applicationName: 'deletion-test', logger });
    const gateway = new LlmGatewayClient({ url: harness.peers.gatewayUrl, masterKey: SECRET });
    deletion = new ConversationDeletion(
      harness.pool,
      locks,
      new RuntimeApiClient({ url: harness.peers.runtimeUrl, apiKey: SECRET, appKey: () => SECRET }),
      gateway,
      logger,
    );
  });
  afterAll(async () => {
    await locks?.close();
    await owner?.end();
    await harness?.close();
  });

  const payload = async (id: string, sha256: string): Promise<void> => {
    await owner.query(
      `INSERT INTO app.blob (org_id, sha256, bytes, content) VALUES ($1, $2, 1, '\\x00') ON CONFLICT DO NOTHING`,
      [ORG, sha256],
    );
    await owner.query('INSERT INTO app.conversation_blob (conversation_id, sha256, org_id) VALUES ($1, $2, $3)', [
      id,
      sha256,
      ORG,
    ]);
  };
  const payloads = async (): Promise<string[]> =>
    (await owner.query<{ sha256: string }>('SELECT sha256 FROM app.blob ORDER BY 1')).rows.map(({ sha256 }) => sha256);
  const rowsOf = async (id: string): Promise<string[]> => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'app' AND column_name = 'conversation_id' ORDER BY 1`,
    );
    const left: string[] = [];
    for (const { name } of rows)
      if (
        ((await owner.query(`SELECT 1 FROM app."${name}" WHERE conversation_id = $1 LIMIT 1`, [id])).rowCount ?? 0) > 0
      )
        left.push(name);
    return left;
  };
  const remove = (id: string): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) => client.query('SELECT app.delete_conversation($1, $2)', [ORG, id]));
  const run = (id: string): Promise<void> => deletion.run({ orgId: ORG, conversationId: id }, never);

  it('takes sandbox, keys, log and its own payloads with it, and nothing of others; what was spent stays; again is harmless', async () => {
    const [mine, others] = [await harness.create(), await harness.create()];
    await harness.start(mine.id);
    await harness.start(others.id);
    await payload(mine.id, 'mine');
    await payload(mine.id, 'shared');
    await payload(others.id, 'shared');
    await owner.query(
      `INSERT INTO app.usage_conversation VALUES ($1, '2026-11-22', 'usr', '', 'm', $2, 'u', 1, 0, 1, 0, 1, 1, 0)`,
      [ORG, mine.id],
    );
    const before = await rowsOf(others.id);
    await remove(mine.id);
    await harness.addJob('conversation-delete', mine.id);
    harness.peers.requests.length = 0;
    await run(mine.id);
    expect(await rowsOf(mine.id)).toEqual(['conversation_outcome', 'usage_conversation']);
    expect(await harness.jobs(mine.id)).toEqual([]);
    expect(await payloads()).toEqual(['shared']);
    expect(await rowsOf(others.id)).toEqual(before);
    expect(harness.peers.requests).toEqual(expect.arrayContaining(['runtime POST /stop', 'gateway POST /key/delete']));
    await run(mine.id);
    expect(await payloads()).toEqual(['shared']);
  });

  it('stays wanted while a peer is away, and one that is there is left alone', async () => {
    const [gone, there] = [await harness.create(), await harness.create()];
    await harness.start(gone.id);
    await remove(gone.id);
    await harness.addJob('conversation-delete', gone.id);
    harness.peers.onRequest = (label) => {
      if (label.startsWith('runtime')) throw new Error('away');
    };
    await expect(run(gone.id)).rejects.toThrow();
    harness.peers.onRequest = () => {};
    expect(await harness.jobs(gone.id)).toContain('conversation-delete');
    await run(gone.id);
    expect(await rowsOf(gone.id)).toEqual(['conversation_outcome']);
    await run(there.id);
    expect(await rowsOf(there.id)).not.toEqual([]);
  });

  it('leaves a payload that another conversation refers to in the same moment', async () => {
    const [gone, writing] = [await harness.create(), await harness.create()];
    await payload(gone.id, 'contested');
    const client = await owner.connect();
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM app.blob WHERE org_id = $1 AND sha256 = 'contested' FOR KEY SHARE`, [ORG]);
    await client.query(
      `INSERT INTO app.conversation_blob (conversation_id, sha256, org_id) VALUES ($1, 'contested', $2)`,
      [writing.id, ORG],
    );
    const deleting = deleteSomePayloads(harness.pool, ORG, gone.id, 10);
    await until('the deletion waits for the payload', async () => {
      const { rowCount } = await owner.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%' AND datname = current_database()`,
      );
      return (rowCount ?? 0) > 0;
    });
    await client.query('COMMIT');
    client.release();
    expect(await deleting).toBe(1);
    expect(await payloads()).toContain('contested');
  });
});
