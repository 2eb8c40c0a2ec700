import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { JWK } from 'oidc-provider';

/** The key that signs id tokens and the ones that sign our cookies: made once, so that a restart signs nobody out. */
export function loadKeys(store: DatabaseSync): { jwk: JWK; cookieKeys: string[] } {
  const jwk = keep(store, 'signing-key', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'ES256' };
  });
  const cookieKeys = keep(store, 'cookie-keys', () => [randomBytes(32).toString('base64url')]);
  return { jwk: jwk as JWK, cookieKeys };
}

function keep<T>(store: DatabaseSync, name: string, make: () => T): T {
  store.prepare('INSERT INTO key_material (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING').run(name, JSON.stringify(make()));
  const row = store.prepare('SELECT value FROM key_material WHERE name = ?').get(name) as { value: string };
  return JSON.parse(row.value) as T;
}
