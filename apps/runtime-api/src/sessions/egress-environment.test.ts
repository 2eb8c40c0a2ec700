import { describe, expect, it } from '@jest/globals';
import { EgressCredentials } from '@slipway/auth/egress-credential';
import { createIds } from '@slipway/domain';
import { EgressEnvironment, type EgressOptions } from './egress-environment.js';

const SECRET = 'egress-secret-of-tests-0123456789abcdef';
const NOW = new Date('2026-03-01T12:00:00.500Z');
const claimId = createIds({ now: () => NOW }).prefixed('clm');
const sandbox = {
  orgId: 'org_1',
  claimId,
  sessionId: 'session-1',
  template: 'standard',
  address: 'http://10.244.1.7:8000',
};
const options = {
  proxyUrl: 'http://slipway-egress-proxy.slipway.svc.cluster.local:3128',
  secret: SECRET,
  direct: ['ingest.example.com', 'localhost'],
  classes: new Map([
    ['standard', 'packages'],
    ['narrow', 'allow-list'],
    ['closed', 'none'],
    ['wide', 'open'],
  ]),
  maxAgeSeconds: 3_600,
  ca: null,
} satisfies EgressOptions;
const environment = new EgressEnvironment(options);
const variablesOf = (given: string, change: Partial<typeof sandbox> = {}): Record<string, string> =>
  JSON.parse(environment.addTo(given, { ...sandbox, ...change }));

describe('the environment of a sandbox that reaches names', () => {
  it('says by every name that programs know where the proxy is, and who is calling', () => {
    const { HTTPS_PROXY = '', NO_PROXY = '', ...others } = variablesOf('{"TERM":"xterm"}');
    const { username, password, host } = new URL(HTTPS_PROXY);
    expect([username, host]).toEqual(['sandbox', 'slipway-egress-proxy.slipway.svc.cluster.local:3128']);
    expect(others).toEqual({
      TERM: 'xterm',
      HTTP_PROXY: HTTPS_PROXY,
      http_proxy: HTTPS_PROXY,
      https_proxy: HTTPS_PROXY,
      no_proxy: NO_PROXY,
      NODE_USE_ENV_PROXY: '1',
    });
    expect(NO_PROXY).toBe('localhost,127.0.0.1,::1,.svc,.cluster.local,ingest.example.com');
    const seconds = Math.floor(NOW.getTime() / 1000);
    const claims = {
      claim: claimId,
      conversation: 'session-1',
      org: 'org_1',
      template: 'standard',
      egress: 'packages',
      address: '10.244.1.7',
      exp: seconds + 3_600 + 86_400,
    };
    expect(new EgressCredentials(SECRET).verify(password, NOW)).toEqual(claims);
  });

  it('is the same to the byte for the same claim, and another for another claim, pod or class', () => {
    const passwords = [
      {},
      { claimId: createIds({ now: () => NOW }).prefixed('clm') },
      { address: 'http://[fd00::7]:8000' },
      { template: 'narrow' },
    ].map((change) => variablesOf('{}', change)['HTTPS_PROXY']);
    expect(new Set(passwords).size).toBe(4);
    expect(environment.addTo('{}', sandbox)).toBe(environment.addTo('{}', { ...sandbox }));
  });

  it('has the certificates of the broker where there is one, and where the class has a proxy', () => {
    const trusting = new EgressEnvironment({ ...options, ca: 'PEM' });
    expect(JSON.parse(trusting.addTo('{"SLIPWAY_EGRESS_CA":"mine"}', sandbox))).toMatchObject({
      SLIPWAY_EGRESS_CA: 'PEM',
    });
    expect(trusting.addTo('{}', sandbox)).toBe(trusting.addTo('{}', { ...sandbox }));
    expect(trusting.addTo('{}', { ...sandbox, template: 'wide' })).toBe('{}');
    expect(variablesOf('{}')).not.toHaveProperty('SLIPWAY_EGRESS_CA');
  });

  it('goes before what the caller says of proxies', () => {
    expect(variablesOf('{"HTTPS_PROXY":"http://elsewhere","no_proxy":"*"}')).toEqual(variablesOf('{}'));
  });

  it('is left as it is where the class has no proxy, or the template is not known', () => {
    for (const template of ['closed', 'wide', 'of-yesterday'])
      expect(environment.addTo('{"A":"1"}', { ...sandbox, template })).toBe('{"A":"1"}');
  });
});
