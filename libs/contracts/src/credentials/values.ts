import { RefreshTokenValue } from './refresh-token.js';
import type { CredentialUse } from './uses.js';

const PRIVATE_KEY = /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[\s\S]+-----END (?:RSA |EC )?PRIVATE KEY-----/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/;

/** Whether a credential of this use keeps a value. */
export function takesValue(use: CredentialUse): boolean {
  return use.form !== 'workload-token' && !(use.form === 'token-exchange' && use.clientAuth === 'none');
}

/** What is wrong with a value for its use, as a part of a sentence; `null`: nothing. */
export function problemOfValue(use: CredentialUse, value: string): string | null {
  if (!takesValue(use)) return 'is not used with this form: nothing is kept';
  if (use.form === 'oauth-refresh-token') return problemOfRefreshToken(use.clientAuth, value);
  if (use.form === 'github-app')
    return PRIVATE_KEY.test(value) ? null : 'is no private key as PEM, without a passphrase';
  if (use.form === 'mtls')
    return PRIVATE_KEY.test(value) && CERTIFICATE.test(value)
      ? null
      : 'is no certificate with its private key, both PEM, without a passphrase';
  return /[\r\n]/.test(value) ? 'is one line' : null;
}

function problemOfRefreshToken(clientAuth: 'none' | 'basic' | 'body', value: string): string | null {
  const read = RefreshTokenValue.safeParse(jsonOf(value));
  if (!read.success) return 'is no JSON of refreshToken and clientSecret, each of one line';
  if ((read.data.clientSecret === undefined) === (clientAuth === 'none')) return null;
  return clientAuth === 'none' ? 'has a clientSecret, which is not used here' : 'has no clientSecret';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
