import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationApp } from '../../testing/conversation-app.js';
import type { TestApp } from '../../testing/test-app.js';
import { WorkloadIdentityService } from './workload-identity.service.js';

const CONFIGURATION = '/oauth/identity/.well-known/openid-configuration';
const WORKLOAD = {
  org: 'org_1',
  conversation: 'cnv_1',
  claim: 'clm_1',
  user: 'usr_1',
  environment: null,
  repository: null,
};

const read64 = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());

describe('the issuer of workload identity', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: 'test-egress-control-test-egress-control',
        CREDENTIAL_CONTROL_SECRET: 'test-credential-control-test-credential',
        INTERNAL_PORT: '0',
      },
    });
  });
  afterAll(() => app?.close());
  const read = async (path: string) => {
    const response = await fetch(app.url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    return (await response.json()) as Record<string, unknown>;
  };

  it('says to anybody where its keys are, and they check what it signs', async () => {
    const configuration = await read(CONFIGURATION);
    const { issuer } = (app.replicas[0] as TestApp).app.get(WorkloadIdentityService);
    expect(issuer).toBe(`${app.url}/oauth/identity`);
    expect(configuration).toMatchObject({
      issuer,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const token = await (app.replicas[0] as TestApp).app.get(WorkloadIdentityService).tokenFor(WORKLOAD, 'api');
    const { keys } = (await read('/oauth/identity/jwks')) as { keys: Array<JsonWebKey & { kid: string }> };
    const [header = '', payload = '', signature = ''] = token.split('.');
    const key = keys.find(({ kid }) => kid === read64(header)['kid']);
    const signed = {
      key: createPublicKey({ key: key as JsonWebKey, format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    } as const;
    const check = (text: string) => verify('sha256', Buffer.from(text), signed, Buffer.from(signature, 'base64url'));
    expect([check(`${header}.${payload}`), check(`${header}.x${payload}`)]).toEqual([true, false]);
    expect(read64(payload)).toMatchObject({ iss: issuer, aud: 'api', conversation_id: 'cnv_1', user: 'usr_1' });
    expect(JSON.stringify(await read('/oauth/identity/jwks'))).not.toContain('"d"');
  });

  it('adversary: one of its tokens is no session, no API key and no sign-in', async () => {
    const token = await (app.replicas[0] as TestApp).app.get(WorkloadIdentityService).tokenFor(WORKLOAD, 'slipway-web');
    const me = await fetch(`${app.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(me.status).toBe(401);
    const out = await fetch(`${app.url}/oauth/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    expect(out.status).not.toBe(200);
  });

  it('is none without a credential-broker', async () => {
    const other = await ConversationApp.start();
    try {
      for (const path of [CONFIGURATION, '/oauth/identity/jwks'])
        expect((await fetch(other.url + path)).status).toBe(404);
    } finally {
      await other.close();
    }
  });
});
