import { createHash } from 'node:crypto';

/** Namespace of Slipway's analytics events. */
const NAMESPACE = Buffer.from('6f1d1c6f1f2f4b3c9a50c7e2a6a1f0d4', 'hex');

/**
 * UUIDv5 of what an event is about and its name: the same event made twice, by another worker or after a crash, has one
 * id.
 * @param source names a row: an audit entry, an event of a log, a user in an organization.
 */
export function analyticsEventId(source: string, name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(`${name}\n${source}`).digest().subarray(0, 16);
  bytes[6] = 0x50 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
