import { createApiClient } from '@slipway/api-client';

/**
 * Random hex. `crypto.randomUUID` is missing on plain http to a machine of one's own, so ids come from
 * `getRandomValues`.
 */
function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}

/** A UUIDv4: ids of messages and idempotency keys. */
export function newId(): string {
  const digits = hex(16).split('');
  digits[12] = '4';
  digits[16] = '89ab'[Number.parseInt(digits[16] ?? '0', 16) % 4] ?? '8';
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Each call starts a trace of its own: the id that is sent here is the id of the tool call that comes of it. */
const options = { newKey: newId, headers: () => ({ traceparent: `00-${hex(16)}-${hex(8)}-01` }) };
export const api = createApiClient(options);
/** The same for what may take minutes: a sandbox that has to start first, a program that is installed in it. */
export const patientApi = createApiClient({ ...options, timeoutMs: 180_000 });
