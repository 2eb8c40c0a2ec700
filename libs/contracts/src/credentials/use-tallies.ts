import { z } from 'zod';

/** What credential-broker counts of uses, and sends to app-server. */

/** Rows of one batch. */
export const MAX_USE_ROWS = 1_000;
/** After so many days a count is deleted. */
export const CREDENTIAL_USE_DAYS = 90;
/** Longest place in words. UTF-16 code units. */
export const MAX_PLACE_WORDS = 300;
/** Conversations and places that are listed, those with the most uses. */
export const MAX_LISTED_USES = 20;

/** Uses of one credential at one place, by one conversation, since the batch before. */
export const CredentialTally = z.strictObject({
  conversation: z.string().min(1).max(200),
  credential: z.string().min(1).max(100),
  /** Host and place in words; '' for all others where too many wait. */
  place: z.string().max(MAX_PLACE_WORDS),
  /** Days since 1970, of UTC. */
  day: z.int().min(0),
  uses: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
});
export type CredentialTally = z.infer<typeof CredentialTally>;

/**
 * `POST /internal/credentials/v1/tallies`: counts of one organization. Batches are numbered and repeated as those of
 * egress-proxy (`EgressTallyBatch`).
 */
export const CredentialTallyBatch = z.strictObject({
  org: z.string().min(1).max(100),
  /** The process that counted, by a name that it has given itself at its start. */
  source: z.uuid(),
  seq: z.int().min(1),
  rows: z.array(CredentialTally).min(1).max(MAX_USE_ROWS),
});
export type CredentialTallyBatch = z.infer<typeof CredentialTallyBatch>;

/** `GET …/credentials/{credential}/uses`: of the last 90 days. */
export const CredentialUses = z.object({
  uses: z.int(),
  /** Of all; `null`: it was not used. */
  lastAt: z.iso.datetime().nullable(),
  /** Those with the most uses. */
  places: z.array(z.object({ place: z.string(), uses: z.int() })).max(MAX_LISTED_USES),
  /** Those with the most uses; none for who may not read conversations. */
  conversations: z
    .array(z.object({ id: z.string(), title: z.string(), uses: z.int(), lastAt: z.iso.datetime() }))
    .max(MAX_LISTED_USES),
});
export type CredentialUses = z.infer<typeof CredentialUses>;
