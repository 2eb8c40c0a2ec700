import { z } from 'zod';
import { type Place, Place as PlaceSchema } from './places.js';

/** A use of a credential that needs a user's yes, or that is counted (docs/decisions/0072). */

/** Longest path, and most references of a push, that a card can show whole. UTF-16 code units. */
export const MAX_ASKED_PATH = 1_000;
export const MAX_ASKED_REFS = 20;
const MAX_REF = 250;
/** Longest media type. */
const MAX_TYPE = 200;
/** How long a yes for one request waits for it. Minutes. */
export const EACH_USE_MINUTES = 10;

/** What one request would send, as far as it is known before its body. */
const request = {
  method: z.string().min(1).max(20),
  /** In normal form, without its query. */
  path: z.string().min(1).max(MAX_ASKED_PATH),
  /** Length of the query, which is not shown; `null`: there is none. Bytes. */
  queryBytes: z.int().min(0).nullable(),
  /** As the client said it; `null`: it did not. Bytes. */
  bodyBytes: z.int().min(0).nullable(),
  /** Media type without parameters; `null`: the client said none. */
  bodyType: z.string().max(MAX_TYPE).nullable(),
  /** Branches of a push; empty for any other request. */
  refs: z.array(z.string().max(MAX_REF)).max(MAX_ASKED_REFS),
};

/** A use that a user is asked about. */
export const AskedUse = z.object({
  credential: z.object({ id: z.string(), name: z.string() }),
  ask: z.enum(['first-use', 'each-use']),
  /** The place in words: `POST /v1/**`. What a yes for the conversation is about. */
  place: z.string(),
  ...request,
});
export type AskedUse = z.infer<typeof AskedUse>;

/**
 * `POST /internal/credentials/v1/use`, signed with CREDENTIAL_CONTROL_SECRET: whether a request may get its credential
 * now. A question with the same `use` is the same request, and is counted once.
 */
export const CredentialUseQuestion = z.strictObject({
  claim: z.string().min(1).max(100),
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  credential: z.string().min(1).max(100),
  /** By which the broker has judged. app-server compares it with what holds now. */
  place: PlaceSchema,
  use: z.uuid(),
  ...request,
  /** SHA-256 of the query in base64url; `null`: there is none. */
  queryHash: z.string().max(50).nullable(),
});
export type CredentialUseQuestion = z.infer<typeof CredentialUseQuestion>;

/** Longest question of a use. Bytes. */
export const MAX_USE_BYTES = 64 * 1024;

/** `changed`: the credential has other places now, rests, has ended or is gone. */
export const USE_DECISIONS = ['pass', 'ask', 'denied', 'too-many', 'spent', 'changed'] as const;
export const CredentialUseDecision = z.object({
  decision: z.enum(USE_DECISIONS),
  /** Of `ask`: the request that waits for a user. */
  request: z.string().nullable(),
});
export type CredentialUseDecision = z.infer<typeof CredentialUseDecision>;

/** Whether uses of a place are decided one by one. */
export const isAskedPlace = ({ ask, usesPerConversation }: Place): boolean =>
  (ask !== undefined && ask !== 'never') || usesPerConversation !== undefined;

/** Paths that the words of a place name. */
const NAMED_PATHS = 5;

/** A place in words, without its host. */
export function wordsOfPlace({ methods, paths, git }: Pick<Place, 'methods' | 'paths' | 'git'>): string {
  const named = paths ?? ['/**'];
  const more = named.length > NAMED_PATHS ? ` and ${named.length - NAMED_PATHS} more` : '';
  const where = `${named.slice(0, NAMED_PATHS).join(', ')}${more}`;
  return `${git === undefined ? '' : 'git '}${methods === undefined ? '' : `${methods.join(', ')} `}${where}`;
}
