import { Controller, Headers, Res } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type ConversationOutcomes,
  type ConversationOutcomesQuery,
  type Outcomes,
  type OutcomesQuery,
  type UserOutcomes,
} from '@slipway/contracts/spending';
import type { FastifyReply } from 'fastify';
import { Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { tableOr } from '../usage/table-or.js';
import { OutcomesService } from './outcomes.service.js';
import { conversationOutcomesCsv, outcomesCsv, userOutcomesCsv } from './outcomes-csv.js';

@Controller()
export class OutcomesController {
  constructor(private readonly outcomes: OutcomesService) {}

  @Serves(operations.getOutcomes)
  async get(
    @Caller() caller: Principal,
    @Query() query: OutcomesQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Outcomes | string> {
    const outcomes = await this.outcomes.outcomes(caller, query);
    return tableOr(outcomes, outcomesCsv, { accept, reply, name: `outcomes-${outcomes.from}-${outcomes.to}` });
  }

  @Serves(operations.getUserOutcomes)
  async users(
    @Caller() caller: Principal,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserOutcomes | string> {
    return tableOr(await this.outcomes.users(caller), userOutcomesCsv, { accept, reply, name: 'outcomes-users' });
  }

  @Serves(operations.getConversationOutcomes)
  async conversations(
    @Caller() caller: Principal,
    @Query() query: ConversationOutcomesQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConversationOutcomes | string> {
    const outcomes = await this.outcomes.conversations(caller, query);
    return tableOr(outcomes, conversationOutcomesCsv, {
      accept,
      reply,
      name: `outcomes-conversations-${outcomes.from}-${outcomes.to}`,
    });
  }
}
