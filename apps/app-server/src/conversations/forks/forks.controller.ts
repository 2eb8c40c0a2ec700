import { Controller, Param, Res } from '@nestjs/common';
import type { Conversation, ForkConversation } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Body, Caller, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { ForksService } from './forks.service.js';

@Controller()
export class ForksController {
  constructor(private readonly forks: ForksService) {}

  @Serves(operations.forkConversation)
  async fork(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Body() body: ForkConversation,
    @ReservedId() id: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Conversation> {
    const made = await this.forks.fork(caller, conversationId(conversation), body, id);
    void reply.header('location', `/api/v1/orgs/${caller.orgId}/conversations/${made.id}`);
    return made;
  }
}
