import { Inject, Injectable } from '@nestjs/common';
import type {
  Checkpoint,
  CheckpointPage,
  EditCheckpoint,
  ListCheckpointsQuery,
} from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { dropCheckpoint } from '@slipway/db/checkpoints';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  type CheckpointPlace,
  type CheckpointRow,
  listCheckpoints,
  lockCheckpoint,
  nameCheckpoint,
} from './checkpoints.queries.js';

const Cursor = z.tuple([z.int().positive(), z.iso.datetime(), z.uuid()]);

/** The points of a conversation whose files are kept. What is named, and what is deleted, is in the audit. */
@Injectable()
export class CheckpointsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** @throws SlipwayError `resource.not-found`, `request.invalid` for a cursor of another list. */
  async page(
    { orgId }: Principal,
    conversationId: string,
    { cursor, limit }: ListCheckpointsQuery,
  ): Promise<CheckpointPage> {
    const after = cursor === undefined ? null : readCursor(cursor);
    const rows = await inOrg(this.pool, orgId, (client) =>
      listCheckpoints(client, orgId, { conversationId, after, limit: limit + 1 }),
    );
    if (rows === null) throw notFound();
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { data: rows.slice(0, limit).map(view), page: { nextCursor: last === undefined ? null : cursorOf(last) } };
  }

  /** @throws SlipwayError `resource.not-found` */
  edit(caller: Principal, conversationId: string, id: string, { name }: EditCheckpoint): Promise<Checkpoint> {
    const { orgId } = caller;
    return inOrg(this.pool, orgId, async (client) => {
      const before = await lockCheckpoint(client, orgId, conversationId, id);
      if (before === null) throw notFound();
      if (before.name !== name) {
        await nameCheckpoint(client, orgId, id, name);
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'checkpoint.rename',
            target: id,
            before: { name: before.name },
            after: { name },
          }),
        );
      }
      return view({ ...before, name });
    });
  }

  /** @throws SlipwayError `resource.not-found`, `checkpoint.forked`. */
  async delete(caller: Principal, conversationId: string, id: string): Promise<void> {
    const { orgId } = caller;
    const found = await inOrg(this.pool, orgId, (client) => lockCheckpoint(client, orgId, conversationId, id));
    if (found === null) throw notFound();
    const outcome = await dropCheckpoint(this.pool, orgId, conversationId, id);
    if (outcome === 'forked')
      throw new SlipwayError('checkpoint.forked', 'Another conversation was forked from this checkpoint.');
    if (outcome === 'missing') throw notFound();
    await inOrg(this.pool, orgId, (client) =>
      client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'checkpoint.delete',
          target: id,
          detail: { conversation: conversationId, seq: found.seq },
        }),
      ),
    );
  }
}

function view({ durableAt: _durableAt, takenAt, ...row }: CheckpointRow): Checkpoint {
  return { ...row, takenAt: takenAt.toISOString() };
}

function cursorOf({ seq, durableAt, id }: CheckpointRow): string {
  return writePageCursor([seq, durableAt.toISOString(), id]);
}

function readCursor(cursor: string): CheckpointPlace {
  const [seq, durableAt, id] = readPageCursor(Cursor, cursor);
  return { seq, durableAt, id };
}
