import { Controller, Inject, Param } from '@nestjs/common';
import {
  DraftSubject,
  type DropDraftQuery,
  type KeepDraft,
  type KeptDraft,
  type MessageDraft,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { SQL_POOL } from '../../platform/tokens.js';
import { type DraftKey, deleteDraft, readDraft, writeDraft } from './drafts.queries.js';

/** A caller's own drafts, and nobody else's: there is no route to another user's. */
@Controller()
export class DraftsController {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  @Serves(operations.getDraft)
  async get(@Caller() caller: Principal, @Param('draft') subject: string): Promise<MessageDraft> {
    return found(await readDraft(this.pool, keyOf(caller, subject)));
  }

  @Serves(operations.keepDraft)
  async keep(
    @Caller() caller: Principal,
    @Param('draft') subject: string,
    @Body() body: KeepDraft,
  ): Promise<KeptDraft> {
    return found(await writeDraft(this.pool, keyOf(caller, subject), body));
  }

  @Serves(operations.dropDraft)
  async drop(
    @Caller() caller: Principal,
    @Param('draft') subject: string,
    @Query() { version }: DropDraftQuery,
  ): Promise<void> {
    if (!(await deleteDraft(this.pool, keyOf(caller, subject), version))) throw notFound();
  }
}

/** @throws SlipwayError `resource.not-found` for what no draft can be about. */
function keyOf(caller: Principal, subject: string): DraftKey {
  const parsed = DraftSubject.safeParse(subject);
  if (!parsed.success) throw notFound();
  return { orgId: caller.orgId, user: caller.actor.id, subject: parsed.data.toLowerCase() };
}

function found<T>(draft: T | null): T {
  if (draft === null) throw notFound();
  return draft;
}
