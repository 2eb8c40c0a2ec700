import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxKeys } from '@slipway/auth/caller-keys';
import type { IngestTokens } from '@slipway/auth/ingest-token';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { readAgentSettings, type StoredSettings } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { inSpan } from '@slipway/telemetry';
import { AgentServerClient } from '../clients/agent-server.client.js';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { ColumnChanges } from '../conversations/conversation-log.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { Delivery } from '../delivery/delivery.js';
import { progressNow, withProgress } from './clone-progress.js';
import type { ConversationModels, ModelAccess } from './conversation-models.js';
import { cloneTimeout, gitFailure } from './git-failure.js';
import type { GrantedSecrets, GrantedVariable } from './granted-secrets.js';
import { mcpServersOf } from './mcp-servers.queries.js';
import { maxIterationsOf } from './org-limits.queries.js';
import { cut, type StartAttempt } from './start-attempt.js';
import {
  finishScript,
  lossNotice,
  parseReport,
  prepareScript,
  repositoryName,
  setupScript,
  systemMessageSuffix,
  type WorkspacePlan,
  type WorkspaceReport,
} from './workspace-script.js';

export interface StartSettings {
  readonly cloneTimeoutSeconds: number;
  readonly setupTimeoutSeconds: number;
  readonly maxIterations: number;
  readonly ingestUrl: string;
}

/** Poll interval of a starting sandbox. Milliseconds; a warm one is ready in the first answer. */
const POLL_MS = 200;
/** Longest wait for a sandbox that is starting, before it is tried again. Milliseconds. */
const SANDBOX_TIMEOUT_MS = 180_000;
/** Hook and skills are a few small files. Seconds. */
const FINISH_TIMEOUT_SECONDS = 30;
/** Longer than any sandbox lasts: the epoch fences an old one, not the clock. Seconds. */
const INGEST_TOKEN_SECONDS = 30 * 86_400;
/** Output of a failed setup script that people see. Characters. */
const OUTPUT_TAIL = 3_500;

/** The steps of one start, in order. Each may be repeated: a worker that takes an attempt over runs the unfinished one again. */
export class StartSteps {
  constructor(
    private readonly runtime: RuntimeApiClient,
    private readonly gateway: LlmGatewayClient,
    private readonly models: ConversationModels,
    private readonly delivery: Delivery,
    private readonly keys: SandboxKeys,
    private readonly tokens: IngestTokens,
    private readonly settings: StartSettings,
    private readonly secrets: GrantedSecrets,
    private readonly pool: SqlPool,
  ) {}

  /** The agent-server that the row names, or `null`. */
  agentOf(row: ConversationRow): AgentServerClient | null {
    if (row.sandboxUrl === null || row.sandboxKey === null) return null;
    return new AgentServerClient({ url: row.sandboxUrl, ...this.keys.open(row.id, row.sandboxKey) });
  }

  /** The sandbox's way to the models ends; the next start makes another. */
  endKey(held: HeldConversation): Promise<void> {
    return this.gateway.deleteKeys(held.id, held.signal);
  }

  async run(held: HeldConversation, attempt: StartAttempt, signal: AbortSignal): Promise<void> {
    // The key is asked for while the workspace is made; a failure waits until it is needed.
    const model = this.models.access(held.row, signal);
    model.catch(() => {});
    const { agent, root, shown } = await inSpan('start sandbox', {}, () => this.sandbox(held, attempt, signal));
    const plan: WorkspacePlan = {
      directory: `${root.replace(/\/+$/, '')}/${held.row.repository === null ? 'project' : repositoryName(held.row.repository)}`,
      repository: held.row.repository,
      branch: held.row.branch,
    };
    const { report, variables } = await inSpan('start workspace', {}, () => this.workspace(held, attempt, agent, plan, shown, signal));
    await inSpan('start agent', {}, () => this.conversation(held, attempt, agent, plan, report, variables, model, signal));
    await attempt.ready();
  }

  /** `shown` settles when the sandbox stands in the row and the next step is shown: the sandbox works meanwhile. */
  private async sandbox(
    held: HeldConversation,
    attempt: StartAttempt,
    signal: AbortSignal,
  ): Promise<{ agent: AgentServerClient; root: string; shown: Promise<void> }> {
    const known = this.agentOf(held.row);
    const root = held.row.checkpoint.root;
    if (attempt.isDone('WAITING_FOR_SANDBOX') && known !== null && root !== undefined)
      return { agent: known, root, shown: attempt.begin('PREPARING_REPOSITORY', { show: false }) };
    await attempt.begin('WAITING_FOR_SANDBOX', { show: true, sandbox: 'STARTING' });
    if (held.row.checkpoint.suspect === true) await this.giveUp(held, signal);
    const runtime = await this.claim(held, attempt, signal);
    // Reported by runtime-api when the saved workspace could not be restored.
    attempt.end('done', runtime.status_detail);
    const columns: ColumnChanges = {
      runtimeId: runtime.runtime_id,
      sandboxUrl: runtime.url,
      sandboxKey: this.keys.seal(held.id, runtime.session_api_key),
      checkpoint: { root: runtime.working_dir, suspect: false },
    };
    const shown = attempt.begin('PREPARING_REPOSITORY', { show: true, columns, sandbox: 'RUNNING' });
    return { agent: new AgentServerClient({ url: runtime.url, ...this.keys.with(held.id, runtime.session_api_key) }), root: runtime.working_dir, shown };
  }

  /** A sandbox that did not answer is paused: its workspace is kept for the next one. */
  private async giveUp(held: HeldConversation, signal: AbortSignal): Promise<void> {
    const session = await this.runtime.session(held.orgId, held.id, signal);
    if (session === null || (session.status !== 'running' && session.status !== 'starting')) return;
    await this.runtime.pause(held.orgId, session.runtime_id, signal);
  }

  private async claim(held: HeldConversation, attempt: StartAttempt, signal: AbortSignal): Promise<Runtime> {
    const end = performance.now() + SANDBOX_TIMEOUT_MS;
    let runtime = await this.runtime.start(held.orgId, held.id, signal);
    for (;;) {
      switch (runtime.status) {
        case 'running':
          return runtime;
        case 'paused':
          runtime = await this.runtime.resume(held.orgId, held.id, runtime.runtime_id, signal);
          if (runtime.status === 'paused') throw new SlipwayError('sandbox.start-failed', 'The sandbox stayed paused.');
          break;
        case 'starting': {
          if (performance.now() > end) throw new SlipwayError('sandbox.start-failed', `The sandbox was not ready within ${SANDBOX_TIMEOUT_MS / 1000} s.`);
          await attempt.report(runtime.status_detail ?? 'The sandbox is starting.');
          await wait(POLL_MS, undefined, { signal });
          const session = await this.runtime.session(held.orgId, held.id, signal);
          if (session === null) throw new SlipwayError('sandbox.start-failed', 'The sandbox went away while it started.');
          runtime = session;
          break;
        }
        case 'stopped':
        case 'error':
          throw new SlipwayError('sandbox.start-failed', runtime.status_detail ?? 'The sandbox did not start.');
      }
    }
  }

  private async workspace(
    held: HeldConversation,
    attempt: StartAttempt,
    agent: AgentServerClient,
    plan: WorkspacePlan,
    shown: Promise<void>,
    signal: AbortSignal,
  ): Promise<{ report: WorkspaceReport; variables: readonly GrantedVariable[] }> {
    const limit = this.settings.cloneTimeoutSeconds;
    const { made, variables } = await alongside(shown, signal, async (ending) => {
      // Before any command runs: the clone may need them, and what it prints is masked.
      const variables = await this.secrets.handOver(held.row, agent, ending);
      const make = agent.bash(prepareScript(plan), { timeoutSeconds: limit }, ending);
      return { variables, made: await (plan.repository === null ? make : withProgress(make, attempt, agent, plan, ending)) };
    });
    if (made.exit_code === -1) throw cloneTimeout(plan.repository, limit, plan.repository === null ? null : await progressNow(agent, plan, signal));
    if (made.exit_code !== 0) throw gitFailure(plan, made.stderr ?? '');
    let report = parseReport(made.stdout ?? '');
    attempt.end('done');
    const isLost = report.fresh && held.row.epoch > 1;
    // A workspace that was lost and made again has a new base; a restored one keeps its base.
    const base: ColumnChanges = {
      workingDir: plan.directory,
      ...(isLost ? { checkpoint: { workspaceLost: true } } : {}),
      ...((report.fresh || held.row.baseCommit === null) && report.base !== null ? { baseCommit: report.base } : {}),
    };
    attempt.remember(base);
    // Whoever takes over from here finds a workspace and must know that it is another one.
    if (isLost) await attempt.flush();
    await attempt.begin('RUNNING_SETUP_SCRIPT', { show: report.setup !== null });
    if (report.setup !== null) {
      const printed = await this.setup(agent, plan, report.setup, signal);
      const rest = await agent.bash(finishScript(plan.directory), { timeoutSeconds: FINISH_TIMEOUT_SECONDS }, signal);
      report = { ...parseReport(rest.stdout ?? ''), base: report.base, fresh: report.fresh };
      attempt.end('done', ...printed);
    } else {
      attempt.end('skipped');
    }
    await attempt.begin('SETTING_UP_GIT_HOOKS', { show: false });
    attempt.end(report.hook === 'none' ? 'skipped' : 'done');
    await attempt.begin('SETTING_UP_SKILLS', { show: false });
    if (report.files.length === 0) attempt.end('skipped');
    else attempt.end('done', report.files.map((file) => file.path).join(', '));
    return { report, variables };
  }

  /** @returns the end of what it printed; nothing for a script that printed nothing. */
  private async setup(agent: AgentServerClient, plan: WorkspacePlan, script: string, signal: AbortSignal): Promise<[] | [string]> {
    const limit = this.settings.setupTimeoutSeconds;
    const ran = await agent.bash(setupScript(script), { cwd: plan.directory, timeoutSeconds: limit }, signal);
    const output = `${ran.stdout ?? ''}\n${ran.stderr ?? ''}`.trim();
    if (ran.exit_code === 0) return output === '' ? [] : [cut(output.slice(-OUTPUT_TAIL))];
    const tail = output === '' ? 'It printed nothing.' : `Its last output:\n${output.slice(-OUTPUT_TAIL)}`;
    if (/No space left on device/i.test(output)) throw new SlipwayError('sandbox.disk-full', cut(`${script} filled the disk of the sandbox. ${tail}`));
    if (ran.exit_code === -1) throw new SlipwayError('setup.timeout', cut(`${script} did not end within ${limit} s and was killed. ${tail}`));
    throw new SlipwayError('setup.failed', cut(`${script} ended with status ${ran.exit_code}. ${tail}`));
  }

  private async conversation(
    held: HeldConversation,
    attempt: StartAttempt,
    agent: AgentServerClient,
    plan: WorkspacePlan,
    report: WorkspaceReport,
    variables: readonly GrantedVariable[],
    model: Promise<ModelAccess>,
    signal: AbortSignal,
  ): Promise<void> {
    // Read before the step is shown: that changes nothing of the agent's request.
    const { row } = held;
    const shown = attempt.begin('STARTING_CONVERSATION', { show: true });
    const settings = await alongside(shown, signal, (ending) => this.create(row, agent, plan, report, variables, model, ending));
    const { name } = await model;
    // Another model that was chosen meanwhile is not acknowledged, and `SettingsSync` gives it next.
    attempt.remember({ checkpoint: { model: name, ...(name === settings.model ? { settingsVersion: settings.version } : {}) } });
    await this.delivery.deliver(held, agent, signal);
    attempt.end('done');
  }

  /** Gives the agent its conversation. @returns the settings that it has now. */
  private async create(
    row: ConversationRow,
    agent: AgentServerClient,
    plan: WorkspacePlan,
    report: WorkspaceReport,
    variables: readonly GrantedVariable[],
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
        systemMessageSuffix: systemMessageSuffix(plan, report, variables),
        ...(row.checkpoint.workspaceLost === true || (report.fresh && row.epoch > 1) ? { notice: lossNotice(plan) } : {}),
      },
    };
    await agent.createConversation(request, signal);
    return stored;
  }
}

/** Does `work` while something is being written; both have ended afterwards. A write that fails ends the work, and is what this rejects with. */
async function alongside<T>(written: Promise<void>, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const refused = new AbortController();
  written.catch((error: unknown) => refused.abort(error));
  const [first, second] = await Promise.allSettled([written, work(AbortSignal.any([signal, refused.signal]))]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return second.value;
}
