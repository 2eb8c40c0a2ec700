import { Body, Controller, HttpCode, Inject, Post, Res, UseGuards } from '@nestjs/common';
import type { RestoredCheckpoint } from '@slipway/contracts/agent';
import { RestoreCheckpoint, TakeCheckpoints, type TakenCheckpoints } from '@slipway/contracts/sandboxes';
import { parseOrThrow } from '@slipway/errors';
import type { FastifyReply } from 'fastify';
import { goneSignal } from '../claims/request-wait.js';
import { ApiKeyGuard, OrgId } from '../sessions/api-key.guard.js';
import { CheckpointsService } from './checkpoints.service.js';

/** Not OpenHands': worker has the files of sandboxes kept, and brought back. */
@Controller('checkpoints')
@UseGuards(ApiKeyGuard)
export class CheckpointsController {
  constructor(@Inject(CheckpointsService) private readonly checkpoints: CheckpointsService) {}

  @Post('take')
  @HttpCode(200)
  take(
    @OrgId() orgId: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TakenCheckpoints> {
    return this.checkpoints.take(orgId, parseOrThrow(TakeCheckpoints, body), goneSignal(reply));
  }

  @Post('restore')
  @HttpCode(200)
  restore(
    @OrgId() orgId: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RestoredCheckpoint> {
    return this.checkpoints.restore(orgId, parseOrThrow(RestoreCheckpoint, body), goneSignal(reply));
  }
}
