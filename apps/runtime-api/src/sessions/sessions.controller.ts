import { Body, Controller, Get, Headers, HttpCode, Inject, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { APP_KEY_SHA256_HEADER, WANTS_GATEWAY_KEY_HEADER } from '@slipway/contracts/agent';
import { type Runtime, RuntimeId } from '@slipway/contracts/sandboxes';
import { parseOrThrow } from '@slipway/errors';
import type { FastifyReply } from 'fastify';
import { goneSignal, keyHashOf, waitOf } from '../claims/request-wait.js';
import { ApiKeyGuard, OrgId } from './api-key.guard.js';
import { SessionReads } from './session-reads.js';
import { SessionsService } from './sessions.service.js';

/**
 * OpenHands' Runtime API, but for `/start` (`start.route.ts`). POST answers 200: nothing here is a created document.
 */
@Controller()
@UseGuards(ApiKeyGuard)
export class SessionsController {
  constructor(
    @Inject(SessionsService) private readonly runtimes: SessionsService,
    @Inject(SessionReads) private readonly reads: SessionReads,
  ) {}

  @Post('stop')
  @HttpCode(200)
  stop(@OrgId() orgId: string, @Body() body: unknown): Promise<Runtime> {
    return this.runtimes.stop(orgId, parseOrThrow(RuntimeId, body).runtime_id);
  }

  @Post('pause')
  @HttpCode(200)
  pause(@OrgId() orgId: string, @Body() body: unknown): Promise<Runtime> {
    return this.runtimes.pause(orgId, parseOrThrow(RuntimeId, body).runtime_id);
  }

  @Post('resume')
  @HttpCode(200)
  resume(
    @OrgId() orgId: string,
    @Body() body: unknown,
    @Headers('prefer') prefer: string | undefined,
    @Headers(APP_KEY_SHA256_HEADER) appKey: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Runtime> {
    return this.runtimes.resume(orgId, parseOrThrow(RuntimeId, body).runtime_id, {
      waitMs: waitOf(prefer),
      gone: goneSignal(reply),
      appKeySha256: keyHashOf(appKey),
    });
  }

  @Get('sessions/batch')
  batch(@OrgId() orgId: string, @Query('ids') ids: string | string[] | undefined): Promise<Runtime[]> {
    return this.reads.batch(orgId, ids === undefined ? [] : Array.isArray(ids) ? ids : [ids]);
  }

  @Get('sessions/:session')
  session(
    @OrgId() orgId: string,
    @Param('session') session: string,
    @Headers(WANTS_GATEWAY_KEY_HEADER) forGateway: string | undefined,
  ): Promise<Runtime> {
    return forGateway === undefined ? this.reads.session(orgId, session) : this.reads.sessionForGateway(orgId, session);
  }

  @Get('list')
  list(@OrgId() orgId: string): Promise<{ runtimes: Runtime[] }> {
    return this.reads.list(orgId);
  }

  @Get('runtime/:runtime')
  runtime(@OrgId() orgId: string, @Param('runtime') runtime: string): Promise<Runtime> {
    return this.reads.runtime(orgId, runtime);
  }
}
