import { Controller, Headers, Res } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type Usage, type UsageQuery } from '@slipway/contracts/spending';
import type { FastifyReply } from 'fastify';
import { Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { tableOr } from './table-or.js';
import { UsageService, usageCsv } from './usage.service.js';

@Controller()
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Serves(operations.getUsage)
  async get(
    @Caller() caller: Principal,
    @Query() query: UsageQuery,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Usage | string> {
    const usage = await this.usage.usage(caller, query);
    return tableOr(usage, usageCsv, { accept, reply, name: `usage-${usage.from}-${usage.to}` });
  }
}
