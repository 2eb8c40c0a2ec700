import type { Principal } from '@slipway/contracts/organizations';
import { currentContext } from '@slipway/telemetry';

/** One thing that was done. */
export interface AuditRecord {
  /** `noun.verb`: `api-key.create`, `member.set-role`. */
  readonly action: string;
  /** Id of what it was done to. */
  readonly target: string;
  /** What else an admin will ask. Never a secret, nor anything that a secret could be made from. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** What was changed, as it was and as it is; only the fields that differ. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/**
 * The statement that records it, to be run in the transaction of what it records, so that neither is without the other:
 * `client.query(auditOf(…))`, or with Prisma `tx.$executeRawUnsafe(text, ...values)`. The entry gets its place in the
 * organization's chain at commit (`app.chain_audit`). Request id and address come from the request's context.
 *
 * @param id a UUID of `Ids`.
 */
export function auditOf(
  id: string,
  { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>,
  record: AuditRecord,
): { name: string; text: string; values: (string | null)[] } {
  const context = currentContext();
  const json = (value: Readonly<Record<string, unknown>> | undefined): string | null =>
    value === undefined ? null : JSON.stringify(value);
  return {
    name: 'audit',
    text: `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, via_key, action, target, detail, before, after, request_id, address)
           VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, coalesce($9::jsonb, '{}'), $10::jsonb, $11::jsonb, $12, $13)`,
    values: [
      id,
      orgId,
      actor.kind,
      actor.id,
      actor.label,
      actor.viaKey ?? null,
      record.action,
      record.target,
      json(record.detail),
      json(record.before),
      json(record.after),
      context?.requestId ?? null,
      context?.address ?? null,
    ],
  };
}
