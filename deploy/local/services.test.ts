import { describe, expect, it } from '@jest/globals';
import { planServices } from './services.ts';

const URL = 'postgresql://127.0.0.1:1/slipway';
const ADDRESSES = {
  port: 3_000,
  dataDirectory: '/nowhere',
  databaseUrls: { app: URL, runtime: URL, gateway: URL, sandbox: URL },
  redisUrl: null,
  oidcIssuerUrl: null,
};
const SECRETS = {
  ...{
    gatewayMasterKey: 'g',
    runtimeApiKey: 'r',
    encryption: 'e',
    activationPrivateKey: 'a',
    session: 's',
    ingest: 'i',
    sandboxAccess: 'x',
  },
  ...{ oidcClient: 'o' },
} as unknown as Parameters<typeof planServices>[1];

describe('the processes of npm start', () => {
  it('are given the operator’s apps at providers where they are called from, and nowhere else', () => {
    const apps = { INTEGRATION_APPS: '{"github":{}}', INTEGRATION_APP_SECRETS: '{"github":["s"]}' };
    const given = planServices(ADDRESSES, SECRETS, apps).filter(({ env }) => env['INTEGRATION_APPS'] !== undefined);
    expect(given.map(({ name }) => name)).toEqual(['app-server', 'worker']);
    for (const { env } of given) expect(env).toMatchObject(apps);
  });

  it('have no variable that the caller leaves empty', () => {
    const plans = planServices(ADDRESSES, SECRETS, { INTEGRATION_APPS: '' });
    expect(plans.filter(({ env }) => 'INTEGRATION_APPS' in env)).toEqual([]);
  });
});
