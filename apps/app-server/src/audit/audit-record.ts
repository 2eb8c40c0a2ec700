import { createHash } from 'node:crypto';

/** A link with what its hash is taken over. */
export interface Link {
  readonly seq: number;
  readonly entryId: string;
  readonly previous: Buffer;
  readonly hash: Buffer;
  /** The entry as the text that was hashed; `null` when there is no such entry any more. */
  readonly record: string | null;
}

/**
 * The text that the hash of an entry is taken over, of a row `c` of `app.audit_chain` and a row `e` of
 * `app.audit_entry`: the same as in `app.audit_hash`. Written out here so that a verification asks nothing of the
 * database but columns: whoever can change the rows could change that function as well.
 */
export const RECORD_SQL = `jsonb_build_array(
    c.seq, e.id, e.org_id, e.actor_kind, e.actor_id, e.actor_label, e.via_key, e.action, e.target, e.detail, e.before, e.after, e.request_id, e.address,
    (extract(epoch FROM e.created_at) * 1000)::bigint)::text`;

/** SHA-256 over the hash of the link before, as bytes, and the record, as UTF-8. */
export function hashOf(previous: Buffer, record: string): Buffer {
  return createHash('sha256').update(previous).update(record, 'utf8').digest();
}
