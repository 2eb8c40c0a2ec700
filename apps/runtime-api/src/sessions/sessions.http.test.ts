import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Problem } from '@slipway/contracts/errors';
import { Runtime } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi } from '../testing/start-runtime-api.js';
import { runtimeOperations } from './openhands-operations.js';

let api: TestRuntimeApi;
let count = 0;
const newSession = (): string => `session-${++count}`;
beforeAll(async () => {
  api = await startTestRuntimeApi({ orgSandboxLimit: 40 });
});
afterAll(() => api.close());

const farmName = (url: string): string => url.split('/').at(-1) ?? '';
const owner = async <T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> => {
  const client = new pg.Client({ connectionString: api.database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<T>(sql, values)).rows;
  } finally {
    await client.end();
  }
};

describe('200', () => {
  it('starts a session with a command as a string, as the SDK sends it, and is ready on the first poll', async () => {
    const session_id = newSession();
    const body = {
      session_id,
      command: 'agent-server --port 60000',
      working_dir: '/',
      environment: { A: '1' },
      run_as_user: 10001,
      fs_group: 10001,
      runtime_class: 'sysbox-runc',
    };
    const started = await api.call('POST', '/start', body);
    expect(started.status).toBe(200);
    expect(Runtime.parse(started.body)).toMatchObject({
      session_id,
      status: 'running',
      pod_status: 'ready',
      restart_count: 0,
      restart_reasons: [],
    });
    const polled = await api.call('GET', `/sessions/${session_id}`);
    expect(polled.body).toEqual(started.body);
    const byRuntime = await api.call('GET', `/runtime/${started.body.runtime_id}`);
    expect(byRuntime.body).toEqual(started.body);
  });

  it('starts a session with a command as a list, as the app server sends it', async () => {
    const started = await api.call('POST', '/start', {
      session_id: newSession(),
      image: 'slipway-sandbox',
      command: ['agent-server', '--port', '60000'],
      working_dir: '/workspace',
      run_as_group: 10001,
      resource_factor: 2,
    });
    expect(started).toMatchObject({ status: 200, body: { status: 'running', pod_status: 'ready' } });
  });

  it('answers a repeated start with the same sandbox and the same key', async () => {
    const body = { session_id: newSession(), environment: { B: '2', A: '1' } };
    const [first, second] = await Promise.all([
      api.call('POST', '/start', body),
      api.call('POST', '/start', { ...body, environment: { A: '1', B: '2' } }),
    ]);
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  it('gives environment and session key to the sandbox, and stores both encrypted', async () => {
    const { body } = await api.call('POST', '/start', {
      session_id: newSession(),
      environment: { TOKEN: 'very-secret-value' },
    });
    expect(JSON.parse(api.farm.sandboxes.get(farmName(body.url))?.latch.body ?? '')).toEqual({
      session_api_keys: [body.session_api_key],
      env: { TOKEN: 'very-secret-value' },
    });
    const rows = await owner<{ text: string }>(
      `SELECT encode(api_key, 'escape') || encode(environment, 'escape') AS text FROM runtime.session`,
    );
    for (const { text } of rows) expect(text).not.toMatch(new RegExp(`very-secret-value|${body.session_api_key}`));
  });

  it("lists images to OpenHands' clients", async () => {
    expect((await api.call('GET', '/registry_prefix')).body).toEqual({ registry_prefix: '' });
    expect((await api.call('GET', '/image_exists?image=slipway-sandbox')).body).toEqual({
      exists: true,
      image: { name: 'slipway-sandbox' },
    });
    expect((await api.call('GET', '/image_exists?image=other')).body).toEqual({ exists: false, image: null });
    const { body } = await api.call('GET', '/api/warm-runtime-configs');
    expect(body.configs).toEqual([
      { name: 'slipway-sandbox', image: 'slipway-sandbox', command: [], environment: {}, working_dir: '/workspace' },
    ]);
    for (const { status, body: refusal } of [
      await api.call('POST', '/build', {}),
      await api.call('GET', '/build_status?build_id=1'),
    ])
      expect({ status, code: refusal.code }).toEqual({ status: 501, code: 'feature.not-here' });
  });

  it("answers, or refuses with a word, every operation that OpenHands' clients call, as it is listed", async () => {
    const session_id = newSession();
    const { body: runtime } = await api.call('POST', '/start', { session_id });
    const wrong: string[] = [];
    for (const { method, path, state } of runtimeOperations) {
      const url = path.replace('{session}', session_id).replace('{runtime}', runtime.runtime_id);
      const { status, body } = await api.call(
        method,
        url,
        method === 'GET' ? undefined : { session_id, runtime_id: runtime.runtime_id },
      );
      if (state === 'not-here' ? status !== 501 : status !== 200)
        wrong.push(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('pauses and resumes with the same runtime id, key and working directory, in another sandbox', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    const paused = await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    expect(paused).toMatchObject({ status: 200, body: { status: 'paused', pod_status: 'not found' } });
    expect(api.farm.sandboxes.has(farmName(first.url))).toBe(false);
    expect((await api.call('POST', '/pause', { runtime_id: first.runtime_id })).status).toBe(200);
    const resumed = await api.call('POST', '/resume', { runtime_id: first.runtime_id });
    expect(resumed).toMatchObject({
      status: 200,
      body: {
        runtime_id: first.runtime_id,
        session_api_key: first.session_api_key,
        working_dir: first.working_dir,
        status: 'running',
        pod_status: 'ready',
      },
    });
    expect(resumed.body.url).not.toBe(first.url);
    expect((await api.call('POST', '/resume', { runtime_id: first.runtime_id })).body).toEqual(resumed.body);
  });

  it('starts a paused session again by /start too, also with another body', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    const again = await api.call('POST', '/start', { session_id, environment: { NEW: '1' } });
    expect(again).toMatchObject({
      status: 200,
      body: { runtime_id: first.runtime_id, working_dir: first.working_dir, status: 'running' },
    });
  });

  it('reports why a sandbox was lost, and starts the session again with its workspace', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    api.farm.end(farmName(first.url));
    const lost = await until('the loss is seen', async () => {
      const { body } = await api.call('GET', `/sessions/${session_id}`);
      return body.status === 'error' && body;
    });
    expect(lost).toMatchObject({
      pod_status: 'failed',
      status_detail: 'the sandbox ended: agent-server was killed (SIGKILL)',
      restart_count: 1,
    });
    const again = await api.call('POST', '/start', { session_id });
    expect(again.body).toMatchObject({
      status: 'running',
      runtime_id: first.runtime_id,
      working_dir: first.working_dir,
      session_api_key: first.session_api_key,
    });
  });

  it('does not answer a start with a sandbox that has died a moment ago', async () => {
    const session_id = newSession();
    const { body: first } = await api.call('POST', '/start', { session_id });
    api.farm.end(farmName(first.url));
    const again = await api.call('POST', '/start', { session_id });
    expect(again).toMatchObject({ status: 200, body: { status: 'running', working_dir: first.working_dir } });
    expect(again.body.url).not.toBe(first.url);
  });

  it('takes another sandbox when one does not answer its activation', async () => {
    // One more than two right after a claim has waited.
    const ready = () =>
      owner<{ pod_name: string }>(`SELECT pod_name FROM runtime.slot WHERE state = 'ready' ORDER BY warmed_at DESC`);
    await until('two are warm', async () => (await ready()).length >= 2);
    const warm = await ready();
    const [newest] = warm;
    api.farm.unreachable.add(newest?.pod_name ?? '');
    // Which one is first is up to the leased slots: after as many starts as there are sandboxes it was the silent one's
    // turn.
    for (const _each of warm) {
      const started = await api.call('POST', '/start', { session_id: newSession() });
      expect(started).toMatchObject({ status: 200, body: { status: 'running' } });
      expect(farmName(started.body.url)).not.toBe(newest?.pod_name);
      await api.call('POST', '/stop', { runtime_id: started.body.runtime_id });
    }
    await until('the silent one is removed', () => !api.farm.sandboxes.has(newest?.pod_name ?? ''));
  });

  it('stops a session, which then is listed as stopped with no sandbox behind it', async () => {
    const session_id = newSession();
    const { body } = await api.call('POST', '/start', { session_id });
    expect(await api.call('POST', '/stop', { runtime_id: body.runtime_id })).toMatchObject({
      status: 200,
      body: { status: 'stopped', pod_status: 'not found' },
    });
    expect((await api.call('POST', '/stop', { runtime_id: body.runtime_id })).status).toBe(200);
    expect(api.farm.sandboxes.has(farmName(body.url))).toBe(false);
    const list = await api.call('GET', '/list');
    expect(list.body.runtimes).toContainEqual(expect.objectContaining({ session_id, status: 'stopped' }));
  });

  it('answers a batch as a list, with one or many ids, and leaves out what is unknown', async () => {
    const [a, b] = [newSession(), newSession()];
    for (const session_id of [a, b]) await api.call('POST', '/start', { session_id });
    const ids = (body: Array<{ session_id: string }>): string[] => body.map((runtime) => runtime.session_id).sort();
    expect(ids((await api.call('GET', `/sessions/batch?ids=${a}&ids=unknown&ids=${b}`)).body)).toEqual([a, b].sort());
    expect(ids((await api.call('GET', `/sessions/batch?ids=${a}`)).body)).toEqual([a]);
    expect((await api.call('GET', '/sessions/batch')).body).toEqual([]);
  });

  it('answers probes and metrics without a key', async () => {
    for (const path of ['/alive', '/ready']) expect((await fetch(`${api.url}${path}`)).status).toBe(200);
    const metrics = await api.metrics();
    expect(metrics).toMatch(/pool_claim_total\{result="bound",service="runtime-api"\} \d+/);
    expect(metrics).toMatch(/pool_ready_slots\{pool="default",service="runtime-api"\} \d/);
    expect(metrics).toContain('pool_claim_duration_seconds_bucket');
  });
});

describe('400', () => {
  const refused: Array<[string, unknown, string]> = [
    ['without a session id', {}, 'request.invalid'],
    ['with an empty session id', { session_id: '' }, 'request.invalid'],
    ['with a session id that is an object', { session_id: { $ne: null } }, 'request.invalid'],
    ['with a resource factor that is a word', { session_id: 'x', resource_factor: 'big' }, 'request.invalid'],
    ['with a variable that no shell can have', { session_id: 'x', environment: { 'A=B': '1' } }, 'request.invalid'],
    ['with a variable that is a number', { session_id: 'x', environment: { A: 1 } }, 'request.invalid'],
    ['that is not JSON', '{"session_id":', 'request.not-json'],
    ['that is a list', [], 'request.invalid'],
  ];
  for (const [what, body, code] of refused)
    it(`refuses a start ${what}`, async () => {
      const answer = await api.call('POST', '/start', body);
      expect(answer).toMatchObject({ status: 400, body: { code } });
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      Problem.parse(answer.body);
    });

  it('refuses an organization that is not a name', async () => {
    expect(await api.call('GET', '/list', undefined, { 'x-slipway-org': "a' OR 1=1" })).toMatchObject({
      status: 400,
      body: { code: 'request.invalid' },
    });
  });
});

describe('401', () => {
  it('refuses every route without the key, and with a wrong one', async () => {
    for (const [method, path] of [
      ['POST', '/start'],
      ['POST', '/stop'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['GET', '/sessions/a'],
      ['GET', '/sessions/batch?ids=a'],
      ['GET', '/list'],
      ['GET', '/runtime/a'],
    ] as const)
      for (const key of ['', 'wrong', 'x'.repeat(10_000)])
        expect(await api.call(method, path, undefined, { 'x-api-key': key })).toMatchObject({
          status: 401,
          body: { code: 'auth.missing' },
        });
  });
});

describe('404', () => {
  it("answers what is missing and what is another organization's with the same body", async () => {
    const session_id = newSession();
    const { body } = await api.call('POST', '/start', { session_id });
    const foreign = { 'x-slipway-org': 'another' };
    const shape = ({ status, body: problem }: { status: number; body: Record<string, unknown> }) => ({
      status,
      ...problem,
      requestId: '',
    });
    const missing = shape(await api.call('GET', '/sessions/never'));
    expect(missing).toMatchObject({ status: 404, code: 'resource.not-found' });
    expect(shape(await api.call('GET', `/sessions/${session_id}`, undefined, foreign))).toEqual(missing);
    expect(shape(await api.call('GET', `/runtime/${body.runtime_id}`, undefined, foreign))).toEqual(missing);
    for (const route of ['/stop', '/pause', '/resume']) {
      expect(shape(await api.call('POST', route, { runtime_id: body.runtime_id }, foreign))).toEqual(missing);
      expect(shape(await api.call('POST', route, { runtime_id: 'run_never' }))).toEqual(missing);
    }
    expect((await api.call('GET', `/sessions/batch?ids=${session_id}`, undefined, foreign)).body).toEqual([]);
    expect((await api.call('GET', '/list', undefined, foreign)).body).toEqual({ runtimes: [] });
    expect((await api.call('GET', `/sessions/${session_id}`)).body.status).toBe('running');
  });

  it('gives two organizations with the same session id two sandboxes', async () => {
    const session_id = newSession();
    const [mine, theirs] = [
      await api.call('POST', '/start', { session_id }),
      await api.call('POST', '/start', { session_id }, { 'x-slipway-org': 'another' }),
    ];
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(theirs.body.url).not.toBe(mine.body.url);
    expect(theirs.body.session_api_key).not.toBe(mine.body.session_api_key);
  });

  it('does not pause or resume what was stopped', async () => {
    const { body } = await api.call('POST', '/start', { session_id: newSession() });
    await api.call('POST', '/stop', { runtime_id: body.runtime_id });
    for (const route of ['/pause', '/resume'])
      expect((await api.call('POST', route, { runtime_id: body.runtime_id })).status).toBe(404);
  });
});

describe('409', () => {
  it('refuses one sandbox more than the organization may run, and gives the place back when one stops', async () => {
    const headers = { 'x-slipway-org': 'small' };
    await owner(`INSERT INTO runtime.org_usage (org_id, cap) VALUES ('small', 2)`);
    const started = await Promise.all(
      [1, 2, 3].map((n) => api.call('POST', '/start', { session_id: `small-${n}` }, { ...headers, prefer: 'wait=1' })),
    );
    expect(started.map((answer) => answer.status).sort()).toEqual([200, 200, 409]);
    expect(started.find((answer) => answer.status === 409)).toMatchObject({
      body: {
        code: 'sandbox.quota',
        detail: 'The organization runs 2 of 2 sandboxes, which is its limit.',
        position: 1,
      },
    });
    const one = started.find((answer) => answer.status === 200);
    await api.call('POST', '/stop', { runtime_id: one?.body.runtime_id }, headers);
    expect(
      (
        await api.call(
          'POST',
          '/start',
          { session_id: `small-${started.findIndex((answer) => answer.status === 409) + 1}` },
          headers,
        )
      ).status,
    ).toBe(200);
  });
});

describe('413', () => {
  it('refuses an environment larger than 256 KiB', async () => {
    expect(
      await api.call('POST', '/start', { session_id: newSession(), environment: { A: 'x'.repeat(300_000) } }),
    ).toMatchObject({
      status: 413,
      body: { code: 'request.too-large' },
    });
  });
});

describe('422', () => {
  it('refuses an unknown image and names the known ones', async () => {
    const answer = await api.call('POST', '/start', { session_id: newSession(), image: 'ghcr.io/someone/else:1' });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'sandbox.unknown-template', detail: expect.stringContaining('slipway-sandbox') },
    });
  });

  it('refuses a size that there is not and names those that there are', async () => {
    const answer = await api.call('POST', '/start', { session_id: newSession(), resource_factor: 3 });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'sandbox.unknown-template', detail: expect.stringContaining('1, 2, 4, 8') },
    });
  });

  it('refuses a label that says whose a sandbox is, however it is written, and takes others', async () => {
    for (const label of [
      'slipway.dev/org',
      'SLIPWAY.dev/org',
      ' slipway.dev/slot',
      'slipway.dev/',
      'egress.slipway.dev/class',
      '\uff53lipway.dev/org',
    ]) {
      const answer = await api.call('POST', '/start', {
        session_id: newSession(),
        labels: { team: 'a', [label]: 'another' },
      });
      expect(answer).toMatchObject({
        status: 422,
        body: { code: 'sandbox.reserved-label', detail: expect.stringContaining(label) },
      });
    }
    const taken = await api.call('POST', '/start', {
      session_id: newSession(),
      labels: { team: 'a', 'notslipway.dev/org': 'mine' },
    });
    expect(taken.body.code).not.toBe('sandbox.reserved-label');
  });

  it('refuses another body under a session id that runs, and changes nothing', async () => {
    const session_id = newSession();
    const first = await api.call('POST', '/start', { session_id, environment: { A: '1' } });
    expect(await api.call('POST', '/start', { session_id, environment: { A: '2' } })).toMatchObject({
      status: 422,
      body: { code: 'idempotency.mismatch' },
    });
    expect((await api.call('GET', `/sessions/${session_id}`)).body).toEqual(first.body);
  });
});
