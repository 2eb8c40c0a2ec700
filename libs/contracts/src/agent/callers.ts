import { z } from 'zod';

/**
 * Callers of agent-server. Each activation names, by SHA-256, one key of the app (app-server and worker) and one of
 * sandbox-gateway. A request shows its key in this header beside the session key. Without one of the two keys a caller
 * has only the trust of the session key: see docs/decisions/0015.
 */
export const CALLER_KEY_HEADER = 'x-slipway-caller-key';
/** Who sends what sandbox-gateway hands on: `callerUserHeader`. Believed with the gateway's key alone. */
export const CALLER_USER_HEADER = 'x-slipway-caller-user';
/**
 * Of `POST /start` and `/resume` of runtime-api: SHA-256 of the app's key, base64url. Goes into the signed activation.
 */
export const APP_KEY_SHA256_HEADER = 'x-slipway-app-key-sha256';
/** Of `GET /sessions/{id}` of runtime-api, with any value: the answer has `gateway_api_key`. */
export const WANTS_GATEWAY_KEY_HEADER = 'x-slipway-gateway-key';

/**
 * Of a question beside the task, or of a request for a summary, and of the model calls that follow: a pass of
 * `newChargePass` of libs/auth, by which a few of them count for who asked.
 */
export const CHARGE_PASS_HEADER = 'x-slipway-charge-pass';

/** The user or service account behind a request, as sandbox-gateway read it from the grant. */
export const CallerUser = z.object({
  id: z.string().min(1).max(200),
  label: z.string().min(1).max(200),
  kind: z.enum(['user', 'service-account']),
});
export type CallerUser = z.infer<typeof CallerUser>;

/** ASCII, whatever the name is. */
export function callerUserHeader(user: CallerUser): string {
  return Buffer.from(JSON.stringify(user)).toString('base64url');
}

/** `null` for a header that is absent or cannot be read. */
export function callerUserOf(header: string | undefined): CallerUser | null {
  if (header === undefined || header.length > 4_000) return null;
  try {
    return CallerUser.parse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')));
  } catch {
    return null;
  }
}
