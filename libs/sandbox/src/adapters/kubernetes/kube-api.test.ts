import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import { refusal } from './cluster-error.js';
import { KubeApi } from './kube-api.js';
import { fastTiming, TestApiServer } from './test-api-server.js';

const PATH = '/api/v1/namespaces/sandboxes/pods';

describe('calls to an API server', () => {
  const signal = AbortSignal.timeout(30_000);
  let server: TestApiServer;
  let api: KubeApi;
  let token: string;
  beforeEach(async () => {
    server = await new TestApiServer().start();
    token = 'first';
    const budget = { rate: 100, burst: 100, connections: 4 };
    const access = {
      server: new URL(server.url),
      credentials: async () => ({ tls: {}, authorization: `Bearer ${token}` }),
    };
    api = new KubeApi(access, fastTiming(20), { claim: budget, refill: budget, watch: budget });
  });
  afterEach(async () => {
    api.close();
    await server.close();
  });
  const get = (): Promise<unknown> => api.get('claim', `${PATH}/one`, 'read the sandbox', signal);

  it('take a missing object, one that exists already and another uid for answers, not for errors', async () => {
    expect(await get()).toBeNull();
    const body = { metadata: { name: 'one' } };
    expect(await api.create({ budget: 'refill', path: PATH, body, doing: 'make the sandbox', signal })).toMatchObject({
      metadata: { name: 'one', uid: 'uid-1' },
    });
    expect(await api.create({ budget: 'refill', path: PATH, body, doing: 'make the sandbox', signal })).toBe('exists');
    expect(
      await api.delete({
        budget: 'claim',
        path: `${PATH}/one`,
        options: { uid: 'other' },
        doing: 'delete the sandbox',
        signal,
      }),
    ).toBe('conflict');
    expect(
      await api.delete({
        budget: 'claim',
        path: `${PATH}/one`,
        options: { uid: 'uid-1' },
        doing: 'delete the sandbox',
        signal,
      }),
    ).toBe('accepted');
    expect(
      await api.delete({
        budget: 'claim',
        path: `${PATH}/one`,
        options: { uid: 'uid-1' },
        doing: 'delete the sandbox',
        signal,
      }),
    ).toBe('gone');
  });

  it('read their credentials again when the server does not accept them, once', async () => {
    server.put('one');
    await get();
    server.faults.refuse = () => (server.requests.at(-1)?.authorization === 'Bearer first' ? { status: 401 } : null);
    token = 'second';
    expect(await get()).toMatchObject({ metadata: { name: 'one' } });
    server.faults.refuse = () => ({ status: 401 });
    const { length } = server.requests;
    await expect(get()).rejects.toMatchObject({ code: 'sandbox.forbidden' });
    expect(server.requests.length - length).toBe(2);
  });

  it('are tried three times when the server fails, and then say what it said', async () => {
    let failures = 2;
    server.put('one');
    server.faults.refuse = () =>
      failures-- > 0 ? { status: 500, body: { message: 'etcdserver: request timed out' } } : null;
    expect(await get()).toMatchObject({ metadata: { name: 'one' } });
    failures = 99;
    await expect(get()).rejects.toMatchObject({
      code: 'sandbox.cluster-unavailable',
      detail: expect.stringContaining('etcdserver: request timed out'),
    });
    expect(failures).toBe(96);
  });

  it('come again when a 429 says, and hold back everything of their budget and nothing of the others', async () => {
    server.put('one');
    let refusals = 1;
    server.faults.refuse = () => (refusals-- > 0 ? { status: 429, headers: { 'retry-after': '20' } } : null);
    const began = performance.now();
    const first = get();
    const second = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return get();
    })();
    await until('the first was refused', () => refusals === 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await api.get('refill', `${PATH}/one`, 'read the sandbox', signal);
    expect(server.requests.length).toBe(2);
    await Promise.all([first, second]);
    // 20 s, twenty times as fast.
    expect(performance.now() - began).toBeGreaterThanOrEqual(995);
    expect(server.requests.length).toBe(4);
  });

  it('report a missing answer, and stop at their signal', async () => {
    await server.close();
    await expect(get()).rejects.toMatchObject({
      code: 'sandbox.cluster-unavailable',
      detail: expect.stringContaining('did not answer when asked to read the sandbox'),
    });
    const passed = stopwatch();
    await expect(api.get('claim', PATH, 'read', AbortSignal.timeout(20))).rejects.toMatchObject({
      code: 'sandbox.cluster-unavailable',
    });
    expect(passed()).toBeLessThan(2_000);
    server = await new TestApiServer().start();
  });

  for (const [status, message, code] of [
    [
      403,
      'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "s"',
      'sandbox.forbidden',
    ],
    [403, 'pods "sb-1" is forbidden: pod rejected: RuntimeClass "kata" not found', 'sandbox.refused'],
    [403, 'pods "sb-1" is forbidden: violates PodSecurity "restricted:latest": …', 'sandbox.refused'],
    [
      403,
      'pods "sb-1" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=10, limited: pods=10',
      'sandbox.no-capacity',
    ],
    [422, 'pods "sb-1" is forbidden: ValidatingAdmissionPolicy "p" denied request: no', 'sandbox.refused'],
    [404, 'namespaces "s" not found', 'sandbox.refused'],
    [429, 'too many requests', 'sandbox.cluster-unavailable'],
    [504, 'timeout', 'sandbox.cluster-unavailable'],
    [401, 'Unauthorized', 'sandbox.forbidden'],
  ] as const)
    it(`make ${code} of ${status} ${message.slice(0, 60)}`, () => {
      expect(refusal(status, { message }, 'make the sandbox')).toMatchObject({
        code,
        detail: expect.stringContaining(message),
      });
    });
});
