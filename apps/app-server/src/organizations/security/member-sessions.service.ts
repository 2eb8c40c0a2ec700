import { Inject, Injectable } from '@nestjs/common';
import { Sessions } from '@slipway/auth';
import type {
  ListMemberSessionsQuery,
  MemberSession,
  MemberSessionPage,
  Principal,
} from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';
import { deviceOf } from '../../identity/sessions/device.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertMayGrant, presentPermissions } from '../members/granting.js';
import { roleOf } from '../members/membership.queries.js';
import {
  endSessions,
  findMemberSessions,
  listMemberSessions,
  type MemberSessionRow,
} from './member-sessions.queries.js';

/** Where a page ended: when the session began, then which. */
const Cursor = z.tuple([z.iso.datetime(), z.string().regex(/^\w{1,100}$/)]);

/**
 * Sessions of those who are members now. A user who is no member, or whose session is not theirs, is answered as not
 * found.
 */
@Injectable()
export class MemberSessionsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly sessions: Sessions,
  ) {}

  /** @param current the session that asks; `null`: an API key does. */
  async list(caller: Principal, current: string | null, query: ListMemberSessionsQuery): Promise<MemberSessionPage> {
    const after = query.cursor === undefined ? null : cursorOf(query.cursor);
    const rows = await inOrg(this.pool, caller.orgId, (client) =>
      listMemberSessions(client, caller.orgId, { userId: query.user ?? null, after, limit: query.limit + 1 }),
    );
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1);
    const nextCursor =
      rows.length > query.limit && last !== undefined ? writePageCursor([last.createdAt.toISOString(), last.id]) : null;
    return { data: shown.map((row) => sessionOf(row, current)), page: { nextCursor } };
  }

  /**
   * One session, or all of a user's. Over in this process when it answers, in others within a second, on sockets and in
   * sandboxes within two.
   * @returns how many ended.
   * @throws SlipwayError `resource.not-found` for a user who is no member, `permission.denied` for one who may do more
   * than the caller
   */
  async end(caller: Principal, which: { readonly sessionId: string } | { readonly userId: string }): Promise<number> {
    const ended = await inOrg(this.pool, caller.orgId, async (client) => {
      const rows = await findMemberSessions(client, caller.orgId, which);
      const userId = 'userId' in which ? which.userId : rows[0]?.userId;
      const role = userId === undefined ? null : await roleOf(client, caller.orgId, userId);
      if (userId === undefined || role === null) throw notFound();
      if (userId !== caller.actor.id) assertMayGrant(await presentPermissions(client, caller), role, 'security:write');
      if (rows.length === 0) return [];
      const { id: target, ...detail } = {
        id: 'sessionId' in which ? which.sessionId : userId,
        userId,
        devices: rows.map(({ userAgent }) => deviceOf(userAgent)),
      };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'member.end-sessions', target, detail }));
      // The transaction is the system's afterwards: this is the last that is asked in it.
      await endSessions(client, rows, currentContext()?.requestId ?? null);
      return rows;
    });
    for (const { id } of ended) this.sessions.forget(id);
    return ended.length;
  }
}

function sessionOf(
  { createdAt, lastSeenAt, userAgent, ...row }: MemberSessionRow,
  current: string | null,
): MemberSession {
  return {
    ...row,
    current: row.id === current,
    device: deviceOf(userAgent),
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
  };
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
function cursorOf(cursor: string): { readonly createdAt: string; readonly id: string } {
  const [createdAt, id] = readPageCursor(Cursor, cursor);
  return { createdAt, id };
}
