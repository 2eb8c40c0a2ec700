import type { AuditExportQuery } from '@slipway/contracts/audit';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { exportRange, readLink, readLinkedEntries } from './audit.queries.js';
import { entryOf } from './audit-entry.js';

/** Lines that are read and sent at once: none are read before those are taken. */
const BATCH = 500;
/** Changes when a reader of the lines has to change. */
const FORMAT = 1;

/**
 * An export, piece by piece, each of whole lines. The first line says what it is of and the link that it ends with, the
 * last one how many entries there were: a file without it is cut. docs/operate/verify-audit.mjs reads it. No
 * transaction is open between two pieces, since a reader may take as long as it likes.
 */
export async function* auditLines(
  pool: SqlPool,
  orgId: string,
  query: AuditExportQuery,
  at: Date,
): AsyncGenerator<string, void, undefined> {
  const { range, head } = await inOrg(pool, orgId, async (client) => {
    const found = await exportRange(client, orgId, query);
    return { range: found, head: found === null ? null : await readLink(client, orgId, found.last) };
  });
  const link = head === null ? null : { seq: head.seq, hash: head.hash.toString('hex') };
  const { from = null, to = null, after = null } = query;
  yield line({
    kind: 'slipway-audit',
    format: FORMAT,
    org: orgId,
    exportedAt: at.toISOString(),
    from,
    to,
    after,
    first: range?.first ?? null,
    head: link,
  });
  let count = 0;
  for (let last = (range?.first ?? 1) - 1; range !== null && last < range.last; ) {
    const rows = await inOrg(pool, orgId, (client) =>
      readLinkedEntries(client, orgId, { after: last, until: range.last, limit: BATCH }),
    );
    const end = rows.at(-1);
    if (end === undefined) break;
    last = end.seq;
    count += rows.length;
    yield rows
      .map(({ seq, previous, hash, record, entryId, entry }) =>
        line({
          kind: 'entry',
          ...(entry === null ? { id: entryId } : entryOf({ ...entry, seq, hash })),
          seq,
          previous: previous.toString('hex'),
          hash: hash.toString('hex'),
          record,
        }),
      )
      .join('');
  }
  yield line({ kind: 'end', count, head: link });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;
