import { Controller, Param } from '@nestjs/common';
import type {
  Checkpoint,
  CheckpointPage,
  EditCheckpoint,
  ListCheckpointsQuery,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { CheckpointsService } from './checkpoints.service.js';

@Controller()
export class CheckpointsController {
  constructor(private readonly checkpoints: CheckpointsService) {}

  @Serves(operations.listCheckpoints)
  list(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Query() query: ListCheckpointsQuery,
  ): Promise<CheckpointPage> {
    return this.checkpoints.page(caller, conversationId(conversation), query);
  }

  @Serves(operations.editCheckpoint)
  edit(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Param('checkpoint') checkpoint: string,
    @Body() body: EditCheckpoint,
  ): Promise<Checkpoint> {
    return this.checkpoints.edit(caller, conversationId(conversation), conversationId(checkpoint), body);
  }

  @Serves(operations.deleteCheckpoint)
  delete(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Param('checkpoint') checkpoint: string,
  ): Promise<void> {
    return this.checkpoints.delete(caller, conversationId(conversation), conversationId(checkpoint));
  }
}
