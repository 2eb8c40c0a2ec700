import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type {
  AuditExportQuery,
  AuditPage,
  AuditQuery,
  AuditVerification,
  VerifyAuditQuery,
} from '@slipway/contracts/audit';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { readCursor, writeCursor } from '../conversations/conversation-cursor.js';
import { CLOCK, IDS, SQL_POOL } from '../platform/tokens.js';
import { listEntries, namesOf } from './audit.queries.js';
import { entryOf } from './audit-entry.js';
import { auditLines } from './audit-export.js';
import { auditOf } from './audit-statement.js';
import { readExpected, verifyChain } from './verify-chain.js';

/** Most links that one request verifies: about half a second of a core. */
const VERIFIED_AT_ONCE = 20_000;

@Injectable()
export class AuditService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws SlipwayError `request.invalid` for a cursor that is none. */
  async list({ orgId }: Principal, { cursor, limit, ...filters }: AuditQuery): Promise<AuditPage> {
    const before = cursor === undefined ? null : readCursor(cursor);
    const { page, isLast, names } = await inOrg(this.pool, orgId, async (client) => {
      const rows = await listEntries(client, orgId, { filters, before, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return { page, isLast: rows.length <= limit, names: await namesOf(client, orgId, page) };
    });
    const end = isLast ? undefined : page.at(-1);
    // Of one transaction all have one time: within a page they stand as in the chain.
    const data = page.map(entryOf).sort((a, b) => (a.createdAt === b.createdAt ? (b.seq ?? 0) - (a.seq ?? 0) : 0));
    return {
      data,
      names,
      page: {
        nextCursor: end === undefined ? null : writeCursor({ createdAt: end.created_at.toISOString(), id: end.id }),
      },
    };
  }

  /**
   * Recorded before its first byte: an export that breaks off was one too. The stream is read no faster than it is
   * taken, and ends without its last line when the database fails.
   */
  async export(caller: Principal, query: AuditExportQuery): Promise<Readable> {
    const { orgId } = caller;
    await inOrg(this.pool, orgId, (client) =>
      client.query(auditOf(this.ids.uuid(), caller, { action: 'audit.export', target: orgId, detail: query })),
    );
    return Readable.from(auditLines(this.pool, orgId, query, this.clock.now()), { objectMode: false });
  }

  verify({ orgId }: Principal, { after, expect }: VerifyAuditQuery): Promise<AuditVerification> {
    return verifyChain((work) => inOrg(this.pool, orgId, work), orgId, {
      after,
      limit: VERIFIED_AT_ONCE,
      ...(expect === undefined ? {} : { expected: readExpected(expect) }),
    });
  }
}
