import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { type TraceQuery } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Caller, Query } from '../../http/params.js';
import type { SlipwayRequest } from '../../http/request.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { sendPacked } from '../../log/events/packed-answer.js';
import { TraceService } from './trace.service.js';

@Controller()
export class TraceController {
  constructor(@Inject(TraceService) private readonly trace: TraceService) {}

  @Serves(operations.readTrace)
  async read(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Query() query: TraceQuery,
    @Req() request: SlipwayRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPacked(
      request,
      reply,
      JSON.stringify(await this.trace.read(caller, conversationId(conversation), query)),
    );
  }
}
