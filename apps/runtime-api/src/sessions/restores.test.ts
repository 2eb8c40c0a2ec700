import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { startTestRuntimeApi, type TestRuntimeApi } from '../testing/start-runtime-api.js';

describe('a workspace that takes its time to come back', () => {
  let api: TestRuntimeApi;
  let attaches = 0;
  let letThrough: () => void = () => {};

  beforeAll(async () => {
    api = await startTestRuntimeApi();
  });
  afterAll(() => {
    letThrough();
    return api.close();
  });

  const status = async (session: string) => (await api.call('GET', `/sessions/${session}`)).body;

  async function pausedSession(session: string): Promise<{ runtime_id: string }> {
    const { body } = await api.call('POST', '/start', { session_id: session });
    await api.call('POST', '/pause', { runtime_id: body.runtime_id });
    attaches = 0;
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    api.farm.beforeEffect = async (call) => {
      if (call !== 'attach') return;
      attaches += 1;
      await gate;
    };
    return body;
  }

  it('is answered as starting with the reason, is brought once whoever asks meanwhile, and is then the same session', async () => {
    const { runtime_id } = await pausedSession('large');
    const answers = await Promise.all(
      ['/resume', '/resume'].map((path) => api.call('POST', path, { runtime_id }, { prefer: 'wait=1' })),
    );
    for (const answer of answers)
      expect([answer.status, answer.body.status, answer.body.runtime_id]).toEqual([200, 'starting', runtime_id]);
    const [claim] = (await api.call('GET', '/list')).body.runtimes;
    expect(claim.status_detail).toBe('The workspace of this session is brought back.');
    expect((await api.call('POST', '/resume', { runtime_id }, { prefer: 'wait=1' })).body.status).toBe('starting');
    expect(attaches).toBe(1);
    letThrough();
    await until('running', async () => (await status('large')).status === 'running');
    expect((await api.call('POST', '/resume', { runtime_id })).body).toMatchObject({ status: 'running', runtime_id });
    expect(attaches).toBe(1);
  });

  it('can be stopped on its way, and nothing of it runs', async () => {
    const { runtime_id } = await pausedSession('unwanted');
    expect((await api.call('POST', '/resume', { runtime_id }, { prefer: 'wait=1' })).body.status).toBe('starting');
    const stopped = api.call('POST', '/stop', { runtime_id });
    letThrough();
    expect((await stopped).body.status).toBe('stopped');
    // The other one is of the session before.
    await until(
      'no sandbox of it',
      () => [...api.farm.sandboxes.values()].filter((sandbox) => sandbox.latch.claimId !== null).length === 1,
    );
    expect((await status('unwanted')).status).toBe('stopped');
  });
});
