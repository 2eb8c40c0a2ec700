import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

const AWAY = /bucket missing, answered with 404 \(NoSuchBucket\)/;

describe('a workspace that cannot be kept', () => {
  let api: TestRuntimeApi;
  let owner: pg.Client;
  let count = 0;
  beforeAll(async () => {
    api = await startTestRuntimeApi({
      pools: [testPool(1)],
      orgSandboxLimit: 50,
      unkept: { holdSeconds: 3_600, most: 3 },
    });
    owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await api.close();
  });
  afterEach(async () => {
    api.farm.storeAway = false;
    api.farm.silent = false;
    await until(
      'nothing is on its way out',
      async () => (await owner.query(`SELECT 1 FROM runtime.slot WHERE state = 'releasing'`)).rowCount === 0,
      30_000,
    );
  });

  const used = async (): Promise<{ session: string; runtime: string; sandbox: string }> => {
    const session = `unkept-${++count}`;
    const { status, body } = await api.call('POST', '/start', { session_id: session });
    expect({ status, body }).toMatchObject({ status: 200 });
    return { session, runtime: body.runtime_id, sandbox: String(body.url).split('/').at(-1) ?? '' };
  };
  const workspaceOf = async (session: string) => (await api.call('GET', `/sessions/${session}`)).body.workspace;
  const metric = async (name: string): Promise<number> => {
    const text = await api.metrics();
    return Number(new RegExp(`^\\w*${name}\\{[^}]*pool="default"[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  it('is kept when a pause answers so, and not before', async () => {
    const { session, runtime, sandbox } = await used();
    expect((await api.call('POST', '/pause', { runtime_id: runtime })).body).toMatchObject({
      status: 'paused',
      workspace: { state: 'kept' },
    });
    expect([await workspaceOf(session), api.farm.sandboxes.has(sandbox)]).toEqual([{ state: 'kept' }, false]);
  });

  it('keeps its sandbox, and pause, session, metric and readiness say why until the store is back', async () => {
    const { session, runtime, sandbox } = await used();
    api.farm.storeAway = true;
    const paused = await api.call('POST', '/pause', { runtime_id: runtime });
    expect(paused.body).toMatchObject({
      status: 'paused',
      workspace: { state: 'not-kept', detail: expect.stringMatching(AWAY) },
    });
    expect(await workspaceOf(session)).toMatchObject({ state: 'not-kept' });
    expect([
      api.farm.sandboxes.has(sandbox),
      await metric('workspaces_not_kept'),
      await metric('workspaces_lost'),
    ]).toEqual([true, 1, 0]);
    await until('readiness says so', async () => AWAY.test(JSON.stringify((await api.call('GET', '/ready')).body)));
    api.farm.storeAway = false;
    await until('it is kept', async () => (await workspaceOf(session)).state === 'kept');
    expect([api.farm.sandboxes.has(sandbox), await metric('workspaces_not_kept')]).toEqual([false, 0]);
  });

  it('stays in a silent sandbox on which no owner was recorded, and is kept when that answers', async () => {
    api.farm.silent = true;
    const { session, runtime, sandbox } = await used();
    expect((await api.call('POST', '/pause', { runtime_id: runtime })).body).toMatchObject({
      status: 'paused',
      workspace: { state: 'not-kept', detail: expect.stringMatching(/does not answer/) },
    });
    expect(api.farm.sandboxes.get(sandbox)?.note).toBeNull();
    api.farm.silent = false;
    await until('it is kept', async () => (await workspaceOf(session)).state === 'kept');
    expect(api.farm.sandboxes.has(sandbox)).toBe(false);
  });

  it('is given up after the time for it, and is reported as lost', async () => {
    const { session, runtime, sandbox } = await used();
    api.farm.storeAway = true;
    await api.call('POST', '/pause', { runtime_id: runtime });
    await owner.query(
      `UPDATE runtime.slot SET workspace_failing_since = now() - interval '2 hours' WHERE workspace_failing_since IS NOT NULL`,
    );
    await until('it is given up', async () => !api.farm.sandboxes.has(sandbox));
    await until('the session says so', async () => (await workspaceOf(session)).state === 'lost');
    expect(await workspaceOf(session)).toMatchObject({ state: 'lost', detail: expect.stringMatching(AWAY) });
    expect(await metric('workspaces_lost')).toBeGreaterThan(0);
  });

  it('is given up when more fail than may stay, the one that fails longest first', async () => {
    api.farm.storeAway = true;
    const all: Array<Awaited<ReturnType<typeof used>>> = [];
    for (let each = 0; each < 4; each += 1) {
      const one = await used();
      all.push(one);
      await api.call('POST', '/pause', { runtime_id: one.runtime });
    }
    await until('the oldest is given up', () => !api.farm.sandboxes.has(all[0]?.sandbox ?? ''));
    expect(all.slice(1).map(({ sandbox }) => api.farm.sandboxes.has(sandbox))).toEqual([true, true, true]);
  });

  it('is lost with a sandbox that is gone before it could be asked', async () => {
    const { session, sandbox } = await used();
    api.farm.sandboxes.delete(sandbox);
    api.farm.end('nothing');
    await until('the session says so', async () => (await workspaceOf(session))?.state === 'lost', 60_000);
  });
});
