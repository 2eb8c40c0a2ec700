import { Controller, Inject, Param } from '@nestjs/common';
import {
  type ConversationRecap,
  type ConversationTurns,
  type EventHit,
  type EventHits,
  type EventSearchQuery,
  MAX_LOOKED_AT,
  type RecapQuery,
  type TurnsQuery,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import { Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { SQL_POOL } from '../../platform/tokens.js';
import { conversationId } from '../events/conversation-id.js';
import { readHead } from '../events/event-log.queries.js';
import { hitOf } from './hit-of.js';
import { readCandidates, readMarks } from './lookup.queries.js';
import { readCostAt, readRecap } from './recap.queries.js';
import { recap } from './recap-of.js';
import { turnsOf } from './turns-of.js';

/** Candidates that are read at once, and that one search reads at most: an event has up to 32 KB. */
const BATCH = 100;
const MAX_CANDIDATES = 1_000;

@Controller()
export class LookupController {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  @Serves(operations.listTurns)
  async turns(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Query() { after, before }: TurnsQuery,
  ): Promise<ConversationTurns> {
    const id = conversationId(conversation);
    const end = await this.endOf(caller.orgId, id, before);
    const upto = Math.min(end, after + MAX_LOOKED_AT);
    const marks = upto > after ? await readMarks(this.pool, caller.orgId, id, { after, upto }) : [];
    const { turns, more } = turnsOf(marks);
    const cut = more ? (turns.pop()?.seq ?? 1) - 1 : upto;
    return { data: turns, page: { nextAfter: cut < end ? cut : null } };
  }

  /** Of a stretch that is longer than what one answer looks at: its newest events. */
  @Serves(operations.getRecap)
  async recap(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Query() query: RecapQuery,
  ): Promise<ConversationRecap> {
    const id = conversationId(conversation);
    const upto = await this.endOf(caller.orgId, id, undefined);
    const after = Math.max(Math.min(query.after, upto), upto - MAX_LOOKED_AT);
    const [rows, cost] = await Promise.all([
      readRecap(this.pool, caller.orgId, id, { after, upto }),
      readCostAt(this.pool, caller.orgId, id, after),
    ]);
    return recap(rows, { after, upto }, cost);
  }

  @Serves(operations.searchEvents)
  async search(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Query() { q, before, limit }: EventSearchQuery,
  ): Promise<EventHits> {
    const id = conversationId(conversation);
    let upto = await this.endOf(caller.orgId, id, before);
    const after = Math.max(0, upto - MAX_LOOKED_AT);
    const needle = JSON.stringify(q).slice(1, -1);
    const data: EventHit[] = [];
    for (let read = 0; read < MAX_CANDIDATES && upto > after; read += BATCH) {
      const rows = await readCandidates(this.pool, caller.orgId, id, { after, upto, needle, limit: BATCH });
      for (const row of rows) {
        const hit = hitOf(row, q);
        upto = row.seq - 1;
        if (hit !== null) data.push(hit);
        if (data.length === limit) return { data, page: { nextBefore: upto >= 1 ? upto + 1 : null } };
      }
      if (rows.length < BATCH) upto = after;
    }
    return { data, page: { nextBefore: upto >= 1 ? upto + 1 : null } };
  }

  /** Last `seq` to look at. @throws SlipwayError when the organization has no such conversation. */
  private async endOf(orgId: string, id: string, before: number | undefined): Promise<number> {
    const head = await readHead(this.pool, orgId, id);
    if (head === null) throw notFound();
    return before === undefined ? head : Math.min(head, before - 1);
  }
}
