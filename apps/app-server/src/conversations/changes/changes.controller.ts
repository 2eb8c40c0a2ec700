import { Controller, Inject, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type MarkLooked, type Provenance, type ProvenanceQuery, type TurnHunk } from '@slipway/contracts/repositories';
import type { SqlPool } from '@slipway/db/sql';
import { Body, Caller, Query, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { SQL_POOL } from '../../platform/tokens.js';
import { WorkspaceService } from '../workspace.service.js';
import { provenance } from './provenance.js';
import { TurnHunkService } from './turn-hunk.service.js';

/** What users do to the changes of an agent. */
@Controller()
export class ChangesController {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly hunks: TurnHunkService,
    private readonly workspace: WorkspaceService,
  ) {}

  @Serves(operations.turnHunk)
  turnHunk(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: TurnHunk,
    @ReservedId() reserved: string | undefined,
  ): Promise<void> {
    return this.hunks.turn(caller, conversationId(id), body, reserved);
  }

  @Serves(operations.getProvenance)
  provenance(
    @Caller() { orgId }: Principal,
    @Param('conversation') id: string,
    @Query() query: ProvenanceQuery,
  ): Promise<Provenance> {
    return provenance(this.pool, { orgId, id: conversationId(id) }, query);
  }

  @Serves(operations.markLooked)
  looked(@Caller() caller: Principal, @Param('conversation') id: string, @Body() body: MarkLooked): Promise<void> {
    return this.workspace.markLooked(caller, conversationId(id), body);
  }
}
