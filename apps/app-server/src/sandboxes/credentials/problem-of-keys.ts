import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { CredentialUse } from '@slipway/contracts/credentials';

/** What is wrong with the keys in a value, as a part of a sentence; `null`: nothing, or it has none. */
export function problemOfKeys(use: CredentialUse, value: string): string | null {
  if (use.form !== 'github-app' && use.form !== 'mtls') return null;
  const key = read(() => createPrivateKey(value));
  if (key === null) return 'has a private key that cannot be read';
  if (use.form === 'github-app') return key.asymmetricKeyType === 'rsa' ? null : 'is no RSA key, which GitHub gives';
  return problemOfCertificate(value, key);
}

function problemOfCertificate(value: string, key: KeyObject): string | null {
  const certificate = read(() => new X509Certificate(value));
  if (certificate === null) return 'has a certificate that cannot be read';
  return certificate.checkPrivateKey(key) ? null : 'has a private key that is not that of its first certificate';
}

function read<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
