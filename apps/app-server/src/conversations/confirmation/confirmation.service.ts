import { Inject, Injectable } from '@nestjs/common';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import {
  type AnswerConfirmation,
  type ConfirmationAnswer,
  type ConfirmationMode,
  type RespondToConfirmationRequest,
} from '@slipway/contracts/conversations';
import { type ConversationEvent, type StateUpdate, stateValueOf } from '@slipway/contracts/events';
import { type Principal } from '@slipway/contracts/organizations';
import { readTail } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import {
  type Clock,
  confirmationSettingsOf,
  divideAnswer,
  type Ids,
  namedActions,
  pendingActions,
} from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { AgentSettingsService } from '../agent-settings/agent-settings.service.js';
import { jobFor } from '../conversation-model.service.js';
import { lockSandbox, readSandbox, setDesired } from '../conversations.queries.js';
import { reachSandbox } from '../reach-sandbox.js';
import { AnswerAudit, type AnswerRecord, APPROVED, REJECTED } from './answer-audit.js';
import { approvedActions } from './approvals.queries.js';
import { modeOf, setMode } from './confirmation.queries.js';
import { assertFourEyes } from './four-eyes.js';

const NO_REASON = 'User rejected the action.';

/**
 * A user's word on what an agent asks for, and how often it asks.
 *
 * With a sandbox the answer goes straight to it: it takes one after the other, and the first counts, wherever they came
 * from. Without one the answer is written into the log under the conversation's lock, with an outbox job for a start:
 * the next sandbox reads it there. A sandbox that is up and does not answer has not heard it: a no is not kept then,
 * and of a yes the audit entry alone, which the same yes again does not repeat.
 */
@Injectable()
export class ConfirmationService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly audits: AnswerAudit,
    private readonly keys: SandboxKeys,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly agents: AgentSettingsService,
  ) {}

  /**
   * @throws SlipwayError `resource.not-found`, `conversation.nothing-to-confirm`, `conversation.four-eyes`,
   * `sandbox.unreachable`.
   */
  async answer(caller: Principal, id: string, body: AnswerConfirmation): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    const rejects = new Set(body.rejections?.map((rejection) => rejection.id));
    const request: RespondToConfirmationRequest = {
      accept: body.accept,
      reason: body.reason === undefined || body.reason === '' ? NO_REASON : body.reason,
      slipway: {
        by: caller.actor.label,
        by_id: caller.actor.id,
        by_kind: caller.actor.kind,
        // Without the rejected ones, an agent-server of before that knows nothing of rejections refuses: it must not
        // carry them out.
        action_ids: body.actionIds.filter((each) => !body.accept || !rejects.has(each)),
        run: true,
        ...(body.rejections === undefined ? {} : { rejections: body.rejections }),
        ...(body.always === undefined ? {} : { rule: { ...body.always } }),
      },
    };
    const sandbox = reachSandbox(this.keys, id, row, ['run']);
    if (sandbox === null) return this.writeDown(caller, id, body, request);
    const { record, receipt } = await inOrg(this.pool, caller.orgId, (client) =>
      this.seal(client, caller, id, { body, request }),
    );
    // With an `answer_id` the audit entry of a no is written with its event. An earlier agent-server gives none.
    const { answer_id } = await sandbox.call('respondToConfirmation', {
      id,
      body: { ...request, slipway: { run: true, ...request.slipway, receipt } },
    });
    if (answer_id === null && record.action === REJECTED)
      await inOrg(this.pool, caller.orgId, (client) =>
        client.query(auditOf(this.ids.uuid(), caller, { ...record, target: id })),
      );
  }

  /**
   * What a sandbox gets with an answer. A yes is in the audit before the sandbox has it: what that does with it changes
   * nothing there.
   */
  private async seal(
    client: PoolClient,
    caller: Principal,
    id: string,
    { body, request }: { readonly body: AnswerConfirmation; readonly request: RespondToConfirmationRequest },
  ): Promise<{ record: AnswerRecord; receipt: string }> {
    if ((await lockSandbox(client, caller.orgId, id)) === null) throw notFound();
    const record = recordOf(request, await this.assertMayAnswer(client, caller, id, body));
    if (record.action === REJECTED) return { record, receipt: this.audits.receipt(caller, id, record) };
    const known = await modeOf(client, caller.orgId, id);
    const tail = await readTail<ConversationEvent>(client, caller.orgId, id, known?.head ?? 0);
    if (isOver(tail, record.detail.actions)) throw nothingToConfirm();
    return {
      record,
      receipt: this.audits.receipt(caller, id, record, await this.audits.approve(client, caller, id, record)),
    };
  }

  /**
   * Another mode from the agent's next step on; the organization's stays the floor. What is committed holds, in the
   * order of its versions: the worker sends it again until the agent acknowledges it. @throws SlipwayError
   * `resource.not-found`, `sandbox.unreachable`: nothing is changed then.
   */
  async setMode(caller: Principal, id: string, mode: ConfirmationMode): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    // Whether it is there, and has the conversation: a mode is never refused.
    await this.agents.check(caller.orgId, id, row, {});
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      const before = await modeOf(client, caller.orgId, id);
      if (current === null || before === null) throw notFound();
      if (before.mode === mode) return null;
      await setMode(client, caller.orgId, id, mode);
      const job = jobFor(current);
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      const change = { before: { mode: before.mode }, after: { mode } };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'conversation.set-confirmation', target: id, ...change }),
      );
      return { current, job };
    });
    if (after === null) return;
    const acknowledged = await this.agents.apply(caller.orgId, id, after.current, true);
    if (after.job !== null && !acknowledged) this.jobs.enqueue(after.job, caller.orgId, id);
  }

  /**
   * Only a yes needs a second user. Each action has its own: none is allowed ahead of time. @returns the rule by which
   * the caller may.
   */
  private async assertMayAnswer(
    client: PoolClient,
    caller: Principal,
    id: string,
    { accept, always }: AnswerConfirmation,
  ): Promise<'four-eyes' | 'anybody'> {
    if (!accept) return (await readOrgSettings(client, caller.orgId)).fourEyes ? 'four-eyes' : 'anybody';
    if (!(await assertFourEyes(client, caller, id))) return 'anybody';
    if (always !== undefined)
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization each action is approved by itself: approve this one without a rule for later ones.',
      );
    return 'four-eyes';
  }

  /**
   * The answer as events of the platform, the outbox job for a sandbox that goes on with it, and who gave it: all of it
   * or nothing.
   */
  private async writeDown(
    caller: Principal,
    id: string,
    body: AnswerConfirmation,
    request: RespondToConfirmationRequest,
  ): Promise<void> {
    const publish = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, id);
      const known = await modeOf(client, caller.orgId, id);
      if (row === null || known === null) throw notFound();
      const allowedBy = await this.assertMayAnswer(client, caller, id, body);
      const tail = await readTail<ConversationEvent>(client, caller.orgId, id, known.head);
      const pending = pendingActions(tail);
      const asked = namedActions(request.slipway ?? {});
      // Under four eyes an acceptance that no second user gave is none: what it names waits on.
      const vouched = allowedBy === 'four-eyes' ? await approvedActions(client, caller.orgId, id) : null;
      const answered = tail.some((event) => says(stateValueOf(event, 'confirmation'), asked, vouched));
      if (
        answered ||
        pending.length === 0 ||
        pending.length !== asked.length ||
        pending.some((action) => !asked.includes(action.id))
      )
        throw nothingToConfirm();
      const by = request.slipway?.by ?? caller.actor.label;
      const who = { by, by_id: caller.actor.id, by_kind: caller.actor.kind, through: 'app' } as const;
      const { approved, rejected } = dividedOf(request, asked);
      const approves = approved.length > 0;
      const value: ConfirmationAnswer = {
        accepted: approves,
        action_ids: approves ? [...approved] : asked,
        ...who,
        ...(approves ? {} : { reason: request.reason }),
      };
      const events: ConversationEvent[] = [];
      for (const { id: actionId, tool_name, tool_call_id } of pending) {
        const reason = rejected.find((each) => each.id === actionId)?.reason;
        if (reason === undefined) continue;
        events.push({
          ...this.stamp('environment'),
          kind: 'UserRejectObservation',
          action_id: actionId,
          tool_name,
          tool_call_id,
          rejection_reason: reason,
          rejection_source: 'user',
        });
      }
      // What is left when the rejected ones have their answer is what a yes names; nothing is left after a no.
      if (approves) events.push(this.update('user', { key: 'confirmation', value }));
      else events.unshift(this.update('user', { key: 'confirmation', value }));
      const rule = request.slipway?.rule;
      const settings = confirmationSettingsOf(tail);
      if (approves && rule !== undefined && settings !== undefined)
        events.push(
          this.update('user', {
            key: 'confirmation_settings',
            value: { ...settings, rules: [...settings.rules, { ...rule, by }].slice(-100) },
          }),
        );
      if (!approves) events.push(this.update('environment', { key: 'execution_status', value: 'idle' }));
      const tell = await this.ingest.appendPlatform(client, caller.orgId, id, { events, row });
      await setDesired(client, caller.orgId, id, { desired: 'run' });
      await wantJob(client, caller.orgId, 'conversation-start', id);
      const record = recordOf(request, allowedBy);
      if (record.action === APPROVED) await this.audits.approve(client, caller, id, record);
      else await client.query(auditOf(this.ids.uuid(), caller, { ...record, target: id }));
      return tell;
    });
    publish();
    this.jobs.enqueue('conversation-start', caller.orgId, id);
  }

  private stamp<S extends 'user' | 'environment'>(source: S): { id: string; timestamp: string; source: S } {
    return { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source };
  }

  private update(source: 'user' | 'environment', update: StateUpdate): ConversationEvent {
    return { ...this.stamp(source), kind: 'ConversationStateUpdateEvent', ...update };
  }
}

function recordOf(request: RespondToConfirmationRequest, rule: 'four-eyes' | 'anybody'): AnswerRecord {
  const { reason, slipway } = request;
  const { approved, rejected } = dividedOf(request, namedActions(slipway ?? {}));
  const approves = approved.length > 0;
  return {
    action: approves ? APPROVED : REJECTED,
    detail: {
      actions: approves ? approved : namedActions(slipway ?? {}),
      ...(approves ? {} : { reason }),
      ...(approves && rejected.length > 0 ? { rejected } : {}),
      ...(slipway?.rule === undefined ? {} : { always: slipway.rule }),
      ...(approves && rule === 'four-eyes' ? { fourEyes: true as const } : {}),
    },
  };
}

function dividedOf(
  { accept, reason, slipway }: RespondToConfirmationRequest,
  asked: readonly string[],
): ReturnType<typeof divideAnswer> {
  return divideAnswer(asked, { accept, reason, rejections: slipway?.rejections });
}

/**
 * @param vouched actions that were approved; an acceptance of others is none. `null`: everything that the log says
 * counts.
 */
function says(
  answer: ConfirmationAnswer | undefined,
  actionIds: readonly string[],
  vouched: ReadonlySet<string> | null,
): boolean {
  if (answer === undefined || !answer.action_ids.some((id) => actionIds.includes(id))) return false;
  return !answer.accepted || vouched === null || answer.action_ids.every((id) => vouched.has(id));
}

/** Whether one of these has its observation already: somebody was first. */
function isOver(events: readonly ConversationEvent[], actionIds: readonly string[]): boolean {
  return events.some(
    (event) =>
      (event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation') &&
      actionIds.includes(event.action_id),
  );
}

function nothingToConfirm(): SlipwayError {
  return new SlipwayError('conversation.nothing-to-confirm', 'What this answers no longer waits for an answer.');
}
