import { Inject, Injectable } from '@nestjs/common';
import {
  type Conversation,
  type CreateConversation,
  type ListConversationsQuery,
  MAX_QUEUED_MESSAGES,
  type QueuedMessage,
  type SendMessage,
} from '@slipway/contracts/conversations';
import { type Principal } from '@slipway/contracts/organizations';
import { sentAttachments } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Clock, type Ids, stricterMode } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { currentTraceparent, type Logger } from '@slipway/telemetry';
import { ModelsService } from '../identity/me/models.service.js';
import { RepositoryReferences } from '../integrations/repositories/repository-references.js';
import { Hubs } from '../log/events/hubs.js';
import { readOrgSettings } from '../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../platform/jobs.js';
import { wantJob } from '../platform/outbox.queries.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { assertStorage, fullStorage } from '../sandboxes/storage/full-storage.js';
import { assertBudget } from '../spending/budgets/spent-budget.js';
import { attachTo, toAttachment } from './attachments/attachments.queries.js';
import { listConversations } from './conversation-list.queries.js';
import { titleOf, toConversation } from './conversation-view.js';
import {
  createConversation,
  findConversation,
  lockSandbox,
  type NewConversation,
  setDesired,
} from './conversations.queries.js';
import { readMarkOf } from './desk/read-marks.queries.js';
import { findMessage, insertMessage, isAtWork, isLive, isQueueMoving, queuedOf, withdraw } from './inbox.queries.js';
import { readListCursor, writeListCursor } from './list-cursor.js';
import { assertStepsAllowed } from './steps-allowed.js';

@Injectable()
export class ConversationsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly jobs: Jobs,
    private readonly hubs: Hubs,
    private readonly models: ModelsService,
    private readonly repositories: RepositoryReferences,
  ) {}

  /**
   * A page as the JSON that is answered: nothing in this process reads it. @throws SlipwayError `request.invalid` for a
   * cursor of another sort.
   */
  async list(caller: Principal, { cursor, ...query }: ListConversationsQuery): Promise<string> {
    const { data, nextCursor } = await this.page(caller, query, cursor);
    return `{"data":${data},"page":{"nextCursor":${JSON.stringify(nextCursor)}}}`;
  }

  /** `data` is the JSON of a list of `ConversationSummary`. */
  async page(
    caller: Principal,
    query: Omit<ListConversationsQuery, 'cursor'>,
    cursor: string | undefined,
  ): Promise<{ data: string; nextCursor: string | null }> {
    const after = cursor === undefined ? null : readListCursor(query.sort, cursor);
    const { data, last } = await listConversations(this.pool, caller, query, after);
    return { data, nextCursor: last === null ? null : writeListCursor(query.sort, last) };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get(caller: Principal, id: string): Promise<Conversation> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = await findConversation(client, caller.orgId, id, caller.actor.id);
      if (row === null) throw notFound();
      const mark = await readMarkOf(client, caller.orgId, { conversationId: id, userId: caller.actor.id });
      return { ...toConversation(row, await queuedOf(client, caller.orgId, id)), ...mark };
    });
  }

  /**
   * Answers when the conversation is stored; its start goes on elsewhere. One that is there already under `id` is
   * answered as it is.
   * @throws SlipwayError `request.invalid` for more steps than the organization allows, `budget.exhausted`,
   * `storage.exhausted`, `attachment.unavailable`, `model.unknown`, `service.unavailable` when no model list can be
   * had; of a repository by name as `RepositoryReferences.find`.
   */
  async create(caller: Principal, body: CreateConversation, id: string = this.ids.uuid()): Promise<Conversation> {
    return this.createWith(caller, body, id, async () => {});
  }

  /**
   * One whose sandbox starts and whose agent has nothing to do, for a client that brings its own. @throws SlipwayError
   * as `create`.
   */
  createWithoutTask(caller: Principal, title: string, id: string = this.ids.uuid()): Promise<Conversation> {
    return this.make(caller, { prompt: '', title }, { id, messageId: null, grant: null });
  }

  /**
   * As `create`, with more in the transaction that makes it, which is not done again for one that is there already.
   * @throws SlipwayError as `create`, and what `also` rejects with.
   */
  async createWith(
    caller: Principal,
    { repository, ...body }: CreateConversation,
    id: string,
    also: (client: PoolClient) => Promise<void>,
  ): Promise<Conversation> {
    const found = repository === undefined ? null : await this.repositories.find(caller, repository);
    const asked = { ...body, ...(found === null ? {} : { repository: found.url }) };
    return this.make(caller, asked, { id, messageId: this.ids.uuid(), grant: found?.grant ?? null }, also);
  }

  private async make(
    caller: Principal,
    body: CreateConversation,
    { id, messageId, grant }: Pick<NewConversation, 'id' | 'messageId' | 'grant'>,
    also: (client: PoolClient) => Promise<void> = async () => {},
  ): Promise<Conversation> {
    const settings = await inOrg(this.pool, caller.orgId, (client) => readOrgSettings(client, caller.orgId));
    assertStepsAllowed(body.maxIterations, settings.maxIterations);
    await inOrg(this.pool, caller.orgId, async (client) => {
      await assertBudget(client, caller.orgId, caller.actor.id, this.clock.now());
      await assertStorage(client, caller.orgId);
    });
    const made = {
      id,
      messageId,
      grant,
      outboxId: this.ids.uuid(),
      auditId: this.ids.uuid(),
      title: body.title ?? titleOf(body.prompt),
      model: await this.models.choose(caller.orgId, body.model, settings.defaultModel),
      environment: body.environment ?? settings.defaultEnvironment,
      confirmation: stricterMode(body.confirmation ?? 'never', settings.confirmation),
      traceparent: currentTraceparent(),
    };
    const created = await inOrg(this.pool, caller.orgId, async (client) => {
      await createConversation(client, caller, body, made);
      await also(client);
    }).then(
      () => true,
      (error: unknown) => {
        if (isTaken(error)) return false;
        throw fullStorage(error) ?? error;
      },
    );
    this.logger.info({ conversation_id: id, model: made.model, created }, 'conversation created');
    this.jobs.enqueue('conversation-start', caller.orgId, id);
    return this.get(caller, id);
  }

  /**
   * Puts a message into the inbox; its id becomes the id of its event, and the same id again is the same message.
   * An agent at work gets it at its next step, or with `afterTurn` when its turn ends: until then it can be changed.
   * With `afterTurn` it comes after those that wait for the end of a turn, also between two turns.
   * @throws SlipwayError `conversation.queue-full`, `budget.exhausted` of the conversation's owner,
   * `storage.exhausted`, `attachment.unavailable`, `resource.not-found`, `request.invalid` when the id belongs to
   * another message.
   */
  async send(
    caller: Principal,
    conversationId: string,
    body: SendMessage,
    { reservedId, afterTurn = false }: { readonly reservedId?: string | undefined; readonly afterTurn?: boolean } = {},
  ): Promise<QueuedMessage> {
    const id = body.id?.toLowerCase() ?? reservedId ?? this.ids.uuid();
    const sent = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, conversationId);
      if (row === null) throw notFound();
      const known = await findMessage(client, caller.orgId, id);
      if (known !== null && (known.conversationId !== conversationId || known.text !== body.text)) throw idTaken();
      const queued = await queuedOf(client, caller.orgId, conversationId);
      if (known !== null) {
        const waiting = queued.find((message) => message.id === id);
        // Taken in or withdrawn since: the accepted answer is repeated.
        return {
          job: null,
          isNew: false,
          message: waiting ?? {
            id,
            position: 1,
            text: known.text,
            state: 'delivered' as const,
            createdAt: known.createdAt.toISOString(),
            createdBy: known.createdByLabel,
            createdById: known.createdBy,
            held: false,
            version: known.version,
            attachments: (await sentAttachments(client, caller.orgId, conversationId, [id])).map(toAttachment),
          },
        };
      }
      if (queued.length >= MAX_QUEUED_MESSAGES)
        throw new SlipwayError('conversation.queue-full', `${MAX_QUEUED_MESSAGES} messages are waiting already.`, {
          retryAfterSeconds: 5,
        });
      await assertBudget(client, caller.orgId, caller.actor.id, this.clock.now());
      await assertStorage(client, caller.orgId);
      const waitsForTurn = afterTurn && isAtWork(row);
      const held = waitsForTurn || (afterTurn && (await isQueueMoving(client, caller.orgId, conversationId)));
      if (!(await insertMessage(client, caller, conversationId, { id, text: body.text, held }))) throw idTaken();
      const files = (body.attachments ?? []).map((file) => file.toLowerCase());
      if (files.length > 0 && !(await attachTo(client, caller, { conversationId, messageId: id }, files)))
        throw new SlipwayError('attachment.unavailable', 'An attached file was removed, has expired, or was sent.');
      const job = waitsForTurn ? null : isLive(row) ? 'conversation-deliver' : 'conversation-start';
      if (job !== null) {
        await setDesired(client, caller.orgId, conversationId, { desired: 'run' });
        await wantJob(client, caller.orgId, job, conversationId);
      }
      const message = (await queuedOf(client, caller.orgId, conversationId)).find((each) => each.id === id);
      if (message === undefined) throw new Error('a message that was stored is not in the inbox');
      return { job, message, isNew: true } as const;
    }).catch((error: unknown) => Promise.reject(fullStorage(error) ?? error));
    if (sent.isNew) {
      this.logger.info({ conversation_id: conversationId, message_id: id }, 'message queued');
      if (sent.job !== null) this.jobs.enqueue(sent.job, caller.orgId, conversationId);
      this.hubs.inboxChanged(caller.orgId, conversationId);
    }
    return sent.message;
  }

  /**
   * Repeating it is fine. @throws SlipwayError `conversation.busy` when the agent has the message, or is being handed
   * it.
   */
  async withdraw(caller: Principal, conversationId: string, messageId: string): Promise<void> {
    const state = await inOrg(this.pool, caller.orgId, (client) =>
      withdraw(client, caller.orgId, conversationId, messageId),
    );
    if (state === null) throw notFound();
    if (state !== 'withdrawn')
      throw new SlipwayError('conversation.busy', 'The agent has taken this message in already.');
    this.hubs.inboxChanged(caller.orgId, conversationId);
  }
}

/** Postgres' word for a unique key that is in use. */
function isTaken(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '23505';
}

function idTaken(): SlipwayError {
  return new SlipwayError('request.invalid', 'id: belongs to another message', {
    fields: [{ path: 'id', message: 'belongs to another message' }],
  });
}
