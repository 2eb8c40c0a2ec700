import { Inject, Injectable } from '@nestjs/common';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import type { CarryOutPlan, ConversationTerms, EarlierRunSettings, Principal, QueuedMessage, UpdateConversationTerms } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../audit/audit-statement.js';
import { jobFor } from '../conversations/conversation-model.service.js';
import { lockSandbox, readSandbox } from '../conversations/conversations.queries.js';
import { ConversationsService } from '../conversations/conversations.service.js';
import { reachSandbox } from '../conversations/reach-sandbox.js';
import type { SandboxClient } from '../conversations/sandbox.client.js';
import { assertStepsAllowed } from '../conversations/steps-allowed.js';
import { IngestService } from '../ingest/ingest.service.js';
import { Jobs } from '../jobs/jobs.js';
import { wantJob } from '../jobs/outbox.queries.js';
import { readOrgSettings } from '../org-settings/org-settings.queries.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { ConversationSpendingService } from './conversation-spending.js';
import { forgetAppliedSpending, markAcknowledged, setTerms, termsOf } from './conversation-terms.queries.js';

const CARRY_OUT = 'Carry out the plan in PLAN.md, step by step, and check each step as the plan says. Say where you leave it.';

/**
 * How far an agent goes by itself, and whether it plans or works.
 *
 * What is committed holds, in the order of the lock of the row, and each change has a version. A sandbox that has the conversation is asked first whether it would refuse,
 * and told after the commit before anybody is answered, so that who resumes it next meets the new limits; it takes no older version after a newer. The outbox job that is
 * committed with the change has worker tell it again until it is known to have the last one: whoever dies between, and whatever is lost, costs only time.
 * One that starts meanwhile is told by worker before its start counts as done; who rests gets it at the next start.
 */
@Injectable()
export class ConversationTermsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: SandboxKeys,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly conversations: ConversationsService,
    private readonly spending: ConversationSpendingService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** What it has already changes nothing. @throws SlipwayError `resource.not-found`, `request.invalid` beyond a ceiling, `conversation.busy`, `sandbox.unreachable`: nothing has changed then. */
  async change(caller: Principal, id: string, change: UpdateConversationTerms): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    await inOrg(this.pool, caller.orgId, async (client) =>
      assertStepsAllowed(change.maxIterations, (await readOrgSettings(client, caller.orgId)).maxIterations),
    );
    await reachSandbox(this.keys, id, row, ['run'])?.checkTerms(agentTermsOf(change));
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      const before = await termsOf(client, caller.orgId, id);
      if (current === null || before === null) throw notFound();
      const terms: ConversationTerms = {
        agentType: change.agentType ?? before.agentType,
        maxIterations: change.maxIterations === undefined ? before.maxIterations : change.maxIterations,
        maxBudgetUsd: change.maxBudgetUsd === undefined ? before.maxBudgetUsd : change.maxBudgetUsd,
      };
      if (sameTerms(terms, before)) return null;
      const version = await setTerms(client, caller.orgId, id, terms);
      await forgetAppliedSpending(client, caller.orgId, id);
      const stored = (await termsOf(client, caller.orgId, id)) ?? terms;
      const said = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment' as const };
      const publish = await this.ingest.appendPlatform(
        client,
        caller.orgId,
        id,
        [{ ...said, kind: 'ConversationStateUpdateEvent', key: 'terms', value: stored }],
        current,
      );
      const job = jobFor(current);
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'conversation.set-terms', target: id, before: { ...before }, after: { ...stored } }));
      return { publish, job, current, stored, version };
    });
    if (after === null) return;
    after.publish();
    const { job, current, stored, version } = after;
    // Before the agent: who resumes it next is not refused at the limit of before. Also of one at rest: its key may be in other hands.
    const limited = await this.limit(caller.orgId, id);
    const sandbox = reachSandbox(this.keys, id, current, ['run']);
    const told = sandbox !== null && (await this.tell(caller.orgId, id, sandbox, stored, { version, epoch: current.epoch }));
    // One that was told stays in the outbox: worker looks once more when it comes to it.
    if (job !== null && !(told && limited)) this.jobs.enqueue(job, caller.orgId, id);
  }

  /** @returns false: the gateway is not known to have the limit. What was committed holds, so worker tells it. */
  private async limit(orgId: string, id: string): Promise<boolean> {
    try {
      await this.spending.apply(orgId, id);
      return true;
    } catch (error) {
      this.logger.warn({ err: error, conversation_id: id }, 'budget of a conversation not acknowledged by the gateway, worker will retry');
      return false;
    }
  }

  /** @returns false: it does not have them, or is not known to. What was committed holds, so worker tells it. */
  private async tell(orgId: string, id: string, sandbox: SandboxClient, terms: ConversationTerms, told: { version: number; epoch: number }): Promise<boolean> {
    try {
      await sandbox.setTerms({ ...agentTermsOf(terms), ...told });
      await inOrg(this.pool, orgId, (client) => markAcknowledged(client, orgId, id, told));
      return true;
    } catch (error) {
      this.logger.warn({ err: error, conversation_id: id }, 'run settings not acknowledged by agent, worker will retry');
      return false;
    }
  }

  /** The agent becomes one that works, and is told to. Asked again under the same id it is the same message. @throws SlipwayError as `change`, `conversation.queue-full`, `budget.exhausted`. */
  async carryOut(caller: Principal, id: string, { note }: CarryOutPlan, messageId: string | undefined): Promise<QueuedMessage> {
    await this.change(caller, id, { agentType: 'default' });
    const text = note === undefined || note === '' ? CARRY_OUT : `${CARRY_OUT}\n\n${note}`;
    return this.conversations.send(caller, id, { text }, messageId);
  }
}

/** In the words of agent-server; what a change does not name it leaves out. */
function agentTermsOf({ agentType, maxIterations, maxBudgetUsd }: UpdateConversationTerms): EarlierRunSettings {
  return {
    ...(agentType === undefined ? {} : { agent_type: agentType }),
    ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
    ...(maxBudgetUsd === undefined ? {} : { max_budget_per_task: maxBudgetUsd === null ? null : Number(maxBudgetUsd) }),
  };
}

function sameTerms(one: ConversationTerms, other: ConversationTerms): boolean {
  const budget = ({ maxBudgetUsd }: ConversationTerms): number | null => (maxBudgetUsd === null ? null : Number(maxBudgetUsd));
  return one.agentType === other.agentType && one.maxIterations === other.maxIterations && budget(one) === budget(other);
}
