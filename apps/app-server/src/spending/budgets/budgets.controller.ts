import { Controller, Headers, Param, Res } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type BudgetNotice,
  type BudgetOverride,
  type BudgetPreview,
  type BudgetPreviewQuery,
  type Budgets,
  type ChangeBudgets,
  type PutBudgetOverride,
} from '@slipway/contracts/spending';
import { notFound } from '@slipway/errors';
import type { FastifyReply } from 'fastify';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { BudgetsService } from './budgets.service.js';

@Controller()
export class BudgetsController {
  constructor(private readonly budgets: BudgetsService) {}

  @Serves(operations.getBudgets)
  async get(@Caller() caller: Principal, @Res({ passthrough: true }) reply: FastifyReply): Promise<Budgets> {
    return versioned(await this.budgets.get(caller), reply);
  }

  @Serves(operations.changeBudgets)
  async change(
    @Caller() caller: Principal,
    @Body() body: ChangeBudgets,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Budgets> {
    return versioned(await this.budgets.change(caller, body, ifMatch), reply);
  }

  @Serves(operations.previewBudgets)
  preview(@Caller() caller: Principal, @Query() query: BudgetPreviewQuery): Promise<BudgetPreview> {
    return this.budgets.preview(caller, query);
  }

  @Serves(operations.putBudgetOverride)
  putOverride(
    @Caller() caller: Principal,
    @Param('user') user: string,
    @Body() body: PutBudgetOverride,
  ): Promise<BudgetOverride> {
    return this.budgets.putOverride(caller, userId(user), body.limitUsd);
  }

  @Serves(operations.deleteBudgetOverride)
  deleteOverride(@Caller() caller: Principal, @Param('user') user: string): Promise<void> {
    return this.budgets.deleteOverride(caller, userId(user));
  }

  @Serves(operations.listBudgetNotices)
  notices(
    @Caller() caller: Principal,
    @Query() query: { limit: number; cursor?: string },
  ): Promise<{ data: BudgetNotice[]; page: { nextCursor: string | null } }> {
    return this.budgets.notices(caller, query);
  }
}

/** @throws SlipwayError `resource.not-found` for what cannot be anybody's id. */
function userId(given: string): string {
  if (!/^[\w-]{1,100}$/.test(given)) throw notFound();
  return given;
}

function versioned(budgets: Budgets, reply: FastifyReply): Budgets {
  void reply.header('etag', `"${budgets.version}"`);
  return budgets;
}
