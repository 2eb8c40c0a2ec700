import { Inject, Injectable } from '@nestjs/common';
import { type AgentClient, letRun } from '@slipway/agent-client';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import type { EditMessage, OrderMessages, QueuedMessage, QueuedMessageList } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { Hubs } from '../log/events/hubs.js';
import { Jobs } from '../platform/jobs.js';
import { wantJob } from '../platform/outbox.queries.js';
import { CLOCK, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { assertStorage, fullStorage } from '../sandboxes/storage/full-storage.js';
import { assertBudget } from '../spending/budgets/spent-budget.js';
import { lockSandbox, type SandboxRow, setDesired } from './conversations.queries.js';
import {
  type FoundMessage,
  findMessage,
  holdMessage,
  isAtWork,
  isLive,
  putFirst,
  queuedOf,
  reorder,
  rewrite,
} from './inbox.queries.js';
import { reachSandbox } from './reach-sandbox.js';

/**
 * What can be done with messages that the agent does not have yet. Every change holds the conversation's row, as the
 * worker does while it claims messages: a message is either changed or handed over, and handed over as it then is.
 */
@Injectable()
export class MessageQueueService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly keys: SandboxKeys,
    private readonly jobs: Jobs,
    private readonly hubs: Hubs,
  ) {}

  /**
   * @throws SlipwayError `resource.not-found`, `message.not-yours`, `message.already-taken` when the agent has it or it
   * was withdrawn, `message.changed` when it has another version and another text, `storage.exhausted`.
   */
  async edit(
    caller: Principal,
    conversationId: string,
    messageId: string,
    { text, version }: EditMessage,
  ): Promise<QueuedMessage> {
    const message = await this.queued(caller, conversationId, messageId, async (client, found) => {
      if (found.createdBy !== caller.actor.id && !caller.permissions.has('conversation:delete'))
        throw new SlipwayError('message.not-yours', 'Only its author and administrators change a message.');
      // A repeated request finds what it has written.
      if (found.text === text && found.version === version + 1) return;
      if (found.version !== version)
        throw new SlipwayError('message.changed', `Its version is ${found.version}, not ${version}.`);
      if (found.text !== text) await rewrite(client, caller.orgId, conversationId, { id: messageId, text });
    }).catch((error: unknown) => Promise.reject(fullStorage(error) ?? error));
    this.hubs.inboxChanged(caller.orgId, conversationId);
    return message;
  }

  /**
   * Of the messages that wait until the turn ends. @throws SlipwayError `resource.not-found` for one that is not of
   * this conversation, `message.already-taken` for one that waits no more: nothing is changed then.
   */
  async order(caller: Principal, conversationId: string, { ids }: OrderMessages): Promise<QueuedMessageList> {
    const wanted = ids.map((id) => id.toLowerCase());
    const data = await inOrg(this.pool, caller.orgId, async (client) => {
      if ((await lockSandbox(client, caller.orgId, conversationId)) === null) throw notFound();
      const held = new Set((await queuedOf(client, caller.orgId, conversationId)).flatMap((m) => (m.held ? m.id : [])));
      for (const id of wanted) {
        if (held.has(id)) continue;
        const found = await findMessage(client, caller.orgId, id);
        throw found?.conversationId === conversationId ? alreadyTaken() : notFound();
      }
      await reorder(client, caller.orgId, conversationId, wanted);
      return queuedOf(client, caller.orgId, conversationId);
    });
    this.hubs.inboxChanged(caller.orgId, conversationId);
    return { data };
  }

  /**
   * Hands it over before all others, and interrupts what the agent does. Without a sandbox, or with one that does not
   * answer, it is the first one to be handed over when there is one.
   * @throws SlipwayError `resource.not-found`, `message.already-taken`, `budget.exhausted`, `storage.exhausted`.
   */
  async now(caller: Principal, conversationId: string, messageId: string): Promise<QueuedMessage> {
    let working: SandboxRow | null = null;
    await this.queued(caller, conversationId, messageId, async (client, _found, row) => {
      await assertBudget(client, caller.orgId, caller.actor.id, this.clock.now());
      await assertStorage(client, caller.orgId);
      if (isAtWork(row)) working = row;
    });
    // Before it is handed over: the interrupt must not hit the run that reads it.
    const sandbox = working === null ? null : reachSandbox(this.keys, conversationId, working, ['run']);
    const interrupted = sandbox === null ? false : await this.interrupt(conversationId, sandbox);
    let job: 'conversation-deliver' | 'conversation-start' = 'conversation-start';
    const message = await this.queued(caller, conversationId, messageId, async (client, _found, row) => {
      job = isLive(row) ? 'conversation-deliver' : 'conversation-start';
      await putFirst(client, caller.orgId, conversationId, messageId);
      await setDesired(client, caller.orgId, conversationId, { desired: 'run' });
      await wantJob(client, caller.orgId, job, conversationId);
    }).catch(async (error: unknown) => {
      // Its turn ended just then, and the agent was interrupted while it began with the message.
      if (interrupted && sandbox !== null) await letRun(sandbox, conversationId);
      throw error;
    });
    this.logger.info({ conversation_id: conversationId, message_id: messageId, interrupted }, 'message goes first');
    this.jobs.enqueue(job, caller.orgId, conversationId);
    this.hubs.inboxChanged(caller.orgId, conversationId);
    return message;
  }

  /** False when the sandbox did not take it: the agent reads the message at its next step. */
  private interrupt(conversationId: string, sandbox: AgentClient): Promise<boolean> {
    return sandbox.call('interrupt', { id: conversationId }).then(
      () => true,
      (error: unknown) => {
        this.logger.warn({ err: error, conversation_id: conversationId }, 'sandbox did not take the interrupt');
        return false;
      },
    );
  }

  /** `work` on a message that is queued, under the row's lock; answers it as it is then. */
  private queued(
    caller: Principal,
    conversationId: string,
    messageId: string,
    work: (client: PoolClient, found: FoundMessage, row: SandboxRow) => Promise<void>,
  ): Promise<QueuedMessage> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, conversationId);
      const found = await holdMessage(client, caller.orgId, messageId);
      if (row === null || found === null || found.conversationId !== conversationId) throw notFound();
      if (found.state !== 'queued') throw alreadyTaken();
      await work(client, found, row);
      const message = (await queuedOf(client, caller.orgId, conversationId)).find(({ id }) => id === messageId);
      if (message === undefined) throw new Error('a queued message is not in the inbox');
      return message;
    });
  }
}

function alreadyTaken(): SlipwayError {
  return new SlipwayError('message.already-taken', 'It was handed to the agent, or withdrawn.');
}
