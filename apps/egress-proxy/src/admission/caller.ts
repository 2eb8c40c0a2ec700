import type { EgressCredentials } from '@slipway/auth/egress-credential';
import { EGRESS_USER, type EgressClaims } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';

export interface CallerOptions {
  readonly credentials: EgressCredentials;
  /** Whether a credential counts from its own pod's address alone. */
  readonly bindSource: boolean;
}

export interface Caller {
  readonly claims: EgressClaims;
  /** The action whose command calls, as the sandbox says; nothing relies on it. */
  readonly actionId: string | null;
}

/** Which sandbox is calling. @param header `Basic` or `Bearer`. @throws SlipwayError `egress.no-credential`. */
export function callerOf(
  header: string | undefined,
  remoteAddress: string | undefined,
  now: Date,
  { credentials, bindSource }: CallerOptions,
): Caller {
  const [, scheme, value] = /^(Basic|Bearer) ([A-Za-z0-9+/=._-]{1,2000})$/i.exec(header ?? '') ?? [];
  if (scheme === undefined || value === undefined) throw unknown('No credential was sent.');
  const [actionId, password] = scheme.toLowerCase() === 'basic' ? ofBasic(value) : [undefined, value];
  const claims = credentials.verify(password, now);
  if (claims === null) throw unknown('The credential is not one of this installation, or it is over.');
  if (bindSource && plainAddress(remoteAddress) !== claims.address)
    throw unknown('The credential belongs to a sandbox at another address.');
  return { claims, actionId: actionId ?? null };
}

function ofBasic(value: string): [actionId: string | undefined, password: string] {
  const form = new RegExp(`^${EGRESS_USER}(?:\\.([A-Za-z0-9_-]{1,100}))?:(.*)$`, 's');
  const [, actionId, password = ''] = form.exec(Buffer.from(value, 'base64').toString()) ?? [];
  return [actionId, password];
}

/** An IPv4 address as such, also where a socket of both families gives it in its mapped form. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

function unknown(detail: string): SlipwayError {
  return new SlipwayError('egress.no-credential', detail, { extensions: { reason: 'credential' } });
}
