import { Controller } from '@nestjs/common';
import { BranchName, type ConversationSummary, PageQuery, RepositoryUrl } from '@slipway/contracts/conversations';
import { type Operation, operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { RepositoryPath } from '@slipway/contracts/repositories';
import { z } from 'zod';
import { Body, Caller, Query, ReservedId } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { ConversationsService } from './conversations.service.js';

const SimpleCreate = z.looseObject({
  initial_user_msg: operations.createConversation.body.shape.prompt,
  /** A URL, or `owner/name` at `git_provider`; without one, on GitHub. */
  repository: z.union([RepositoryUrl, RepositoryPath]).nullish(),
  /** OpenHands' word for a provider: `github`. */
  git_provider: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,49}$/, 'is none of github, gitlab, gitea')
    .nullish(),
  selected_branch: BranchName.nullish(),
});
type SimpleCreate = z.output<typeof SimpleCreate>;

const simpleCreate: Operation = {
  ...operations.createConversation,
  id: 'conversations.create-simple',
  path: '/api/conversations',
  status: 200,
  body: SimpleCreate,
};
const simpleList: Operation = {
  ...operations.listConversations,
  id: 'conversations.list-simple',
  path: '/api/conversations',
  query: PageQuery.extend({ page_id: z.string().max(500).optional() }),
};

/** The short form that OpenHands' documents show: the caller's personal organization, and only what is needed. */
@Controller()
export class SimpleApiController {
  constructor(private readonly conversations: ConversationsService) {}

  @Serves(simpleCreate)
  async create(
    @Caller() caller: Principal,
    @Body() body: SimpleCreate,
    @ReservedId() reservedId: string | undefined,
  ): Promise<{ status: 'ok'; conversation_id: string }> {
    const wanted = {
      prompt: body.initial_user_msg,
      ...(body.repository == null ? {} : { repository: repositoryOf(body.repository, body.git_provider ?? null) }),
      ...(body.repository == null || body.selected_branch == null ? {} : { branch: body.selected_branch }),
    };
    const { id } = await this.conversations.create(caller, wanted, reservedId);
    return { status: 'ok', conversation_id: id };
  }

  @Serves(simpleList)
  async list(@Caller() caller: Principal, @Query() query: { limit: number; page_id?: string }): Promise<unknown> {
    const { data, nextCursor } = await this.conversations.page(
      caller,
      { sort: 'created', shown: 'open', limit: query.limit },
      query.page_id,
    );
    return {
      results: (JSON.parse(data) as ConversationSummary[]).map((each) => ({
        conversation_id: each.id,
        title: each.title,
        status: each.status,
        selected_repository: each.repository,
        selected_branch: each.branch,
        created_at: each.createdAt,
        last_updated_at: each.updatedAt,
      })),
      next_page_id: nextCursor,
    };
  }
}

function repositoryOf(repository: string, provider: string | null): string {
  if (/^https?:\/\//i.test(repository)) return repository;
  return provider === null ? `https://github.com/${repository}` : `${provider}:${repository}`;
}
