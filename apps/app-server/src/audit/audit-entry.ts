import type { AuditEntry } from '@slipway/contracts/audit';
import type { LinkedEntryRow } from './audit.queries.js';

export function entryOf(row: LinkedEntryRow): AuditEntry {
  return {
    id: row.id,
    seq: row.seq,
    hash: row.hash === null ? null : row.hash.toString('hex'),
    createdAt: row.created_at.toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id, label: row.actor_label, viaKey: row.via_key },
    action: row.action,
    target: row.target,
    detail: row.detail,
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    address: row.address,
  };
}
