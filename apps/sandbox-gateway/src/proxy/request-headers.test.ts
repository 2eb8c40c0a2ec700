import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { requestHeaders } from './request-headers.js';

const USER = { id: 'usr_a', label: 'Ada', kind: 'user' } as const;
const TOKEN = 'slp_sbx_token';

/** What a program behind an app port gets of these headers. */
function seenByApp(rawHeaders: string[], way: 'host' | 'path' = 'host'): string[] {
  const headers = Object.fromEntries(
    rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1]]] : [])),
  );
  const request = { rawHeaders, headers, socket: { remoteAddress: '1.2.3.4' } } as unknown as IncomingMessage;
  const address = { conversation: 'c', port: 3000, path: '/', way, prefix: '' };
  return requestHeaders(request, {
    address,
    target: { origin: 'http://10.0.0.1:3000', sessionKey: null, gatewayKey: null },
    user: USER,
    scheme: 'https',
  });
}

describe('headers for a program in the sandbox', () => {
  it('say nothing of who the caller is, nor with whose key', () => {
    const seen = seenByApp(['X-Slipway-Caller-Key', 'mine', 'X-Slipway-Anything', 'x', 'X-Own', '1']);
    expect(seen.filter((text) => /slipway|session/i.test(text))).toEqual([]);
  });

  it('hold its own cookies and its own authorization, and never what is Slipway’s', () => {
    const cookie = `a=1; slipway_sandbox=${TOKEN}; keycloak_auth=x; __Host-slipway_sandbox=${TOKEN}; __Host-keycloak_auth=y; b==2; other=${TOKEN}`;
    const seen = seenByApp([
      'Cookie',
      cookie,
      'Authorization',
      'Basic eA==',
      'X-Session-API-Key',
      TOKEN,
      'Referer',
      `http://x/?${TOKEN}`,
    ]);
    expect(seen.slice(0, 4)).toEqual(['cookie', 'a=1; b==2', 'authorization', 'Basic eA==']);
    expect(seen.join()).not.toMatch(/slp_sbx_|keycloak_auth|slipway_sandbox/);
    expect(seenByApp(['Authorization', `bearer ${TOKEN}`, 'X-Session-API-Key', 'its-own']).join()).toContain(
      'x-session-api-key,its-own',
    );
    expect(seenByApp(['Authorization', `bearer ${TOKEN}`]).join()).not.toContain('slp_sbx_');
  });

  it('hold no cookies by path, where every sandbox shares them', () => {
    expect(seenByApp(['Cookie', 'a=1'], 'path')).not.toContain('cookie');
  });

  it('say whence a request came in our words only', () => {
    const seen = seenByApp([
      'X-Forwarded-For',
      '6.6.6.6',
      'Forwarded',
      'for=6.6.6.6',
      'X-Forwarded-Proto',
      'http',
      'Connection',
      'X-Forwarded-For',
    ]);
    expect(seen).toEqual(['x-forwarded-for', '1.2.3.4', 'x-forwarded-proto', 'https']);
  });
});
