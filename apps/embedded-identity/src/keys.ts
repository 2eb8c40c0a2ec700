import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { JWK } from 'oidc-provider';

/**
 * The key that signs id tokens (RS256, as Keycloak's) and the ones that sign our cookies: made once, so that a restart
 * signs no user out.
 */
export function loadKeys(store: DatabaseSync): { jwk: JWK; cookieKeys: string[] } {
  const jwk = keep(store, 'rs256-signing-key', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  });
  const cookieKeys = keep(store, 'cookie-keys', () => [randomBytes(32).toString('base64url')]);
  return { jwk: jwk as JWK, cookieKeys };
}

function keep<T>(store: DatabaseSync, name: string, make: () => T): T {
  const read = (): { value: string } | undefined =>
    store.prepare('SELECT value FROM key_material WHERE name = ?').get(name) as { value: string } | undefined;
  // Another process may make it at the same moment: whose is in the store counts.
  if (read() === undefined)
    store
      .prepare('INSERT INTO key_material (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING')
      .run(name, JSON.stringify(make()));
  return JSON.parse((read() as { value: string }).value) as T;
}
