import { Controller, Header, Inject, Param, Req, Res, StreamableFile } from '@nestjs/common';
import {
  type Conversation,
  type CreateConversation,
  type ListConversationsQuery,
  type QueuedMessage,
  type SendMessage,
  type SwitchModel,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type DiffQuery,
  type ListChangesQuery,
  type WorkspaceCommits,
  type WorkspaceCommitsQuery,
  type WorkspaceRepositories,
} from '@slipway/contracts/repositories';
import { type OpenEditor } from '@slipway/contracts/sandboxes';
import type { SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Body, Caller, Query, ReservedId } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { conversationId } from '../log/events/conversation-id.js';
import { SQL_POOL } from '../platform/tokens.js';
import { ConversationModelService } from './conversation-model.service.js';
import { ConversationsService } from './conversations.service.js';
import { RunControlService } from './run-control.service.js';
import { StartWait } from './start-wait.js';
import { trajectory } from './trajectory.js';
import { wantsAfterTurn } from './turn-preference.js';
import { WorkspaceService } from './workspace.service.js';

@Controller()
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly runs: RunControlService,
    private readonly models: ConversationModelService,
    private readonly workspace: WorkspaceService,
    private readonly startWait: StartWait,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
  ) {}

  @Serves(operations.listConversations)
  @Header('content-type', 'application/json; charset=utf-8')
  list(@Caller() caller: Principal, @Query() query: ListConversationsQuery): Promise<string> {
    return this.conversations.list(caller, query);
  }

  @Serves(operations.createConversation)
  async create(
    @Caller() caller: Principal,
    @Body() body: CreateConversation,
    @ReservedId() id: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Conversation> {
    const made = await this.conversations.create(caller, body, id);
    void reply.header('location', `/api/v1/orgs/${caller.orgId}/conversations/${made.id}`);
    const seconds = this.startWait.asked(request.headers.prefer);
    if (seconds === null) return made;
    void reply.header('preference-applied', `wait=${seconds}`);
    await this.startWait.until(caller, made.id, seconds * 1000, reply.raw);
    return this.conversations.get(caller, made.id);
  }

  @Serves(operations.getConversation)
  get(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.sendMessage)
  send(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: SendMessage,
    @ReservedId() reservedId: string | undefined,
    @Req() { headers }: FastifyRequest,
  ): Promise<QueuedMessage> {
    const afterTurn = wantsAfterTurn(headers['prefer']);
    return this.conversations.send(caller, conversationId(id), body, { reservedId, afterTurn });
  }

  @Serves(operations.withdrawMessage)
  withdraw(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('message') message: string,
  ): Promise<void> {
    return this.conversations.withdraw(caller, conversationId(id), conversationId(message));
  }

  @Serves(operations.stopConversation)
  async stop(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    await this.runs.stop(caller, conversationId(id));
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.pauseConversation)
  async pause(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    await this.runs.pause(caller, conversationId(id));
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.resumeConversation)
  async resume(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    await this.runs.resume(caller, conversationId(id));
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.switchModel)
  async switchModel(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() { model }: SwitchModel,
  ): Promise<Conversation> {
    await this.models.set(caller, conversationId(id), model);
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.getChanges)
  @Header('content-type', 'application/json; charset=utf-8')
  changes(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Query() query: ListChangesQuery,
  ): Promise<Buffer> {
    return this.workspace.changes(caller, conversationId(id), query);
  }

  @Serves(operations.listRepositories)
  repositories(@Caller() caller: Principal, @Param('conversation') id: string): Promise<WorkspaceRepositories> {
    return this.workspace.repositories(caller, conversationId(id));
  }

  @Serves(operations.listCommits)
  commits(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Query() query: WorkspaceCommitsQuery,
  ): Promise<WorkspaceCommits> {
    return this.workspace.commits(caller, conversationId(id), query);
  }

  @Serves(operations.downloadDiff)
  async diff(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Query() query: DiffQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const patch = await this.workspace.patch(caller, conversationId(id), query);
    // Who has gone already takes nothing.
    if (reply.raw.destroyed) patch.destroy();
    reply.raw.once('close', () => patch.destroy());
    void reply.type('text/x-diff; charset=utf-8');
    return new StreamableFile(patch, { disposition: `attachment; filename="${conversationId(id)}.patch"` });
  }

  @Serves(operations.openEditor)
  @Header('cache-control', 'no-store')
  editor(@Caller() caller: Principal, @Param('conversation') id: string): Promise<OpenEditor> {
    return this.workspace.editor(caller, conversationId(id));
  }

  @Serves(operations.downloadTrajectory)
  @Header('content-type', 'application/json; charset=utf-8')
  async trajectory(@Caller() caller: Principal, @Param('conversation') id: string): Promise<StreamableFile> {
    const log = await trajectory(this.pool, caller.orgId, conversationId(id));
    if (log === null) throw notFound();
    return new StreamableFile(log, {
      type: 'application/json; charset=utf-8',
      disposition: `attachment; filename="${conversationId(id)}.json"`,
    });
  }
}
