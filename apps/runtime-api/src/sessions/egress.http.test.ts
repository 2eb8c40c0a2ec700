import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressCredentials } from '@slipway/auth/egress-credential';
import { startTestRuntimeApi, type TestRuntimeApi } from '../testing/start-runtime-api.js';

const SECRET = 'egress-secret-of-tests-0123456789abcdef';

describe('a session whose sandbox reaches names', () => {
  let api: TestRuntimeApi;
  beforeAll(async () => {
    const classes = new Map([['slipway-sandbox', 'packages']] as const);
    api = await startTestRuntimeApi({
      egress: {
        proxyUrl: 'http://proxy.test:3128',
        secret: SECRET,
        direct: [],
        classes,
        maxAgeSeconds: 3_600,
        ca: null,
      },
    });
  });
  afterAll(() => api?.close());
  /** Environment of the sandbox at this address. */
  const environmentAt = (url: string): Record<string, string> =>
    JSON.parse(api.farm.sandboxes.get(url.split('/').at(-1) ?? '')?.latch.body ?? '{}').env;
  const claimsOf = (env: Record<string, string>) =>
    new EgressCredentials(SECRET).verify(new URL(env['HTTPS_PROXY'] ?? 'http://none').password, new Date());

  it('gets the proxy with a credential of its own claim and pod, and of another one after a pause', async () => {
    const { body: first } = await api.call('POST', '/start', { session_id: 'one', environment: { OWN: '1' } });
    const environment = environmentAt(first.url);
    expect(environment).toMatchObject({ OWN: '1', NODE_USE_ENV_PROXY: '1' });
    const claims = claimsOf(environment);
    expect(claims).toMatchObject({
      template: 'slipway-sandbox',
      egress: 'packages',
      address: '127.0.0.1',
      claim: expect.stringMatching(/^clm_/),
    });
    expect(JSON.stringify(first)).not.toContain('slp_egr_');
    await api.call('POST', '/pause', { runtime_id: first.runtime_id });
    const { body: second } = await api.call('POST', '/resume', { runtime_id: first.runtime_id });
    const again = claimsOf(environmentAt(second.url));
    expect([again?.org, again?.template]).toEqual([claims?.org, claims?.template]);
    expect(again?.claim).not.toBe(claims?.claim);
    expect(environmentAt(second.url)['OWN']).toBe('1');
  });
});
