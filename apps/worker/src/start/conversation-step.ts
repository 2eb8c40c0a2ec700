import type { IngestTokens } from '@slipway/auth/ingest-token';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import { readAgentSettings, type StoredSettings } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { AGENT_CALLS } from '../clients/agent-server.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { Delivery } from '../delivery/delivery.js';
import type { ModelAccess } from './conversation-models.js';
import { mcpServersOf } from './mcp-servers.queries.js';
import { maxIterationsOf } from './org-limits.queries.js';
import { alongside, type MadeWorkspace, type StartContext } from './start-context.js';
import { forkNotice, lossNotice, restoreNotice, systemMessageSuffix, type WorkspacePlan } from './workspace-script.js';

export interface AgentStartSettings {
  readonly maxIterations: number;
  readonly ingestUrl: string;
}

/** Longer than any sandbox lasts: the epoch fences an old one, not the clock. Seconds. */
const INGEST_TOKEN_SECONDS = 30 * 86_400;

/** Gives the agent its conversation and the messages that wait for it. */
export class ConversationStep {
  constructor(
    private readonly pool: SqlPool,
    private readonly tokens: IngestTokens,
    private readonly delivery: Delivery,
    private readonly settings: AgentStartSettings,
  ) {}

  async run(start: StartContext, made: MadeWorkspace, model: Promise<ModelAccess>, signal: AbortSignal): Promise<void> {
    const { held, attempt, agent, plan } = start;
    // Read before the step is shown: that changes nothing of the agent's request.
    const { row } = held;
    const shown = attempt.begin('STARTING_CONVERSATION', { show: true });
    const settings = await alongside(shown, signal, async (ending) => {
      // Before the agent goes on: its workspace is another one, and messages name the files.
      if (isLost(row, made)) await this.delivery.files.restore({ held, agent, directory: plan.directory }, ending);
      return this.create({ row, agent, plan }, made, model, ending);
    });
    const { name } = await model;
    // Another model that was chosen meanwhile is not acknowledged, and `SettingsSync` gives it next.
    attempt.remember({
      checkpoint: { model: name, ...(name === settings.model ? { settingsVersion: settings.version } : {}) },
    });
    await this.delivery.deliver(held, agent, { directory: plan.directory }, signal);
    attempt.end('done');
  }

  /** Gives the agent its conversation. @returns the settings that it has now. */
  private async create(
    { row, agent, plan }: Pick<StartContext, 'agent' | 'plan'> & { readonly row: ConversationRow },
    { report, handed }: MadeWorkspace,
    model: Promise<ModelAccess>,
    signal: AbortSignal,
  ): Promise<StoredSettings> {
    const [{ llm }, ingestToken, orgLimit, stored, mcpServers] = await Promise.all([
      model,
      this.tokens.sign({ org: row.orgId, conversation: row.id, epoch: row.epoch }, INGEST_TOKEN_SECONDS),
      maxIterationsOf(this.pool, row.orgId),
      inOrg(this.pool, row.orgId, (client) => readAgentSettings(client, row.orgId, row.id)),
      mcpServersOf(this.pool, row.orgId),
    ]);
    if (stored === null) throw new Error('a conversation that is held is not there');
    const { agentType, limits, confirmation } = stored.settings;
    const ceiling = Math.min(this.settings.maxIterations, orgLimit ?? this.settings.maxIterations);
    const request: StartConversationRequest = {
      conversation_id: row.id,
      agent: { llm, ...(Object.keys(mcpServers).length === 0 ? {} : { mcp_config: mcpServers }) },
      workspace: { working_dir: plan.directory, kind: 'LocalWorkspace' },
      confirmation_policy: confirmation.policy,
      security_analyzer: confirmation.analyzer,
      max_iterations: Math.min(ceiling, limits.maxIterations ?? ceiling),
      ...(limits.maxBudgetUsd === null ? {} : { max_budget_per_task: limits.maxBudgetUsd }),
      ...(agentType === 'default' ? {} : { agent_type: agentType }),
      slipway: {
        epoch: row.epoch,
        ingestUrl: `${this.settings.ingestUrl}/ingest/v1/conversations/${row.id}`,
        ingestToken,
        // Before the second epoch no agent has written anything: there is nothing to read back.
        head: row.epoch === 1 ? 0 : row.head,
        resumeRun: row.checkpoint.resumeRun ?? false,
        iterationCeiling: ceiling,
        orgConfirmation: confirmation.organization,
        // For an agent-server of the release before; goes in 0.2.0.
        brake: confirmation.organization,
        systemMessageSuffix: systemMessageSuffix(plan, report, handed),
        checkpoints: true,
        ...noticeOf(row, plan, report),
      },
    };
    await agent.call('startConversation', { body: request }, { ...AGENT_CALLS.start, signal });
    return stored;
  }
}

/** What an agent is to know of its files: they are other ones, or of before. */
function noticeOf(row: ConversationRow, plan: WorkspacePlan, report: MadeWorkspace['report']): { notice?: string } {
  if (isLost(row, { report })) return { notice: lossNotice(plan) };
  const { restoredSeq } = row.checkpoint;
  if (restoredSeq === undefined) return {};
  const wasReady = row.steps.some(({ status, state }) => status === 'READY' && state === 'done');
  if (restoredSeq === row.forkedSeq && !wasReady) return { notice: forkNotice(plan) };
  return { notice: restoreNotice(plan, row.head > restoredSeq) };
}

/** The files of an earlier sandbox are gone. */
function isLost({ checkpoint, epoch }: ConversationRow, { report }: Pick<MadeWorkspace, 'report'>): boolean {
  return checkpoint.workspaceLost === true || (report.fresh && epoch > 1);
}
