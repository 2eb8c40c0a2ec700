import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { stopwatch, until } from '@slipway/testing';
import pg from 'pg';
import { createRuntimeApi, type RuntimeApi } from '../app.js';
import type { PoolSpec } from '../pool/pool-context.js';
import { startTestRuntimeApi, TEST_API_KEY, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

const NO_ROOM = {
  message: 'waits for a node',
  problem: { code: 'sandbox.unschedulable', detail: '0/3 nodes are available: 3 Insufficient cpu.' },
} as const;

let count = 0;
const newSession = (): string => `queued-${++count}`;
const inUrl = (url: string): string => url.split('/').at(-1) ?? '';

/** Rows as the owner of the tables sees them. */
async function rows<T extends pg.QueryResultRow>(api: TestRuntimeApi, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: api.database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('a pool with nothing ready', () => {
  let api: TestRuntimeApi;
  beforeAll(async () => {
    api = await startTestRuntimeApi({ pools: [testPool(0)], orgSandboxLimit: 4 });
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    api.farm.inTheWay = () => ({ message: 'it is being made' });
    await until('everybody has left, and nothing is ready', async () => {
      await rows(api, 'DELETE FROM runtime.waiting');
      await rows(api, `UPDATE runtime.slot SET state = 'doomed', epoch = epoch + 1 WHERE state = 'ready'`);
      return (
        (await rows(api, `SELECT state FROM runtime.slot WHERE state IN ('ready', 'doomed', 'bound')`)).length === 0
      );
    });
  });

  const start = (session: string, wait = 1, headers: Record<string, string> = {}) =>
    api.call('POST', '/start', { session_id: session }, { prefer: `wait=${wait}`, ...headers });
  const waiting = async (): Promise<string[]> =>
    (await rows<{ session_id: string }>(api, 'SELECT session_id FROM runtime.waiting ORDER BY arrival')).map(
      (row) => row.session_id,
    );

  it('answers after the time that was preferred with the place in the queue, which is kept for whoever asks again', async () => {
    const [first, second] = [newSession(), newSession()];
    const began = performance.now();
    const late = start(first);
    await until('the first one waits', async () => (await waiting()).length === 1);
    const behind = await start(second, 1, { 'x-slipway-org': 'another' });
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(await late).toMatchObject({
      status: 503,
      body: { code: 'sandbox.no-capacity', position: 1, reason: null, estimateSeconds: expect.any(Number) },
    });
    expect(behind).toMatchObject({ status: 503, body: { code: 'sandbox.no-capacity', position: 2, queueLength: 2 } });
    expect(behind.headers.get('retry-after')).toBe('1');
    expect(await start(first)).toMatchObject({ status: 503, body: { position: 1 } });
    expect(await waiting()).toEqual([first, second]);
  });

  it('gives the first sandbox that becomes ready to whoever waits first, and the request that waits answers with it', async () => {
    const [first, second] = [newSession(), newSession()];
    const one = start(first, 10);
    await until('the first one waits', async () => (await waiting()).length === 1);
    const two = start(second, 10, { 'x-slipway-org': 'another' });
    await until('both wait', async () => (await waiting()).length === 2);
    // One comes up, and the other one never.
    let chosen: string | undefined;
    api.farm.inTheWay = (name) => {
      chosen ??= name;
      return name === chosen ? null : { message: 'it is being made' };
    };
    const answer = await one;
    expect(answer).toMatchObject({ status: 200, body: { session_id: first, status: 'running' } });
    expect(inUrl(answer.body.url)).toBe(chosen);
    expect(await waiting()).toEqual([second]);
    api.farm.inTheWay = () => null;
    expect(await two).toMatchObject({ status: 200, body: { session_id: second, status: 'running' } });
    expect((await api.call('POST', '/start', { session_id: first })).body).toEqual(answer.body);
  });

  it('forgets a caller that has gone', async () => {
    const gone = new AbortController();
    const request = fetch(`${api.url}/start`, {
      method: 'POST',
      headers: { 'x-api-key': TEST_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: newSession() }),
      signal: gone.signal,
    });
    await until('it waits', async () => (await waiting()).length === 1);
    gone.abort();
    await expect(request).rejects.toThrow();
    await until('it waits no more', async () => (await waiting()).length === 0);
  });

  it('gives a claim beyond the limit of its organization its position, and refuses another body for a session that waits', async () => {
    const headers = { 'x-slipway-org': 'small' };
    const sessions = [1, 2, 3, 4].map(newSession);
    const all = sessions.map((session) => start(session, 2, headers));
    await until('four wait', async () => (await waiting()).length === 4);
    expect(await start(newSession(), 1, headers)).toMatchObject({
      status: 409,
      body: { code: 'sandbox.quota', position: 5, queueLength: 5, estimateSeconds: null },
    });
    const other = await api.call('POST', '/start', { session_id: sessions[0], environment: { A: '1' } }, headers);
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency.mismatch' } });
    expect((await Promise.all(all)).map((answer) => answer.body.position).sort()).toEqual([1, 2, 3, 4]);
  });

  it('says in the words of the place what is in the way, when nothing is ready', async () => {
    api.farm.inTheWay = () => NO_ROOM;
    const answer = await until('it is known', async () => {
      const said = await start('stuck', 1);
      return said.body.code !== 'sandbox.no-capacity' && said;
    });
    expect(answer).toMatchObject({
      status: 503,
      body: {
        code: 'sandbox.unschedulable',
        detail: NO_ROOM.problem.detail,
        position: 1,
        reason: NO_ROOM.problem.detail,
      },
    });
  });
});

describe('two replicas', () => {
  let api: TestRuntimeApi;
  let other: RuntimeApi;
  let otherUrl: string;
  beforeAll(async () => {
    api = await startTestRuntimeApi({ pools: [testPool(2)] });
    await until(
      'two are warm',
      async () => (await rows(api, `SELECT 1 FROM runtime.slot WHERE state = 'ready'`)).length === 2,
    );
    other = await createRuntimeApi({
      ...api.options,
      replicaId: 'other',
      logger: createLogger('runtime-api', 'silent'),
    });
    await other.app.listen(0, '127.0.0.1');
    otherUrl = await other.app.getUrl();
  });
  afterAll(async () => {
    await other.close();
    await api.close();
  });

  const startAt = async (url: string, session: string) => {
    const answer = await fetch(`${url}/start`, {
      method: 'POST',
      headers: { 'x-api-key': TEST_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: session }),
    });
    return { status: answer.status, body: (await answer.json()) as { url: string } };
  };

  it('keep nothing from each other: what one has leased the other one gives out when nothing else is ready', async () => {
    await until(
      'the first one has leased',
      async () => (await rows(api, `SELECT 1 FROM runtime.slot WHERE holder IS NOT NULL`)).length > 0,
    );
    await api.stopPool();
    const passed = stopwatch();
    const answers = [await startAt(otherUrl, newSession()), await startAt(otherUrl, newSession())];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(passed()).toBeLessThan(3_000);
  });

  it('serve each other: whoever waits at one gets what another one makes ready', async () => {
    // Without a leader: the queue is served by waiting requests.
    const session = newSession();
    const late = startAt(otherUrl, session);
    await until('it waits', async () => (await rows(api, 'SELECT 1 FROM runtime.waiting')).length === 1);
    await rows(
      api,
      `INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name, state) VALUES ('made', 'default', 'farm', 'sb-made', 'intent')`,
    );
    await rows(api, `UPDATE runtime.slot SET state = 'provisioning' WHERE slot_id = 'made'`);
    const signal = AbortSignal.timeout(30_000);
    await api.options.backend.ensure({ name: 'sb-made', slotId: 'made', image: 'slipway-sandbox' }, signal);
    const seen = await api.options.backend.observe('sb-made', signal);
    if (seen.state !== 'running') throw new Error(seen.state);
    await rows(
      api,
      `UPDATE runtime.slot SET state = 'ready', pod_uid = '${seen.uid}', address = '${seen.address}', warmed_at = now(), checked_at = now() WHERE slot_id = 'made'`,
    );
    expect(await late).toMatchObject({ status: 200, body: { url: seen.address } });
  });
});

describe('a workspace that was lost with its node', () => {
  let api: TestRuntimeApi;
  beforeAll(async () => {
    api = await startTestRuntimeApi();
  });
  afterAll(() => api.close());

  it('is replaced by a blank one, and the session gets a notice', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    api.farm.workspaces.delete(inUrl(first.url));
    const resumed = await api.call('POST', '/resume', { runtime_id: first.runtime_id });
    expect(resumed).toMatchObject({
      status: 200,
      body: {
        status: 'running',
        session_api_key: first.session_api_key,
        status_detail: 'The workspace of this session was lost; it goes on with a blank one.',
      },
    });
    expect(resumed.body.working_dir).toBe(`/workspaces/${inUrl(resumed.body.url)}`);
    expect((await api.call('GET', `/sessions/${session_id}`)).body).toEqual(resumed.body);
    // From now on it is the session's own.
    await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    const again = await api.call('POST', '/resume', { runtime_id: first.runtime_id });
    expect(again.body).toMatchObject({ status: 'running', working_dir: resumed.body.working_dir });
    expect(again.body.status_detail).toBeUndefined();
  });

  it('is not given up while it cannot be known that it is lost', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    await until(
      'one is warm',
      async () => (await rows(api, `SELECT 1 FROM runtime.slot WHERE state = 'ready'`)).length > 0,
    );
    api.farm.away = true;
    const resumed = await api.call('POST', '/resume', { runtime_id: first.runtime_id }, { prefer: 'wait=1' });
    expect(resumed.status).toBeGreaterThanOrEqual(500);
    api.farm.away = false;
    const again = await until('it resumes', async () => {
      const answer = await api.call('POST', '/resume', { runtime_id: first.runtime_id });
      return answer.status === 200 && answer;
    });
    expect(again.body).toMatchObject({ working_dir: first.working_dir });
  });
});

describe('several templates', () => {
  let api: TestRuntimeApi;
  const pool = (poolId: string, image: string, size: PoolSpec['size'], runtimeClass: string | null): PoolSpec => ({
    ...testPool(1),
    poolId,
    image,
    size,
    runtimeClass,
    imageReference: `registry.example/${image}@sha256:0`,
  });
  beforeAll(async () => {
    api = await startTestRuntimeApi({
      pools: [
        pool('plain-1', 'plain', 1, null),
        pool('plain-4', 'plain', 4, null),
        pool('safe-1', 'safe', 1, 'gvisor'),
      ],
      orgSandboxLimit: 6,
    });
  });
  afterAll(() => api.close());

  const poolOf = async (session: string): Promise<string | undefined> =>
    (
      await rows<{ pool_id: string }>(
        api,
        `SELECT v.pool_id FROM runtime.claim c JOIN runtime.slot v USING (slot_id) WHERE c.session_id = '${session}' AND c.ended_at IS NULL`,
      )
    )[0]?.pool_id;
  const start = (body: Record<string, unknown>, headers = {}) => api.call('POST', '/start', body, headers);

  it('are chosen by image or its reference, size and runtime class; the first one when nothing is said', async () => {
    const asked: Array<[Record<string, unknown>, string]> = [
      [{}, 'plain-1'],
      [{ resource_factor: 4 }, 'plain-4'],
      [{ image: 'safe' }, 'safe-1'],
      [{ image: 'registry.example/plain@sha256:0', resource_factor: 4 }, 'plain-4'],
      [{ runtime_class: 'gvisor' }, 'safe-1'],
    ];
    for (const [index, [body, expected]] of asked.entries()) {
      const session_id = newSession();
      expect(await start({ session_id, ...body }, { 'x-slipway-org': `org-${index}` })).toMatchObject({ status: 200 });
      expect(await poolOf(session_id)).toBe(expected);
    }
  });

  it('count by their size, and the session comes back to its own', async () => {
    const headers = { 'x-slipway-org': 'sizes' };
    const session_id = newSession();
    const big = await start({ session_id, resource_factor: 4 }, headers);
    expect(big.status).toBe(200);
    const next = { session_id: newSession(), resource_factor: 4 };
    const second = await start(next, { ...headers, prefer: 'wait=1' });
    expect(second).toMatchObject({
      status: 409,
      body: { code: 'sandbox.quota', detail: expect.stringContaining('counts 4 times') },
    });
    await api.call('POST', '/pause', { runtime_id: big.body.runtime_id }, headers);
    // It has kept its place, so it comes before the one that is resumed.
    const served = await start(next, headers);
    expect(served.status).toBe(200);
    await api.call('POST', '/pause', { runtime_id: served.body.runtime_id }, headers);
    expect(await api.call('POST', '/resume', { runtime_id: big.body.runtime_id }, headers)).toMatchObject({
      status: 200,
    });
    expect(await poolOf(session_id)).toBe('plain-4');
  });

  for (const [what, body, known] of [
    ['an image', { image: 'ghcr.io/someone/else:1' }, 'plain, safe'],
    ['a size of the image', { image: 'safe', resource_factor: 4 }, '1'],
    ['a size at all', { resource_factor: 16 }, '1, 2, 4, 8'],
    ['a runtime class', { runtime_class: 'kata' }, 'gvisor'],
  ] as const)
    it(`refuses ${what} that there is not, and names those that there are`, async () => {
      const answer = await start({ session_id: newSession(), ...body });
      expect(answer).toMatchObject({ status: 422, body: { code: 'sandbox.unknown-template' } });
      expect(answer.body.detail).toContain(`: ${known}.`);
      expect(answer.body.fields).toHaveLength(1);
    });
});
