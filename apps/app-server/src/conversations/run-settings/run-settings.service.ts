import { Inject, Injectable } from '@nestjs/common';
import type {
  CarryOutPlan,
  ConversationRunSettings,
  QueuedMessage,
  UpdateRunSettings,
} from '@slipway/contracts/conversations';
import type { StateUpdate } from '@slipway/contracts/events';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { AgentSettingsService, type WantedSettings } from '../agent-settings/agent-settings.service.js';
import { jobFor } from '../conversation-model.service.js';
import { lockSandbox, readSandbox } from '../conversations.queries.js';
import { ConversationsService } from '../conversations.service.js';
import { assertStepsAllowed } from '../steps-allowed.js';
import { ConversationSpendingService } from './conversation-spending.js';
import { forgetAppliedSpending, runSettingsOf, setRunSettings } from './run-settings.queries.js';

const CARRY_OUT =
  'Carry out the plan in PLAN.md, step by step, and check each step as the plan says. Say where you leave it.';

/**
 * Run settings of a conversation: plan or work, steps, budget.
 *
 * A change is one transaction under the lock of the row. A sandbox that has the conversation is asked before whether it
 * would refuse, and gets the settings after the commit before anybody is answered, so that who resumes it next meets
 * the new limits. The outbox job that is committed with the change has the worker send them again until the agent
 * acknowledges them: a process that dies between, and a message that is lost, cost only time.
 */
@Injectable()
export class RunSettingsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly agents: AgentSettingsService,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly conversations: ConversationsService,
    private readonly spending: ConversationSpendingService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * What it has already changes nothing. @throws SlipwayError `resource.not-found`, `request.invalid` beyond a ceiling,
   * `conversation.busy`, `sandbox.unreachable`: nothing has changed then.
   */
  async change(caller: Principal, id: string, change: UpdateRunSettings): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    await inOrg(this.pool, caller.orgId, async (client) =>
      assertStepsAllowed(change.maxIterations, (await readOrgSettings(client, caller.orgId)).maxIterations),
    );
    await this.agents.check(caller.orgId, id, row, wantedOf(change));
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      const before = await runSettingsOf(client, caller.orgId, id);
      if (current === null || before === null) throw notFound();
      const settings: ConversationRunSettings = {
        agentType: change.agentType ?? before.agentType,
        maxIterations: change.maxIterations === undefined ? before.maxIterations : change.maxIterations,
        maxBudgetUsd: change.maxBudgetUsd === undefined ? before.maxBudgetUsd : change.maxBudgetUsd,
      };
      if (sameRunSettings(settings, before)) return null;
      await setRunSettings(client, caller.orgId, id, settings);
      await forgetAppliedSpending(client, caller.orgId, id);
      const stored = (await runSettingsOf(client, caller.orgId, id)) ?? settings;
      const said = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment' as const };
      const update: StateUpdate = { key: 'run_settings', value: stored };
      const publish = await this.ingest.appendPlatform(client, caller.orgId, id, {
        events: [{ ...said, kind: 'ConversationStateUpdateEvent', ...update }],
        row: current,
      });
      const job = jobFor(current);
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'conversation.set-run-settings',
          target: id,
          before: { ...before },
          after: { ...stored },
        }),
      );
      return { publish, job, current };
    });
    if (after === null) return;
    after.publish();
    const { job, current } = after;
    // Before the agent: who resumes it next is not refused at the limit of before. Also of an idle one: its key may be
    // in other hands.
    const limited = await this.limit(caller.orgId, id);
    const acknowledged = await this.agents.apply(caller.orgId, id, current, false);
    // The outbox job stays also then: the worker compares once more when it comes to it.
    if (job !== null && !(acknowledged && limited)) this.jobs.enqueue(job, caller.orgId, id);
  }

  /** @returns false: the gateway is not known to have the limit. What was committed holds, so worker tells it. */
  private async limit(orgId: string, id: string): Promise<boolean> {
    try {
      await this.spending.apply(orgId, id);
      return true;
    } catch (error) {
      this.logger.warn(
        { err: error, conversation_id: id },
        'budget of a conversation not acknowledged by the gateway, worker will retry',
      );
      return false;
    }
  }

  /**
   * The agent becomes one that works, and receives the message to begin. Asked again under the same id it is the same
   * message. @throws SlipwayError as `change`, `conversation.queue-full`, `budget.exhausted`.
   */
  async carryOut(
    caller: Principal,
    id: string,
    { note }: CarryOutPlan,
    messageId: string | undefined,
  ): Promise<QueuedMessage> {
    await this.change(caller, id, { agentType: 'default' });
    const text = note === undefined || note === '' ? CARRY_OUT : `${CARRY_OUT}\n\n${note}`;
    return this.conversations.send(caller, id, { text }, { reservedId: messageId });
  }
}

function wantedOf({ maxBudgetUsd, ...rest }: UpdateRunSettings): WantedSettings {
  return { ...rest, maxBudgetUsd: typeof maxBudgetUsd === 'string' ? Number(maxBudgetUsd) : maxBudgetUsd };
}

function sameRunSettings(one: ConversationRunSettings, other: ConversationRunSettings): boolean {
  const budget = ({ maxBudgetUsd }: ConversationRunSettings): number | null =>
    maxBudgetUsd === null ? null : Number(maxBudgetUsd);
  return (
    one.agentType === other.agentType && one.maxIterations === other.maxIterations && budget(one) === budget(other)
  );
}
