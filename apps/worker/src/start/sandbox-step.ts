import { setTimeout as wait } from 'node:timers/promises';
import type { AgentClient } from '@slipway/agent-client';
import type { SandboxKeys } from '@slipway/auth/caller-keys';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { agentAt } from '../clients/agent-server.js';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { ColumnChanges } from '../conversations/conversation-log.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { StartAttempt } from './start-attempt.js';

/** Poll interval of a starting sandbox. Milliseconds; a warm one is ready in the first answer. */
const POLL_MS = 200;
/** Longest wait for a sandbox that is starting, before it is tried again. Milliseconds. */
const SANDBOX_TIMEOUT_MS = 180_000;

/** Claims the sandbox of a start, and waits until it answers. */
export class SandboxStep {
  constructor(
    private readonly runtime: RuntimeApiClient,
    private readonly keys: SandboxKeys,
  ) {}

  /** The agent-server that the row names, or `null`. */
  agentOf(row: ConversationRow): AgentClient | null {
    if (row.sandboxUrl === null || row.sandboxKey === null) return null;
    return agentAt({ url: row.sandboxUrl, ...this.keys.open(row.id, row.sandboxKey) });
  }

  /** `shown` settles when the sandbox stands in the row and the next step is shown: the sandbox works meanwhile. */
  async run(
    held: HeldConversation,
    attempt: StartAttempt,
    signal: AbortSignal,
  ): Promise<{ agent: AgentClient; root: string; shown: Promise<void> }> {
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
    return {
      agent: agentAt({ url: runtime.url, ...this.keys.with(held.id, runtime.session_api_key) }),
      root: runtime.working_dir,
      shown,
    };
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
          if (performance.now() > end)
            throw new SlipwayError(
              'sandbox.start-failed',
              `The sandbox was not ready within ${SANDBOX_TIMEOUT_MS / 1000} s.`,
            );
          await attempt.report(runtime.status_detail ?? 'The sandbox is starting.');
          await wait(POLL_MS, undefined, { signal });
          const session = await this.runtime.session(held.orgId, held.id, signal);
          if (session === null)
            throw new SlipwayError('sandbox.start-failed', 'The sandbox went away while it started.');
          runtime = session;
          break;
        }
        case 'stopped':
        case 'error':
          throw new SlipwayError('sandbox.start-failed', runtime.status_detail ?? 'The sandbox did not start.');
      }
    }
  }

  /**
   * Why a conversation that had a sandbox gets another, in the backend's words; nothing when it was paused or the
   * reason is unknown.
   */
  async whyAnew({ row, orgId, id, signal }: HeldConversation): Promise<string | undefined> {
    if (row.sandboxStatus !== 'RUNNING' || row.startStatus !== 'READY') return undefined;
    const session = await this.runtime.session(orgId, id, signal).catch((error: unknown) => {
      if (error instanceof SlipwayError) return null;
      throw error;
    });
    const said = session?.status === 'error' ? session.status_detail : undefined;
    return said === undefined ? undefined : `${said[0]?.toUpperCase()}${said.slice(1)}${said.endsWith('.') ? '' : '.'}`;
  }
}
