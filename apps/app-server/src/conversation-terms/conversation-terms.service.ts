import { Inject, Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import type { CarryOutPlan, ConversationTerms, Principal, QueuedMessage, UpdateConversationTerms } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import { auditOf } from '../audit/audit-statement.js';
import { jobFor } from '../conversations/conversation-model.service.js';
import { lockSandbox, readSandbox } from '../conversations/conversations.queries.js';
import { ConversationsService } from '../conversations/conversations.service.js';
import { reachSandbox } from '../conversations/reach-sandbox.js';
import { assertStepsAllowed } from '../conversations/steps-allowed.js';
import { IngestService } from '../ingest/ingest.service.js';
import { Jobs } from '../jobs/jobs.js';
import { wantJob } from '../jobs/outbox.queries.js';
import { readOrgSettings } from '../org-settings/org-settings.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../platform/tokens.js';
import { setTerms, termsOf } from './conversation-terms.queries.js';

const CARRY_OUT = 'Carry out the plan in PLAN.md, step by step, and check each step as the plan says. Say where you leave it.';

/**
 * How far an agent goes by itself, and whether it plans or works.
 *
 * A sandbox that has the conversation is told first, so that who resumes it next meets the new limits; one that does not answer changes nothing. One that starts
 * meanwhile is told by worker before its start counts as done; who rests gets it at the next start.
 */
@Injectable()
export class ConversationTermsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly box: SecretBox,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
    private readonly conversations: ConversationsService,
  ) {}

  /** What it has already changes nothing. @throws SlipwayError `resource.not-found`, `request.invalid` beyond a ceiling, `conversation.busy`, `sandbox.unreachable`. */
  async change(caller: Principal, id: string, change: UpdateConversationTerms): Promise<void> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    await inOrg(this.pool, caller.orgId, async (client) =>
      assertStepsAllowed(change.maxIterations, (await readOrgSettings(client, caller.orgId)).maxIterations),
    );
    const sandbox = reachSandbox(this.box, id, row, ['run']);
    await sandbox?.setTerms({
      ...(change.agentType === undefined ? {} : { agent_type: change.agentType }),
      ...(change.maxIterations === undefined ? {} : { max_iterations: change.maxIterations }),
      ...(change.maxBudgetUsd === undefined ? {} : { max_budget_per_task: change.maxBudgetUsd === null ? null : Number(change.maxBudgetUsd) }),
    });
    const after = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      const before = await termsOf(client, caller.orgId, id);
      if (current === null || before === null) throw notFound();
      const terms: ConversationTerms = {
        agentType: change.agentType ?? before.agentType,
        maxIterations: change.maxIterations === undefined ? before.maxIterations : change.maxIterations,
        maxBudgetUsd: change.maxBudgetUsd === undefined ? before.maxBudgetUsd : change.maxBudgetUsd,
      };
      await setTerms(client, caller.orgId, id, terms, sandbox === null ? 'untold' : 'told');
      const stored = (await termsOf(client, caller.orgId, id)) ?? terms;
      if (JSON.stringify(stored) === JSON.stringify(before)) return null;
      const said = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment' as const };
      const publish = await this.ingest.appendPlatform(
        client,
        caller.orgId,
        id,
        [{ ...said, kind: 'ConversationStateUpdateEvent', key: 'terms', value: stored }],
        current,
      );
      const job = sandbox === null ? jobFor(current) : null;
      if (job !== null) await wantJob(client, caller.orgId, job, id);
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'conversation.set-terms', target: id, before: { ...before }, after: { ...stored } }));
      return { publish, job };
    });
    if (after === null) return;
    after.publish();
    if (after.job !== null) this.jobs.enqueue(after.job, caller.orgId, id);
  }

  /** The agent becomes one that works, and is told to. Asked again under the same id it is the same message. @throws SlipwayError as `change`, `conversation.queue-full`, `budget.exhausted`. */
  async carryOut(caller: Principal, id: string, { note }: CarryOutPlan, messageId: string | undefined): Promise<QueuedMessage> {
    await this.change(caller, id, { agentType: 'default' });
    const text = note === undefined || note === '' ? CARRY_OUT : `${CARRY_OUT}\n\n${note}`;
    return this.conversations.send(caller, id, { text }, messageId);
  }
}
