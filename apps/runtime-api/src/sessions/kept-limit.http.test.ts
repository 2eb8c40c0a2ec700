import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ORG_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

const GIB = 2 ** 30;

describe('an organization that fills the workspace store', () => {
  let api: TestRuntimeApi;
  let owner: pg.Client;
  beforeAll(async () => {
    api = await startTestRuntimeApi({ pools: [testPool(2)], workspaceLimitBytes: 5 * GIB, keptLookMs: 100 });
    api.farm.workspaceBytes = 3 * GIB;
    owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await api.close();
  });

  const start = (session: string, org = 'greedy') =>
    api.call('POST', '/start', { session_id: session }, { [ORG_HEADER]: org });
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^\\w*${name}\\S* (\\S+)$`, 'm').exec(await api.metrics())?.[1]);
  const seen = (full: number) =>
    until('it is seen', async () => (await metric('workspaces_full_organizations')) === full);

  it('starts nothing new above its limit, while what it has is resumed and kept, and others start', async () => {
    for (const session of ['first', 'second']) {
      const { status, body } = await start(session);
      expect({ session, status, body }).toMatchObject({ status: 200 });
      const paused = await api.call('POST', '/pause', { runtime_id: body.runtime_id }, { [ORG_HEADER]: 'greedy' });
      expect(paused.body).toMatchObject({ status: 'paused', workspace: { state: 'kept' } });
    }
    await seen(1);
    expect(await metric('workspaces_kept_bytes')).toBe(6 * GIB);
    expect(await start('third')).toMatchObject({
      status: 402,
      body: {
        code: 'storage.exhausted',
        detail: 'The kept workspaces of the organization take 6.00 GiB; its limit is 5.00 GiB.',
      },
    });
    expect((await start('first', 'modest')).status).toBe(200);
    const resumed = await start('first');
    expect(resumed).toMatchObject({ status: 200, body: { status: 'running' } });
    const again = await api.call('POST', '/pause', { runtime_id: resumed.body.runtime_id }, { [ORG_HEADER]: 'greedy' });
    expect(again.body).toMatchObject({ status: 'paused', workspace: { state: 'kept' } });
    // Kept twice, counted once.
    const { rows } = await owner.query<{ bytes: string }>(
      `SELECT sum(workspace_bytes) AS bytes FROM runtime.session WHERE org_id = 'greedy'`,
    );
    expect(Number(rows[0]?.bytes)).toBe(6 * GIB);
  });

  it('starts again with a higher limit of its own, and when workspaces are gone', async () => {
    await owner.query(
      `INSERT INTO runtime.org_usage (org_id, workspace_limit_bytes) VALUES ('greedy', $1) ON CONFLICT (org_id) DO UPDATE SET workspace_limit_bytes = excluded.workspace_limit_bytes`,
      [7 * GIB],
    );
    await seen(0);
    expect((await start('third')).status).toBe(200);
    await owner.query(`UPDATE runtime.org_usage SET workspace_limit_bytes = NULL WHERE org_id = 'greedy'`);
    await seen(1);
    expect((await start('fourth')).status).toBe(402);
    await owner.query(
      `UPDATE runtime.session SET workspace_ref = NULL WHERE org_id = 'greedy' AND session_id = 'second'`,
    );
    await seen(0);
    expect((await start('fourth')).status).toBe(200);
  });
});
