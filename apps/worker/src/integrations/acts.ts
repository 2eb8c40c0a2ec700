import { randomBytes } from 'node:crypto';
import { BranchName, MAX_QUEUED_MESSAGES, RepositoryUrl } from '@slipway/contracts/conversations';
import { DEFAULT_PROCESSORS, type DeliveryReason } from '@slipway/contracts/integrations';
import { type ConversationQueue } from '@slipway/contracts/operate';
import { DEFAULT_ORG_SETTINGS, OrgSettingValues } from '@slipway/contracts/organizations';
import { grantRepository, insertConversation, type RepositoryGrant } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { baseUrlOf, type Intent } from '@slipway/integrations';
import type { DecidedDelivery, Decision, StoredDelivery } from '@slipway/integrations/deliveries';
import type { Queue } from '@slipway/queue';
import { currentTraceparent } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import {
  addMessage,
  claimThread,
  lockInbox,
  markOfThread,
  muteThread,
  recordAct,
  storedSettings,
  want,
} from './acts.queries.js';
import { wantSeenAtOnce } from './answers/answers.queries.js';
import { type ReviewComment, wantReplies } from './answers/replies.queries.js';
import { wantAnswers } from './answers/want-answers.js';
import { endChoice, findChoice, wantChoice } from './choice/choice.queries.js';
import type { RepositoryChoices } from './choice/repository-choices.js';
import type { DefaultRepository } from './default-repository.js';
import { chooseModel } from './model-choice.js';
import { promptOfIntent, reviewCommentsOf, titleOfIntent } from './prompt.js';
import { NO_CONTEXT, type ThreadReader } from './thread-context.js';

/** What the agent is given, and the line comments that asked for it. */
interface AskedOfAgent {
  readonly text: string;
  readonly comments: readonly ReviewComment[];
}

type Allowed = Extract<Decision, { state: 'act' }>;

export interface Performed {
  readonly decided: Omit<DecidedDelivery, 'semanticKey'>;
  /** A job to be queued once it is committed, beside that of the answer; the outbox has both, too. */
  readonly job: ConversationQueue | null;
}

export interface StartAct {
  readonly allowed: Allowed;
  readonly begin: Beginning;
  readonly asked: AskedOfAgent;
}

export interface MessageAct {
  readonly allowed: Allowed;
  readonly owner: string | null;
  readonly asked: AskedOfAgent;
}

/** What an allowed intent does, as the linked user: each in the transaction of its decision. */
export class Acts {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly gateway: LlmGatewayClient,
    private readonly ids: Ids,
    private readonly threads: ThreadReader,
    private readonly defaults: DefaultRepository,
    private readonly choices: RepositoryChoices,
  ) {}

  /**
   * Requests to other services before the transaction: the earlier messages of the thread, the model of a new
   * conversation, and the right to read its repository.
   */
  async prepare(
    stored: StoredDelivery,
    { act, intent, actor }: Allowed,
    signal: AbortSignal,
  ): Promise<(client: PoolClient, allowed: Allowed) => Promise<Performed>> {
    const value = this.choices.valueOf(stored, intent);
    if (value !== null) return this.chosen(stored, { act, intent, actor }, value, signal);
    const named = this.repositoryOf(stored, intent);
    if (act === 'start' && named === null && (await this.choices.canAsk(stored)))
      return (client) => this.ask(client, stored, intent);
    const [begin, context] = await Promise.all([
      act === 'start' ? this.beginning(stored, intent, { named, userId: actor.userId }, signal) : null,
      act === 'start' || act === 'message'
        ? this.threads.read(stored.orgId, stored.connection, { intent, fresh: act === 'start' }, signal)
        : NO_CONTEXT,
    ]);
    const asked = {
      text: promptOfIntent(intent, randomBytes(16).toString('hex'), context),
      comments: reviewCommentsOf(intent, context),
    };
    return (client, allowed) => {
      switch (allowed.act) {
        case 'start':
          if (begin === null) throw new Error('a conversation is to start without preparation');
          return this.start(client, stored, { allowed, begin, asked });
        case 'message':
          return this.message(client, stored, { allowed, owner: null, asked });
        case 'stop':
          return this.stop(client, stored, allowed);
        case 'mute':
          return this.mute(client, stored, allowed);
        case 'press':
          throw new Error('a pressed button is for app-server');
      }
    };
  }

  async queueJobs(orgId: string, { job, decided }: Performed): Promise<void> {
    const { conversationId } = decided;
    if (job === null || conversationId === null) return;
    await this.queue.add(job, { orgId, conversationId }, { key: conversationId });
    await this.queue.add('integration-answer', { orgId, conversationId }, { key: conversationId });
  }

  private repositoryOf({ connection }: StoredDelivery, { repository, thread }: Intent): string | null {
    return repository === null
      ? this.defaults.urlOf(connection, thread)
      : `${baseUrlOf(connection)}/${repository.fullName}`;
  }

  /** Asks for the repository in the thread. Nothing starts before it is chosen. */
  private async ask(
    client: PoolClient,
    { id, orgId, connection }: StoredDelivery,
    { thread, actor, semanticKey: deed, trigger, instruction }: Intent,
  ): Promise<Performed> {
    const without = { detail: null, conversationId: null };
    // A button of ours that nothing waits for.
    if (trigger === 'button')
      return { decided: { state: 'ignored', code: 'nothing-to-choose', ...without }, job: null };
    const refused = await wantChoice(client, orgId, {
      connectionId: connection.id,
      thread,
      actorId: actor.id,
      deliveryId: id,
    });
    if (refused !== null) return { decided: { state: 'refused', code: refused, ...without }, job: null };
    if ({ ...DEFAULT_PROCESSORS, ...connection.settings.processors }.reaction)
      await wantSeenAtOnce(client, orgId, {
        connectionId: connection.id,
        thread,
        deed,
        asked: { kind: 'comment', id: instruction.id },
      });
    return { decided: { state: 'done', code: 'repository-asked', ...without }, job: null };
  }

  /** Starts what had been asked for, in the repository that was chosen. */
  private async chosen(
    stored: StoredDelivery,
    { act, intent, actor }: Pick<Allowed, 'act' | 'intent' | 'actor'>,
    value: string,
    signal: AbortSignal,
  ): Promise<(client: PoolClient, allowed: Allowed) => Promise<Performed>> {
    const refuse = (code: DeliveryReason): Performed => ({
      decided: { state: 'ignored', code, detail: null, conversationId: null },
      job: null,
    });
    // The thread has its conversation by now.
    const chosen = act === 'start' ? await this.choices.read(stored, intent, value) : 'nothing-to-choose';
    if (typeof chosen === 'string') return () => Promise.resolve(refuse(chosen));
    const [first] = chosen.intents as readonly [Intent, ...Intent[]];
    const begin = await this.beginning(stored, first, { named: chosen.repository, userId: actor.userId }, signal);
    const fence = randomBytes(16).toString('hex');
    return async (client, allowed) => {
      const { orgId, connection } = stored;
      const waiting = await findChoice(client, orgId, {
        connectionId: connection.id,
        threadKey: intent.thread.key,
        lock: true,
      });
      if (waiting?.id !== chosen.waiting.id || waiting.deliveries.length !== chosen.waiting.deliveries.length)
        throw new Error('more was asked for meanwhile');
      const text = chosen.intents.map((each) => promptOfIntent(each, fence, NO_CONTEXT)).join('\n\n');
      const performed = await this.start(client, stored, {
        allowed: { ...allowed, intent: { ...first, semanticKey: intent.semanticKey } },
        begin,
        asked: { text, comments: [] },
      });
      const { conversationId } = performed.decided;
      if (conversationId !== null) await endChoice(client, orgId, waiting.id, conversationId);
      return performed;
    };
  }

  private async beginning(
    stored: StoredDelivery,
    intent: Intent,
    { named, userId }: { readonly named: string | null; readonly userId: string },
    signal: AbortSignal,
  ): Promise<Beginning> {
    const { orgId, connection } = stored;
    // Names in a body are the provider's, and of whoever named them: what is no address that git takes is none.
    const url = RepositoryUrl.safeParse(named).data ?? null;
    const settings = await inOrg(this.pool, orgId, (client) => storedSettings(client, orgId));
    const { defaultModel, defaultEnvironment, confirmation } = beginningOf(settings);
    const [model, grant] = await Promise.all([
      chooseModel({ pool: this.pool, gateway: this.gateway }, orgId, defaultModel, signal),
      // The provider of the thread has confirmed that who asks may write there, so reading it is theirs to give; of
      // another one it is asked.
      intent.repository !== null
        ? { connectionId: connection.id, fullName: intent.repository.fullName }
        : url === null
          ? null
          : this.defaults.grantFor(orgId, url, userId, signal),
    ]);
    return { model, environment: defaultEnvironment, confirmation, repository: url, grant };
  }

  private async start(
    client: PoolClient,
    stored: StoredDelivery,
    { allowed, begin, asked }: StartAct,
  ): Promise<Performed> {
    const { orgId, connection } = stored;
    const { intent, actor } = allowed;
    const id = this.ids.uuid();
    const owner = await claimThread(client, orgId, {
      connectionId: connection.id,
      thread: intent.thread,
      conversationId: id,
    });
    // Another delivery of the thread was first: what is asked for now is one more message there.
    if (owner !== id) return this.message(client, stored, { allowed, owner, asked });
    const by = { id: actor.userId, label: actor.label };
    const message = this.ids.uuid();
    const { repository, grant } = begin;
    const branch = branchOf(intent);
    await insertConversation(client, orgId, {
      id,
      message: { id: message, text: asked.text },
      by,
      title: titleOfIntent(intent),
      repository,
      branch,
      environment: begin.environment,
      confirmation: begin.confirmation,
      agentType: 'default',
      maxIterations: null,
      maxBudgetUsd: null,
      model: begin.model,
      traceparent: currentTraceparent(),
      outboxId: this.ids.uuid(),
    });
    const detail = { repository, branch, model: begin.model, connection: connection.id, delivery: stored.id };
    await recordAct(client, orgId, { id: this.ids.uuid(), action: 'conversation.create', target: id, by, detail });
    if (repository !== null && grant !== null) await grantRepository(client, orgId, id, grant);
    await markOfThread(client, orgId, message, { connectionId: connection.id, key: intent.thread.key });
    await wantReplies(client, stored, {
      thread: intent.thread,
      comments: asked.comments,
      to: { conversationId: id, message },
    });
    await wantAnswers(client, stored, intent, id);
    return {
      decided: { state: 'done', code: 'conversation-started', detail: null, conversationId: id },
      job: 'conversation-start',
    };
  }

  private async message(
    client: PoolClient,
    stored: StoredDelivery,
    { allowed: { intent, actor }, owner, asked }: MessageAct,
  ): Promise<Performed> {
    const { orgId, connection } = stored;
    const conversationId =
      owner ??
      (await claimThread(client, orgId, {
        connectionId: connection.id,
        thread: intent.thread,
        conversationId: this.ids.uuid(),
      }));
    const inbox = await lockInbox(client, orgId, conversationId);
    if (inbox === null) throw new Error(`the conversation of thread ${intent.thread.key} is not there`);
    if (inbox.waiting >= MAX_QUEUED_MESSAGES)
      return { decided: { state: 'refused', code: 'queue-full', detail: null, conversationId }, job: null };
    const thread = { connectionId: connection.id, key: intent.thread.key };
    const message = this.ids.uuid();
    await addMessage(client, orgId, conversationId, {
      id: message,
      text: asked.text,
      by: { id: actor.userId, label: actor.label },
      thread,
    });
    await wantReplies(client, stored, {
      thread: intent.thread,
      comments: asked.comments,
      to: { conversationId, message },
    });
    const job = inbox.live ? 'conversation-deliver' : 'conversation-start';
    await want(client, orgId, conversationId, { desired: 'run', job, traceparent: currentTraceparent() });
    await wantAnswers(client, stored, intent, conversationId);
    return { decided: { state: 'done', code: 'message-added', detail: null, conversationId }, job };
  }

  /** As a pause: the step under way ends, and the workspace is kept. */
  private async stop(client: PoolClient, stored: StoredDelivery, { intent, actor }: Allowed): Promise<Performed> {
    const { orgId, connection } = stored;
    const conversationId = await claimThread(client, orgId, {
      connectionId: connection.id,
      thread: intent.thread,
      conversationId: this.ids.uuid(),
    });
    if ((await lockInbox(client, orgId, conversationId)) === null)
      return { decided: { state: 'ignored', code: 'nothing-to-stop', detail: null, conversationId: null }, job: null };
    await want(client, orgId, conversationId, {
      desired: 'rest',
      job: 'conversation-pause',
      traceparent: currentTraceparent(),
    });
    const by = { id: actor.userId, label: actor.label };
    const detail = { connection: connection.id, delivery: stored.id };
    await recordAct(client, orgId, {
      id: this.ids.uuid(),
      action: 'conversation.pause',
      target: conversationId,
      by,
      detail,
    });
    await wantAnswers(client, stored, intent, conversationId);
    return { decided: { state: 'done', code: 'run-stopped', detail: null, conversationId }, job: 'conversation-pause' };
  }

  private async mute(
    client: PoolClient,
    { orgId, connection }: StoredDelivery,
    { intent }: Allowed,
  ): Promise<Performed> {
    await muteThread(client, orgId, connection.id, intent.thread);
    return { decided: { state: 'done', code: 'muted', detail: null, conversationId: null }, job: null };
  }
}

/** What is no branch that git takes is none. */
function branchOf({ pullRequest }: Intent): string | null {
  return pullRequest === null || pullRequest.fork ? null : (BranchName.safeParse(pullRequest.headBranch).data ?? null);
}

interface Beginning {
  readonly model: string;
  readonly environment: string | null;
  readonly confirmation: string;
  readonly repository: string | null;
  readonly grant: RepositoryGrant | null;
}

/** What cannot be read of the settings is as strict as can be. */
function beginningOf(stored: unknown): Pick<OrgSettingValues, 'defaultModel' | 'defaultEnvironment' | 'confirmation'> {
  const given = (stored ?? {}) as Record<string, unknown>;
  const { defaultModel, defaultEnvironment, confirmation } = OrgSettingValues.shape;
  return {
    defaultModel: defaultModel
      .catch(DEFAULT_ORG_SETTINGS.defaultModel)
      .parse(given['defaultModel'] ?? DEFAULT_ORG_SETTINGS.defaultModel),
    defaultEnvironment: defaultEnvironment
      .catch(DEFAULT_ORG_SETTINGS.defaultEnvironment)
      .parse(given['defaultEnvironment'] ?? DEFAULT_ORG_SETTINGS.defaultEnvironment),
    confirmation: confirmation.catch('always').parse(given['confirmation'] ?? DEFAULT_ORG_SETTINGS.confirmation),
  };
}
