import { Inject, Injectable } from '@nestjs/common';
import type { AgentClient } from '@slipway/agent-client';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { ConfirmationRule, ConfirmationSettings, type RevokeConfirmationRule } from '@slipway/contracts/conversations';
import type { StateUpdate } from '@slipway/contracts/events';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertBudget } from '../../spending/budgets/spent-budget.js';
import { lockSandbox, readSandbox } from '../conversations.queries.js';
import { reachSandbox } from '../reach-sandbox.js';
import { ChargePassesService } from './charge-passes.service.js';
import { lastConfirmationSettings } from './run-settings.queries.js';

/** Longest wait for what a model has to say. Milliseconds. */
const MODEL_TIMEOUT_MS = 120_000;
/** Largest answer of a model. Bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** What is asked of an agent without giving it a task: a summary, an answer, and what it need not ask for. */
@Injectable()
export class BesideTheTaskService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: SandboxKeys,
    private readonly ingest: IngestService,
    private readonly passes: ChargePassesService,
  ) {}

  /**
   * @throws SlipwayError `resource.not-found`, `conversation.not-running`, `budget.exhausted`, `service.unavailable`,
   * `sandbox.unreachable`.
   */
  async condense(caller: Principal, id: string): Promise<void> {
    const sandbox = await this.running(caller, id);
    await sandbox.call(
      'condense',
      { id, headers: await this.passes.give(caller, id) },
      { timeoutMs: MODEL_TIMEOUT_MS },
    );
    await inOrg(this.pool, caller.orgId, (client) =>
      client.query(auditOf(this.ids.uuid(), caller, { action: 'conversation.condense', target: id })),
    );
  }

  /** @throws SlipwayError as `condense`. */
  async ask(caller: Principal, id: string, question: string): Promise<string> {
    const sandbox = await this.running(caller, id);
    const given = { id, headers: await this.passes.give(caller, id), body: { question } };
    const { response } = await sandbox.call('askAgent', given, {
      timeoutMs: MODEL_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    await inOrg(this.pool, caller.orgId, (client) =>
      client.query(auditOf(this.ids.uuid(), caller, { action: 'conversation.ask', target: id })),
    );
    return response;
  }

  /** @throws SlipwayError `resource.not-found`. */
  async rules(caller: Principal, id: string): Promise<ConfirmationRule[]> {
    if ((await readSandbox(this.pool, caller.orgId, id)) === null) throw notFound();
    return inOrg(
      this.pool,
      caller.orgId,
      async (client) => (await this.settings(client, caller.orgId, id))?.rules ?? [],
    );
  }

  /**
   * A rule that is not there is fine. With a sandbox it ends there, and the log says so soon after; without one it ends
   * in the log.
   * @returns what is left.
   * @throws SlipwayError `resource.not-found`, `sandbox.unreachable`: the rule holds then.
   */
  async revoke(caller: Principal, id: string, rule: RevokeConfirmationRule): Promise<ConfirmationRule[]> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    const sandbox = reachSandbox(this.keys, id, row, ['run']);
    await sandbox?.call('revokeRule', { id, body: rule });
    const { left, publish } = await inOrg(this.pool, caller.orgId, async (client) => {
      const current = await lockSandbox(client, caller.orgId, id);
      if (current === null) throw notFound();
      const settings = await this.settings(client, caller.orgId, id);
      const before = settings?.rules ?? [];
      const left = before.filter(
        ({ tool_name, match, value }) => tool_name !== rule.tool_name || match !== rule.match || value !== rule.value,
      );
      // The log of a sandbox that was quick has it already.
      if (sandbox === null && left.length === before.length) return { left, publish: () => {} };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'conversation.revoke-rule', target: id, detail: { rule } }),
      );
      if (sandbox !== null || settings === null) return { left, publish: () => {} };
      const said = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'user' as const };
      const update: StateUpdate = { key: 'confirmation_settings', value: { ...settings, rules: left } };
      return {
        left,
        publish: await this.ingest.appendPlatform(client, caller.orgId, id, {
          events: [{ ...said, kind: 'ConversationStateUpdateEvent', ...update }],
          row: current,
        }),
      };
    });
    publish();
    return left;
  }

  private async settings(client: PoolClient, orgId: string, id: string): Promise<ConfirmationSettings | null> {
    return ConfirmationSettings.nullable()
      .catch(null)
      .parse(await lastConfirmationSettings(client, orgId, id));
  }

  /** The sandbox that has the conversation, while there is money for what is asked of it. */
  private async running(caller: Principal, id: string): Promise<AgentClient> {
    const row = await readSandbox(this.pool, caller.orgId, id);
    if (row === null) throw notFound();
    const sandbox = reachSandbox(this.keys, id, row, ['run']);
    if (sandbox === null)
      throw new SlipwayError('conversation.not-running', 'Its sandbox is at rest, and the agent with it.');
    await inOrg(this.pool, caller.orgId, (client) =>
      assertBudget(client, caller.orgId, caller.actor.id, this.clock.now()),
    );
    return sandbox;
  }
}
