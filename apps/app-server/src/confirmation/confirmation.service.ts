import { Inject, Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import type { AnswerConfirmation, ConfirmationMode, ConversationEvent, Principal, RespondToConfirmationRequest } from '@slipway/contracts';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import {
  type Clock,
  CONFIRMATION_ANSWER,
  CONFIRMATION_SETTINGS,
  confirmationSettingsOf,
  type Ids,
  pendingActions,
  settingsOfMode,
  stricterMode,
} from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../audit/audit-statement.js';
import { jobFor } from '../conversations/conversation-model.service.js';
import { lockSandbox, readSandbox, type SandboxRow, setDesired } from '../conversations/conversations.queries.js';
import { reachSandbox } from '../conversations/reach-sandbox.js';
import { IngestService } from '../ingest/ingest.service.js';
import { Jobs } from '../jobs/jobs.js';
import { wantJob } from '../jobs/outbox.queries.js';
import { readOrgSettings } from '../org-settings/org-settings.queries.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { askersOf, askFirstOf, modeOf, readTail, setMode } from './confirmation.queries.js';

const REJECTED = 'User rejected the action.';

/**
 * A person's word on what an agent asks for, and how often it asks.
 *
 * With a sandbox the answer goes straight to it: it takes one after the other, and the first counts, wherever they came from. Without one the answer is written into the
 * log under the conversation's lock, with a wish for a start: the next sandbox reads it there. A sandbox that is up and does not answer has not heard it, and nothing is kept.
 */
@Injectable()
export class ConfirmationService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly box: SecretBox,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws SlipwayError `resource.not-found`, `conversation.nothing-to-confirm`, `conversation.four-eyes`, `sandbox.unreachable`. */
  async answer(caller: Principal, id: string, body: AnswerConfirmation): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    await inOrg(this.pool, caller.orgId, (client) => this.assertMayAnswer(client, caller, id, body));
    const request: RespondToConfirmationRequest = {
      accept: body.accept,
      reason: body.reason === undefined || body.reason === '' ? REJECTED : body.reason,
      slipway: { by: caller.actor.label, action_ids: body.actionIds, run: true, ...(body.always === undefined ? {} : { rule: { ...body.always } }) },
    };
    const sandbox = reachSandbox(this.box, id, row, ['run']);
    if (sandbox === null) return this.writeDown(caller, id, request);
    await sandbox.respond(request);
    await inOrg(this.pool, caller.orgId, (client) => this.audit(client, caller, id, request));
  }

  /**
   * Another mode from the agent's next step on; the organization's stays the floor. What is committed holds, in the order of its versions: worker tells an agent again that
   * this did not reach. @throws SlipwayError `resource.not-found`, `sandbox.unreachable`: nothing is changed then.
   */
  async setMode(caller: Principal, id: string, mode: ConfirmationMode): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    // Terms that change nothing: whether it is there, and has the conversation.
    await reachSandbox(this.box, id, row, ['run'])?.checkTerms({});
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      const before = await modeOf(client, caller.orgId, id);
      if (current === null || before === null) throw notFound();
      if (before.mode === mode) return null;
      await setMode(client, caller.orgId, id, mode);
      const job = jobFor(current);
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      const change = { before: { mode: before.mode }, after: { mode } };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'conversation.set-confirmation', target: id, ...change }));
      return { current, job };
    });
    if (after === null) return;
    await this.tell(caller.orgId, id, after.current);
    if (after.job !== null) this.jobs.enqueue(after.job, caller.orgId, id);
  }

  /** What holds by now, whoever changed it last. */
  private async tell(orgId: string, id: string, row: SandboxRow): Promise<void> {
    try {
      const sandbox = reachSandbox(this.box, id, row, ['run']);
      const known = sandbox === null ? null : await inOrg(this.pool, orgId, (client) => askFirstOf(client, orgId, id));
      if (sandbox === null || known === null) return;
      const { mode, floor, fourEyes, version } = known;
      await sandbox.setBrake({ ...settingsOfMode(stricterMode(mode, floor)), brake: { floor, fourEyes }, version, epoch: row.epoch, chosen: true });
    } catch (error) {
      this.logger.warn({ err: error, conversation_id: id }, 'the agent was not told when to ask by this request; worker tells it');
    }
  }

  /** Only a yes needs a second person. */
  private async assertMayAnswer(client: PoolClient, caller: Principal, id: string, { accept }: AnswerConfirmation): Promise<void> {
    if (!accept || !(await readOrgSettings(client, caller.orgId)).fourEyes) return;
    if ((await askersOf(client, caller.orgId, id)).has(caller.actor.id))
      throw new SlipwayError('conversation.four-eyes', 'In this organization nobody approves what an agent does for them: somebody else has to.');
  }

  /** The answer as events of the platform, the wish for a sandbox that goes on with it, and who gave it: all of it or nothing. */
  private async writeDown(caller: Principal, id: string, request: RespondToConfirmationRequest): Promise<void> {
    const publish = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, id);
      const known = await modeOf(client, caller.orgId, id);
      if (row === null || known === null) throw notFound();
      const tail = await readTail(client, caller.orgId, id, known.head);
      const pending = pendingActions(tail);
      const asked = request.slipway?.action_ids ?? [];
      const answered = tail.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === CONFIRMATION_ANSWER && says(event.value, asked));
      if (answered || pending.length === 0 || pending.length !== asked.length || pending.some((action) => !asked.includes(action.id)))
        throw new SlipwayError('conversation.nothing-to-confirm', 'What this answers no longer waits for an answer.');
      const by = request.slipway?.by ?? caller.actor.label;
      const answer = { accepted: request.accept, action_ids: asked, by, ...(request.accept ? {} : { reason: request.reason }) };
      const events: ConversationEvent[] = [this.update('user', CONFIRMATION_ANSWER, answer)];
      const rule = request.slipway?.rule;
      const settings = confirmationSettingsOf(tail);
      if (request.accept && rule !== undefined && settings !== undefined)
        events.push(this.update('user', CONFIRMATION_SETTINGS, { ...settings, rules: [...settings.rules, { ...rule, by }].slice(-100) }));
      if (!request.accept) {
        for (const { id: actionId, tool_name, tool_call_id } of pending)
          events.push({
            ...this.stamp('environment'),
            kind: 'UserRejectObservation',
            action_id: actionId,
            tool_name,
            tool_call_id,
            rejection_reason: request.reason,
            rejection_source: 'user',
          });
        events.push(this.update('environment', 'execution_status', 'idle'));
      }
      const tell = await this.ingest.appendPlatform(client, caller.orgId, id, events, row);
      await setDesired(client, caller.orgId, id, 'run');
      await wantJob(client, caller.orgId, 'conversation-start', id);
      await this.audit(client, caller, id, request);
      return tell;
    });
    publish();
    this.jobs.enqueue('conversation-start', caller.orgId, id);
  }

  private async audit(client: PoolClient, caller: Principal, id: string, { accept, reason, slipway }: RespondToConfirmationRequest): Promise<void> {
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action: accept ? 'conversation.approve' : 'conversation.reject',
        target: id,
        detail: { actions: slipway?.action_ids ?? [], ...(accept ? {} : { reason }), ...(slipway?.rule === undefined ? {} : { always: slipway.rule }) },
      }),
    );
  }

  private stamp<S extends 'user' | 'environment'>(source: S): { id: string; timestamp: string; source: S } {
    return { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source };
  }

  private update(source: 'user' | 'environment', key: string, value: unknown): ConversationEvent {
    return { ...this.stamp(source), kind: 'ConversationStateUpdateEvent', key, value };
  }
}

function says(value: unknown, actionIds: readonly string[]): boolean {
  const ids = (value as { action_ids?: unknown } | null)?.action_ids;
  return Array.isArray(ids) && ids.some((id) => actionIds.includes(String(id)));
}
