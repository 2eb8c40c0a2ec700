import { z } from 'zod';
import { PERMISSIONS } from '../organizations/permissions.js';
import { MAX_API_KEY_DAYS } from './api-keys.js';

/**
 * The OAuth device flow (RFC 8628): a program without a browser shows a code, a signed-in user approves it, and the
 * program gets an API key of that user's.
 */

/** A device waits this long for its user. Seconds. */
export const DEVICE_CODE_SECONDS = 600;
/** A device asks no more often than this; one that does has to wait longer each time. Seconds. */
export const DEVICE_POLL_SECONDS = 5;
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Consonants alone, so that no word comes out. */
export const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

/** `BCDF-GHJK` as a user may type it: in any case, with spaces or dashes or none. `null`: no code. */
export function normalUserCode(typed: string): string | null {
  if (typed.length > 40) return null;
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  return code.length === USER_CODE_LENGTH && [...code].every((letter) => USER_CODE_ALPHABET.includes(letter))
    ? code
    : null;
}

/** `POST /oauth/device/authorize`, a form. */
export const DeviceAuthorizationForm = z.object({
  /** The program's own name, shown to the user. */
  client_id: z.string().max(100).optional(),
  /** Permissions with spaces between; none: the user chooses those of the key. */
  scope: z.string().max(2000).optional(),
});
export const DeviceAuthorization = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.url(),
  verification_uri_complete: z.url(),
  /** Seconds. */
  expires_in: z.int(),
  /** Seconds. */
  interval: z.int(),
});
export type DeviceAuthorization = z.infer<typeof DeviceAuthorization>;

/** `POST /oauth/device/token`, a form. */
export const DeviceTokenForm = z.object({
  device_code: z.string().min(1).max(200),
  grant_type: z.string().max(100).optional(),
  client_id: z.string().max(100).optional(),
});
/** Given once; who loses it asks for another device code. */
export const DeviceToken = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Seconds. */
  expires_in: z.int(),
  /** Permissions with spaces between. */
  scope: z.string(),
  /** The organization that the key reaches. */
  org_id: z.string(),
});
export type DeviceToken = z.infer<typeof DeviceToken>;

/** How both say no, always with status 400, as RFC 8628 wants it. */
export const DEVICE_ERRORS = [
  'authorization_pending',
  'slow_down',
  'expired_token',
  'access_denied',
  'invalid_grant',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_scope',
] as const;
export const DeviceProblem = z.object({ error: z.enum(DEVICE_ERRORS), error_description: z.string() });
export type DeviceProblem = z.infer<typeof DeviceProblem>;

/** What a user sees before they approve: `GET /api/v1/device/{userCode}`. */
export const DeviceRequest = z.object({
  userCode: z.string(),
  /** The program's own name, unverified. */
  client: z.string(),
  /** Permissions that it asks for; empty: the user chooses. */
  scopes: z.array(z.enum(PERMISSIONS)),
  /** Where the program asked from. */
  address: z.string().nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
export type DeviceRequest = z.infer<typeof DeviceRequest>;

export const ApproveDevice = z.strictObject({
  /** Id or slug of the organization that the key will be for. */
  org: z.string().min(1).max(100),
  /**
   * Needed when the program asked for none; otherwise what the program asked for. Cut to what the user may do there.
   */
  scopes: z.array(z.enum(PERMISSIONS)).min(1).max(PERMISSIONS.length).optional(),
  /** 90 unless given. */
  expiresInDays: z.int().min(1).max(MAX_API_KEY_DAYS).optional(),
});
export type ApproveDevice = z.infer<typeof ApproveDevice>;
