import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, inOrg, inOrgWithDeleted, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import pg from 'pg';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { type Harness, ORG, openHarness, SECRET } from '../testing/harness.js';
import { ConversationDeletion } from './conversation-deletion.js';
import { ConversationLocks } from './conversation-locks.js';
import { endTrash } from './trash.queries.js';

const logger = createLogger('trash-test', 'silent');
const HOUR_MS = 3_600_000;

describe('the trash', () => {
  let harness: Harness;
  let owner: pg.Pool;
  let withDeleted: SqlPool;
  let locks: ConversationLocks;
  let deletion: ConversationDeletion;
  beforeAll(async () => {
    harness = await openHarness();
    owner = new pg.Pool({ connectionString: harness.database.ownerUrl, max: 2 });
    const url = harness.database.urls.app;
    withDeleted = createPool({ url, max: 2, applicationName: 'trash-test', withDeleted: true, onError: () => {} });
    locks = new ConversationLocks({ databaseUrl: url, applicationName: 'trash-test', logger });
    deletion = new ConversationDeletion(
      withDeleted,
      locks,
      new RuntimeApiClient({ url: harness.peers.runtimeUrl, apiKey: SECRET, appKey: () => SECRET }),
      new LlmGatewayClient({ url: harness.peers.gatewayUrl, masterKey: SECRET }),
      logger,
    );
  });
  afterAll(async () => {
    await locks?.close();
    await withDeleted?.end();
    await owner?.end();
    await harness?.close();
  });

  const trash = async (at: Date): Promise<string> => {
    const { id } = await harness.create();
    await owner.query("UPDATE app.conversation SET deleted_at = $2, desired = 'rest' WHERE id = $1", [id, at]);
    return id;
  };
  const isThere = async (id: string): Promise<boolean> =>
    ((await owner.query('SELECT 1 FROM app.conversation WHERE id = $1', [id])).rowCount ?? 0) > 0;
  const run = (id: string): Promise<void> =>
    deletion.run({ orgId: ORG, conversationId: id }, new AbortController().signal);

  it('ends a conversation after 48 hours and not before, once, however often it is asked', async () => {
    const now = new Date('2026-11-28T12:00:00Z');
    const [due, early] = [
      await trash(new Date(now.getTime() - 48 * HOUR_MS)),
      await trash(new Date(now.getTime() - 48 * HOUR_MS + 1)),
    ];
    const open = (await harness.create()).id;
    const rounds = await Promise.all([endTrash(harness.pool, now), endTrash(harness.pool, now)]);
    expect(rounds.flat()).toEqual([{ orgId: ORG, id: due }]);
    expect(await Promise.all([due, early, open].map(isThere))).toEqual([false, true, true]);
    expect(await harness.jobs(due)).toEqual(['conversation-delete']);
    await run(due);
    expect(await harness.jobs(due)).toEqual([]);
    expect(await endTrash(harness.pool, now)).toEqual([]);
    expect(await endTrash(harness.pool, new Date(now.getTime() + 1))).toEqual([{ orgId: ORG, id: early }]);
  });

  it('keeps log and workspace of what can still be restored, whatever job comes for it', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await owner.query("UPDATE app.conversation SET deleted_at = now(), desired = 'rest' WHERE id = $1", [id]);
    harness.peers.requests.length = 0;
    await run(id);
    expect(harness.peers.requests).toEqual([]);
    expect(await isThere(id)).toBe(true);
  });

  it('is seen by whoever asks for deleted conversations, and by nobody else', async () => {
    const id = await trash(new Date());
    const seen = (read: typeof inOrg, pool: SqlPool): Promise<number | null> =>
      read(
        pool,
        ORG,
        async (client) => (await client.query('SELECT 1 FROM app.conversation WHERE id = $1', [id])).rowCount,
      );
    expect(await seen(inOrg, harness.pool)).toBe(0);
    expect(await seen(inOrgWithDeleted, harness.pool)).toBe(1);
    expect(await seen(inOrg, harness.pool)).toBe(0);
    expect(await seen(inOrg, withDeleted)).toBe(1);
    await expect(
      inOrg(harness.pool, ORG, (client) =>
        client.query('UPDATE app.conversation SET deleted_at = now() WHERE org_id = $1', [ORG]),
      ),
    ).rejects.toMatchObject({ code: '42501' });
  });

  it('has its storage counted until it is ended', async () => {
    const { id } = await harness.create();
    const settle = async (): Promise<number> =>
      (
        await inOrg(harness.pool, ORG, (client) =>
          client.query<{ drift: number }>('SELECT app.settle_storage($1) AS drift', [ORG]),
        )
      ).rows[0]?.drift ?? Number.NaN;
    await settle();
    await owner.query('UPDATE app.conversation SET deleted_at = now() WHERE id = $1', [id]);
    expect(await settle()).toBe(0);
  });
});
