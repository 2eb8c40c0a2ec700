import type { AgentClient } from '@slipway/agent-client';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { HandedOver } from './granted-secrets.js';
import type { StartAttempt } from './start-attempt.js';
import type { WorkspacePlan, WorkspaceReport } from './workspace-script.js';

/** One start whose sandbox answers. */
export interface StartContext {
  readonly held: HeldConversation;
  readonly attempt: StartAttempt;
  readonly agent: AgentClient;
  readonly plan: WorkspacePlan;
}

/** A workspace that is ready, with the secrets that its conversation was granted. */
export interface MadeWorkspace {
  readonly report: WorkspaceReport;
  readonly handed: HandedOver;
}

/**
 * Does `work` while something is being written; both have ended afterwards. A write that fails ends the work, and is
 * what this rejects with.
 */
export async function alongside<T>(
  written: Promise<void>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refused = new AbortController();
  written.catch((error: unknown) => refused.abort(error));
  const [first, second] = await Promise.allSettled([written, work(AbortSignal.any([signal, refused.signal]))]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return second.value;
}
