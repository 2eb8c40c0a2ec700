import { z } from 'zod';
import { pageOf } from '../conversations/conversations.js';

/** `noun.verb`, as each feature names what it does; open, since features come. */
const ACTION_OR_NOUN = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)?$/;
/** Longest id that an entry can be asked for by. Characters. */
const MAX_ID_LENGTH = 200;

/** One thing that was done. */
export const AuditEntry = z.object({
  id: z.uuid(),
  /**
   * Its place in the organization's chain, counted from 1 without a gap; `null` only when the chain was tampered with.
   */
  seq: z.int().positive().nullable(),
  /** SHA-256 of its link, in hex: covers this entry and the link before. */
  hash: z.string().nullable(),
  createdAt: z.iso.datetime(),
  actor: z.object({
    kind: z.string(),
    id: z.string(),
    /** Their name at that time. */
    label: z.string().nullable(),
    /** Id of the API key that was used; `null` for a signed-in user. */
    viaKey: z.string().nullable(),
  }),
  /** `noun.verb`: `api-key.create`, `member.set-role`. */
  action: z.string(),
  /** Id of what it was done to. */
  target: z.string(),
  detail: z.record(z.string(), z.unknown()),
  /** Only the fields that differ. */
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  requestId: z.string().nullable(),
  address: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = pageOf(AuditEntry).extend({
  /**
   * By the ids in these entries: the names of users and service accounts and the titles of conversations, as they are
   * now. No part of the chain.
   */
  names: z.record(z.string(), z.string()),
});
export type AuditPage = z.infer<typeof AuditPage>;

/** Nouns whose target begins with the id of a conversation; `sandbox.access` adds the port. */
const NOUNS_OF_CONVERSATIONS: ReadonlySet<string> = new Set([
  'conversation',
  'sandbox',
  'pull-request',
  'egress-request',
  'credential-use',
]);
const UUID_LENGTH = 36;

/** Id of the conversation that an entry is about; `null` where it is about something else. */
export function conversationOfEntry({ action, target }: Pick<AuditEntry, 'action' | 'target'>): string | null {
  const [noun = ''] = action.split('.');
  const id = target.slice(0, UUID_LENGTH);
  return NOUNS_OF_CONVERSATIONS.has(noun) && z.uuid().safeParse(id).success ? id : null;
}

const AuditRange = z.object({
  /** Done at this time or after it. */
  from: z.iso.datetime().optional(),
  /** Done before this time. */
  to: z.iso.datetime().optional(),
});

/** Filters of the list; what is given must all hold. */
export const AuditQuery = AuditRange.extend({
  /** Id of who did it. */
  actor: z.string().min(1).max(MAX_ID_LENGTH).optional(),
  /** Id of the API key that it was done with. */
  viaKey: z.string().min(1).max(MAX_ID_LENGTH).optional(),
  /** `noun.verb`, or a noun alone for everything that is done to such. */
  action: z.string().max(100).regex(ACTION_OR_NOUN, 'is not noun.verb, nor a noun').optional(),
  /** Id of what it was done to. */
  target: z.string().min(1).max(MAX_ID_LENGTH).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

/**
 * The export has no filter but time, so that its part of the chain has no gap: an entry whose transaction took long may
 * lie in it that is a little older than `from` or newer than `to`.
 */
export const AuditExportQuery = AuditRange.extend({
  /** Only links after this one: where the export before ended. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});
export type AuditExportQuery = z.infer<typeof AuditExportQuery>;

const LINK = /^[1-9]\d{0,15}:[0-9a-f]{64}$/;

export const VerifyAuditQuery = z.object({
  /** Begins behind this link, which is believed: where the verification before ended. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  /**
   * `seq:hash` of a link that was there at an earlier time, from the last line of an export: without it a cut-off end
   * of the chain goes unnoticed.
   */
  expect: z.string().regex(LINK, 'is not seq:hash').optional(),
});
export type VerifyAuditQuery = z.infer<typeof VerifyAuditQuery>;

/** What can be wrong with a chain. */
export const AUDIT_FAULTS = [
  'entry-altered',
  'entry-missing',
  'link-missing',
  'link-altered',
  'entry-unlinked',
  'cut',
  'rewritten',
] as const;

export const AuditLink = z.object({ seq: z.int().nonnegative(), hash: z.string() });
export type AuditLink = z.infer<typeof AuditLink>;

export const AuditVerification = z.object({
  /** True: every link up to `checked` is as it was written. */
  ok: z.boolean(),
  /** The last link checked; `null` when there was none after `after`. */
  checked: AuditLink.nullable(),
  /** False: there are more links than fit into one request; go on with `after` = `checked.seq`. */
  complete: z.boolean(),
  /** The first row that is not as it was written. */
  fault: z
    .object({
      kind: z.enum(AUDIT_FAULTS),
      /** Where in the chain; `null` for an entry that has no link. */
      seq: z.int().positive().nullable(),
      entryId: z.string().nullable(),
      /** What is wrong, in a sentence. */
      detail: z.string(),
    })
    .nullable(),
});
export type AuditVerification = z.infer<typeof AuditVerification>;
