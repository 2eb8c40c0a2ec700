import { createPrivateKey, sign } from 'node:crypto';

/** Against a clock of ours that is ahead, as GitHub advises. Seconds. */
const BEFORE_S = 60;
/** GitHub takes no more than ten minutes from its own now; a minute less, since clocks differ. Seconds. */
const AFTER_S = 540;

/**
 * Credential of the app: a JWT (RS256), valid for nine minutes. @param privateKey PEM, PKCS#1 as GitHub gives it, or
 * PKCS#8.
 */
export function appJwt(
  { clientId, privateKey }: { readonly clientId: string; readonly privateKey: string },
  now: Date,
): string {
  const at = Math.floor(now.getTime() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: at - BEFORE_S, exp: at + AFTER_S, iss: clientId })}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), createPrivateKey(privateKey)).toString('base64url')}`;
}
