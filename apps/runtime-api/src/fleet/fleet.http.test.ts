import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

describe('what an admin sees of sandboxes', () => {
  let api: TestRuntimeApi;
  beforeAll(async () => {
    api = await startTestRuntimeApi({ pools: [testPool(1)], orgSandboxLimit: 3 });
  });
  afterAll(() => api?.close());
  const of = (org: string): Record<string, string> => ({ 'x-slipway-org': org });

  it('those that run, with template and size and without their keys, of the organization alone; and who waits, with the quota', async () => {
    await until(
      'it has a sandbox',
      async () => (await api.call('POST', '/start', { session_id: 'runs' }, of('org_a'))).status === 200,
    );
    const fleet = await api.call('GET', '/fleet', undefined, of('org_a'));
    expect(fleet).toMatchObject({
      status: 200,
      body: {
        sandboxes: [
          {
            session_id: 'runs',
            status: 'running',
            detail: '',
            node: null,
            template: 'slipway-sandbox',
            size: 1,
            restarts: 0,
            start: expect.stringMatching(/^(warm|cold)$/),
          },
        ],
      },
    });
    expect(JSON.stringify(fleet.body)).not.toMatch(/key/);
    expect((await api.call('GET', '/fleet', undefined, of('org_b'))).body).toEqual({ sandboxes: [] });

    // Other ready ones are claimed, and no more start.
    api.farm.inTheWay = () => ({ message: 'it is being made' });
    await until(
      'nothing is ready',
      async () =>
        (await api.call('POST', '/start', { session_id: `other-${Date.now()}` }, { ...of('org_c'), prefer: 'wait=0' }))
          .status !== 200,
    );
    const late = api.call('POST', '/start', { session_id: 'waits' }, { ...of('org_a'), prefer: 'wait=3' });
    const queue = await until('it waits', async () => {
      const { body } = await api.call('GET', '/queue', undefined, of('org_a'));
      return body.waiting.length > 0 ? body : null;
    });
    expect(queue).toMatchObject({
      in_use: 1,
      limit: 3,
      waiting: [
        {
          session_id: 'waits',
          position: expect.any(Number),
          estimate_seconds: expect.any(Number),
          reason: 'No sandbox is ready yet.',
        },
      ],
    });
    expect((await api.call('GET', '/queue', undefined, of('org_b'))).body).toEqual({
      waiting: [],
      in_use: 0,
      limit: 3,
    });
    expect((await late).status).toBe(503);
    api.farm.inTheWay = () => null;
  });

  it('401: without the service key', async () => {
    for (const path of ['/fleet', '/queue'])
      expect((await fetch(`${api.url}${path}`, { headers: of('org_a') })).status).toBe(401);
  });
});
