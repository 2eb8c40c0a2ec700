import { setTimeout as wait } from 'node:timers/promises';
import { type AgentClient, probe } from '@slipway/agent-client';
import { type StartStep, type WorkspaceState } from '@slipway/contracts/conversations';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { type Runtime } from '@slipway/contracts/sandboxes';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { INITIAL_STATUS } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { AGENT_CALLS } from '../clients/agent-server.js';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { type ConversationRow, fulfil } from '../conversations/conversation.queries.js';
import type { PlatformEvent } from '../conversations/conversation-log.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import { cut } from '../start/start-attempt.js';
import type { StartSteps } from '../start/start-steps.js';
import type { Snapshots } from './snapshot.js';

/** A step under way may end within this; then the run is interrupted. Milliseconds. */
const HALT_MS = 5_000;
/** After an interrupt everything has stopped within a second; twice that. Milliseconds. */
const INTERRUPT_MS = 2_000;
/** What the agent said last comes into the log within this, or when the sandbox is back. Milliseconds. */
const SETTLE_MS = 3_000;
const POLL_MS = 100;
/** Longest reason why files are not kept. UTF-16 code units. */
const MAX_REASON = 1_000;
const WORKSPACE_FAILURES: Partial<Record<WorkspaceState['state'], ErrorCode>> = {
  'not-kept': 'sandbox.workspace-not-kept',
  lost: 'sandbox.workspace-lost',
};

/** Pauses one conversation: the agent halted, its changes saved, the sandbox released with its workspace. */
export class ConversationPause {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly runtime: RuntimeApiClient,
    private readonly steps: StartSteps,
    private readonly snapshots: Snapshots,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async pause(held: HeldConversation): Promise<void> {
    const { row } = held;
    const failedWithSandbox = row.startStatus === 'ERROR' && row.runtimeId !== null;
    if (row.desired === 'rest' || failedWithSandbox) {
      const session = await this.runtime.session(held.orgId, held.id, held.signal);
      const interrupted =
        session !== null &&
        (session.status === 'running' || session.status === 'starting') &&
        (await this.giveBack(held, session));
      await this.record(held, interrupted);
      this.logger.info({ interrupted }, 'conversation paused');
      // The outbox job stays until the files are kept or lost: the sweep brings it back within seconds.
      if (session !== null && !(await this.recordWorkspace(held)) && held.row.desired === 'rest') return;
    }
    if (await fulfil(this.pool, held.orgId, held.id, 'rest')) return;
    // Wanted again meanwhile: whoever asked has a job for it, but may have found the old sandbox still there.
    await this.queue.add('conversation-start', { orgId: held.orgId, conversationId: held.id }, { key: held.id });
  }

  /** @returns whether the run had to be interrupted for it. */
  private async giveBack(held: HeldConversation, session: Runtime): Promise<boolean> {
    const agent = this.steps.agentOf(held.row);
    let interrupted = false;
    if (agent !== null && held.row.startStatus === 'READY' && (await probe(agent, held.id, held.signal)) === 'alive') {
      await this.bestEffort('the agent was not halted', held, async () => {
        interrupted = await this.halt(held, agent);
      });
      const { workingDir: directory, baseCommit: base } = held.row;
      if (directory !== null)
        await this.bestEffort('the workspace was not read', held, () =>
          this.snapshots.take(held.orgId, held.id, { agent, workspace: { directory, base } }, held.signal),
        );
    }
    await this.runtime.pause(held.orgId, session.runtime_id, held.signal);
    await this.bestEffort('the key of the models was not ended', held, () => this.steps.endKey(held));
    return interrupted;
  }

  private async halt(held: HeldConversation, agent: AgentClient): Promise<boolean> {
    await agent.call('pause', { id: held.id }, { signal: held.signal });
    const interrupted = !(await this.halted(held, agent, HALT_MS));
    if (interrupted) {
      await agent.call('interrupt', { id: held.id }, { signal: held.signal });
      await this.halted(held, agent, INTERRUPT_MS);
    }
    const end = performance.now() + SETTLE_MS;
    while (performance.now() < end) {
      await held.refresh();
      if (held.row.executionStatus !== 'running') break;
      await wait(POLL_MS, undefined, { signal: held.signal });
    }
    return interrupted;
  }

  private async halted(held: HeldConversation, agent: AgentClient, withinMs: number): Promise<boolean> {
    const end = performance.now() + withinMs;
    while (performance.now() < end) {
      const info = await agent.call(
        'conversation',
        { id: held.id },
        { ...AGENT_CALLS.conversation, signal: held.signal },
      );
      if (info.execution_status !== 'running') return true;
      await wait(POLL_MS, undefined, { signal: held.signal });
    }
    return false;
  }

  /** What the log has to say once the sandbox is away. */
  private async record(held: HeldConversation, interrupted: boolean): Promise<void> {
    await held.write((row) => {
      const state = { ...INITIAL_STATUS, ...row.statusState };
      const events: PlatformEvent[] = [];
      if (row.startStatus !== 'READY' && row.startStatus !== 'ERROR') {
        for (const step of endOfStart(row, this.clock.now())) events.push({ kind: 'start-step', step });
        if (state.halt === 'none') events.push({ kind: 'paused' });
      }
      if (row.executionStatus === 'running')
        events.push(
          { kind: 'execution-status', status: 'paused' },
          ...(state.halt === 'none' ? [{ kind: 'paused' as const }] : []),
        );
      // The interrupt was ours, for a pause: the user sees the pause.
      else if (interrupted && state.halt === 'interrupt') events.push({ kind: 'paused' });
      const away = row.startStatus === 'ERROR' ? 'ERROR' : 'PAUSED';
      if (row.sandboxStatus !== away) events.push({ kind: 'sandbox-status', status: away });
      return {
        events,
        columns: { runtimeId: null, sandboxUrl: null, sandboxKey: null, leaseMs: null, checkpoint: {} },
      };
    });
  }

  /**
   * Records in the log what became of the files, whenever that has changed. @returns whether it is final: saved, lost,
   * or unknown.
   */
  private async recordWorkspace(held: HeldConversation): Promise<boolean> {
    const session = await this.runtime.session(held.orgId, held.id, held.signal);
    const workspace = session?.workspace;
    if (workspace === undefined) return true;
    const reason = workspace.detail ?? (workspace.state === 'lost' ? session?.status_detail : undefined);
    const detail = reason === undefined ? {} : { detail: cut(reason).slice(0, MAX_REASON) };
    await held.write((row) => {
      const before = row.statusState.workspace ?? null;
      if (row.desired !== 'rest' || (before?.state === workspace.state && before.detail === detail.detail)) return null;
      const events: PlatformEvent[] = [{ kind: 'workspace', workspace: { state: workspace.state, ...detail } }];
      if (workspace.state !== before?.state) {
        const code = WORKSPACE_FAILURES[workspace.state];
        if (code !== undefined) events.push({ kind: 'error', code, detail: detail.detail ?? ERRORS[code].title });
      }
      return { events };
    });
    return workspace.state === 'kept' || workspace.state === 'lost';
  }

  private async bestEffort(what: string, held: HeldConversation, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (held.signal.aborted || !(error instanceof SlipwayError)) throw error;
      this.logger.warn({ err: error }, what);
    }
  }
}

/** A start that was halted is over: its running step, and the start itself. */
function endOfStart(row: ConversationRow, now: Date): StartStep[] {
  const running = row.steps.filter((step) => step.attempt === row.attempt && step.state === 'running');
  const begun = row.steps.find((step) => step.attempt === row.attempt)?.startedAt ?? now.toISOString();
  const sinceMs = (startedAt: string): number => Math.max(0, now.getTime() - Date.parse(startedAt));
  return [
    ...running.map(
      (step): StartStep => ({ ...step, state: 'skipped', elapsedMs: sinceMs(step.startedAt), detail: 'Halted.' }),
    ),
    {
      attempt: Math.max(row.attempt, 1),
      status: 'READY',
      state: 'skipped',
      startedAt: now.toISOString(),
      elapsedMs: sinceMs(begun),
      detail: 'Halted before it was ready.',
    },
  ];
}
