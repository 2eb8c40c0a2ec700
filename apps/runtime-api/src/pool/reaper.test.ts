import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BRIEF_SESSION_PREFIX } from '@slipway/contracts/sandboxes';
import { FarmBackend } from '@slipway/sandbox/testing';
import { PoolWorld } from '../testing/pool-world.js';
import type { PoolContext } from './pool-context.js';
import { Reaper } from './reaper.js';
import { SessionLimits } from './session-limits.js';

/** Its list is of some time ago. */
class Behind extends FarmBackend {
  override async list(): Promise<[]> {
    return [];
  }
}

describe('the reaper', () => {
  let world: PoolWorld;
  let context: PoolContext;
  const signal = AbortSignal.timeout(60_000);
  const states = async (): Promise<string[]> =>
    (await world.owner.query<{ state: string }>('SELECT state FROM runtime.slot ORDER BY state')).rows.map(
      (row) => row.state,
    );
  const session = async (): Promise<{ status: string; detail: string | null; workspace: string | null }> =>
    (await world.owner.query('SELECT status, status_detail AS detail, workspace_ref AS workspace FROM runtime.session'))
      .rows[0];
  const activeName = async (): Promise<string> =>
    (await world.owner.query<{ name: string }>(`SELECT pod_name AS name FROM runtime.slot WHERE state = 'active'`))
      .rows[0]?.name ?? '';
  beforeEach(async () => {
    world = await PoolWorld.open();
    await world.reset();
    context = world.context(() => {});
    await world.run({ kind: 'fill', crashAt: null });
    await world.run({ kind: 'start', org: 'org_a', session: 's', body: 'x', crashAt: null });
    await world.quiet();
    expect(await states()).toEqual(['active', 'ready', 'ready']);
  });
  afterEach(() => world.close());

  it('frees nothing because a list does not have it: the backend is asked by name', async () => {
    const behind = new Reaper({ ...context, backend: new Behind(world.farm.url, world.template) });
    expect(await behind.pass(signal)).toBe(0);
    expect(await behind.look(signal)).toBe(0);
    expect(await states()).toEqual(['active', 'ready', 'ready']);
    world.farm.sandboxes.delete(await activeName());
    expect(await behind.pass(signal)).toBe(1);
    expect(await session()).toMatchObject({ status: 'error', detail: 'the sandbox ended: it is no longer there' });
  });

  it('changes nothing while the backend does not answer', async () => {
    const reaper = new Reaper(context);
    await reaper.pass(signal);
    world.farm.sandboxes.clear();
    world.farm.away = true;
    await expect(reaper.pass(signal)).rejects.toMatchObject({ code: 'sandbox.cluster-unavailable' });
    await expect(reaper.look(signal)).rejects.toMatchObject({ code: 'sandbox.cluster-unavailable' });
    expect(await states()).toEqual(['active', 'ready', 'ready']);
    world.farm.away = false;
    expect(await reaper.pass(signal)).toBe(1);
    expect(await states()).toEqual(['doomed', 'doomed', 'releasing']);
  });

  it('ends what has ended or vanished since the last pass in the next one, and checks again what it could not settle', async () => {
    const reaper = new Reaper(context);
    await reaper.look(signal);
    world.farm.end(await activeName());
    world.farm.beforeEffect = async (call) => {
      if (call === 'observe') throw new Error('cut');
    };
    await expect(reaper.look(signal)).rejects.toBeDefined();
    world.farm.beforeEffect = async () => {};
    expect(await reaper.look(signal)).toBe(1);
    expect(await session()).toMatchObject({
      status: 'error',
      detail: expect.stringContaining('agent-server was killed'),
    });
    const [warm = ''] = [...world.farm.sandboxes].filter(([, sandbox]) => sandbox.ended === null).map(([name]) => name);
    world.farm.sandboxes.delete(warm);
    await reaper.look(signal);
    expect(await states()).toEqual(['doomed', 'ready', 'releasing']);
  });

  it('removes warm sandboxes that are to be avoided from the pool, and keeps claimed ones', async () => {
    const reaper = new Reaper(context);
    world.farm.avoid(world.farm.sandboxes.keys(), 'node a is cordoned');
    expect(await reaper.avoid(signal)).toBe(2);
    expect(await reaper.avoid(signal)).toBe(0);
    const { rows } = await world.owner.query(`SELECT state, reason FROM runtime.slot ORDER BY state`);
    expect(rows).toEqual([
      { state: 'active', reason: null },
      ...Array.from({ length: 2 }, () => ({ state: 'doomed', reason: 'node a is cordoned' })),
    ]);
  });

  it('pauses a session that has run for too long, keeps its workspace and says why', async () => {
    const limits = new SessionLimits(context, { idleSeconds: null, maxAgeSeconds: 3_600 });
    expect(await limits.pass(signal)).toBe(0);
    await world.owner.query(`UPDATE runtime.claim SET created_at = now() - interval '2 hours'`);
    const workspace = await activeName();
    expect(await limits.pass(signal)).toBe(1);
    expect(await session()).toEqual({
      status: 'paused',
      detail: 'paused: it has run for 1 hour, which is the longest',
      workspace,
    });
    await world.run({ kind: 'fill', crashAt: null });
    expect(await world.run({ kind: 'resume', org: 'org_a', session: 's', crashAt: null })).toMatchObject({
      result: 'answered',
      status: 'running',
    });
  });

  it('ends a forgotten brief session, with nothing kept of it, and no other of its age', async () => {
    const limits = new SessionLimits(context, { idleSeconds: null, maxAgeSeconds: 86_400 });
    await world.run({ kind: 'start', org: 'org_b', session: `${BRIEF_SESSION_PREFIX}test`, body: 'x', crashAt: null });
    await world.quiet();
    expect(await limits.pass(signal)).toBe(0);
    await world.owner.query(`UPDATE runtime.claim SET created_at = now() - interval '601 seconds'`);
    expect(await limits.pass(signal)).toBe(1);
    const { rows } = await world.owner.query(
      'SELECT org_id, status, status_detail FROM runtime.session ORDER BY org_id',
    );
    expect(rows).toMatchObject([
      { org_id: 'org_a', status: 'running' },
      { org_id: 'org_b', status: 'stopped', status_detail: 'ended: a brief session, not ended within 10 minutes' },
    ]);
    expect(await states()).toContain('releasing');
    const { rows: used } = await world.owner.query(`SELECT in_use FROM runtime.org_usage WHERE org_id = 'org_b'`);
    expect(used).toEqual([{ in_use: 0 }]);
  });

  it('pauses a session whose agent says that it has nothing to do, and none whose agent does not say', async () => {
    const limits = new SessionLimits(context, { idleSeconds: 600, maxAgeSeconds: 86_400 });
    await world.owner.query(`UPDATE runtime.claim SET created_at = now() - interval '2 hours'`);
    world.farm.idleSeconds = 599;
    expect(await limits.pass(signal)).toBe(0);
    world.farm.idleSeconds = 600;
    world.farm.unreachable.add(await activeName());
    expect(await limits.pass(signal)).toBe(0);
    world.farm.unreachable.clear();
    expect(await limits.pass(signal)).toBe(1);
    expect(await session()).toMatchObject({ status: 'paused', detail: 'paused: it had nothing to do for 10 minutes' });
  });
});
